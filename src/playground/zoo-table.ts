/** What the zoo holds the product to: per species, what it must be called, and whether it must be freed, refused or owned up to. */
import type {FindingKind} from '../domain/finding.ts';
import type {Kept} from '../domain/plan.ts';
import type {LabFeature} from './lab/lab.ts';
import * as species from './lab/species.ts';

/**
 * `free`: all its memory is back and its server is gone; a refusal fails. `refuse`: not one signal reaches it, and the
 * plan says why by this very word. `stay`: it got its kill -9 and cannot end, `return`: somebody starts it again: the
 * report says so in words that match.
 */
export type Must =
  | {readonly what: 'free'}
  | {readonly what: 'refuse'; readonly why: Kept['why']}
  | {readonly what: 'stay' | 'return'; readonly says: RegExp};

export interface ZooRow {
  readonly species: string;
  /** One finding of the holder, as the product names it. */
  readonly finding: FindingKind;
  readonly must: Must;
  /** Features without which this species cannot be made, or not be told apart. */
  readonly needs: readonly LabFeature[];
  /** Who must end, by label: the server's workers, or others that are started beside it. */
  readonly holder: string;
  /** Children of the GPU-less server that the request names. */
  readonly workers: readonly species.LabSpec[];
  /** Started on their own, as somebody else's. */
  readonly beside?: readonly species.LabSpec[];
  /** Instead of the GPU-less server. */
  readonly parent?: (workers: readonly species.LabSpec[]) => species.LabSpec;
  /** What the closing report must say beside. */
  readonly alsoSays?: RegExp;
  /** A `status` was asked for while the makers of the memory were alive: what an earlier look proves is then known. */
  readonly seenBefore?: true;
  /** The bot is up beside the terminal, and looks again after 1 and 3 s instead of 1 and 10 min. */
  readonly looksAgain?: true;
}

const MIB = 4_096;
const memory = [{gpu: 0, MiB: MIB}];
const whole = [{gpu: 0, MiB: MIB + species.CONTEXT_MIB}];
/** No name that a pattern could match: only lineage and devices tell. */
const hidden = {argv: ['python3', 'run.py'], comm: 'ghostd'};
const free: Must = {what: 'free'};
const CONTAINER = 'c0ffee'.padEnd(64, '0');

export const ZOO: readonly ZooRow[] = [
  {
    species: 'plain',
    finding: 'renamed',
    must: free,
    needs: [],
    holder: 'plain',
    workers: [species.renamed(whole, {label: 'plain'})],
  },
  {
    species: 'ignores SIGTERM',
    finding: 'deaf',
    must: free,
    needs: [],
    holder: 'deaf',
    workers: [species.deaf(whole, {...hidden, deaf: 'ignores'})],
  },
  {
    species: 'stopped',
    finding: 'stopped',
    must: free,
    needs: [],
    holder: 'stopped',
    workers: [species.stopped(whole, hidden)],
  },
  {
    species: 'inheritor',
    finding: 'inheritor',
    must: free,
    needs: ['driver-folder'],
    holder: 'inheritor',
    workers: [species.inheritor([whole])],
    seenBefore: true,
  },
  {
    species: 'inheritor, first seen',
    finding: 'inheritor',
    must: free,
    needs: ['driver-folder'],
    holder: 'inheritor',
    workers: [species.inheritor([whole])],
  },
  {
    species: 'zombie leader',
    finding: 'zombie-leader',
    must: free,
    needs: [],
    holder: 'zombie-leader',
    workers: [species.zombieLeader(whole, hidden)],
  },
  {
    species: 'mapping only',
    finding: 'mapping-only',
    must: free,
    needs: [],
    holder: 'mapping-only',
    workers: [species.mappingOnly(whole, hidden)],
  },
  {
    species: 'importer',
    finding: 'importer',
    must: free,
    needs: [],
    holder: 'importer',
    workers: species.imported(memory, hidden),
    seenBefore: true,
  },
  {
    species: 'exported memory',
    finding: 'importer',
    must: free,
    needs: ['own-proc'],
    holder: 'exported',
    workers: species.exported(memory, hidden),
  },
  {
    species: 'in flight',
    finding: 'in-flight',
    must: free,
    needs: [],
    holder: 'in-flight',
    workers: species.inFlight(whole, hidden),
  },
  {
    species: 'io_uring',
    finding: 'in-flight',
    must: free,
    needs: ['rings', 'own-proc'],
    holder: 'ring',
    workers: [species.ringHolder(whole, hidden)],
  },
  {
    species: 'another node',
    finding: 'renamed',
    must: free,
    needs: ['device-numbers'],
    holder: 'other-name',
    workers: [species.otherName(whole, hidden)],
  },
  {
    species: 'writer',
    finding: 'writing',
    must: free,
    needs: [],
    holder: 'writer',
    workers: [species.writer(whole, hidden)],
  },
  {
    species: 'impostor',
    finding: 'impostor',
    must: free,
    needs: [],
    holder: 'impostor',
    workers: [species.impostor(whole)],
  },
  {
    species: 'leaves shared memory',
    finding: 'renamed',
    must: free,
    needs: ['shm'],
    holder: 'leftover',
    workers: [species.leftover(whole, hidden)],
    alsoSays: /shared memory/i,
  },
  {
    species: 'unreaped',
    finding: 'unreaped',
    must: {what: 'refuse', why: 'unreaped'},
    needs: [],
    holder: 'unreaped',
    workers: [],
    parent: () => species.unreaped({...hidden, zombieComm: 'VLLM::Worker_TP'}),
  },
  {
    species: 'container',
    finding: 'contained',
    must: {what: 'refuse', why: 'contained'},
    needs: ['containers'],
    holder: 'contained',
    workers: [species.contained(whole, CONTAINER, hidden)],
  },
  {
    species: 'shared importer',
    finding: 'importer',
    must: {what: 'refuse', why: 'in-use'},
    needs: ['uids'],
    holder: 'importer',
    workers: species.imported(memory, hidden).slice(0, 1),
    beside: species.imported(memory, {...hidden, uid: 1500}).slice(1),
    seenBefore: true,
  },
  {
    species: 'MPS server',
    finding: 'protected',
    must: {what: 'refuse', why: 'protected'},
    needs: ['daemons'],
    holder: 'mps-server',
    workers: [species.renamed(whole, {label: 'mps-client'})],
    beside: species.mps([{gpu: 0, MiB: species.CONTEXT_MIB}], []),
  },
  {
    species: 'respawning',
    finding: 'workload',
    must: {what: 'return', says: /returned at \+[0-9.]+ s: PID \d+ supervisord started/},
    needs: [],
    holder: 'workload',
    workers: [species.workload(whole)],
    parent: (workers) => species.supervisor(workers),
    looksAgain: true,
  },
  {
    species: 'stuck in the kernel',
    finding: 'workload',
    must: {what: 'stay', says: /does not end although kill -9 was sent: stuck in the kernel/},
    needs: ['freezer'],
    holder: 'stuck',
    workers: [species.stuck(whole)],
  },
];
