import {randomBytes} from 'node:crypto';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {parseSignal, parseSignalLine} from '../../src/domain/parse/signal-output.ts';
import {deepScript} from '../../src/ssh/deep-script.ts';
import {ownedScript} from '../../src/ssh/owned-script.ts';
import {ownersScript} from '../../src/ssh/owners-script.ts';
import {probeScript} from '../../src/ssh/probe-script.ts';
import {makeRemoteHosts} from '../../src/ssh/remote-host.ts';
import {sampleScript} from '../../src/ssh/sample-script.ts';
import {settingsScript} from '../../src/ssh/settings-script.ts';
import {signalScript} from '../../src/ssh/signal-script.ts';
import {writesScript} from '../../src/ssh/writes-script.ts';
import {accessTo, CLOCK, GPU_07} from './hosts.ts';
import {batch, GPU, has, makeRig, order, type Rig} from './signal-rig.ts';
import {HAS_SSHD, type Sshd, startSshd} from './sshd.ts';

describe.skipIf(!HAS_SSHD || !has('python3'))(
  'over a real sshd (needs it: apt-get install openssh-server python3)',
  () => {
    let sshd: Sshd;
    let rig: Rig;
    beforeEach(async () => {
      sshd = await startSshd();
      rig = makeRig();
    });
    afterEach(async () => {
      await sshd.stop();
      await rig.end();
    });
    const remote = () => {
      const access = accessTo(sshd, {deviceFolder: rig.devices, extraPath: [join(rig.folder, 'fakes')]});
      return makeRemoteHosts({
        access: new Map([[GPU_07, access]]),
        scripts: {
          probe: probeScript,
          deep: deepScript,
          writes: writesScript,
          owners: ownersScript,
          owned: ownedScript,
          settings: settingsScript,
          sample: sampleScript,
          signal: signalScript,
        },
        parseSignalLine,
        newNonce: () => randomBytes(16).toString('hex'),
        clock: CLOCK,
      });
    };

    it('a batch is signalled, watched, verified and probed in one exec', async () => {
      const target = await rig.target('honours');
      const hosts = remote();
      const live: string[] = [];
      const answer = await hosts.host(GPU_07).signal(batch([order(target.identity)]), (event) => live.push(event.kind));
      await hosts.close();
      if (!answer.ok) throw new Error(JSON.stringify(answer.failure));
      const report = parseSignal(answer.value, 1);
      if (!report.ok) throw new Error(JSON.stringify(report.failure));
      expect(report.value.complete).toBe(true);
      expect(report.value.closing?.holdings).toEqual([]);
      expect(report.value.events.map(({kind}) => kind)).toEqual(live);
      expect(report.value.events.at(-1)).toMatchObject({kind: 'settled', how: 'expected'});
      expect(report.value.events.find(({kind}) => kind === 'memory')).toMatchObject({usedMiB: {[GPU]: 4}});
      expect(await target.received()).toEqual(['SIGTERM']);
    });

    it('a login shell that eats the first line makes the host refuse the rest', async () => {
      const target = await rig.target('honours');
      sshd.login('IFS= read -r eaten');
      const hosts = remote();
      const answer = await hosts.host(GPU_07).signal(batch([order(target.identity)]), () => {});
      await hosts.close();
      expect(answer).toMatchObject({ok: false, failure: {reason: 'script-refused'}});
      expect(await target.received()).toEqual([]);
    });
  },
);
