/** One sample of a lab host by the script that the bot sends, under each shell; and with an nvidia-smi that does not answer. */
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {hostName} from '../../src/domain/host.ts';
import {parseSample} from '../../src/domain/parse/sample.ts';
import {type Lab, startLab} from '../../src/playground/lab/lab.ts';
import {connectToLab, type LabConnection} from '../../src/playground/lab/run-in-lab.ts';
import {workload} from '../../src/playground/lab/species.ts';
import {sampleScript} from '../../src/ssh/sample-script.ts';

const NONCE = 'feedbeeffeedbeeffeedbeeffeedbeef';
let lab: Lab;
let ssh: LabConnection;

beforeAll(async () => {
  lab = await startLab({name: 'lab-sample', gpus: 2});
  ssh = await connectToLab(lab);
}, 30_000);

afterAll(async () => {
  ssh.close();
  await lab.stop();
});

async function sample(shell = 'sh') {
  const path = `PATH=${lab.hostsEntry().extraPath[0]}:$PATH`;
  const ran = await ssh.run(`env ${path} ${shell} -s`, sampleScript(NONCE));
  expect(ran.stderr).toBe('');
  const stdout = new TextEncoder().encode(ran.stdout);
  return parseSample({
    host: hostName('lab'),
    hostKey: 'k',
    nonce: NONCE,
    stdout,
    stderr: '',
    exitCode: ran.code,
    tookMs: 1,
  });
}

describe('a sample of a lab host', () => {
  it.each(['dash', 'bash', 'busybox sh', 'mksh'])('is read under %s', async (shell) => {
    const [program = ''] = shell.split(' ');
    if ((await ssh.run(`command -v ${program}`)).code !== 0) return;
    const job = await lab.spawn(workload([{gpu: 1, MiB: 512}]));
    const read = await sample(shell);
    if (!read.ok) throw new Error(JSON.stringify(read.failure));
    expect(read.value.gpus).toMatchObject([
      {uuid: lab.gpus[0]?.uuid, index: 0, usedMiB: 0, utilizationPercent: 0},
      {uuid: lab.gpus[1]?.uuid, index: 1, usedMiB: 512},
    ]);
    expect(read.value.bills).toEqual([`${lab.gpus[1]?.uuid} ${job.pid}`]);
    expect(read.value.costMs).toBeLessThan(5_000);
    await lab.endOfItself(job.pid);
  });

  it('is none while nvidia-smi fails', async () => {
    lab.setFault({kind: 'failed'});
    expect(await sample()).toMatchObject({ok: false, failure: {reason: 'probe-unreadable', section: 'usage'}});
    lab.setFault({kind: 'none'});
  });
});
