/**
 * A host for drills: `npm run practice` keeps a lab host up on this machine, prints its entry for a hosts file, and fills
 * its stand-in GPUs anew after each drill. A bot whose hosts file has that entry reclaims there as it does anywhere.
 */
import {once} from 'node:events';
import {chmodSync, lstatSync, mkdirSync, statSync} from 'node:fs';
import {createServer} from 'node:net';
import {dirname} from 'node:path';
import {createInterface} from 'node:readline';
import {setTimeout as wait} from 'node:timers/promises';
import {parseArgs} from 'node:util';
import {stringify} from 'yaml';
import {type Lab, startLab} from './lab/lab.ts';
import {say} from './stage.ts';
import {castFor} from './story/cast.ts';

const GPUS = 8;
/** The bot looks again 1 and 10 minutes after a run: a host that was filled anew before would look like a return. */
const NEXT_ROUND_MS = 12 * 60_000;
const LOOK_MS = 2_000;

interface Options {
  readonly name: string;
  readonly port: number;
  readonly folder: string;
}

async function main(): Promise<number> {
  const options = readOptions();
  if (typeof options === 'string') return wrong(options);
  const taken = ownFolder(options.folder) ?? (await refusePort(options.port));
  if (taken !== null) return wrong(taken);
  const over = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => over.abort());
  for (let round = Date.now() % 1_000; !over.signal.aborted; round += 1) await play(options, round, over.signal);
  return 0;
}

/** One filling of the host, until it was emptied or somebody wants the next. */
async function play(options: Options, seed: number, over: AbortSignal): Promise<void> {
  const lab = await startLab({name: options.name, gpus: GPUS, door: options});
  try {
    const cast = await castFor(lab, seed);
    say(
      '',
      `${options.name} is up: a ${lab.why}.`,
      'GPU 0-3 have a ghost, two more a vLLM server with workers; beside them live innocents.',
      `In Slack: /gpu reclaim ${options.name} match=vllm. Everybody may give the go there; every card says PRACTICE.`,
      `The entry for the hosts file stays the same at each start:`,
      '',
      entryOf(options.name, lab),
      'Enter fills the host anew; Ctrl-C ends it and leaves nothing behind but its keys.',
    );
    const next = new AbortController();
    await Promise.race([
      emptied(lab, cast.guilty, AbortSignal.any([over, next.signal])),
      pressed(AbortSignal.any([over, next.signal])),
      aborted(over),
    ]);
    next.abort();
  } finally {
    await lab.stop();
  }
}

/** Resolves some minutes after the last of the guilty has ended. */
async function emptied(lab: Lab, guilty: readonly {readonly pid: number}[], over: AbortSignal): Promise<void> {
  try {
    for (;;) {
      const alive = await Promise.all(guilty.map(({pid}) => lab.alive(pid)));
      if (!alive.includes(true)) break;
      await wait(LOOK_MS, undefined, {signal: over});
    }
    say(`Drill over: the host is filled anew in ${NEXT_ROUND_MS / 60_000} minutes.`);
    await wait(NEXT_ROUND_MS, undefined, {signal: over});
  } catch (error) {
    if (!over.aborted) throw error;
  }
}

/** Resolves at Enter; never where there is no keyboard. */
async function pressed(over: AbortSignal): Promise<void> {
  if (!process.stdin.isTTY) return aborted(over);
  const lines = createInterface({input: process.stdin});
  try {
    await once(lines, 'line', {signal: over});
  } catch (error) {
    if (!over.aborted) throw error;
  } finally {
    lines.close();
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** As it is to stand under `hosts:`. */
function entryOf(name: string, lab: Lab): string {
  const text = stringify({[name]: {...lab.hostsEntry(), practice: true}}, {lineWidth: 0});
  return text.replaceAll(/^(?=.)/gm, '  ');
}

function readOptions(): Options | string {
  let read: {readonly values: Readonly<Record<'name' | 'port' | 'folder', string>>};
  try {
    read = parseArgs({
      options: {
        name: {type: 'string', default: 'practice-1'},
        port: {type: 'string', default: '2207'},
        folder: {type: 'string', default: `/var/tmp/gpu-reclaim-practice-${process.getuid?.() ?? 0}`},
      },
    });
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}\nThere are --name, --port and --folder.`;
  }
  const {name, folder} = read.values;
  const port = Number(read.values.port);
  if (!Number.isSafeInteger(port) || port < 1 || port > 65_535)
    return `--port ${read.values.port} does not read; expected a port such as 2207`;
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(name)) return `--name ${name} does not read; expected one such as practice-1`;
  if (!/^(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$/.test(folder))
    return `--folder ${folder} does not read; expected an absolute folder of letters, digits and / _ . -`;
  return {name, port, folder};
}

/** Made if it is missing; else it must be ours, since it holds the keys. Why not, or null. */
function ownFolder(folder: string): string | null {
  try {
    mkdirSync(folder, {recursive: true, mode: 0o755});
    const found = lstatSync(folder);
    if (!found.isDirectory() || found.uid !== (process.getuid?.() ?? 0))
      return `${folder} is not a folder of yours; name another with --folder`;
    chmodSync(folder, 0o755);
    // Some of the lab's processes belong to other users.
    const closed = parentsOf(folder).find((parent) => (statSync(parent).mode & 0o001) === 0);
    return closed === undefined ? null : `${closed} may not be entered by other users; name a --folder elsewhere`;
  } catch (error) {
    return `${folder} cannot be used (${error instanceof Error ? error.message : String(error)}); name another with --folder`;
  }
}

function parentsOf(folder: string): readonly string[] {
  const parent = dirname(folder);
  return parent === folder ? [] : [parent, ...parentsOf(parent)];
}

async function refusePort(port: number): Promise<string | null> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return null;
  } catch {
    return `port ${port} is taken, perhaps by another practice host; name another with --port`;
  } finally {
    server.close();
  }
}

function wrong(sentence: string): number {
  process.stderr.write(`${sentence}\n`);
  return 2;
}

process.exitCode = await main();
