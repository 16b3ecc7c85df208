/** What an order may demand that its process still holds: a device by number, or a queue; read again where it is signalled. */

import {spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {statSync} from 'node:fs';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import type {Order} from '../../src/domain/order.ts';
import {CAN_MAKE_CELLS, type Cell, type Keeper, makeCell} from './keepers.ts';
import {
  batch,
  handles,
  has,
  makeRig,
  order,
  type Rig,
  type RunOptions,
  results,
  run,
  SENDERS,
  SHELLS,
} from './signal-rig.ts';

const READY = CAN_MAKE_CELLS && has('python3') && has('nsenter');

describe.skipIf(!READY)('an order (needs root, unshare, nsenter: apt-get install util-linux python3)', () => {
  let cell: Cell;
  let rig: Rig;
  beforeEach(async () => {
    cell = await makeCell();
    rig = makeRig();
  });
  afterEach(async () => {
    await rig.end();
    await cell.end();
  });

  const inCell = (script: string): string =>
    spawnSync(cell.enter[0] ?? '', [...cell.enter.slice(1), 'sh', '-c', script])
      .stdout.toString()
      .trim();
  /** As the process is seen in its own namespace. */
  function ask(keeper: Keeper, mustHold: Order['mustHold']): Order {
    const stat = inCell(`cat /proc/${keeper.pid}/stat`);
    const startTicks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
    const executable = inCell(
      `stat -L -c %d:%i /proc/${keeper.pid}/exe /proc/${keeper.pid}/task/*/exe 2>/dev/null | head -n 1`,
    );
    return order({pid: keeper.pid, startTicks, uid: 0, executable}, 'SIGTERM', mustHold);
  }
  async function send(orders: readonly Order[], options: RunOptions = {}): Promise<readonly string[]> {
    const asked = batch(orders, {watchMs: 50});
    const pidNamespace = inCell('readlink /proc/self/ns/pid').replace(/\D/g, '');
    const answer = await run(
      rig,
      {...asked, machine: {...asked.machine, pidNamespace}},
      {...options, wrap: cell.enter},
    );
    expect(answer.stderr).toBe('');
    expect(answer.code).toBe(0);
    expect(handles(answer)).toEqual(new Set([options.sender === 'neither' ? 'pid' : 'pidfd']));
    return results(answer);
  }
  /** nsenter ends by the signal that ended its child. */
  const signalOf = async ({child}: Keeper) => {
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    return child.signalCode;
  };

  const combinations = [
    ...SENDERS.map((sender) => ({shell: 'dash' as const, sender})),
    ...SHELLS.filter((shell) => shell !== 'dash').map((shell) => ({shell, sender: 'neither' as const})),
  ].filter(({shell, sender}) => has(shell) && (sender === 'neither' || has(sender)));

  it.each(combinations)('is for those that hold what was shown, and no others ($shell, $sender)', async (options) => {
    const odd = join(cell.folder, 'odd');
    inCell(`: >'${odd}' && mount --bind /dev/full '${odd}' && mknod '${cell.folder}/block' b 7 0`);
    expect(statSync(odd).isFile()).toBe(true);
    const made = await Promise.all(Array.from({length: 8}, () => cell.keeper()));
    const [open, closed, plain, block, queued, received, ring, both] = made as [
      Keeper,
      Keeper,
      Keeper,
      Keeper,
      Keeper,
      Keeper,
      Keeper,
      Keeper,
    ];
    const leader = await cell.keeper('leader');
    for (const keeper of [open, closed, both, leader]) await keeper.tell(`keep_open ${odd}`);
    await plain.tell(`keep_open ${join(rig.devices, 'nvidia0')}`);
    await block.tell(`keep_open ${join(cell.folder, 'block')}`);
    for (const keeper of [queued, received, both]) await keeper.tell(`queue ${odd} 2`);
    const hasRing = (await ring.tell(`ring ${odd}`)) !== 'refused';
    await closed.tell('close');
    await received.tell('receive');

    expect(
      await send(
        [
          ask(open, 'numbers'),
          ask(closed, 'numbers'),
          ask(plain, 'numbers'),
          ask(block, 'numbers'),
          ask(leader, 'numbers'),
          ask(queued, 'numbers'),
          ask(queued, 'queue'),
          ask(received, 'queue'),
          ask(plain, 'queue'),
          ask(ring, 'queue'),
          ask(both, 'paths'),
        ],
        options,
      ),
    ).toEqual([
      'sent',
      'not-holding',
      // By a path of the device folder, but an ordinary file.
      'not-holding',
      // The same number, but a block device's.
      'not-holding',
      'sent',
      'not-holding',
      'sent',
      'not-holding',
      'not-holding',
      hasRing ? 'sent' : 'not-holding',
      'not-holding',
    ]);
    for (const keeper of [open, queued, leader]) expect(await signalOf(keeper)).toBe('SIGTERM');
    for (const keeper of [closed, plain, block, received, both]) expect(await keeper.tell('close')).toBe('did');
  });

  it('by number finds a mapping, and a device beside a dead mount, also with the find of busybox', async () => {
    const [mapped, beside] = [await cell.keeper(), await cell.keeper()];
    await mapped.tell('map_private /dev/zero');
    inCell(`mkdir '${cell.folder}/dead[a]?'`);
    await beside.tell(`dead_mount ${cell.folder}/dead[a]?`);
    const orders = [ask(mapped, 'numbers'), ask(beside, 'numbers')];
    // No device here can be mapped shared, as NVIDIA's are; everything behind that sieve is the same.
    const cut = (script: string): string => script.replaceAll('f-]* ...s [0-9a-f]*', 'f-]* ...p [0-9a-f]*');
    if (has('busybox')) rig.fake('find', 'exec busybox find "$@"');
    const started = performance.now();
    expect(await send(orders)).toEqual(['not-holding', 'not-holding']);
    expect(performance.now() - started).toBeLessThan(2500);
    await beside.tell('keep_open /dev/full');
    expect(await send([ask(beside, 'numbers')], {cut})).toEqual(['sent']);
    rig.fake('find', 'PATH=/usr/bin:/bin exec find "$@"');
    expect(await send([ask(mapped, 'numbers')], {cut})).toEqual(['sent']);
  });

  it('says unreadable where /proc/devices says nothing', async () => {
    const keeper = await cell.keeper();
    await keeper.tell('keep_open /dev/full');
    const orders = [ask(keeper, 'numbers')];
    inCell(`: >'${cell.folder}/empty' && mount --bind '${cell.folder}/empty' /proc/devices`);
    expect(await send(orders)).toEqual(['unreadable open-files']);
    expect(await keeper.tell('close')).toBe('did');
  });

  it('with a word that is no demand is refused', async () => {
    const keeper = await cell.keeper();
    const cut = (script: string): string => script.replace(/ SIGTERM any'/, " SIGTERM all'");
    expect(await send([ask(keeper, 'nothing')], {cut})).toEqual(['failed unknown-hold']);
    expect(await keeper.tell('close')).toBe('did');
  });
});
