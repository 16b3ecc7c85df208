import {expect, test} from 'vitest';
import {hostSchema} from '../../src/config/hosts-schema.ts';
import {startLab} from '../../src/playground/lab/lab.ts';

test.each(['flat', null] as const)('what a lab says of itself (%s) is a valid entry of a hosts file', async (kind) => {
  const lab = await startLab({name: 'entry', gpus: 1, ...(kind ? {kind} : {})});
  try {
    const entry = lab.hostsEntry();
    expect(hostSchema.parse(JSON.parse(JSON.stringify(entry)))).toMatchObject({port: entry.port, mode: 'act'});
    expect(entry.deviceFolder).toBe(lab.kind === 'flat' ? `${lab.folder}/dev` : undefined);
  } finally {
    await lab.stop();
  }
});
