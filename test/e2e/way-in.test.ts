/** A host that cannot be reached, or must not be trusted: one sentence, nothing done, and the way out where there is one. */
import {appendFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {afterAll, describe, expect, test} from 'vitest';
import * as species from '../../src/playground/lab/species.ts';
import {receivedSignals} from '../../src/playground/lab/witness.ts';
import {makeBench, refusal, startHost, strangersKey} from './bench.ts';

const lab = await startHost('way-in', 2);
const bench = makeBench({});
const entry = bench.entryOf(lab);
await lab.spawn(species.workload([{gpu: 0, MiB: 700}]));

const stranger = strangersKey();
const keyFile = join(bench.folder, 'stranger');
writeFileSync(keyFile, stranger.secret, {mode: 0o600});
const knownHosts = join(bench.folder, 'known_hosts');
writeFileSync(knownHosts, '');
const {hostKeys, ...unpinned} = entry;
expect(hostKeys).toHaveLength(1);

/** Several entries may not speak of one address and port, so each test has the hosts file to itself. */
function only(change: Readonly<Record<string, unknown>>): void {
  bench.setHosts({'gpu-07': {...entry, ...change}});
}

describe('a host that', () => {
  afterAll(async () => {
    expect(receivedSignals(await lab.witness())).toEqual([]);
    await lab.stop();
    bench.remove();
  });

  test('is down', async () => {
    // A port that was free a moment ago may be another's by now.
    only({port: 1});
    expect(await refusal(bench, ['diagnose', 'gpu-07'])).toEqual({
      code: 5,
      reason: 'host-unreachable',
      sentence: expect.stringMatching(/^gpu-07 .*cannot be reached/),
    });
    expect(await refusal(bench, ['reclaim', 'gpu-07', 'match=vllm'])).toMatchObject({code: 5});
    // A run that failed is over: the next one is not told that the host is busy.
    expect((await bench.run('runs')).out).toMatch(/gpu-07 {2}failed/);
  });

  test('does not know our key', async () => {
    only({look: {user: 'root', keyFile}});
    expect(await refusal(bench, ['diagnose', 'gpu-07'])).toEqual({
      code: 5,
      reason: 'login-refused',
      sentence: expect.stringMatching(/refused the login of root.*authorized_keys/),
    });
  });

  test('shows another host key than the pinned one', async () => {
    only({hostKeys: [stranger.publicKey]});
    expect(await refusal(bench, ['reclaim', 'gpu-07', 'match=vllm'])).toEqual({
      code: 5,
      reason: 'host-key-mismatch',
      sentence: expect.stringMatching(/has CHANGED.*SHA256:.*expected.*SHA256:/),
    });
  });

  test('is not known yet: the line to add is shown, and adding it is the way in', async () => {
    bench.setHosts({'gpu-07': {...unpinned, knownHosts}});
    const refused = await refusal(bench, ['diagnose', 'gpu-07']);
    expect(refused).toMatchObject({code: 5, reason: 'host-key-unknown'});
    const line = /add this line: (.+)$/.exec(refused.sentence)?.[1] ?? '';
    expect(line).toContain(String((hostKeys as readonly string[])[0]));
    appendFileSync(knownHosts, `${line}\n`);
    expect((await bench.run('status', 'gpu-07')).code).toBe(0);
  });

  test.skipIf(!lab.features.has('uids') || !lab.features.has('sshd'))(
    'lets us in as somebody who may not become root (needs a root lab with sshd)',
    async () => {
      only({look: {user: 'bo', keyFile: lab.hostsEntry().look.keyFile}, sudo: true});
      expect(await refusal(bench, ['diagnose', 'gpu-07'])).toEqual({
        code: 5,
        reason: 'sudo-refused',
        sentence: expect.stringMatching(/sudo refused bo .*sudo/),
      });
    },
  );

  test.skipIf(!lab.features.has('uids') || !lab.features.has('sshd'))(
    'hides other users’ processes from us: that is said, and no empty list is taken for proof (needs a root lab with sshd)',
    async () => {
      only({look: {user: 'bo', keyFile: lab.hostsEntry().look.keyFile}});
      const answer = await bench.run('diagnose', 'gpu-07');
      expect(answer.out).toMatch(/other users' processes could not be read/);
      expect(answer.out).not.toMatch(/No process holds a GPU/);
    },
  );

  test('is one of several: the others are told, the bad one is unknown and not left out', async () => {
    bench.setHosts({'gpu-07': entry, 'gpu-08': {...entry, port: 1}});
    const answer = await bench.run('status');
    expect(answer.code).toBe(5);
    expect(answer.out).toMatch(/^gpu-08: unknown: .*cannot be reached/);
    expect(answer.out).toMatch(/gpu-07: 2 GPUs, 1 clean, 1 occupied.*\nLooked at 1 of 2 hosts/);
  });
});
