/** The `facts.*` sections: what the kernel says of single processes. A process without a stat line is gone. */
import {redactText, redactWords} from '../redact.ts';
import type {Executable, ProcessFacts} from '../snapshot.ts';
import {parseStat} from './proc-stat.ts';
import {parseStatus} from './proc-status.ts';
import {bodyOf, linesOf, type Section} from './sections.ts';

export interface Facts {
  /** Secrets taken out of comm and words. */
  readonly processes: readonly ProcessFacts[];
  /** PID -> comm and command line as they were, joined by blanks, lower case: for matching only, never kept. */
  readonly rawText: ReadonlyMap<number, string>;
}

/** The most of a command line that is kept, bytes of UTF-8. */
const WORDS_MAX = 4096;
/** `grep -m` and `cut -b` in facts.sh. */
const WORDS_MAX_COUNT = 300;
const WORD_MAX = 4200;

export function parseFacts(sections: readonly Section[]): Facts {
  const stats = byPid(linesOf(sections, 'facts.stat'), 'stat');
  const statuses = byPid(linesOf(sections, 'facts.status'), 'status');
  const cgroups = byPid(linesOf(sections, 'facts.stat'), 'cgroup');
  const loginUids = byPid(linesOf(sections, 'facts.stat'), 'loginuid');
  const links = parseLinks(bodyOf(sections, 'facts.links'));
  const files = parseExecutables(linesOf(sections, 'facts.executable'));
  const names = parseUsers(linesOf(sections, 'facts.users'));
  const words = parseWords(sections);
  const processes: ProcessFacts[] = [];
  const rawText = new Map<number, string>();
  for (const [pid, lines] of stats) {
    const stat = parseStat(lines.join('\n'));
    if (stat === null || stat.pid !== pid) continue;
    const status = parseStatus(statuses.get(pid) ?? []);
    const link = links.get(`/proc/${pid}/exe`) ?? '';
    const file = files.get(pid);
    const pidNamespace = inodeOf(links.get(`/proc/${pid}/ns/pid`));
    const mountNamespace = inodeOf(links.get(`/proc/${pid}/ns/mnt`));
    const said = words.get(pid) ?? {words: [], cut: false};
    const living = !stat.kernelThread && stat.state !== 'Z' && stat.state !== 'X';
    rawText.set(pid, `${stat.comm} ${said.words.join(' ')}`.toLowerCase());
    processes.push({
      pid,
      ppid: stat.ppid,
      processGroup: stat.processGroup,
      session: stat.session,
      state: stat.state,
      startTicks: stat.startTicks,
      kernelThread: stat.kernelThread,
      comm: redactText(stat.comm),
      threads: stat.threads,
      cpuTicks: stat.cpuTicks,
      uid: status.uid,
      userName: status.uid === null ? null : (names.get(status.uid) ?? null),
      loginUid: loginUidOf(loginUids.get(pid)),
      executable: link === '' || file === undefined ? null : {...pathOf(link), ...file},
      words: redactWords(said.words),
      wordsCut: said.cut,
      cgroups: [...new Set((cgroups.get(pid) ?? []).map(cgroupPath))],
      pidNamespace,
      mountNamespace,
      signalBlocked: status.blocked,
      signalIgnored: status.ignored,
      signalCaught: status.caught,
      signalPending: status.pending,
      unreadable: [
        ...(status.uid === null ? ['status'] : []),
        ...(living && (link === '' || file === undefined) ? ['exe'] : []),
        ...(cgroups.has(pid) ? [] : ['cgroup']),
        ...(living && pidNamespace === null ? ['ns/pid'] : []),
        ...(living && mountNamespace === null ? ['ns/mnt'] : []),
      ],
    });
  }
  return {processes, rawText};
}

/** Lines `/proc/PID/FILE:TEXT`, in order. grep puts the path in front of every line, so none can be forged. */
function byPid(lines: readonly string[], file: string): Map<number, string[]> {
  const found = new Map<number, string[]>();
  const shape = new RegExp(`^/proc/([1-9]\\d{0,9})/(?:task/\\d+/)?${file}:(.*)$`, 's');
  for (const line of lines) {
    const [, pid, text] = shape.exec(line) ?? [];
    if (pid === undefined || text === undefined) continue;
    const known = found.get(Number(pid));
    if (known) known.push(text);
    else found.set(Number(pid), [text]);
  }
  return found;
}

