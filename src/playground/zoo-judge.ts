/** What the product said and did with one species, held against its row. Pure: the same facts give the same verdict. */
import type {FindingKind} from '../domain/finding.ts';
import type {Survivor} from '../domain/outcome.ts';
import type {Kept} from '../domain/plan.ts';
import {KEPT_WORD, SURVIVOR_WHY} from '../report/wording.ts';
import type {Must, ZooRow} from './zoo-table.ts';

export interface Judged {
  readonly species: string;
  /** As the product called the holder in its plan; empty if it did not show it. */
  readonly findings: readonly FindingKind[];
  readonly freed: boolean;
  /** Why it is not free, in the product's own word; null where it gave none. */
  readonly refused: string | null;
  readonly serverGone: boolean;
  readonly harmed: readonly string[];
  /** Host uptime from the last signal to memory verified, ms. */
  readonly freedAfterMs: number | null;
  /** What a person reads at the end. */
  readonly report: string;
  /** Each a sentence; empty: as the table demands. */
  readonly broken: readonly string[];
}

export interface Shown {
  readonly pid?: number;
  readonly identity?: {readonly pid: number};
  readonly findings: readonly FindingKind[];
  readonly why?: Kept['why'];
}

export interface Told {
  readonly plan: {readonly targets: readonly Shown[]; readonly kept: readonly Shown[]} | null;
  readonly outcome: {
    readonly word: string;
    readonly survivors: readonly {readonly pid: number; readonly why: Survivor['why']}[];
    readonly gpus: readonly {readonly beforeMiB: number | null; readonly afterMiB: number | null}[];
    readonly freedAfterMs: number | null;
  } | null;
  readonly report: string;
}

/** Each thing that is not as the table demands, as a sentence. `touched`: a signal reached the holder. */
export function judge(row: ZooRow, facts: Omit<Judged, 'broken'>, told: Told, touched: boolean): readonly string[] {
  const broken: string[] = [];
  const {must} = row;
  const came = told.outcome?.gpus.some((gpu) => (gpu.beforeMiB ?? 0) > (gpu.afterMiB ?? 0)) === true;
  if (told.outcome?.word === 'reclaimed' && !came)
    broken.push('it says reclaimed, and by its own figures nothing came back');
  if (told.plan === null) broken.push('no plan was made');
  if (!facts.findings.includes(row.finding))
    broken.push(`not called ${row.finding}: ${facts.findings.join(', ') || 'not shown at all'}`);
  if (facts.harmed.length > 0) broken.push(...facts.harmed);
  switch (must.what) {
    case 'free':
      if (!facts.freed) broken.push(`its memory is not back${facts.refused === null ? '' : `: ${facts.refused}`}`);
      if (!facts.serverGone) broken.push('its server lives');
      if (told.outcome?.word !== 'reclaimed') broken.push(`the outcome is ${told.outcome?.word ?? 'none'}`);
      break;
    case 'refuse':
      if (touched) broken.push('it was signalled');
      if (facts.refused !== KEPT_WORD[must.why])
        broken.push(`kept as "${facts.refused ?? 'nothing'}", not as "${KEPT_WORD[must.why]}"`);
      break;
    case 'stay':
      if (told.outcome?.word === 'reclaimed') broken.push('the outcome is reclaimed, and it is still there');
      if (!must.says.test(told.report)) broken.push(`nothing in the report matches ${must.says}`);
      break;
    case 'return':
      // What came back before the closing look may be in the outcome already; what came later only in the notes.
      if (!must.says.test(told.report)) broken.push(`nothing in the report matches ${must.says}`);
      break;
  }
  if (row.alsoSays !== undefined && !row.alsoSays.test(told.report))
    broken.push(`nothing in the report matches ${row.alsoSays}`);
  return broken;
}

/** In the product's own words. */
export function whyNot(
  shown: Shown | undefined,
  survivor: {readonly why: Survivor['why']} | undefined,
  must: Must,
  report: string,
): string | null {
  if (shown?.why !== undefined) return KEPT_WORD[shown.why];
  if (must.what === 'return' || must.what === 'stay') return must.says.exec(report)?.[0] ?? null;
  return survivor === undefined ? null : SURVIVOR_WHY[survivor.why];
}

export function pidOf(shown: Shown): number | undefined {
  return shown.pid ?? shown.identity?.pid;
}
