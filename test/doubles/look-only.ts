/** A host that can be looked at and nothing else: whatever more is asked of it fails the test by name. */
import {fail} from '../../src/domain/failure.ts';
import type {HostName} from '../../src/domain/host.ts';
import type {RemoteHost} from '../../src/engine/remote-ports.ts';

export function unreachable(host: HostName) {
  return fail({reason: 'host-unreachable', host, address: '192.0.2.7:22', detail: 'no route'});
}

/** No deeper look comes back: the plain one stands. */
export function lookOnly(name: HostName, probe: RemoteHost['probe']): RemoteHost {
  const looks: Partial<RemoteHost> = {probe, deep: async () => unreachable(name)};
  return new Proxy(looks as RemoteHost, {
    get: (target, asked: keyof RemoteHost) => {
      if (asked in target) return target[asked];
      throw new Error(`Internal error: a report asked a host for ${asked}`);
    },
  });
}
