/** One look at what processes write -> the files they had open, with where each stood at both times. */
import {fail, ok, type Result} from '../failure.ts';
import type {Transcript} from '../transcript.ts';
import type {FileState, OpenFile, Unread, WritesLook} from '../writing.ts';
import {type Framed, linesOf, type Section, splitSections} from './sections.ts';

/** Type bits of a file mode (inode(7)): S_IFMT, S_IFREG. */
const TYPE_BITS = 0o170000;
const REGULAR = 0o100000;

interface Opened {
  readonly pid: number;
  readonly fd: string;
  readonly mode: OpenFile['mode'];
  readonly path: string;
}

/** `pids`: what was asked about. What lies below one of them counts as its own. */
export function parseWrites(transcript: Transcript, pids: readonly number[]): Result<WritesLook> {
  const framed = splitSections(transcript.stdout, transcript.nonce);
  const problem = problemOf(framed);
  if (problem !== null) return fail({reason: 'probe-unreadable', host: transcript.host, ...problem});
  const {sections} = framed;
  const askedOf = askedAbove(linesOf(sections, 'below'), new Set(pids));
  const earlier = new Map(opened(sections, 1).map((one) => [`${one.pid} ${one.fd} ${one.path}`, one]));
  const states = [1, 2].map((nth) => statesOf(sections, nth));
  const stateOf = (nth: 0 | 1, {pid, fd}: Opened): FileState => {
    const found = states[nth]?.get(`${pid}/${fd}`);
    return {sizeBytes: found?.sizeBytes ?? null, position: found?.position ?? null};
  };
  const files = opened(sections, 2).flatMap((one): readonly OpenFile[] => {
    const asked = askedOf(one.pid);
    if (asked === null || states.some((each) => each.get(`${one.pid}/${one.fd}`)?.irregular === true)) return [];
    const known = earlier.has(`${one.pid} ${one.fd} ${one.path}`);
    const {pid, path, mode} = one;
    return [{pid, asked, path, mode, first: known ? stateOf(0, one) : null, second: stateOf(1, one)}];
  });
  return ok({overMs: Math.max(0, clock(sections, 2) - clock(sections, 1)), files, unread: refused(sections, askedOf)});
}

function problemOf({kind, version, endCode, sections, preamble}: Framed): {section: string; detail: string} | null {
  if (kind !== 'writes' || version !== 1) return {section: 'BEGIN', detail: preamble.trim().slice(0, 500)};
  if (endCode === null) return {section: 'END', detail: sections.at(-1)?.name ?? ''};
  // The first look without a second says nothing, nor the other way round: neither list may have been cut.
  const cut = ['open.1', 'open.2'].find((name) => !sections.some((one) => one.name === name && one.exitCode === 0));
  return cut === undefined ? null : {section: cut, detail: 'incomplete'};
}

/** Lines `/proc/PID/task/TID/children:CHILD CHILD …`. The answer is null for whoever is below nobody that was asked about. */
function askedAbove(lines: readonly string[], asked: ReadonlySet<number>): (pid: number) => number | null {
  const parents = new Map<number, number>();
  for (const line of lines) {
    const [, parent, children = ''] = /^\/proc\/(\d+)\/task\/\d+\/children:([\d ]+)$/.exec(line) ?? [];
    for (const child of children.split(' ')) if (child !== '') parents.set(Number(child), Number(parent));
  }
  return (pid) => {
    let at: number | undefined = pid;
    for (let steps = 0; at !== undefined && steps < 8; steps += 1) {
      if (asked.has(at)) return at;
      at = parents.get(at);
    }
    return null;
  };
}

/** Lines `/proc/PID/fd/N MODE PATH`; MODE is that of the link, octal: 200 says writable, 400 readable (proc(5)). */
function opened(sections: readonly Section[], nth: number): readonly Opened[] {
  return linesOf(sections, `open.${nth}`).flatMap((line): readonly Opened[] => {
    const [, pid, fd, mode, path] = /^\/proc\/(\d+)\/fd\/(\d+) ([0-7]{3,4}) (\/.*)$/.exec(line) ?? [];
    if (fd === undefined || path === undefined) return [];
    const readable = (Number.parseInt(mode ?? '', 8) & 0o400) !== 0;
    return [{pid: Number(pid), fd, mode: readable ? 'read-write' : 'write', path}];
  });
}

/** Size by `stat`, position by fdinfo, keyed `PID/FD`. `irregular`: a directory, pipe or device under such a name. */
function statesOf(
  sections: readonly Section[],
  nth: number,
): ReadonlyMap<string, {sizeBytes?: number; position?: number; irregular?: boolean}> {
  const states = new Map<string, {sizeBytes?: number; position?: number; irregular?: boolean}>();
  const grow = (key: string, more: {sizeBytes?: number; position?: number; irregular?: boolean}): void =>
    void states.set(key, {...states.get(key), ...more});
  for (const line of linesOf(sections, `place.${nth}`)) {
    const [, pid, fd, position] = /^\/proc\/(\d+)\/fdinfo\/(\d+):pos:\s*(\d{1,19})$/.exec(line) ?? [];
    if (fd !== undefined) grow(`${pid}/${fd}`, {position: Number(position)});
  }
  for (const line of linesOf(sections, `size.${nth}`)) {
    const [, pid, fd, mode = '', size] = /^\/proc\/(\d+)\/fd\/(\d+) ([0-9a-f]{1,8}) (\d{1,19})$/.exec(line) ?? [];
    if (fd === undefined) continue;
    const regular = (Number.parseInt(mode, 16) & TYPE_BITS) === REGULAR;
    grow(`${pid}/${fd}`, regular ? {sizeBytes: Number(size)} : {irregular: true});
  }
  return states;
}

/** Uptime at that look, ms; 0 where it is missing. */
function clock(sections: readonly Section[], nth: number): number {
  const seconds = /^(\d{1,10}(?:\.\d+)?) /.exec(linesOf(sections, `clock.${nth}`)[0] ?? '')?.[1];
  return seconds === undefined ? 0 : Math.round(Number(seconds) * 1000);
}

/** Whose folder of open files we may not read; and everybody's, where find said anything else. */
function refused(sections: readonly Section[], askedOf: (pid: number) => number | null): readonly Unread[] {
  const complaints = linesOf(sections, 'open.2').filter((line) => line.startsWith('find: '));
  const pids = new Set(
    complaints.flatMap((line) => askedOf(Number(/^find: .?\/proc\/(\d+)\//.exec(line)?.[1] ?? 0)) ?? []),
  );
  return [...pids].map((pid) => ({pid, path: null, why: 'refused'}));
}
