/** The hosts file as written. Everything is optional here that defaults or the program itself can supply. */
import {z} from 'zod';
import {type ClockRange, clockRange} from '../domain/locked-clocks.ts';
import {pinnedKey} from './host-key.ts';
import {
  address,
  flag,
  hostNameWord,
  label,
  link,
  localPath,
  matching,
  oneOf,
  remoteFolder,
  shortName,
  strict,
  userName,
  whole,
  word,
} from './words.ts';

const fingerprint = matching(/^SHA256:[A-Za-z0-9+/]{43}$/, {
  expected: 'a key fingerprint as `ssh-add -l` prints it',
  example: 'SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU',
});

const environmentName = matching(/^[A-Z][A-Z0-9_]{0,63}$/, {
  expected: 'the NAME of an environment variable, never the passphrase itself',
  example: 'GPU_RECLAIM_ACT_PASSPHRASE',
  unseen: true,
});

const uid = matching(/^(0|[1-9][0-9]{0,8}|[1-3][0-9]{9}|4[01][0-9]{8})$/, {
  expected: 'a uid of that host as key',
  example: '1001: anna',
});

const person = matching(/^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,63}$/, {
  expected: 'a login name of the machine that runs gpu-reclaim, or a Slack user id',
  example: 'anna',
});

const hostKey = word((value) => (typeof value === 'string' ? pinnedKey(value) : null), {
  expected: 'a public host key: its type and its base64',
  example: 'what `cut -d" " -f1,2 /etc/ssh/ssh_host_ed25519_key.pub` prints on that host',
});

/** Narrower than other folders: it also stands in patterns of the probe. */
const labFolder = word(
  (value) => (typeof value === 'string' && /^(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$/.test(value) ? value : null),
  {expected: 'an absolute folder of letters, digits and / _ . - only', example: '/dev'},
);

const credential = strict({
  user: userName.optional(),
  keyFile: localPath.optional(),
  passphraseEnv: environmentName.optional(),
  agent: strict({socket: localPath.optional(), fingerprint: fingerprint.optional()}).optional(),
});

const range = word<ClockRange>(
  (value) =>
    Array.isArray(value) && value.length === 2 && value.every((one) => typeof one === 'number')
      ? clockRange(Number(value[0]), Number(value[1]))
      : null,
  {expected: 'two clocks in MHz, the lower first, as nvidia-smi -lgc takes them', example: '[1410, 1410]'},
);

const gpuIndex = matching(/^(0|[1-9][0-9]{0,2})$/, {expected: 'the index of a GPU as key', example: '0'});

const locked = {lockedGraphics: range.optional(), lockedMemory: range.optional()};

const common = {
  port: whole(1, 65_535, 22).optional(),
  user: userName.optional(),
  look: credential.optional(),
  act: credential.optional(),
  knownHosts: localPath.optional(),
  sudo: flag.optional(),
  extraPath: z.array(remoteFolder).optional(),
  libraryPath: z.array(remoteFolder).optional(),
  groups: z.array(shortName).optional(),
  labels: z.record(z.string(), label).optional(),
  people: z.record(uid, person).optional(),
  links: z.record(z.string(), link).optional(),
  clocks: strict({...locked, gpus: z.record(gpuIndex, strict(locked)).optional()}).optional(),
};

const noModeHere = word<never>(() => null, {
  expected: 'no mode among the defaults: whether a host may be acted on is said at each host',
  example: 'mode: act at the hosts that you mean, and nothing here',
});

export const defaultsSchema = strict({...common, mode: noModeHere.optional()});

export const hostSchema = strict({
  ...common,
  address: address.optional(),
  mode: oneOf('observe', 'act').optional(),
  /** Here only, since a key belongs to one machine. */
  hostKeys: z.array(hostKey).min(1, 'names no key').optional(),
  deviceFolder: labFolder.optional(),
  labPidNamespace: flag.optional(),
  practice: flag.optional(),
});

export const hostsFileSchema = strict({
  defaults: defaultsSchema.optional(),
  hosts: z.record(hostNameWord, hostSchema),
});

export type WrittenHosts = z.infer<typeof hostsFileSchema>;
export type WrittenHost = z.infer<typeof hostSchema>;
export type WrittenDefaults = z.infer<typeof defaultsSchema>;
export type WrittenCredential = z.infer<typeof credential>;
