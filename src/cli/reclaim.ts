/** `reclaim`: the whole of one run from a terminal. Without a typed or spelled-out confirmation nothing is sent. */
import type {Failure} from '../domain/failure.ts';
import {readHost} from '../domain/grammar/host-words.ts';
import {settle} from '../domain/grammar/settle.ts';
import type {HostName} from '../domain/host.ts';
import {personId} from '../domain/person.ts';
import type {GoChoice, Run} from '../domain/run.ts';
import {requestOf} from '../domain/run-state.ts';
import {RECLAIM_OPTIONS, readReclaim} from '../domain/words.ts';
import type {Proposal} from '../engine/ports.ts';
import {span} from '../report/amounts.ts';
import {failureSentence} from '../report/failure-sentence.ts';
import {overrideLine} from '../report/hold-sentence.ts';
import {planLines, planTitle} from '../report/plan-card.ts';
import {withPractice} from '../report/practice.ts';
import {graceWords} from '../report/writing-words.ts';
import {confirmText, readTyped, typedText} from './confirm.ts';
import {type CliContext, printJson, refuse} from './context.ts';
import {EXIT, type ExitCode, exitForOutcome} from './exit-code.ts';
import {outcomeOf, planJson, runJson} from './json.ts';
import {takeUp} from './recovered.ts';
import {printOutcome} from './show.ts';

export interface ReclaimOptions {
  readonly confirm: string | null;
  readonly terminateOnly: boolean;
}

export async function reclaim(asked: CliContext, words: readonly string[], options: ReclaimOptions): Promise<ExitCode> {
  const taken = await takeUp(asked);
  if (!taken.ok) return refuse(asked, taken.failure);
  const context = taken.value;
  if (options.confirm !== null) return confirmed(context, words, options.confirm, options.terminateOnly);

  const request = readReclaim(words, [...context.hosts.values()], context.person);
  if (!request.ok) return refuse(context, request.failure);
  if (!context.json) context.terminal.progress(`⏳ looking at ${request.value.host}; nothing has been signalled`);
  const proposed = await context.engine.propose(request.value);
  if (!proposed.ok) return refuse(context, proposed.failure);
  const {run} = proposed.value;
  const {override} = requestOf(run);
  if (override !== undefined && !context.json) context.terminal.print(overrideLine(override));
  if (!context.json) printPlan(context, proposed.value, request.value.match);
  if (run.phase === 'closed') return ended(context, run);
  if (!context.terminal.interactive || context.json) return waits(context, run, proposed.value, options.terminateOnly);
  return askForGo(context, run, proposed.value, request.value.reason, options.terminateOnly);
}

/** The second half on its own: a plan that was shown before, by this or another program, is confirmed by its digest. */
async function confirmed(
  context: CliContext,
  typed: readonly string[],
  given: string,
  terminateOnly: boolean,
): Promise<ExitCode> {
  const settled = settle(typed, {options: RECLAIM_OPTIONS, known: [...context.hosts.values()], bare: 'hosts'});
  if (!settled.ok) return refuse(context, settled.failure);
  const {words} = settled.value;
  const stray = strayBesideConfirm(words);
  if (stray !== null) return refuse(context, stray);
  const host = hostOfConfirm(context, words, given);
  if (host === null)
    return refuse(context, {
      reason: 'argument-bad',
      argument: '--confirm',
      value: given,
      expected: 'COUNT:HOST:DIGEST as the plan printed it, such as 3:gpu-07:9f2c1ab0',
    });
  const open = await context.engine.openRunOn(host);
  if (!open.ok) return refuse(context, open.failure);
  const run = open.value;
  const planned = run?.phase === 'awaiting-go' ? run.events.findLast((event) => event.kind === 'planned') : undefined;
  if (run === null || planned?.kind !== 'planned') return refuse(context, await whyNotPending(context, host, given));
  const expected = confirmText(planned.plan, planned.digest);
  if (given !== expected) {
    const sameShape = given.split(':').length === 3 && given.split(':')[2] !== expected.split(':')[2];
    if (sameShape)
      return refuse(context, {
        reason: 'plan-outdated',
        runId: run.id,
        given: given.split(':')[2] ?? '',
        current: planned.digest,
      });
    return refuse(context, {reason: 'confirmation-mismatch', given, expected});
  }
  const reason = reasonIn(words) ?? requestReason(run);
  return go(context, run, {
    digest: planned.digest,
    choice: terminateOnly ? 'terminate-only' : 'terminate-then-kill',
    reason,
    atTerminal: context.terminal.interactive,
  });
}

