import {expect, test} from 'vitest';
import {raiseZoo} from '../../src/playground/zoo-host.ts';
import {ZOO} from '../../src/playground/zoo-table.ts';
import {openEyes} from './lab-look.ts';

test('the whole zoo stands on one host, spread over its GPUs, each species of its own', async () => {
  const {lab} = await raiseZoo(undefined);
  try {
    const eyes = await openEyes(lab);
    const used = await Promise.all(lab.gpus.map((_, gpu) => eyes.usedMiB(gpu)));
    expect(used).toEqual(await lab.ledger());
    expect(used.every((MiB) => MiB >= 4_096)).toBe(true);
    const made = ZOO.filter((row) => row.needs.every((feature) => lab.features.has(feature)));
    // Three innocents beside them, of which two hold memory; an unreaped process holds none.
    const holding = new Set((await lab.ledgerEntries()).map((entry) => entry.pid)).size;
    expect(holding).toBeGreaterThanOrEqual(made.length + 1);
    eyes.ssh.close();
  } finally {
    await lab.stop();
  }
});
