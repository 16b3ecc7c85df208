/** One process, cross-referenced: findings with the evidence for each, and where it was read. */
import {containerOf} from './cgroup.ts';
import {chargesKeptBy} from './dead-charges.ts';
import {heldBy, holdsDevice, nodesHeld} from './devices.ts';
import type {GpuUse, HolderDiagnosis} from './diagnosis.ts';
import {type Evidence, FINDING_ORDER, type FindingKind} from './finding.ts';
import type {Host} from './host.ts';
import {isPlainZombie, type ProcessTable, programName} from './lineage.ts';
import {ownershipOf} from './ownership.ts';
import type {Policy} from './policy.ts';
import type {ProcessIdentity} from './process.ts';
import {protectedBy} from './protected.ts';
import {lostItsServer, roleOf} from './roles.ts';
import {maskHas} from './signal.ts';
import {type Charge, type Holding, mibOf, type ProcessFacts, type Snapshot} from './snapshot.ts';

export interface HolderInput {
  readonly snapshot: Snapshot;
  readonly table: ProcessTable;
  readonly dead: readonly Charge[];
  readonly host: Host;
  readonly policy: Policy;
}

/** Any of these says what a holder is; without one it is somebody's live work, whatever its state. */
const NAMED_FINDINGS: readonly FindingKind[] = ['protected', 'monitor', 'unreaped', 'inheritor', 'workload', 'renamed'];
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
  const held = holdsDevice(holding) || own.length > 0;
  const container = containerOf(process.cgroups);
  const guard = protectedBy(process, snapshot.mountNamespace, policy.protectedList);
  // Only what is billed nothing reads only: a trainer may be started under any file name.
  const monitor = guard === null && own.length === 0 && MONITORS.has(programName(process));
  // Daemons and monitors keep every device open by trade: what a dead process left behind is not theirs.
  const kept = guard !== null || monitor ? [] : chargesKeptBy(process, holding, snapshot, table, input.dead);
  const matched = snapshot.matches.filter((match) => match.pid === process.pid).map((match) => match.literal);

  const found = new Map<FindingKind, readonly Evidence[]>();
  const note = (kind: FindingKind, ...evidence: Evidence[]): void => void found.set(kind, evidence);
  const say = (source: Evidence['source'], fact: string): Evidence => ({source, fact});

  if (guard !== null)
    note('protected', say('executable', `${process.executable?.path ?? process.comm}: ${guard.name}`));
  if (monitor) note('monitor', say('executable', `${programName(process)} only reads the GPUs`));
  if (isPlainZombie(process) && holding.threadOpens.length === 0)
    note('unreaped', say('process', `state Z, waits for parent PID ${process.ppid}`));
  if (process.state === 'Z' && holding.threadOpens.length > 0) {
    note(
      'zombie-leader',
      say(
        'thread-files',
        `main thread gone, ${process.threads} threads left, ${count(holding.threadOpens)} device files open in them`,
      ),
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
  if (holding.opens.length === 0 && holding.threadOpens.length === 0 && holding.mappings.length > 0) {
    note('mapping-only', say('mappings', `no device file open, ${holding.mappings.length} mapped`));
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
  const role = roleOf(process);
  const orphaned = held && guard === null && lostItsServer(process, table);
  if (held && matched.length === 0 && role !== null)
    note('renamed', say('process', `calls itself ${role.framework} worker`));
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
    ],
    gpus: usesOf(holding, own, kept, snapshot),
    chargedMiB: sum([...own, ...kept]),
    deadCharged: [...new Set(kept.map((charge) => charge.pid))],
    container,
    ownership: ownershipOf(process, container, host),
    heldBy: heldBy(holding),
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
  own: readonly Charge[],
  kept: readonly Charge[],
  snapshot: Snapshot,
): readonly GpuUse[] {
  const {mapped, opened} = nodesHeld(holding, snapshot);
  const onGpu = (charges: readonly Charge[], uuid: string) => charges.filter((charge) => charge.gpuUuid === uuid);
  const uuids = new Set([...snapshot.gpus, ...own, ...kept].map((one) => ('uuid' in one ? one.uuid : one.gpuUuid)));
  return [...uuids].flatMap((gpuUuid): readonly GpuUse[] => {
    const [billed, inherited] = [onGpu(own, gpuUuid), onGpu(kept, gpuUuid)];
    if (billed.length > 0) return [{gpuUuid, how: 'charged', chargedMiB: sum(billed)}];
    if (inherited.length > 0) return [{gpuUuid, how: 'mapped', chargedMiB: sum(inherited)}];
    if (mapped.has(gpuUuid)) return [{gpuUuid, how: 'mapped', chargedMiB: null}];
    return opened.has(gpuUuid) ? [{gpuUuid, how: 'opened', chargedMiB: null}] : [];
  });
}

function sources(holding: Holding, own: readonly Charge[]): readonly Evidence[] {
  const evidence: Evidence[] = [];
  if (own.length > 0) evidence.push({source: 'charges', fact: `billed ${sum(own) ?? 'unknown'} MiB by the driver`});
  if (holding.opens.length > 0)
    evidence.push({source: 'open-files', fact: `${count(holding.opens)} device files open`});
  if (holding.mappings.length > 0)
    evidence.push({source: 'mappings', fact: `${holding.mappings.length} device files mapped`});
  return evidence;
}

function count(opens: Holding['opens']): number {
  return opens.reduce((total, open) => total + open.count, 0);
}

/** null where no charge has a figure: `[N/A]` is not 0. */
function sum(charges: readonly Charge[]): number | null {
  const figures = charges.flatMap((charge) => mibOf(charge.usedMiB) ?? []);
  return figures.length === 0 ? null : figures.reduce((total, MiB) => total + MiB, 0);
}
