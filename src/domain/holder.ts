/** One process, cross-referenced: findings with the evidence for each, and where it was read. */
import {containerOf} from './cgroup.ts';
import {chargesKeptBy} from './dead-charges.ts';
import {
  hasOpenFiles,
  heldBy,
  holdsDevice,
  keepsContextFiles,
  keepsContextOn,
  keepsModeset,
  knownByNumberOnly,
  nodesHeld,
} from './devices.ts';
import type {GpuAccount, GpuUse, HolderDiagnosis} from './diagnosis.ts';
import {type Evidence, FINDING_ORDER, type FindingKind} from './finding.ts';
import type {Host} from './host.ts';
import {impostorEvidence} from './impostor.ts';
import {keepings} from './keepers.ts';
import {isPlainZombie, type ProcessTable, programName} from './lineage.ts';
import {keepsWhole} from './owner.ts';
import {ownersOf} from './owners-of.ts';
import {ownershipOf} from './ownership.ts';
import type {Policy} from './policy.ts';
import type {ProcessIdentity} from './process.ts';
import {protectedBy} from './protected.ts';
import {lostItsServer, roleOf} from './roles.ts';
import {maskHas} from './signal.ts';
import {type Charge, type Holding, mibOf, type ProcessFacts, type Snapshot} from './snapshot.ts';
import {stuckEvidence} from './stuck.ts';

export interface HolderInput {
  readonly snapshot: Snapshot;
  readonly table: ProcessTable;
  readonly dead: readonly Charge[];
  /** Accounts with memory that no proven holder explains; left out where nobody is to be suspected. */
  readonly loose?: readonly GpuAccount[];
  readonly host: Host;
  readonly policy: Policy;
}

/** Any of these says what a holder is; without one it is somebody's live work, whatever its state. */
const NAMED_FINDINGS: readonly FindingKind[] = ['protected', 'monitor', 'unreaped', 'inheritor', 'workload', 'renamed'];
const NUMBERS_SHOWN = 4;
const MONITORS = new Set(['nvidia-smi', 'nvtop', 'dcgmi']);

