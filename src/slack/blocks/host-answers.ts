/** Private answers about hosts: `status`, `diagnose`, `hosts`. A host that could not be looked at is unknown, never left out. */
import type {Diagnosis} from '../../domain/diagnosis.ts';
import type {Result} from '../../domain/failure.ts';
import type {Host, HostName} from '../../domain/host.ts';
import type {Look} from '../../engine/ports.ts';
import {plural} from '../../report/amounts.ts';
import {diagnosisNotes} from '../../report/diagnosis-notes.ts';
import {fleetStatus, worstLookFirst} from '../../report/fleet-status.ts';
import {gpuNotes, holderLines, hostTitle} from '../../report/host-state.ts';
import {NARROW_GPU_HEAD, narrowGpus, narrowHolders} from '../../report/narrow-host.ts';
import {type Entry, shortened, wrapped} from '../../report/wrapped.ts';
import {mrkdwn} from '../escape.ts';
import {ACTION, proposeValue} from '../ids.ts';
import {button, label} from './buttons.ts';
import {failureText} from './failure-text.ts';
import {codeSections, context, type KnownBlock, type Message, messageOf, section} from './message.ts';
import {timed} from './people.ts';
import {tableOfMost} from './table.ts';

export interface HostLook {
  readonly name: HostName;
  readonly look: Result<Look>;
}

const GPU_LINES = 140;
const HOLDER_LINES = 110;
const NOTES = 12;
/** Of which the reason is told in full. */
const FAILED_HOSTS = 16;

/** One host in full, several as a line each with the worst first. */
export function statusMessage(results: readonly HostLook[]): Message {
  const [first, ...more] = results;
  if (first === undefined) return messageOf([section('No host was asked for; `/gpu hosts` lists the names.')]);
  if (more.length > 0) return fleet(results);
  return first.look.ok ? oneHost(first.look.value.diagnosis) : messageOf([section(unknown(first))]);
}

/** The cross-reference of one host. Its button only opens a card: nothing is signalled by it. */
export function diagnosisMessage(diagnosis: Diagnosis): Message {
  const {host, takenAtMs} = diagnosis.snapshot;
  const holders = narrowHolders(diagnosis);
  return messageOf([
    section(`*${mrkdwn(hostTitle(diagnosis))}*`),
    ...gpuBlocks(diagnosis, 70),
    ...noteBlocks([...gpuNotes(diagnosis), ...diagnosisNotes(diagnosis)], 2 * NOTES),
    ...(holders.length === 0
      ? [
          section(
            holderLines(diagnosis)
              .map((line) => mrkdwn(line))
              .join('\n'),
          ),
        ]
      : codeSections(shortened(holders, HOLDER_LINES))),
    {
      type: 'actions',
      elements: [
        {
          ...button(ACTION.propose, 'Propose reclaim', proposeValue(host)),
          accessibility_label: label(`Propose a reclaim on ${host}: opens a card, signals nothing`),
        },
      ],
    },
    context(`Looked ${timed(takenAtMs)}; nothing was signalled. Propose reclaim opens a card that asks for a go.`),
  ]);
}

/** The names that may be used, and what may be done on each. */
export function hostsMessage(hosts: readonly Host[]): Message {
  if (hosts.length === 0) return messageOf([section('No host is in the hosts file; an admin must add one.')]);
  const entries = hosts.map((host): Entry => {
    const labels = Object.entries(host.labels).map(([key, value]) => `${key}=${value}`);
    const groups = host.groups.length === 0 ? '' : ` · ${host.groups.join(', ')}`;
    return {
      lines: () =>
        wrapped(
          [`${host.name}: ${host.practice ? 'practice, ' : ''}${MODE_WORD[host.mode]}${groups}`, ...labels].join(' · '),
        ),
      MiB: null,
    };
  });
  return messageOf([section(`*${plural(hosts.length, 'host', 'hosts')}*`), ...codeSections(shortened(entries, 200))]);
}

const MODE_WORD: Readonly<Record<Host['mode'], string>> = {
  act: 'may be signalled after a go',
  observe: 'looking only',
};

function oneHost(diagnosis: Diagnosis): Message {
  return messageOf([
    section(`*${mrkdwn(hostTitle(diagnosis))}*`),
    ...gpuBlocks(diagnosis, GPU_LINES),
    ...noteBlocks(gpuNotes(diagnosis), NOTES),
    context(
      `Looked ${timed(diagnosis.snapshot.takenAtMs)}; nothing was signalled. \`/gpu diagnose ${mrkdwn(diagnosis.snapshot.host, 60)}\` says what each holder is.`,
    ),
  ]);
}

function gpuBlocks(diagnosis: Diagnosis, room: number): readonly KnownBlock[] {
  const gpus = narrowGpus(diagnosis);
  return gpus.length === 0 ? [] : codeSections([NARROW_GPU_HEAD, ...shortened(gpus, room)]);
}

function noteBlocks(notes: readonly string[], most: number): readonly KnownBlock[] {
  if (notes.length === 0) return [];
  const shown = notes.slice(0, most).map((note) => `${note.startsWith('  ') ? '• ' : ''}${mrkdwn(note.trim(), 220)}`);
  const more = notes.length - shown.length;
  return [section([...shown, ...(more > 0 ? [`… ${more} more notes`] : [])].join('\n'))];
}

function fleet(results: readonly HostLook[]): Message {
  const looks = worstLookFirst(
    results.map(({name, look}) => ({name, look, diagnosis: look.ok ? look.value.diagnosis : null})),
  );
  const failed = looks.filter(({look}) => !look.ok);
  const more = failed.length - FAILED_HOSTS;
  return messageOf([
    section(
      `*Looked at ${results.length - failed.length} of ${plural(results.length, 'host', 'hosts')}*, worst first; nothing was signalled`,
    ),
    ...tableOfMost((rows) => fleetStatus(looks, rows), looks.length),
    ...inSections(failed.slice(0, FAILED_HOSTS).map(unknown)),
    ...(more > 0 ? [section(`… ${plural(more, 'more host', 'more hosts')} not seen; name one to read why`)] : []),
  ]);
}

function unknown({name, look}: HostLook): string {
  return look.ok ? '' : `${mrkdwn(name, 60)}: unknown: ${failureText(look.failure, 300)}`;
}

function inSections(lines: readonly string[]): readonly KnownBlock[] {
  const sections: KnownBlock[] = [];
  for (let at = 0; at < lines.length; at += 8) sections.push(section(lines.slice(at, at + 8).join('\n')));
  return sections;
}
