/** What `ssh/scripts/settings.sh` read -> `HostSettings`. A field that a driver does not know, or does not tell, stays unknown. */
import {fail, ok, type Result} from '../failure.ts';
import type {GpuSettings, HostSettings, Profiler, ReportFile} from '../settings.ts';
import type {Figure} from '../snapshot.ts';
import type {Transcript} from '../transcript.ts';
import {parseHost} from './host-section.ts';
import {gpuUuid, parseFigure} from './nvidia-smi.ts';
import {parseStat} from './proc-stat.ts';
import {bodyOf, linesOf, splitSections} from './sections.ts';
import {parseSmiAnswer, smiState} from './smi-answer.ts';

/** Stands in for a list of charges, which this look does not ask for. */
const NOT_ASKED = {state: 'answered', exitCode: 0, fields: [], lines: [], pids: []} as const;

/** `takenAtMs`: the bot's clock when the answer came back. */
export function parseSettings(transcript: Transcript, takenAtMs: number): Result<HostSettings> {
  const {kind, version, sections} = splitSections(transcript.stdout, transcript.nonce);
  const unreadable = (section: string, detail: string) =>
    fail({reason: 'probe-unreadable', host: transcript.host, section, detail} as const);
  if (kind !== 'settings' || version !== 1) return unreadable('BEGIN', `${kind} ${version}`);
  const host = parseHost(linesOf(sections, 'host'), transcript.hostKey);
  if (typeof host === 'string') return unreadable('host', host);
  const answer = parseSmiAnswer(bodyOf(sections, 'settings'));
  const rows = answer.lines.flatMap((line) => gpuSettings(answer.fields, line) ?? []);
  const gpus = rows.filter((gpu, at) => rows.findIndex(({uuid}) => uuid === gpu.uuid) === at);
  const smi = smiState(answer, gpus.length, NOT_ASKED, 0);
  const profilers = parseProfilers(linesOf(sections, 'profilers'));
  return ok({
    host: transcript.host,
    bootId: host.machine.bootId,
    takenAtMs,
    smi,
    gpus,
    profilers,
    ...parseReportFiles(bodyOf(sections, 'files'), profilers),
  });
}

/** Pairs of lines `stat LINE` and `cwd FOLDER`; the dead are left out. */
function parseProfilers(lines: readonly string[]): readonly Profiler[] {
  return lines.flatMap((line, at): readonly Profiler[] => {
    const stat = line.startsWith('stat ') ? parseStat(line.slice('stat '.length)) : null;
    if (stat === null || stat.state === 'Z' || stat.state === 'X') return [];
    const folder = /^cwd (\/.*)$/.exec(lines[at + 1] ?? '')?.[1] ?? null;
    return [{pid: stat.pid, startTicks: stat.startTicks, name: stat.comm, folder}];
  });
}

/** `@in FOLDER` (as asked for, or where a profiler has files open) or `@in @PID` (where that profiler works), rows `MTIME BYTES PATH`, `@rc N`. Each file once. */
function parseReportFiles(body: string, profilers: readonly Profiler[]): Pick<HostSettings, 'files' | 'sought'> {
  const files = new Map<string, ReportFile>();
  const sought = new Map<string, boolean>();
  let folder = '';
  for (const line of body.split('\n')) {
    const [, into] = /^@in (.+)$/.exec(line) ?? [];
    if (into !== undefined) {
      const of = profilers.find(({pid}) => into === `@${pid}`);
      folder = (of === undefined ? into : (of.folder ?? `/proc/${of.pid}/cwd`)).replace(/(?<=.)\/+$/, '');
      // Until its end is read.
      if (!sought.has(folder)) sought.set(folder, false);
      continue;
    }
    const [, code] = /^@rc (\d{1,3})$/.exec(line) ?? [];
    // Sought by two ways: whole by one is whole.
    if (code !== undefined) sought.set(folder, sought.get(folder) === true || code === '0');
    const [, changed, bytes, name] = /^(\d{1,12})(?:\.\d+)? (\d{1,15}) (.+)$/.exec(line) ?? [];
    if (changed === undefined) continue;
    const path = `${folder === '/' ? '' : folder}/${name}`;
    files.set(path, {path, MiB: Number(bytes) / 1_048_576, changedAtMs: Number(changed) * 1000});
  }
  return {files: [...files.values()], sought: [...sought].map(([where, whole]) => ({folder: where, whole}))};
}

/** No field that is asked for holds a comma; null for a line that is no row. */
function gpuSettings(fields: readonly string[], line: string): GpuSettings | null {
  const cells = line.split(',').map((cell) => cell.trim());
  if (cells.length !== fields.length) return null;
  const cell = (field: string): string => cells[fields.indexOf(field)] ?? '[N/A]';
  const uuid = gpuUuid(cell('uuid'));
  if (uuid === null) return null;
  const index = cell('index');
  const number = (field: string): Figure => parseFigure(cell(field).replace(/ (?:MHz|W)$/, ''));
  return {
    uuid,
    index: /^\d{1,4}$/.test(index) ? Number(index) : null,
    graphicsMHz: number('clocks.applications.graphics'),
    memoryMHz: number('clocks.applications.memory'),
    defaultGraphicsMHz: number('clocks.default_applications.graphics'),
    defaultMemoryMHz: number('clocks.default_applications.memory'),
    powerLimitW: number('power.limit'),
    defaultPowerLimitW: number('power.default_limit'),
    enforcedPowerLimitW: number('enforced.power.limit'),
    persistenceMode: cell('persistence_mode'),
    computeMode: cell('compute_mode'),
    migMode: cell('mig.mode.current'),
    eccMode: cell('ecc.mode.current'),
    eccVolatile: number('ecc.errors.uncorrected.volatile.total'),
    eccAggregate: number('ecc.errors.uncorrected.aggregate.total'),
  };
}
