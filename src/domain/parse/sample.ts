/** What `ssh/scripts/sample.sh` read -> one `Sample`. */
import {fail, ok, type Result} from '../failure.ts';
import type {Sample} from '../samples.ts';
import type {Transcript} from '../transcript.ts';
import {gpuUuid, parseCharges, parseFigure} from './nvidia-smi.ts';
import {bodyOf, linesOf, splitSections} from './sections.ts';
import {parseSmiAnswer} from './smi-answer.ts';

export function parseSample(transcript: Transcript): Result<Sample> {
  const {kind, version, sections} = splitSections(transcript.stdout, transcript.nonce);
  const unreadable = (section: string, detail: string) =>
    fail({reason: 'probe-unreadable', host: transcript.host, section, detail} as const);
  if (kind !== 'sample' || version !== 1) return unreadable('BEGIN', `${kind} ${version}`);
  const lines = linesOf(sections, 'sample');
  const bootId = lines.flatMap((line) => /^boot_id ([0-9a-f-]{36})$/.exec(line)?.[1] ?? [])[0];
  const [, from, to] =
    lines.flatMap((line) => [/^took (\d+\.\d+) (\d+\.\d+)$/.exec(line)]).find((found) => found !== null) ?? [];
  if (bootId === undefined || from === undefined || to === undefined) return unreadable('sample', lines[0] ?? '');
  const usage = parseSmiAnswer(bodyOf(sections, 'usage'));
  const gpus = usage.lines.flatMap((line) => gpuUsage(usage.fields, line) ?? []);
  if (usage.state !== 'answered' || gpus.length === 0) return unreadable('usage', usage.lines[0] ?? usage.state);
  const bills = parseSmiAnswer(bodyOf(sections, 'bills'));
  const read = parseCharges(bills.lines);
  return ok({
    host: transcript.host,
    bootId,
    costMs: Math.max(0, Math.round((Number(to) - Number(from)) * 1000)),
    gpus,
    bills:
      bills.state === 'answered' && bills.exitCode === 0 && read.others.length === 0
        ? read.charges.map(({gpuUuid: uuid, pid}) => `${uuid} ${pid}`)
        : null,
  });
}

function gpuUsage(fields: readonly string[], line: string): Sample['gpus'][number] | null {
  const cells = line.split(',').map((cell) => cell.trim());
  if (cells.length !== fields.length) return null;
  const cell = (field: string): string => cells[fields.indexOf(field)] ?? '[N/A]';
  const uuid = gpuUuid(cell('uuid'));
  if (uuid === null) return null;
  const number = (field: string): number | null => {
    const figure = parseFigure(cell(field));
    return figure.known ? figure.value : null;
  };
  const index = cell('index');
  return {
    uuid,
    index: /^\d{1,4}$/.test(index) ? Number(index) : null,
    usedMiB: number('memory.used'),
    utilizationPercent: number('utilization.gpu'),
  };
}
