/**
 * Takes secrets out of text that a host or a user wrote: command lines are open to every local user, cards and logs to
 * many more. Too much is better than too little, but `--max-tokens 512` and `--tokenizer x` are no secrets.
 */
const REDACTED = '[redacted]';

/** Forms that are secrets wherever they stand. */
const SECRET_FORMS: readonly RegExp[] = [
  /\beyJ[\w-]{6,}\.[\w-]{6,}(?:\.[\w-]*)?/g,
  /\bhf_\w{6,}/g,
  /\bsk-[\w-]{8,}/g,
  /\bxox[a-z]-[\w-]{6,}/gi,
  /\bxapp-[\w-]{6,}/gi,
  /\b(?:AKIA|ASIA)[A-Z0-9]{8,}/g,
  /\bgh[pousr]_\w{6,}/g,
  /\bgithub_pat_\w{6,}/g,
  /\bglpat-[\w-]{6,}/g,
];

/**
 * `name: value` and `name=value`, quotes allowed, the name's parts joined by `-`, `_` or `.`. Tried once per name, from
 * its start: from each of its letters, one word of 4 KB, which any user may title a process with, took minutes.
 */
const NAMED_VALUE =
  /(["']?)(?<![\w.-])(?=[\w.-]*[a-z])([\w.-]+)\1(\s*[=:]\s*)(?!\[redacted\])("[^"]*"|'[^']*'|[^\s,;&}\]"']+)/gi;

const SECRET_PARTS = new Set([
  ...['token', 'secret', 'password', 'passwd', 'passphrase', 'pass', 'pwd', 'auth', 'authorization'],
  ...['apikey', 'accesskey', 'secretkey', 'privatekey', 'credential', 'credentials', 'cookie', 'bearer'],
]);
/** `key` alone is a plain word (`--key-prefix`); after one of these it is not. */
const KEY_OWNERS = new Set(['api', 'access', 'secret', 'private', 'encryption', 'signing', 'account', 'license']);

/** The words of one command line, each secret replaced: also the value that follows a flag as a word of its own. */
export function redactWords(words: readonly string[]): string[] {
  let afterSecretFlag = false;
  return words.map((word) => {
    const hide = afterSecretFlag && !word.startsWith('--');
    afterSecretFlag = /^-{1,2}[A-Za-z]/.test(word) && !/[=\s]/.test(word) && namesSecret(word);
    return hide ? REDACTED : redactText(word);
  });
}

/** One line or more of any text. */
export function redactText(text: string): string {
  let safe = text.replace(/(\w:\/\/)[^\s/@]+@/g, `$1${REDACTED}@`);
  safe = safe.replace(/\b(bearer|basic)(\s+)[\w.~+/=-]{6,}/gi, `$1$2${REDACTED}`);
  for (const form of SECRET_FORMS) safe = safe.replace(form, REDACTED);
  safe = safe.replace(NAMED_VALUE, (whole, quote: string, name: string, between: string, value: string) =>
    namesSecret(name) && !/^(?:bearer|basic)$/i.test(value) ? `${quote}${name}${quote}${between}${REDACTED}` : whole,
  );
  return safe.replace(
    /(^|\s)(--?[A-Za-z][\w-]*)(\s+)((?!--)[^\s]+)/g,
    (whole, before: string, flag: string, gap: string) =>
      namesSecret(flag) ? `${before}${flag}${gap}${REDACTED}` : whole,
  );
}

function namesSecret(name: string): boolean {
  const parts = name
    // fooBar -> foo-Bar; HTTP-style and snake names are split alike below.
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[-_.]+/);
  return parts.some(
    (part, i) => SECRET_PARTS.has(part) || ((part === 'key' || part === 'keys') && KEY_OWNERS.has(parts[i - 1] ?? '')),
  );
}
