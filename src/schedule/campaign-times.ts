/**
 * When campaigns are sampled, and when people are told of them. The store says what is due and what was told, so that a
 * restart goes on where it was: what came due meanwhile is told once, and marked late; a sample that was not made is a gap.
 */
import type {CampaignId} from '../domain/campaign.ts';
import type {CampaignTeller, CampaignTelling, CampaignVerbs, DueSample, OwedNotice} from '../engine/campaign-ports.ts';
import type {Clock, Log} from '../engine/ports.ts';

export interface CampaignTimesDeps {
  readonly engine: Pick<
    CampaignVerbs,
    'comingSamples' | 'takeSample' | 'noticesOwed' | 'noticeTold' | 'finishEnd' | 'checkHeld'
  >;
  readonly teller: CampaignTeller;
  readonly clock: Clock;
  readonly log: Log;
  /** How often the store is asked for what others began, and what could not be told is tried again, ms. */
  readonly everyMs: number;
  /** How often processes that are held by themselves are looked for, ms. */
  readonly watchEveryMs: number;
  /** Ends it: nothing is begun any more. */
  readonly over: AbortSignal;
}

/** Resolves once it is over and nothing is under way. A failing store is waited out. */
export async function keepCampaigns(deps: CampaignTimesDeps): Promise<void> {
  const {engine, teller, clock, log, everyMs, watchEveryMs, over} = deps;
  const startedAtMs = clock.now();
  const checkedAtMs = new Map<CampaignId, number>();
  /** One thing at a time: a slow look is a gap, never two at once. */
  const working = new Map<string, Promise<void>>();
  /** Told, and not yet written down, as with a full store: it must not be told again with each try. */
  const unwritten = new Map<string, CampaignTelling>();

  const begin = (key: string, act: () => Promise<void>): void => {
    if (working.has(key) || over.aborted) return;
    working.set(
      key,
      act().finally(() => working.delete(key)),
    );
  };

  /** When one was last tried: what a full store cannot keep must not be looked at more often than was asked for. */
  const triedAtMs = new Map<string, number>();
  const mayTry = ({id, host, everyMs: leastMs}: DueSample): boolean =>
    clock.now() - (triedAtMs.get(`${id} ${host}`) ?? Number.NEGATIVE_INFINITY) >= leastMs;

  const sample = async ({id, host}: DueSample): Promise<void> => {
    const taken = await engine.takeSample(id, host);
    if (taken.ok) triedAtMs.delete(`${id} ${host}`);
    else if (!over.aborted) log.error({campaign: id, host, failure: taken.failure}, 'a sample was not kept');
  };

  const tell = async (notice: OwedNotice): Promise<void> => {
    const {id} = notice.kept.campaign;
    const key = `${id} ${notice.what}`;
    const telling = unwritten.get(key) ?? (await teller.tell(notice));
    if (telling.kind === 'later') return;
    unwritten.set(key, telling);
    if (telling.kind === 'nowhere') log.error({campaign: id, why: telling.why}, 'no channel takes a notice');
    const told = await engine.noticeTold(notice, telling);
    if (told.ok) unwritten.delete(key);
    else log.error({campaign: id, failure: told.failure}, 'that a notice was told could not be kept');
  };

  /** When it must be looked after again, epoch ms. */
  const round = async (): Promise<number> => {
    const coming = await engine.comingSamples();
    if (!coming.ok) log.error({failure: coming.failure}, 'due samples could not be read');
    const samples = coming.ok ? coming.value : [];
    const due = samples.filter(({dueAtMs}) => dueAtMs <= clock.now());
    for (const one of due.filter(mayTry)) {
      triedAtMs.set(`${one.id} ${one.host}`, clock.now());
      begin(`sample ${one.id} ${one.host}`, () => sample(one));
    }
    const owed = await engine.noticesOwed(startedAtMs);
    if (!owed.ok) log.error({failure: owed.failure}, 'owed notices could not be read');
    for (const notice of owed.ok ? owed.value.notices : [])
      begin(`notice ${notice.kept.campaign.id}`, () => tell(notice));
    for (const id of owed.ok ? owed.value.unfinished : [])
      begin(`notice ${id}`, async () => {
        const done = await engine.finishEnd(id);
        if (!done.ok) log.error({campaign: id, failure: done.failure}, 'a campaign could not be ended');
      });
    for (const id of owed.ok ? owed.value.watched : []) {
      if (clock.now() - (checkedAtMs.get(id) ?? Number.NEGATIVE_INFINITY) < watchEveryMs) continue;
      checkedAtMs.set(id, clock.now());
      begin(`watch ${id}`, async () => {
        const checked = await engine.checkHeld(id);
        if (!checked.ok)
          log.error({campaign: id, failure: checked.failure}, 'held processes could not be looked after');
      });
    }
    const nextMs = samples.filter((one) => !due.includes(one)).map(({dueAtMs}) => dueAtMs);
    return Math.min(...nextMs, (owed.ok ? owed.value.nextMs : null) ?? Number.POSITIVE_INFINITY);
  };

  while (!over.aborted) {
    const nextMs = await round();
    await clock.wait(Math.max(0, Math.min(everyMs, nextMs - clock.now())), over);
  }
  await Promise.all(working.values());
}
