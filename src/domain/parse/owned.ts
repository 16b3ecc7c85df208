/** What stands in the folders of owners and what their tools say of this run -> `OwnedLook`. Names in it are hostile. */
import {fail, ok, type Result} from '../failure.ts';
import type {OwnedBy, OwnedLook} from '../owned.ts';
import type {NoStopWhy, StoppableOwner} from '../stop-owner.ts';
import type {Transcript} from '../transcript.ts';
import {parseFacts} from './facts.ts';
import {bodyOf, linesOf, type Section, splitSections} from './sections.ts';

/** systemd.unit(5): a stop of a unit is one of those that these name. */
const STOPPED_WITH = ['RequiredBy', 'RequisiteOf', 'BoundBy', 'ConsistsOf', 'PropagatesStopTo'];

/** In the order asked: an owner of which nothing whole came back has neither run nor PIDs. */
export function parseOwned(transcript: Transcript, asked: readonly StoppableOwner[]): Result<OwnedLook> {
  const {kind, version, sections, endCode} = splitSections(transcript.stdout, transcript.nonce);
  if (kind !== 'owned' || version !== 1 || endCode !== 0) {
    const detail = `${kind} ${version}, ended with ${endCode}`;
    return fail({reason: 'probe-unreadable', host: transcript.host, section: 'BEGIN', detail});
  }
  const own = linesOf(sections, 'own').flatMap((line) => /^(?:self|ancestor) (\d{1,10})$/.exec(line)?.[1] ?? []);
  return ok({
    owners: asked.map((owner, at) => ownedBy(owner, sections, at + 1)),
    processes: parseFacts(sections).processes,
    ownPids: own.map(Number),
  });
}

function ownedBy(owner: StoppableOwner, sections: readonly Section[], nth: number): OwnedBy {
  const {kind, id} = owner;
  const pids = pidsOf(sections, nth);
  const said = answerOf(sections, `said.${nth}`);
  const none: OwnedBy = {kind, id, run: null, against: null, endsInKill: true, pids};
  if (said === null) return none;
  switch (kind) {
    case 'unit':
      return unitSaid(none, owner, said);
    case 'docker':
    case 'podman':
      return containerSaid(none, said);
    case 'slurm-job':
      return jobSaid(none, said);
  }
}

function unitSaid(none: OwnedBy, owner: StoppableOwner, said: string): OwnedBy {
  const field = (key: string): string | null => new RegExp(`^${key}=(.*)$`, 'm').exec(said)?.[1]?.trim() || null;
  if (field('Id') !== none.id) return none;
  return {
    ...none,
    run: field('InvocationID'),
    // systemd.kill(5): after TimeoutStopSec, unless the unit says no.
    endsInKill: field('SendSIGKILL') !== 'no',
    against: against([
      [field('ControlGroup') !== owner.folder, 'unproven'],
      [field('RefuseManualStop') === 'yes', 'refuses'],
      [STOPPED_WITH.some((key) => field(key) !== null), 'dependents'],
    ]),
  };
}

function containerSaid(none: OwnedBy, said: string): OwnedBy {
  const field = (key: string): string | null => new RegExp(`^${key} (.*)$`, 'm').exec(said)?.[1]?.trim() || null;
  if (field('Id') !== none.id) return none;
  const isInside = none.pids?.includes(Number(field('Pid'))) ?? false;
  return {...none, run: field('StartedAt'), against: against([[!isInside, 'unproven']])};
}

/** scontrol(1) show job: the first line begins with JobId, all others with blanks. The name of the job ends the first. */
function jobSaid(none: OwnedBy, said: string): OwnedBy {
  const [first = '', ...rest] = said.trim().split('\n');
  // Comments and keys of its user's stand among the fields: what is said twice in two ways is not known.
  const field = (key: string): string | null => {
    const [value, ...more] = new Set(
      rest.flatMap((line) => new RegExp(`^ {3}(?:.* )?${key}=(\\S+)`).exec(line)?.[1] ?? []),
    );
    return more.length > 0 ? null : (value ?? null);
  };
  if (/^JobId=(\d+) /.exec(first)?.[1] !== none.id) return none;
  return {
    ...none,
    run: field('StartTime'),
    against: against([
      [field('JobState') !== 'RUNNING', 'changed'],
      [field('NumNodes') !== '1', 'many-nodes'],
    ]),
  };
}

function against(reasons: readonly (readonly [boolean, NoStopWhy])[]): NoStopWhy | null {
  return reasons.find(([holds]) => holds)?.[1] ?? null;
}

/** Whole only: with its end, and with what its command calls success. */
function answerOf(sections: readonly Section[], name: string): string | null {
  const [found, ...more] = sections.filter((section) => section.name === name);
  return found === undefined || more.length > 0 || found.exitCode !== 0 ? null : bodyOf([found], name);
}

function pidsOf(sections: readonly Section[], nth: number): readonly number[] | null {
  const lines = answerOf(sections, `pids.${nth}`)
    ?.split('\n')
    .filter((line) => line !== '');
  return lines === undefined || !lines.every((line) => /^\d{1,10}$/.test(line)) ? null : lines.map(Number);
}