/** Findings that need no request: what a process is, by itself and by its neighbours. */
export function diagnoseProcess(process: ProcessFacts, input: HolderInput): HolderDiagnosis {
  const {snapshot, table, host, policy} = input;
  const holding: Holding = snapshot.holdings.find((one) => one.pid === process.pid) ?? {
    pid: process.pid,
    opens: [],
    mappings: [],
    threadOpens: [],
    numbered: [],
    queued: 0,
  };
  const own = snapshot.charges.filter((charge) => charge.pid === process.pid);
  const proven = holdsDevice(holding) || own.length > 0;
  const container = containerOf(process.cgroups);
  const owners = ownersOf(process, table, snapshot.deep?.mps ?? null);
  const keeper = owners.find(keepsWhole);
  const guard = protectedBy(process, snapshot.mountNamespace, policy.protectedList);
  // Only what is billed nothing reads only: a trainer may be started under any file name.
  const monitor = guard === null && own.length === 0 && MONITORS.has(programName(process));
  // Daemons and monitors keep every device open by trade: what a dead process left behind is not theirs.
  const kept = guard !== null || monitor ? [] : chargesKeptBy(process, holding, snapshot, table, input.dead);
  const keeping = monitor ? [] : keepings(holding, own.length > 0, input.loose ?? [], snapshot);
  const held = proven || keeping.length > 0;
  const matched = snapshot.matches.filter((match) => match.pid === process.pid).map((match) => match.literal);

  const found = new Map<FindingKind, readonly Evidence[]>();
  const note = (kind: FindingKind, ...evidence: Evidence[]): void => void found.set(kind, evidence);
  const say = (source: Evidence['source'], fact: string): Evidence => ({source, fact});

  if (guard !== null)
    note('protected', say('executable', `${process.executable?.path ?? process.comm}: ${guard.name}`));
  if (monitor) note('monitor', say('executable', `${programName(process)} only reads the GPUs`));
  if (isPlainZombie(process) && !holdsDevice(holding))
    note('unreaped', say('process', `state Z, waits for parent PID ${process.ppid}`));
  const stuck = stuckEvidence(process, snapshot);
  if (stuck.length > 0) note('stuck', ...stuck);
  // A plain zombie has no file left, so what is seen of a leader in state Z is its threads'.
  if (process.state === 'Z' && holdsDevice(holding)) {
    const source = holding.threadOpens.length > 0 ? 'thread-files' : 'device-numbers';
    const open = count(holding.threadOpens) || count(holding.numbered);
    note(
      'zombie-leader',
      say(source, `main thread gone, ${process.threads} threads left, ${open} device files open in them`),
    );
  }
  if (kept.length > 0)
    note(
      'inheritor',
      say(
        'charges',
        `keeps the device files of dead PID ${[...new Set(kept.map((charge) => charge.pid))].join(', ')}, still billed ${sum(kept) ?? 'unknown'} MiB`,
      ),
    );
  for (const {kind, evidence} of keeping) note(kind, ...evidence);
  if (holdsDevice(holding) && !hasOpenFiles(holding)) {
    const source = holding.mappings.length > 0 ? 'mappings' : 'device-numbers';
    const mapped = holding.mappings.length || holding.numbered.length;
    note('mapping-only', say(source, `no device file open, ${mapped} mapped`));
  }
  if (process.state === 'T' || process.state === 't')
    note('stopped', say('process', `state ${process.state}: SIGTERM would stay pending`));
  const deafness = deafTo(process);
  if (deafness !== null) note('deaf', say('process', deafness));
  if (held && matched.length > 0)
    note(
      'workload',
      say('process', `command line or name holds ${matched.map((literal) => JSON.stringify(literal)).join(', ')}`),
    );
  if (container !== null) note('contained', say('cgroup', `${container.kind} ${container.name}`));
  else if (keeper !== undefined) note('contained', say('owner', `${keeper.kind} ${keeper.name}`));
  const role = roleOf(process);
  // Who only may keep something is no ghost, whatever it is called.
  const initIsHosts = !snapshot.sight.foreignPidNamespace || host.labPidNamespace;
  const orphaned = proven && guard === null && lostItsServer(process, table, initIsHosts);
  if (held && matched.length === 0 && role !== null)
    note('renamed', say('process', `calls itself ${role.framework} worker`));
  const lie = held && guard === null ? impostorEvidence(process, policy.protectedList) : null;
  if (lie !== null) note('impostor', lie);
  if (held && !orphaned && !NAMED_FINDINGS.some((kind) => found.has(kind)))
    note('bystander', say('process', 'matches no workload pattern'));
  if (!held && matched.length > 0 && !found.has('unreaped'))
    note('name-only', say('process', 'its name matches, it holds no GPU'));

  const findings = FINDING_ORDER.filter((kind) => found.has(kind));
  return {
    process,
    identity: identityOf(process),
    findings,
    evidence: [
      ...findings.flatMap((kind) => found.get(kind) ?? []),
      ...(orphaned
        ? [say('parents', `${role?.framework ?? ''} worker without its server, parent PID ${process.ppid}`)]
        : []),
      ...sources(holding, own),
      ...unread(process),
    ],
    gpus: usesOf(holding, process.threads, own, kept, snapshot),
    mayKeep: [...new Set(keeping.flatMap((one) => one.gpuUuids))],
    chargedMiB: sum([...own, ...kept]),
    deadCharged: [...new Set(kept.map((charge) => charge.pid))],
    container,
    owners,
    ownership: ownershipOf(process, container, host),
    // Files that wait in a socket make a holder only of one that may keep what nobody else does.
    heldBy: holdsDevice(holding) || keeping.length > 0 ? heldBy(holding) : 'nothing',
    orphaned,
    matched,
  };
}

/** null where any part of the identity could not be read: such a process is never signalled. */
export function identityOf(process: ProcessFacts): ProcessIdentity | null {
  if (process.uid === null || process.executable === null || process.startTicks === '') return null;
  return {pid: process.pid, startTicks: process.startTicks, uid: process.uid, executable: process.executable.id};
}

