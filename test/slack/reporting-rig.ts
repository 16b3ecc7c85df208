/** A rig whose hosts answer looks with a saved transcript, for what looks at the fleet. */
import {readFileSync} from 'node:fs';
import {ok} from '../../src/domain/failure.ts';
import type {RemoteHosts} from '../../src/engine/remote-ports.ts';
import {lookOnly, unreachable} from '../doubles/look-only.ts';
import {type Rig, type RigOptions, startRig} from './rig.ts';

const NONCE = '0123456789abcdef0123456789abcdef';
/** A real H200 with an inheritor on it: dirty. */
export const H200 = readFileSync(new URL('../fixtures/probes/h200.txt', import.meta.url), 'utf8');

export interface LookedAt {
  readonly rig: Rig;
  /** What the hosts say now; null: not reachable. */
  readonly host: {says: string | null; looks: number; held: Promise<void> | null};
}

export async function lookedAtRig(options: RigOptions = {}): Promise<LookedAt> {
  const host = {says: H200 as string | null, looks: 0, held: null as Promise<void> | null};
  const remote: RemoteHosts = {
    host: (name) =>
      lookOnly(name, async () => {
        host.looks += 1;
        await host.held;
        if (host.says === null) return unreachable(name);
        const stdout = new TextEncoder().encode(host.says);
        return ok({host: name, hostKey: 'SHA256:k', nonce: NONCE, stdout, stderr: '', exitCode: 0, tookMs: 9});
      }),
    close: async () => undefined,
  };
  return {rig: await startRig({remote, ...options}), host};
}