async function askForGo(
  context: CliContext,
  run: Run,
  proposal: Proposal,
  reason: string | null,
  terminateOnly: boolean,
): Promise<ExitCode> {
  const {plan, digest} = proposal;
  const planned = run.events.findLast((event) => event.kind === 'planned');
  const leftMs = planned?.kind === 'planned' ? planned.expiresAtMs - context.clock.now() : 0;
  const over = new AbortController();
  const answered = new AbortController();
  void context.clock.wait(leftMs, answered.signal).then(() => over.abort());
  const typed = await context.terminal.ask(
    `Type "${typedText(plan)}" for SIGTERM, then kill -9 after ${graceWords(plan)}; "term ${typedText(plan)}" for SIGTERM only; anything else leaves it: `,
    over.signal,
  );
  const expired = over.signal.aborted;
  answered.abort();
  if (expired) {
    const closed = await context.engine.expire(run);
    return closed.ok ? ended(context, closed.value) : refuse(context, closed.failure);
  }
  const choice = typed === null ? null : readTyped(typed, plan);
  if (choice === null) {
    const closed = await context.engine.deny(run, context.person, null);
    return closed.ok ? ended(context, closed.value) : refuse(context, closed.failure);
  }
  return go(context, run, {digest, choice: terminateOnly ? 'terminate-only' : choice, reason, atTerminal: true});
}

interface Go {
  readonly digest: string;
  readonly choice: GoChoice;
  readonly reason: string | null;
  readonly atTerminal: boolean;
}

async function go(context: CliContext, run: Run, asked: Go): Promise<ExitCode> {
  let approved = await context.engine.approve({run, person: context.person, ...asked});
  if (!approved.ok && context.terminal.interactive && mayBreakGlass(approved.failure)) {
    context.terminal.complain(failureSentence(approved.failure));
    const reason = await context.terminal.ask('Reason (everybody will read it; empty leaves the plan waiting): ');
    if (reason !== null && reason.trim() !== '')
      approved = await context.engine.approve({run, person: context.person, ...asked, reason: reason.trim()});
  }
  if (!approved.ok) return refuse(context, approved.failure);
  const started = approved.value;
  const stopHearing = context.onInterrupt(() => {
    context.terminal.complain('Stopping before the next signal; what was sent is sent. The outcome follows.');
    void context.engine.cancel(started, context.person, 'interrupted at the terminal');
  });
  try {
    const done = await context.engine.execute(started);
    return done.ok ? await ended(context, done.value) : refuse(context, done.failure);
  } finally {
    stopHearing();
  }
}

function ended(context: CliContext, run: Run): ExitCode {
  const outcome = outcomeOf(run);
  if (outcome === null) return EXIT.unknown;
  if (context.json) printJson(context, {ok: outcome.word === 'reclaimed', run: runJson(run), outcome});
  else printOutcome(context, run, outcome);
  return exitForOutcome(outcome.word);
}

function waits(context: CliContext, run: Run, {plan, digest}: Proposal, terminateOnly: boolean): ExitCode {
  const confirm = confirmText(plan, digest);
  if (context.json)
    printJson(context, {ok: false, waiting: true, run: runJson(run), plan: planJson(plan, digest, confirm), confirm});
  else {
    // The line to copy must not do more than what was asked for.
    const line = terminateOnly ? `${confirm} --terminate-only` : confirm;
    context.terminal.print(failureSentence({reason: 'no-terminal', runId: run.id, confirm: line}));
  }
  return EXIT.waiting;
}