/** NUL-terminated `PATH TARGET`; a zombie leader's links are read through a thread of it. */
function parseLinks(body: string): Map<string, string> {
  const links = new Map<string, string>();
  for (const record of body.split('\0')) {
    const blank = record.indexOf(' ');
    if (blank > 0)
      links.set(
        record
          .slice(0, blank)
          .trimStart()
          .replace(/\/task\/\d+\//, '/'),
        record.slice(blank + 1),
      );
  }
  return links;
}

/** Lines `/proc/PID/exe DEVICE:INODE UID MODE`. */
function parseExecutables(lines: readonly string[]): Map<number, Omit<Executable, 'path' | 'deleted'>> {
  const files = new Map<number, Omit<Executable, 'path' | 'deleted'>>();
  for (const line of lines) {
    const [, pid, id, uid, mode] = /^\/proc\/(\d+)\/(?:task\/\d+\/)?exe (\d+:\d+) (\d+) ([0-7]+)$/.exec(line) ?? [];
    if (id === undefined) continue;
    files.set(Number(pid), {id, ownerUid: Number(uid), mode: Number.parseInt(mode ?? '', 8)});
  }
  return files;
}

/** Lines `NAME:UID`; the first name of a uid counts, as for getpwuid(3). */
function parseUsers(lines: readonly string[]): Map<number, string> {
  const names = new Map<number, string>();
  for (const line of lines) {
    const [, name, uid] = /^([^:\s]+):(\d{1,10})$/.exec(line) ?? [];
    if (name !== undefined && !names.has(Number(uid))) names.set(Number(uid), name);
  }
  return names;
}

function parseWords(sections: readonly Section[]): Map<number, {words: string[]; cut: boolean}> {
  const found = new Map<number, {words: string[]; cut: boolean}>();
  // A newline inside a word travels as \x01, so that each word is one line.
  for (const [pid, lines] of byPid(linesOf(sections, 'facts.words'), 'cmdline')) {
    const words = lines.map((line) => line.replaceAll('\x01', '\n'));
    const long = words.length >= WORDS_MAX_COUNT || words.some((word) => word.length >= WORD_MAX);
    found.set(pid, capped(words, long));
  }
  for (const section of sections) {
    const pid = /^facts\.words\.(\d+)$/.exec(section.name)?.[1];
    if (pid !== undefined) found.set(Number(pid), capped(section.body.split('\0'), section.body.length >= WORDS_MAX));
  }
  return found;
}

/** At most WORDS_MAX bytes; empty words at the end go: a process that writes its own title leaves many. */
function capped(words: readonly string[], wasCut: boolean): {words: string[]; cut: boolean} {
  const kept: string[] = [];
  let room = WORDS_MAX;
  let cut = wasCut;
  for (const word of words) {
    const bytes = new TextEncoder().encode(word);
    if (bytes.length > room) {
      cut = true;
      if (room > 0) kept.push(new TextDecoder().decode(bytes.subarray(0, room)));
      break;
    }
    kept.push(word);
    room -= bytes.length + 1;
  }
  while (kept.at(-1) === '') kept.pop();
  return {words: kept, cut};
}

function pathOf(link: string): {path: string; deleted: boolean} {
  const deleted = link.endsWith(' (deleted)');
  return {path: deleted ? link.slice(0, -' (deleted)'.length) : link, deleted};
}

function inodeOf(link: string | undefined): string | null {
  return /^[a-z_]+:\[(\d+)\]$/.exec(link ?? '')?.[1] ?? null;
}

/** `HIERARCHY:CONTROLLERS:PATH` (cgroups(7)); the path may hold colons. */
function cgroupPath(line: string): string {
  return line.split(':').slice(2).join(':');
}

/** 4294967295 is "not set" (audit's AUDIT_UID_UNSET). */
function loginUidOf(lines: readonly string[] | undefined): number | null {
  const text = lines?.[0]?.trim() ?? '';
  return /^\d{1,10}$/.test(text) && text !== '4294967295' ? Number(text) : null;
}
