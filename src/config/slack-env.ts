/** The environment of `gpu-reclaim start`: tokens, channels, and where Slack's API is. Only the bot needs it. */
import {Secret} from '../secret.ts';
import type {SlackSettings} from './config.ts';
import {ENVIRONMENT, type Env, said} from './env.ts';
import type {Mistake, Read} from './mistake.ts';

const NO_SECRET = new Secret('');

/** All mistakes at once; a value that may be a token is never repeated. */
export function readSlackSettings(env: Env): Read<SlackSettings> {
  const mistakes: Mistake[] = [];
  const wrong = (name: string, problem: string, wayOut: string): void => {
    mistakes.push({file: ENVIRONMENT, at: [name], problem, wayOut});
  };
  const token = (name: string, kind: 'xoxb' | 'xapp', wayOut: string): Secret => {
    const value = said(env, name);
    if (value === null) wrong(name, 'is not set', wayOut);
    else if (!new RegExp(`^${kind}-[\\w-]+$`).test(value)) wrong(name, `does not begin with ${kind}-`, wayOut);
    return value === null ? NO_SECRET : new Secret(value);
  };
  const botToken = token('SLACK_BOT_TOKEN', 'xoxb', 'copy it from OAuth & Permissions, "Bot User OAuth Token"');
  const appToken = token(
    'SLACK_APP_TOKEN',
    'xapp',
    'make one under Basic Information, App-Level Tokens, with the scope connections:write',
  );

  const [channel, ...more] = (said(env, 'SLACK_CHANNEL') ?? '').split(/[\s,]+/).filter((id) => id !== '');
  const stray = [channel, ...more].find((id) => id !== undefined && !/^[CG][A-Z0-9]{2,}$/.test(id));
  const ids = 'copy the channel ids from "View channel details", such as SLACK_CHANNEL=C0123456789';
  if (channel === undefined) wrong('SLACK_CHANNEL', 'is not set', ids);
  else if (stray !== undefined) wrong('SLACK_CHANNEL', `${JSON.stringify(stray)} is no channel id`, ids);

  const apiUrl = said(env, 'SLACK_API_URL');
  if (apiUrl !== null && !isSafe(apiUrl))
    wrong(
      'SLACK_API_URL',
      'is neither https nor a loopback address: tokens would travel in the clear',
      'leave it unset',
    );

  const portText = said(env, 'GPU_RECLAIM_HEALTH_PORT');
  const healthPort = portText === null ? null : /^\d{1,5}$/.test(portText) ? Number(portText) : Number.NaN;
  if (healthPort !== null && !(healthPort >= 1 && healthPort <= 65_535))
    wrong('GPU_RECLAIM_HEALTH_PORT', `${JSON.stringify(portText)} is no port`, 'set a port such as 8080, or nothing');
  return {value: {botToken, appToken, channels: [channel ?? '', ...more], apiUrl, healthPort}, mistakes};
}

function isSafe(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const {protocol, hostname} = new URL(address);
  return protocol === 'https:' || (protocol === 'http:' && /^(127(\.\d{1,3}){3}|localhost|\[::1\])$/.test(hostname));
}
