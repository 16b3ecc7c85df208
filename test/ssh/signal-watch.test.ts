import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, it} from 'vitest';
import {hostName} from '../../src/domain/host.ts';
import {parseSignal} from '../../src/domain/parse/signal-output.ts';
import {
  type Answer,
  batch,
  GPU,
  has,
  lives,
  makeRig,
  NONCE,
  observations,
  order,
  type Rig,
  results,
  run,
  SHELLS,
  settled,
  start,
  startTicks,
  until,
} from './signal-rig.ts';

let rig: Rig;
beforeEach(() => {
  rig = makeRig();
});
afterEach(() => rig.end());

const needs = has('python3') ? '' : ' (needs python3: apt-get install python3)';
const OTHER = 'GPU-99999999-1111-2222-3333-444444444444';

describe.skipIf(needs !== '')(`the watch${needs}`, () => {
  it('calls a dead child whose parent never waits a zombie, and goes on to memory and the closing probe', async () => {
    const target = await rig.target('unreaped');
    const answer = await run(rig, batch([order(target.identity, 'SIGKILL')], {watchMs: 20_000}));
    expect(observations(answer, target.identity.pid).at(-1)).toBe('zombie');
    expect(settled(answer)).toEqual(['expected']);
    const report = reported(answer);
    expect(report.complete).toBe(true);
    expect(report.closing?.machine.pidNamespace).toBe(batch([]).machine.pidNamespace);
    expect(report.closing?.gpus.map((gpu) => gpu.uuid)).toEqual([]);
  });

  it('ends at its limit with a survivor, without memory or closing probe, unless it is the final one', async () => {
    const target = await rig.target('deaf');
    const asked = batch([order(target.identity)], {watchMs: 150});
    const first = await run(rig, asked);
    expect(observations(first, target.identity.pid)).toEqual(['alive']);
    expect(settled(first)).toEqual([]);
    expect(reported(first)).toMatchObject({complete: true, closing: null});
    const last = await run(rig, {...asked, final: true});
    expect(settled(last)).toEqual(['expected']);
    expect(reported(last).closing).not.toBeNull();
  });

  it('waits for nothing when nothing was sent', async () => {
    const target = await rig.target('honours');
    const answer = await run(rig, batch([order(target.identity)], {notAfterUptimeMs: 10, watchMs: 20_000}));
    expect(answer.tookMs).toBeLessThan(10_000);
    expect(observations(answer, target.identity.pid)).toEqual(['alive']);
    expect(settled(answer)).toEqual([]);
  });

  it('watches without an order until the watched process goes by itself', async () => {
    const target = await rig.target('honours');
    const running = start(rig, batch([], {watch: [target.identity], watchMs: 20_000}));
    await running.saw((event) => event.kind === 'seen' && event.observation === 'alive');
    process.kill(target.identity.pid, 'SIGTERM');
    const answer = await running.answer;
    expect(observations(answer, target.identity.pid).at(-1)).toMatch(/^(gone|zombie)$/);
  });

  it('shows a zombie leader with a live thread as stuck, not as dead', async () => {
    const target = await rig.target('zombie-leader');
    const answer = await run(rig, batch([], {watch: [target.identity], watchMs: 100}));
    expect(observations(answer, target.identity.pid)).toEqual(['stuck']);
  });

  it('gives a sign of life at least every half second', async () => {
    const target = await rig.target('honours');
    const answer = await run(rig, batch([], {watch: [target.identity], watchMs: 1000}));
    const beats = answer.events.filter((event) => event.kind === 'heartbeat');
    expect(beats.length).toBeGreaterThanOrEqual(2);
    expect(beats.length).toBeLessThanOrEqual(6);
  });
});

for (const shell of SHELLS) {
  describe.skipIf(needs !== '' || !has(shell))(`under ${shell} (needs it: apt-get install ${shell})`, () => {
    it('a lost connection ends the watch within a second', async () => {
      const target = await rig.target('deaf');
      const running = start(rig, batch([order(target.identity)], {watchMs: 25_000}), {shell});
      await running.saw((event) => event.kind === 'heartbeat');
      await endsWithoutReader(running);
    });

    it('a lost connection ends the memory watch and its hanging nvidia-smi within a second', async () => {
      rig.fake('nvidia-smi', `echo $$ >'${rig.folder}/smi-pid'; exec sleep 25`);
      const running = start(rig, batch([], {verifyMs: 25_000, stalledMs: 25_000}), {shell});
      const path = join(rig.folder, 'smi-pid');
      await until(() => existsSync(path) && readFileSync(path, 'utf8').endsWith('\n'), 15_000);
      const pid = Number(readFileSync(path, 'utf8'));
      const ticks = startTicks(pid);
      await endsWithoutReader(running);
      await until(() => !lives(pid, ticks), 1000);
    });
  });
}

