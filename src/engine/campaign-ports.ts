/** What campaigns need of the store and give to the doors, in the engine's own words; part of `ports.ts` by room. */
import type {Campaign, CampaignId, CampaignNote, KeptCampaign} from '../domain/campaign.ts';
import type {IdleAnswer, Notice, NoticeKind} from '../domain/campaign-notices.ts';
import type {CampaignReport} from '../domain/campaign-report.ts';
import type {AskedHold} from '../domain/campaign-words.ts';
import type {Result} from '../domain/failure.ts';
import type {HostName} from '../domain/host.ts';
import type {HostFacts} from '../domain/host-facts.ts';
import type {Person} from '../domain/person.ts';
import type {HostSamples} from '../domain/samples.ts';

export interface CampaignStore {
  /** Keeps it, unless `inTheWay` says so of those that are kept: both in one transaction. False: not kept. */
  add(campaign: Campaign, inTheWay: (kept: readonly KeptCampaign[]) => boolean): Promise<boolean>;
  /** Oldest first: all that are not ended, and those that ended within the last 30 days. */
  all(nowMs: number): Promise<readonly KeptCampaign[]>;
  /**
   * Of those, the ones that hold or of which somebody is still owed something: what a bot looks through every few seconds.
   * Not those whose time has passed, which was told, and not those that ended before they had a card.
   */
  live(): Promise<readonly KeptCampaign[]>;
  /** Once: false if it is ended already. */
  end(
    id: CampaignId,
    ended: {readonly by: string; readonly atMs: number; readonly after: readonly HostFacts[]},
  ): Promise<boolean>;
  /**
   * What was sampled so far on one host, and when the next one is due. False, and nothing kept, where the campaign is ended,
   * or where `fromMs`, what `nextMs` was when it was read, is no longer so; null: there was none.
   */
  keepSamples(
    id: CampaignId,
    kept: {readonly fromMs: number | null; readonly nextMs: number; readonly samples: HostSamples},
  ): Promise<boolean>;
  /** Once for each `what` of a campaign: false, and nothing kept, if it was there. */
  note(id: CampaignId, note: CampaignNote): Promise<boolean>;
  keepCard(id: CampaignId, card: {readonly channel: string; readonly ts: string}): Promise<void>;
}

export interface NewHold extends AskedHold {
  readonly person: Person;
  /** By whose clocks its end is meant. */
  readonly zone: string;
  readonly channel: string | null;
}

/** One sample that is to be made. */
export interface DueSample {
  readonly id: CampaignId;
  readonly host: HostName;
  /** Epoch ms. */
  readonly dueAtMs: number;
  /** How often, ms. */
  readonly everyMs: number;
}

/** Something that people are owed of a campaign. */
export interface OwedNotice extends Notice {
  readonly kept: KeptCampaign;
  /** It was owed while nobody was there to tell it. */
  readonly late: boolean;
}

export interface OwedNotices {
  readonly notices: readonly OwedNotice[];
  /** Campaigns that somebody has said to end, and whose program died before it did. */
  readonly unfinished: readonly CampaignId[];
  /** Holds on single processes, to be looked after: they end with them. */
  readonly watched: readonly CampaignId[];
  /** When the next may be owed by its time alone, epoch ms. */
  readonly nextMs: number | null;
}

/** `told`: under this card · `later`: it stays owed · `nowhere`: no channel takes it. */
export type CampaignTelling =
  | {readonly kind: 'told'; readonly card: {readonly channel: string; readonly ts: string}}
  | {readonly kind: 'later'}
  | {readonly kind: 'nowhere'; readonly why: string};

export interface CampaignTeller {
  tell(notice: OwedNotice): Promise<CampaignTelling>;
}

export interface AnsweredIdle {
  readonly answer: IdleAnswer;
  readonly kept: KeptCampaign;
  readonly atMs: number;
  /** Of "keep": when it is asked again, should its GPUs still be idle. */
  readonly untilMs: number | null;
}

export interface EndedCampaign {
  readonly kept: KeptCampaign;
  /** Without hosts for a `keep`: it was never looked at. */
  readonly report: CampaignReport;
}

/** The engine's verbs about campaigns. They look and hold; none of them signals, or sets anything back. */
export interface CampaignVerbs {
  /**
   * Looks at each host, for a campaign, and holds its GPUs from then on. Refused where somebody holds them already, and
   * where one of the hosts does not answer: without a start there is nothing to compare with.
   */
  startHold(asked: NewHold): Promise<Result<KeptCampaign>>;
  /** By id, a beginning of it, or the one host that it is on. By who holds it, or an approver. */
  stopHold(given: string, person: Person): Promise<Result<EndedCampaign>>;
  /** Looks again at an ended campaign's hosts. Anybody may. */
  campaignReport(given: string): Promise<Result<EndedCampaign>>;
  holds(): Promise<Result<readonly KeptCampaign[]>>;
  /** What campaigns have asked to be sampled, soonest first, due or not. */
  comingSamples(): Promise<Result<readonly DueSample[]>>;
  /** Makes the one that is due, and keeps it; a host that does not answer is a gap, and no failure. */
  takeSample(id: CampaignId, host: HostName): Promise<Result<null>>;
  /** What is owed by now; `startedAtMs`: since when this program is there to tell it. */
  noticesOwed(startedAtMs: number): Promise<Result<OwedNotices>>;
  noticeTold(notice: OwedNotice, telling: CampaignTelling): Promise<Result<null>>;
  /** "End it" or "keep it" of who holds it, or an approver. The first answer wins; who says "end it" then calls `stopHold`. */
  answerIdle(
    asked: {readonly id: CampaignId; readonly question: string; readonly answer: IdleAnswer},
    person: Person,
  ): Promise<Result<AnsweredIdle>>;
  /** Looks whether processes that are held by themselves are still there; if none is, the hold is over. */
  checkHeld(id: CampaignId): Promise<Result<null>>;
  /** Ends what somebody has said to end. */
  finishEnd(id: CampaignId): Promise<Result<null>>;
  /** That something of it was told, so that it is owed no more. */
  noteHold(id: CampaignId, what: NoticeKind): Promise<Result<null>>;
  keepHoldCard(id: CampaignId, card: {readonly channel: string; readonly ts: string}): Promise<Result<null>>;
}