/** Why SIGTERM would do nothing at once; null if it would be taken. */
export function deafTo(process: ProcessFacts): string | null {
  if (maskHas(process.signalIgnored, 'SIGTERM')) return 'ignores SIGTERM (SigIgn)';
  if (maskHas(process.signalBlocked, 'SIGTERM')) return 'blocks SIGTERM (SigBlk)';
  return null;
}

function usesOf(
  holding: Holding,
  threads: number,
  own: readonly Charge[],
  kept: readonly Charge[],
  snapshot: Snapshot,
): readonly GpuUse[] {
  const {mapped, opened} = nodesHeld(holding, snapshot);
  const whole = keepsContextOn(holding, threads, snapshot);
  // As cuInit leaves it. What graphics holds is in no list of compute processes.
  const isCuda = keepsContextFiles(holding) && !keepsModeset(holding);
  const onGpu = (charges: readonly Charge[], uuid: string) => charges.filter((charge) => charge.gpuUuid === uuid);
  const uuids = new Set([...snapshot.gpus, ...own, ...kept].map((one) => ('uuid' in one ? one.uuid : one.gpuUuid)));
  return [...uuids].flatMap((gpuUuid): readonly GpuUse[] => {
    const [billed, inherited] = [onGpu(own, gpuUuid), onGpu(kept, gpuUuid)];
    if (billed.length > 0) return [{gpuUuid, how: 'charged', chargedMiB: sum(billed)}];
    if (inherited.length > 0) return [{gpuUuid, how: 'mapped', chargedMiB: sum(inherited)}];
    // Who has closed its files and kept a mapping keeps its memory.
    if (isCuda && mapped.has(gpuUuid) && opened.has(gpuUuid) && !whole.has(gpuUuid))
      return [{gpuUuid, how: 'mapped', chargedMiB: null, noContext: true}];
    if (mapped.has(gpuUuid)) return [{gpuUuid, how: 'mapped', chargedMiB: null}];
    return opened.has(gpuUuid) ? [{gpuUuid, how: 'opened', chargedMiB: null}] : [];
  });
}

function sources(holding: Holding, own: readonly Charge[]): readonly Evidence[] {
  const evidence: Evidence[] = [];
  if (own.length > 0) evidence.push({source: 'charges', fact: `billed ${sum(own) ?? 'unknown'} MiB by the driver`});
  for (const charge of own) {
    if (charge.instance !== undefined)
      evidence.push({source: 'charges', fact: `${mibOf(charge.usedMiB) ?? 'unknown'} MiB of it on ${charge.instance}`});
  }
  if (holding.opens.length > 0)
    evidence.push({source: 'open-files', fact: `${count(holding.opens)} device files open`});
  if (holding.mappings.length > 0)
    evidence.push({source: 'mappings', fact: `${holding.mappings.length} device files mapped`});
  const unnamed = knownByNumberOnly(holding);
  for (const device of unnamed.slice(0, NUMBERS_SHOWN))
    evidence.push({source: 'device-numbers', fact: numberWords(device)});
  const more = unnamed.length - NUMBERS_SHOWN;
  if (more > 0) evidence.push({source: 'device-numbers', fact: `${more} more by number`});
  return evidence;
}

/** "195:0 of nvidia open as /srv/gpu" */
function numberWords(device: Holding['numbered'][number]): string {
  return `${device.major}:${device.minor} of ${device.driver} ${device.how} as ${device.path}`;
}

/** What of this process could not be read: a finding that rests on it may be missing. */
function unread(process: ProcessFacts): readonly Evidence[] {
  if (process.unreadable.length === 0) return [];
  return [{source: 'process', fact: `could not be read: ${process.unreadable.join(', ')}`}];
}

function count(opens: readonly {readonly count: number}[]): number {
  return opens.reduce((total, open) => total + open.count, 0);
}

/** null where no charge has a figure: `[N/A]` is not 0. */
function sum(charges: readonly Charge[]): number | null {
  const figures = charges.flatMap((charge) => mibOf(charge.usedMiB) ?? []);
  return figures.length === 0 ? null : figures.reduce((total, MiB) => total + MiB, 0);
}