describe.skipIf(needs !== '')(`memory${needs}`, () => {
  const memory = (answer: Answer, uuid = GPU) =>
    answer.events.filter((event) => event.kind === 'memory').map((event) => event.usedMiB[uuid]);

  /** A stand-in whose figures are read from a list, one row a call; the last one stays. */
  const figures = (...rows: readonly string[]): void => {
    rows.forEach((row, at) => {
      writeFileSync(join(rig.folder, `row-${at}`), `${row}\n`);
    });
    rig.fake(
      'nvidia-smi',
      `cd '${rig.folder}'; n=$(cat calls 2>/dev/null || echo 0); [ -e row-$n ] || n=${rows.length - 1}
       cat row-$n; echo $((n + 1)) >calls`,
    );
  };
  const watchMemory = (change = {}) => run(rig, batch([], change));

  it('is watched until it is what the remaining holders explain', async () => {
    figures(`${GPU}, 900`, `${GPU}, 900`, `${GPU}, 400`, `${GPU}, 10`, `${GPU}, 3`);
    const answer = await watchMemory();
    expect(memory(answer)).toEqual([900, 400, 10]);
    expect(settled(answer)).toEqual(['expected']);
  });

  it('that stops falling above that level is stalled, whatever another GPU does', async () => {
    figures(`${GPU}, 900\n${OTHER}, 5`, `${GPU}, 500\n${OTHER}, 7`, `${GPU}, 500\n${OTHER}, 2`);
    const answer = await watchMemory();
    expect(memory(answer).at(-1)).toBe(500);
    expect(settled(answer)).toEqual(['stalled']);
  });

  it('still falling at the limit is timed out', async () => {
    rig.fake('nvidia-smi', `read -r up _ </proc/uptime; up=\${up%.*}\${up#*.}; echo "${GPU}, $((900000000 - up))"`);
    const answer = await watchMemory({verifyMs: 700, stalledMs: 5000});
    expect(settled(answer)).toEqual(['timed-out']);
  });

  it('of a GPU without a known level must have stopped falling', async () => {
    figures(`${GPU}, 5\n${OTHER}, 900`, `${GPU}, 5\n${OTHER}, 600`, `${GPU}, 5\n${OTHER}, 300`);
    const expected = [
      {gpuUuid: GPU, atMostMiB: 10},
      {gpuUuid: OTHER, atMostMiB: null},
    ];
    const answer = await watchMemory({expected});
    expect(memory(answer, OTHER)).toEqual([900, 600, 300]);
    expect(settled(answer)).toEqual(['expected']);
    expect(settled(await watchMemory({expected: [{gpuUuid: OTHER, atMostMiB: null}]}))).toEqual(['stalled']);
  });

  it.each(['[N/A]', '[GPU requires reset]', '[Unknown Error]', ''])(
    'with "%s" for a figure is unreadable, never zero',
    async (token) => {
      figures(`${GPU}, ${token}`);
      const answer = await watchMemory();
      expect(memory(answer)).toEqual([]);
      expect(settled(answer)).toEqual(['unreadable']);
    },
  );

  it('without nvidia-smi, or with one that fails, is unreadable', async () => {
    rig.fake('nvidia-smi', 'echo "Failed to initialize NVML: Unknown Error"; exit 255');
    expect(settled(await watchMemory())).toEqual(['unreadable']);
  });

  it('behind an nvidia-smi that ignores every signal but SIGKILL is unreadable, and the script goes on', async () => {
    rig.fake(
      'nvidia-smi',
      `[ "$1" = --query-gpu=uuid,memory.used ] || exit 9
       trap '' TERM; echo $$ >'${rig.folder}/smi-pid'; while :; do sleep 0.2; done`,
    );
    const running = start(rig, batch([], {stalledMs: 500}));
    const path = join(rig.folder, 'smi-pid');
    await until(() => existsSync(path) && readFileSync(path, 'utf8').endsWith('\n'), 15_000);
    const pid = Number(readFileSync(path, 'utf8'));
    const ticks = startTicks(pid);
    const answer = await running.answer;
    expect(settled(answer)).toEqual(['unreadable']);
    await until(() => !lives(pid, ticks), 3000);
    expect(reported(answer).closing).not.toBeNull();
  });

  it('is read anew within one call after it fell', async () => {
    const target = await rig.target('honours');
    rig.fake(
      'nvidia-smi',
      `if [ -e /proc/${target.identity.pid} ]; then echo '${GPU}, 900'; else echo '${GPU}, 4'; fi`,
    );
    const answer = await run(rig, batch([order(target.identity, 'SIGKILL')]));
    expect(results(answer)).toEqual(['sent']);
    const sentAt = answer.events.find((event) => event.kind === 'order')?.uptimeMs ?? 0;
    const settledAt = answer.events.find((event) => event.kind === 'settled')?.uptimeMs ?? 0;
    // Generous for a loaded machine; the figure itself belongs to a benchmark.
    expect(settledAt - sentAt).toBeLessThan(2000);
  });
});

async function endsWithoutReader(running: ReturnType<typeof start>): Promise<void> {
  const lostAt = performance.now();
  running.child.stdout?.destroy();
  await new Promise((resolve) => running.child.once('exit', resolve));
  expect(performance.now() - lostAt).toBeLessThan(1000);
}

function reported(answer: Answer) {
  const transcript = {
    host: hostName('gpu-07'),
    hostKey: 'SHA256:none',
    nonce: NONCE,
    stdout: answer.stdout,
    stderr: answer.stderr,
    exitCode: answer.code,
    tookMs: answer.tookMs,
  };
  const parsed = parseSignal(transcript, 1);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.failure));
  return parsed.value;
}
