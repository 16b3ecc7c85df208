/** The one line for the operator when Slack says something that no retry can mend. */
import type {ApiTrouble} from './api-errors.ts';

const WAY_OUT: Readonly<Record<string, string>> = {
  invalid_auth: 'SLACK_BOT_TOKEN or SLACK_APP_TOKEN is wrong or was revoked; copy them again from the app’s pages.',
  not_authed: 'No token reached Slack; set SLACK_BOT_TOKEN and SLACK_APP_TOKEN.',
  account_inactive: 'The app was uninstalled or its workspace is gone; install it again.',
  token_revoked: 'The token was revoked; install the app again and copy the new one.',
  token_expired: 'The token has expired; switch token rotation off and install the app again.',
  missing_scope: 'The app lacks a scope; compare it with manifests/slack.socket.json, then reinstall it.',
  link_disabled: 'Socket Mode is switched off for this app; switch it on in its settings.',
  not_allowed_token_type:
    'A token of the wrong kind is set: SLACK_BOT_TOKEN begins with xoxb-, SLACK_APP_TOKEN with xapp-.',
};

export function fatalSentence(trouble: ApiTrouble): string {
  const error = 'error' in trouble ? trouble.error : trouble.kind;
  const needed = trouble.kind === 'fatal' && trouble.needed !== null ? ` (needs ${trouble.needed})` : '';
  return `Slack refuses this bot: ${error}${needed}. ${WAY_OUT[error] ?? 'Trying again would not help; look at the app’s settings.'}`;
}
