/**
 * What one look costs on a crowded host, in one run beside what people would type: `npm run bench:probe`. Ends with 1 above
 * 1.3 times the probe's slowest section alone, or 1.3 times fuser. A benchmark of ratios, not a timed test.
 */
import {execFileSync} from 'node:child_process';
import {availableParallelism, loadavg} from 'node:os';
import {parseArgs} from 'node:util';
import {measureFreedAfter} from './bench/freed-after.ts';
import type {Timed} from './bench/rounds.ts';
import {type Race, race, SMI_CALL} from './bench/scan-race.ts';
import {type Lab, startLab} from './lab/lab.ts';
import {connectToLab} from './lab/run-in-lab.ts';
import {
  bystander,
  crowd,
  inheritor,
  mappingOnly,
  persistenceDaemon,
  renamed,
  workload,
  zombieLeader,
} from './lab/species.ts';
import {makeBot} from './story/bot.ts';

const LIMIT = 1.3;
/** All that is used there is billed to somebody; what a mapping alone keeps is not, and a run over it ends as "partly". */
const BILLED_GPUS = [0, 1, 6, 7];

async function main(): Promise<number> {
  const {values} = parseArgs({
    options: {
      processes: {type: 'string', default: '2000'},
      files: {type: 'string', default: '50'},
      rounds: {type: 'string', default: '9'},
      runs: {type: 'string', default: '5'},
    },
    allowPositionals: false,
  });
  const [processes, files, rounds, runs] = [values.processes, values.files, values.rounds, values.runs].map(Number);
  if (![processes, files, rounds, runs].every((one) => Number.isSafeInteger(one) && (one ?? 0) > 0)) {
    process.stderr.write('--processes, --files, --rounds and --runs are whole numbers above 0\n');
    return 2;
  }
  for (const [tool, its] of [
    ['fuser', 'psmisc'],
    ['lsof', 'lsof'],
  ] as const) {
    if (has(tool)) continue;
    process.stderr.write(`The bench needs ${tool}: apt-get install ${its}\n`);
    return 2;
  }
  const lab = await startLab({name: 'lab-bench', gpus: 8});
  try {
    const load = loadavg()[0] ?? 0;
    say(`${lab.why}; ${availableParallelism()} cores, load ${load.toFixed(1)} before the start.`);
    // The probe scans side by side and so needs idle cores, as what it is held against does not.
    if (load > 1) say('Other work is running here: the medians say less than the fastest of each.');
    const holders = await fill(lab, processes ?? 0, files ?? 0);
    say(`${processes} processes x ${files} files, ${holders} holders; medians of ${rounds} interleaved rounds.`, '');
    const result = await raceThere(lab, rounds ?? 0);
    const within = isWithin(result);
    await freeThere(lab, runs ?? 0, result.sections.find(({name}) => name === SMI_CALL)?.medianMs ?? Number.NaN);
    return within ? 0 : 1;
  } finally {
    await lab.stop();
  }
}

/** Returns how many processes hold a device. */
async function fill(lab: Lab, processes: number, files: number): Promise<number> {
  await lab.spawn(crowd(processes, files));
  const holders = [
    persistenceDaemon(lab.gpus.length),
    workload([{gpu: 0, MiB: 9_000}]),
    renamed([{gpu: 1, MiB: 9_000}]),
    mappingOnly([{gpu: 2, MiB: 9_000}]),
    zombieLeader([{gpu: 3, MiB: 9_000}]),
    inheritor([[{gpu: 4, MiB: 9_000}], [{gpu: 5, MiB: 9_000}]]),
    bystander([{gpu: 6, MiB: 9_000}]),
  ];
  for (const holder of holders) await lab.spawn(holder);
  return holders.length;
}

async function raceThere(lab: Lab, rounds: number): Promise<Race> {
  const connection = await connectToLab(lab);
  try {
    return await race(lab, connection, rounds);
  } finally {
    connection.close();
  }
}

/** Prints the race and says whether both ratios are within the limit. */
function isWithin({probe, fuser, lsof, sections}: Race): boolean {
  const [slowest] = sections;
  if (slowest === undefined) throw new Error('Internal error: the probe has no section');
  say(row('', 'median', 'fastest', 'slowest', 'holders'), line(probe), line(fuser), line(lsof));
  say('', "The probe's sections, each alone:", ...sections.map(line), '');
  const kept = [slowest, fuser].map((other) => {
    const ratio = probe.medianMs / other.medianMs;
    const best = (probe.fastestMs / other.fastestMs).toFixed(2);
    say(
      `probe / ${other.name}: ${ratio.toFixed(2)} (at most ${LIMIT}; fastest of each: ${best})${ratio > LIMIT ? '  <- ABOVE' : ''}`,
    );
    return ratio <= LIMIT;
  });
  return kept.every((one) => one);
}

async function freeThere(lab: Lab, runs: number, smiMs: number): Promise<void> {
  const bot = makeBot({[lab.name]: lab});
  try {
    const {totalMs, kernelMs, oursMs} = await measureFreedAfter(lab, bot, BILLED_GPUS, runs);
    const share = Math.round((100 * oursMs) / totalMs);
    say(
      '',
      `From last signal to verified free: ${ms(totalMs)}, median of ${runs} runs on that crowded host`,
      `  the kernel had let go after ${ms(kernelMs)}; ${ms(oursMs)} more are ours (${share} %)`,
      `  aim: 1.5 x the kernel's part + one nvidia-smi call (${ms(smiMs)} here) = ${ms(1.5 * kernelMs + smiMs)}`,
      '  a lab host lets go at once; an H200 was seen to take 83 to 180 ms, and its nvidia-smi 25 ms.',
    );
  } finally {
    bot.remove();
  }
}

function line(timed: Timed): string {
  const {name, medianMs, fastestMs, slowestMs, holders} = timed;
  return row(name, ms(medianMs), ms(fastestMs), ms(slowestMs), holders === null ? '-' : String(holders));
}

function row(name: string, ...cells: readonly string[]): string {
  return `${name.padEnd(22)}${cells.map((cell) => cell.padStart(10)).join('')}`.trimEnd();
}

function ms(value: number): string {
  return `${Math.round(value)} ms`;
}

function has(tool: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${tool}`], {stdio: 'ignore'});
    return true;
  } catch {
    return false;
  }
}

function say(...lines: readonly string[]): void {
  for (const one of lines) process.stdout.write(`${one}\n`);
}

process.exitCode = await main();
