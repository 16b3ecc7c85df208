/** Runs the real script of a deeper look and reads its answer. */
import {spawnSync} from 'node:child_process';
import {expect} from 'vitest';
import type {DeepLook, DeepRequest} from '../../src/domain/deep.ts';
import {hostName} from '../../src/domain/host.ts';
import {parseDeep} from '../../src/domain/parse/deep.ts';
import {deepScript} from '../../src/ssh/deep-script.ts';

const NONCE = 'feedbeeffeedbeeffeedbeeffeedbeef';

export interface LookOptions {
  readonly shell?: readonly string[] | undefined;
  readonly request?: DeepRequest | undefined;
  readonly change?: ((script: string) => string) | undefined;
  /** Folders in front of PATH. */
  readonly before?: readonly string[] | undefined;
}

/** `enter`: words in front of the command, empty for this machine itself. */
export function lookDeep(enter: readonly string[], deviceFolder: string, options: LookOptions = {}): DeepLook {
  const request = options.request ?? {pids: [], sinceUptimeMs: null};
  const script = deepScript(NONCE, request, {deviceFolder});
  const path = [...(options.before ?? []), process.env['PATH']].join(':');
  const [program = 'sh', ...words] = [...enter, 'env', '-i', `PATH=${path}`, ...(options.shell ?? ['sh']), '-s'];
  const input = options.change === undefined ? script : options.change(script);
  if (options.change !== undefined) expect(input).not.toBe(script);
  const ran = spawnSync(program, words, {
    input,
    maxBuffer: 1 << 24,
    // A look that waits for what it can't end must turn this red, not hang.
    timeout: 20_000,
    killSignal: 'SIGKILL',
  });
  const from = {host: hostName('here'), hostKey: 'k', nonce: NONCE, stderr: '', exitCode: ran.status, tookMs: 1};
  const parsed = parseDeep({...from, stdout: ran.stdout}, 7);
  if (!parsed.ok) throw new Error(`${JSON.stringify(parsed.failure)} ${ran.stderr.toString()}`);
  expect(ran.stderr.toString()).toBe('');
  return parsed.value;
}