function printPlan(context: CliContext, proposal: Proposal, match: string | null): void {
  const {run, plan} = proposal;
  const {terminal} = context;
  const named = plan.targets.filter((target) => target.belonging.by !== 'ghost').length;
  terminal.print('', withPractice(run, `⏳ ${planTitle(plan)}`));
  if (match !== null && named === 0)
    terminal.print(
      `Nothing matches "${match}"; ${plan.targets.length === 0 ? 'no ghost found either.' : `${plan.targets.length} ghost${plan.targets.length === 1 ? '' : 's'} found.`}`,
    );
  for (const line of planLines(plan)) terminal.print(line.as === 'detail' ? `   ${line.text}` : line.text);
  if (run.phase === 'awaiting-go') {
    const planned = run.events.findLast((event) => event.kind === 'planned');
    const leftMs = planned?.kind === 'planned' ? planned.expiresAtMs - context.clock.now() : 0;
    terminal.print(`Nothing has been signalled. Waits ${span(leftMs)} · run ${run.id.slice(0, 6)}`, '');
  }
}

function mayBreakGlass(failure: {readonly reason: string; readonly breakGlass?: boolean}): boolean {
  return (
    failure.reason === 'break-glass-needs-reason' ||
    (failure.reason === 'needs-another-approver' && failure.breakGlass === true)
  );
}

/** Nothing waits: most likely somebody else was faster with this very plan, or its time is over. */
async function whyNotPending(context: CliContext, host: HostName, given: string): Promise<Failure> {
  const recent = await context.engine.recent(20);
  if (!recent.ok) return recent.failure;
  const run = recent.value.find((one) => one.host === host && waitedFor(one) === given);
  const decided = run?.events.findLast(
    (event) =>
      event.kind === 'approved' || event.kind === 'denied' || event.kind === 'cancelled' || event.kind === 'expired',
  );
  if (run === undefined || decided === undefined) return {reason: 'nothing-pending', host};
  const {id: runId} = run;
  const {atMs} = decided;
  switch (decided.kind) {
    case 'expired':
      return {reason: 'approval-expired', runId, atMs};
    case 'cancelled':
      return {reason: 'already-decided', runId, by: decided.by, decision: 'cancelled', atMs};
    case 'approved':
    case 'denied':
      return {reason: 'already-decided', runId, by: personId(decided.by), decision: decided.kind, atMs};
    default:
      return {reason: 'nothing-pending', host};
  }
}

/** What would have confirmed this run's newest plan. */
function waitedFor(run: Run): string | null {
  const planned = run.events.findLast((event) => event.kind === 'planned');
  return planned?.kind === 'planned' ? confirmText(planned.plan, planned.digest) : null;
}

/** A plan is confirmed whole: words that would choose or change one are refused, not passed over. */
function strayBesideConfirm(words: readonly string[]): Failure | null {
  const hosts = words.filter((word) => !word.includes('=') && word !== 'dry-run' && word !== 'include-others');
  const stray = words.find((word) => !hosts.includes(word) && !word.startsWith('reason='));
  if (stray !== undefined) return {reason: 'argument-unknown', argument: `${stray} beside --confirm`, nearest: []};
  return hosts.length > 1 ? {reason: 'one-host-only', hosts} : null;
}

function hostOfConfirm(context: CliContext, words: readonly string[], given: string): HostName | null {
  const named = given.split(':')[1] ?? '';
  const host = readHost(named, [...context.hosts.keys()]);
  if (!host.ok) return null;
  const typed = words.find((word) => !word.includes('='));
  return typed === undefined || typed.toLowerCase() === host.value.toLowerCase() ? host.value : null;
}

function reasonIn(words: readonly string[]): string | null {
  const word = words.find((one) => one.startsWith('reason='));
  return word === undefined ? null : word.slice('reason='.length);
}

function requestReason(run: Run): string | null {
  const first = run.events[0];
  return first?.kind === 'requested' ? first.request.reason : null;
}
