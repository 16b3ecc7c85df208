/** What an error of Slack's Web API means for us: stop, go elsewhere, send it plainer, or try again later. */
import {webApi} from '@slack/bolt';

/** Trying again changes nothing: a person has to mend the token, the scopes or the app. */
const FATAL = new Set([
  'invalid_auth',
  'not_authed',
  'account_inactive',
  'token_revoked',
  'token_expired',
  'missing_scope',
  'link_disabled',
  'not_allowed_token_type',
  'no_permission',
  'org_login_required',
  'team_access_not_granted',
]);
const NO_CHANNEL = new Set(['channel_not_found', 'is_archived', 'not_in_channel', 'restricted_action']);
const NO_MESSAGE = new Set(['message_not_found', 'cant_update_message', 'thread_not_found', 'edit_window_closed']);
const NOT_TAKEN = new Set([
  'invalid_blocks',
  'invalid_blocks_format',
  'invalid_attachments',
  'msg_too_long',
  'msg_blocks_too_long',
  'no_text',
  'only_one_table_allowed',
  'invalid_arguments',
]);

export type ApiTrouble =
  | {readonly kind: 'fatal'; readonly error: string; readonly needed: string | null}
  | {readonly kind: 'no-channel'; readonly error: string}
  | {readonly kind: 'no-message'; readonly error: string}
  | {readonly kind: 'not-taken'; readonly error: string; readonly details: readonly string[]}
  | {readonly kind: 'throttled'; readonly retryAfterMs: number}
  /** Network, 5xx, or an error that Slack may get over. */
  | {readonly kind: 'later'; readonly error: string};

export function troubleOf(error: unknown): ApiTrouble {
  if (error instanceof webApi.WebAPIRateLimitedError)
    return {kind: 'throttled', retryAfterMs: error.retryAfter * 1_000};
  if (error instanceof webApi.WebAPIPlatformError) {
    const {data} = error;
    const name = String(data.error);
    if (FATAL.has(name)) return {kind: 'fatal', error: name, needed: 'needed' in data ? String(data['needed']) : null};
    if (NO_CHANNEL.has(name)) return {kind: 'no-channel', error: name};
    if (NO_MESSAGE.has(name)) return {kind: 'no-message', error: name};
    if (NOT_TAKEN.has(name))
      return {kind: 'not-taken', error: name, details: data.response_metadata?.messages?.map(String) ?? []};
    return {kind: 'later', error: name};
  }
  return {kind: 'later', error: error instanceof Error ? error.message : String(error)};
}

/** Slack's own words for having broken off in the middle. */
const BROKEN_OFF = new Set(['fatal_error', 'internal_error', 'request_timeout']);
/** What Slack gets over. */
const PASSING = new Set([...BROKEN_OFF, 'ratelimited', 'rate_limited', 'service_unavailable', 'team_added_to_org']);
/** The connection never stood, so nothing was asked. */
const NEVER_ASKED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Whether Slack may have done what was asked, or may still do it, although it did not say so. */
export function mayBeDone(error: unknown): boolean {
  if (error instanceof webApi.WebAPIRateLimitedError) return false;
  if (error instanceof webApi.WebAPIPlatformError) return BROKEN_OFF.has(String(error.data.error));
  if (error instanceof webApi.WebAPIHTTPError) return error.statusCode >= 500;
  for (let one: unknown = error, depth = 0; one instanceof Error && depth < 6; depth += 1) {
    if ('code' in one && NEVER_ASKED.has(String(one.code))) return false;
    one = one instanceof webApi.WebAPIRequestError ? (one.cause ?? one.original) : one.cause;
  }
  return true;
}

/** Slack said no, and would say it again. */
export function isAnswered(error: unknown): boolean {
  return error instanceof webApi.WebAPIPlatformError && !PASSING.has(String(error.data.error));
}

/** Errors of `apps.connections.open` after which no reconnect can help. */
export function isFatal(error: unknown): boolean {
  return troubleOf(error).kind === 'fatal';
}
