/** What a campaign keeps of one look at a host: enough to say later what is left behind, and what differs. */
import type {SharedLeftover, XidLine} from './deep.ts';
import type {Diagnosis} from './diagnosis.ts';
import type {FindingKind} from './finding.ts';
import {type HolderReport, type SeenHost, seenHost} from './host-report.ts';
import type {HostSettings} from './settings.ts';

export interface HostFacts {
  readonly seen: SeenHost;
  /** The host's own uptime at the look, ms. */
  readonly uptimeMs: number;
  /** Whether "no holder" may be said. */
  readonly fullSight: boolean;
  /** Findings of each holder, by PID, strongest first. */
  readonly findings: Readonly<Record<string, readonly FindingKind[]>>;
  /** GPU UUID -> bus id, by which the kernel's log names it. */
  readonly busIds: Readonly<Record<string, string>>;
  /** null: they could not be read. */
  readonly settings: HostSettings | null;
  /** null: the deeper look did not come back. */
  readonly deep: DeepFacts | null;
}

export interface DeepFacts {
  /** Shared memory that nobody has open; null: not every process was in sight. */
  readonly leftovers: readonly SharedLeftover[] | null;
  /** Xid lines of this boot that the log still has; null: no log could be read. */
  readonly xids: readonly XidLine[] | null;
  /** PID of the MPS control; null: none runs. `mpsSeen` false: that could not be told. */
  readonly mpsControl: number | null;
  readonly mpsSeen: boolean;
}

export function hostFacts(diagnosis: Diagnosis, settings: HostSettings | null): HostFacts {
  const {snapshot} = diagnosis;
  const {deep} = snapshot;
  const whole = (name: string): boolean =>
    deep?.sections.some((section) => section.name === name && section.complete) === true;
  const seen = seenHost(diagnosis);
  const reported = new Set(seen.holders.map(({pid}) => pid));
  return {
    seen,
    uptimeMs: snapshot.uptimeMs,
    fullSight: snapshot.sight.full && snapshot.smi.state === 'answered' && !diagnosis.foreignPids,
    findings: Object.fromEntries(
      diagnosis.holders
        .filter(({process}) => reported.has(process.pid))
        .map(({process, findings}) => [String(process.pid), findings]),
    ),
    busIds: Object.fromEntries(snapshot.gpus.map(({uuid, busId}) => [uuid, busId])),
    settings,
    deep:
      deep === null
        ? null
        : {
            leftovers: whole('shm') && whole('segments') ? deep.leftovers : null,
            xids: whole('xids') || deep.xids.length > 0 ? deep.xids : null,
            mpsControl: deep.mps?.controlPid ?? null,
            mpsSeen: deep.mps !== null || whole('mps'),
          },
  };
}

/** Two looks show the same process. */
export function isSameHolder(
  a: Pick<HolderReport, 'pid' | 'startTicks'>,
  b: Pick<HolderReport, 'pid' | 'startTicks'>,
): boolean {
  return a.pid === b.pid && a.startTicks === b.startTicks;
}
