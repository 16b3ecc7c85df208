/** What `ssh/scripts/settings.sh` read -> `HostSettings`. A field that a driver does not know, or does not tell, stays unknown. */
import {fail, ok, type Result} from '../failure.ts';
import type {GpuSettings, HostSettings} from '../settings.ts';
import type {Figure} from '../snapshot.ts';
import type {Transcript} from '../transcript.ts';
import {parseHost} from './host-section.ts';
import {gpuUuid, parseFigure} from './nvidia-smi.ts';
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
  return ok({host: transcript.host, bootId: host.machine.bootId, takenAtMs, smi, gpus});
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
