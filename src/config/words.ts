/** The words of both files: what may stand at a key, told once as a check, an expectation and a right example. */
import {isIP} from 'node:net';
import {z} from 'zod';
import {parseDuration} from '../domain/duration.ts';

/** What a wrong word's issue carries to the list of mistakes. */
export interface Expectation {
  readonly expected: string;
  readonly example: string;
  /** The value may be a secret put into the wrong place: it is not repeated. */
  readonly unseen?: boolean;
}

export function word<T>(read: (value: unknown) => T | null, expectation: Expectation): z.ZodType<T> {
  return z.unknown().transform((value, context): T => {
    const made = read(value);
    if (made !== null) return made;
    context.issues.push({code: 'custom', input: value, params: {...expectation, value}, message: expectation.expected});
    return z.NEVER;
  });
}

export function matching(pattern: RegExp, expectation: Expectation): z.ZodType<string> {
  return word((value) => (typeof value === 'string' && pattern.test(value) ? value : null), expectation);
}

/** An object that refuses keys it does not know; each unknown key is an issue of its own and names the known ones. */
export function strict<S extends z.core.$ZodLooseShape>(shape: S): z.ZodObject<S, z.core.$strict> {
  const known = Object.keys(shape);
  const unknownKey = z.custom<never>(() => false, {params: {known}, error: 'unknown key'});
  return z.object(shape).catchall(unknownKey) as unknown as z.ZodObject<S, z.core.$strict>;
}

export const flag = word((value) => (typeof value === 'boolean' ? value : null), {
  expected: 'true or false',
  example: 'true',
});

export function whole(least: number, most: number, example: number): z.ZodType<number> {
  return word(
    (value) => (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most ? value : null),
    {expected: `a whole number from ${least} to ${most}`, example: String(example)},
  );
}

export function duration(least: string, most: string, example: string): z.ZodType<number> {
  const [leastMs, mostMs] = [parseDuration(least) ?? 0, parseDuration(most) ?? 0];
  return word(
    (value) => {
      const ms = typeof value === 'string' ? parseDuration(value) : null;
      return ms !== null && ms >= leastMs && ms <= mostMs ? ms : null;
    },
    {expected: `a duration from ${least} to ${most}: digits and one of ms, s, m, h`, example},
  );
}

export function oneOf<const T extends string>(...words: readonly [T, ...T[]]): z.ZodType<T> {
  return word((value) => words.find((one) => one === value) ?? null, {
    expected: words.join(' or '),
    example: words[0],
  });
}

/** A file's path on the machine of this program. */
export const localPath = matching(/^[^\0\n]{1,4096}$/, {expected: 'a path', example: '~/.ssh/gpu-look'});

/** Ends up as a plain word in a remote command: no quoting may ever be needed. */
export const remoteFolder = word(
  (value) =>
    typeof value === 'string' && /^\/[A-Za-z0-9/_.+-]*$/.test(value) && !value.split('/').includes('..') ? value : null,
  {expected: 'an absolute folder of letters, digits and / _ . + - only', example: '/usr/local/nvidia/bin'},
);

export const userName = matching(/^[A-Za-z_][A-Za-z0-9_.@-]{0,63}$/, {
  expected: 'a login name',
  example: 'gpu-look',
});

export const address = word(
  (value) =>
    typeof value === 'string' && (isIP(value) !== 0 || /^(?=.{1,253}$)[A-Za-z0-9_]([A-Za-z0-9_.-]*)$/.test(value))
      ? value
      : null,
  {expected: 'a DNS name or an IP address: no user@, no [ ], no port', example: '10.0.0.7'},
);

export const label = word(
  (value) => (['string', 'number', 'boolean'].includes(typeof value) && String(value) !== '' ? String(value) : null),
  {expected: 'a word', example: 'r12'},
);

export const link = word((value) => (typeof value === 'string' && isWebAddress(value) ? value : null), {
  expected: 'a web address',
  example: 'https://grafana.example/d/gpu-07',
});

function isWebAddress(text: string): boolean {
  return /^https?:\/\/[^\s<>|]+$/.test(text) && URL.canParse(text);
}

/** Host and group names share one space, since both may be typed after a verb. */
export const shortName = matching(/^[a-z0-9][a-z0-9.-]{0,62}$/, {
  expected: 'a name of lower-case letters, digits, dots and hyphens, at most 63',
  example: 'gpu-07',
});

/** inet_aton(3) reads one to four numbers, octal and hexadecimal ones too, as an address. */
export const hostNameWord = word(
  (value) =>
    typeof value === 'string' &&
    /^[a-z0-9][a-z0-9.-]{0,62}$/.test(value) &&
    !value.split('.').every((part) => /^(0x[0-9a-f]*|[0-9]*)$/.test(part))
      ? value
      : null,
  {
    expected: 'a host name of lower-case letters, digits, dots and hyphens, at most 63, and no address',
    example: 'gpu-07 (the address goes to its key `address`)',
  },
);
