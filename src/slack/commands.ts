/** The slash command: acknowledged first, then taken once, then answered in the background. */
import {isApprover} from '../domain/authority.ts';
import {type Failure, fail, ok, type Result} from '../domain/failure.ts';
import type {HostName} from '../domain/host.ts';
import {readHost, readReclaim, readVerb, type Verb} from '../domain/words.ts';
import {failureMessage} from './blocks/answers.ts';
import {cancelledAnswer, pausedAnswer, probeElsewhere, resumedAnswer, stillLooking} from './blocks/command-answers.ts';
import {helpMessage} from './blocks/help.ts';
import {diagnosisMessage, hostsMessage, statusMessage} from './blocks/host-answers.ts';
import {type Message, messageOf, section} from './blocks/message.ts';
import {mention} from './blocks/people.ts';
import {runMessage, runsMessage} from './blocks/run-answers.ts';
import {cardLink} from './card-link.ts';
import {type Asker, answer, type Desk, isAlone, sayInThread} from './desk.ts';
import {refusal, refuseHere} from './gate.ts';
import {keepAsked, profileAsked} from './holds-asked.ts';
import {approverMentions} from './mentions.ts';
import type {Identified} from './people.ts';
import {askForPlan} from './reclaim.ts';
import {askForReport, schedulesAsked} from './reports-asked.ts';
import {wordsOf} from './typed-text.ts';

/** So long a person waits without a word. */
const PATIENCE_MS = 1_000;
/** How many runs `runs` lists. */
const RECENT = 15;
/** Bare words that a verb takes; one too many is refused, since whoever types `pause gpu-07` believes that one host is meant. */
const MOST_WORDS: Readonly<Partial<Record<Verb, number>>> = {runs: 0, show: 1, pause: 0, resume: 0, hosts: 0};

/** They ask of what there is, and change nothing: good in private, and to be shared. */
const ASKS: readonly Verb[] = ['help', 'status', 'diagnose', 'runs', 'show', 'hosts', 'schedules'];

export async function runCommand(desk: Desk, asker: Asker, text: string): Promise<void> {
  const [first = 'help', ...words] = wordsOf(text);
  const verb = readVerb(first);
  const asks = verb.ok && ASKS.includes(verb.value) && !(verb.value === 'schedules' && words.length > 0);
  const refused = refuseHere(desk, asker, verb.ok && (verb.value === 'help' || (asks && isAlone(asker))));
  if (refused !== null) return answer(desk, asker, refused);
  if (!verb.ok) return answer(desk, asker, failureMessage(verb.failure));
  if (verb.value === 'probe') return answer(desk, asker, probeElsewhere());
  const stray = words[MOST_WORDS[verb.value] ?? Number.POSITIVE_INFINITY];
  if (stray !== undefined)
    return answer(desk, asker, failureMessage({reason: 'argument-unknown', argument: stray, nearest: []}));
  const who = await desk.people.identify(asker.user, asker.team);
  if (verb.value === 'reclaim') {
    const request = readReclaim(words, [...desk.hosts.keys()], who.person);
    if (!request.ok) return answer(desk, asker, failureMessage(request.failure));
    return askForPlan(desk, asker, who, request.value);
  }
  const asked = verb.value;
  const told = await withPatience(desk, asker, () => tell(desk, asker, who, asked, words));
  if (told.ok) {
    if (asks) return answer(desk, asker, shareable(desk, asker, asked, told.value));
    // The thread of the run tells by itself who has stopped it.
    return asked === 'cancel' ? answer(desk, asker, told.value) : say(desk, asker, who, told.value);
  }
  for (const message of refusal(told.failure, who)) await answer(desk, asker, message);
}

/** Not where nobody else would read it, nor where the bot does not work. */
function shareable(desk: Desk, asker: Asker, verb: Verb, message: Message): Message {
  if (!desk.channels.includes(asker.channel)) return message;
  const {user, channel, threadTs} = asker;
  const how = verb === 'status' || verb === 'diagnose' ? 'looked' : 'read';
  return desk.shared.offer({user, channel, threadTs, message, how});
}

/** What somebody changed by words that all could read is told to all; by a command, to them alone. */
async function say(desk: Desk, asker: Asker, who: Identified, message: Message): Promise<void> {
  if (asker.saidTs === null) return answer(desk, asker, message);
  return sayInThread(desk, asker, messageOf([section(`${mention(who.person)}:`), ...message.blocks]));
}

/** A host that answers slowly must not look like a bot that is down. */
async function withPatience<T>(desk: Desk, asker: Asker, act: () => Promise<T>): Promise<T> {
  const done = new AbortController();
  const word = desk.clock.wait(PATIENCE_MS, done.signal).then(async () => {
    if (!done.signal.aborted) await answer(desk, asker, stillLooking());
  });
  try {
    return await act();
  } finally {
    done.abort();
    await word;
  }
}

async function tell(
  desk: Desk,
  asker: Asker,
  who: Identified,
  verb: Exclude<Verb, 'reclaim' | 'probe'>,
  words: readonly string[],
): Promise<Result<Message>> {
  const {engine} = desk;
  switch (verb) {
    case 'help':
      return ok(helpFor(desk, who, asker.channel));
    case 'status':
      return status(desk, words);
    case 'diagnose':
      return diagnose(desk, words);
    case 'runs':
      return told(await engine.recent(RECENT), runsMessage);
    case 'show':
      return told(await engine.find(words[0] ?? ''), runMessage);
    case 'cancel':
      return cancel(desk, who, words);
    case 'pause':
      return told(await engine.pause(who.person), () => pausedAnswer(desk.command));
    case 'resume':
      return resume(desk, who);
    case 'report':
      return askForReport(desk, asker, who, words);
    case 'schedules':
      return schedulesAsked(desk, who, words);
    case 'profile':
      return profileAsked(desk, asker, who, words);
    case 'keep':
      return keepAsked(desk, asker, who, words);
    case 'hosts':
      return ok(hostsMessage([...desk.hosts.values()]));
  }
}

export function helpFor(desk: Desk, who: Identified, channel: string): Message {
  return helpMessage({
    command: desk.command,
    hosts: [...desk.hosts.values()],
    policy: desk.policy,
    approvers: approverMentions(desk.policy),
    isApprover: isApprover(who.person, desk.policy),
    channelAllowed: desk.channels.includes(channel),
  });
}

async function status(desk: Desk, words: readonly string[]): Promise<Result<Message>> {
  const names = chosen(desk, words);
  if (!names.ok) return names;
  const looks = await Promise.all(
    names.value.map(async (name) => ({name, look: await desk.engine.look(name, {unasked: words.length === 0})})),
  );
  return ok(statusMessage(looks));
}

async function diagnose(desk: Desk, words: readonly string[]): Promise<Result<Message>> {
  const known = [...desk.hosts.keys()];
  const [first, ...more] = words;
  if (first === undefined) return fail({reason: 'host-missing', verb: 'diagnose', known});
  if (more.length > 0) return fail({reason: 'one-host-only', hosts: words});
  const host = readHost(first, known);
  if (!host.ok) return host;
  return told(await desk.engine.diagnose(host.value), (look) => diagnosisMessage(look.diagnosis));
}

/** Anyone may stop: a waiting run closes, a working one stops before its next signal. */
async function cancel(desk: Desk, who: Identified, words: readonly string[]): Promise<Result<Message>> {
  const [given, ...rest] = words;
  if (given === undefined) return fail({reason: 'run-unknown', given: '', nearest: []});
  const found = await desk.engine.find(given);
  if (!found.ok) return found;
  const reason = rest.length === 0 ? null : rest.join(' ').replace(/^reason=/, '');
  const link = await cardLink(desk, found.value.id);
  return told(await desk.engine.cancel(found.value, who.person, reason), (run) => cancelledAnswer(run, link));
}

async function resume(desk: Desk, who: Identified): Promise<Result<Message>> {
  const before = await desk.engine.paused();
  return told(await desk.engine.resume(who.person), () => resumedAnswer(before.ok ? before.value : null));
}

/** No word: every host. A group's name stands for its hosts. */
function chosen(desk: Desk, words: readonly string[]): Result<readonly HostName[]> {
  const known = [...desk.hosts.keys()];
  if (words.length === 0) return known.length === 0 ? fail({reason: 'host-missing', verb: 'status', known}) : ok(known);
  const names = new Set<HostName>();
  for (const word of words) {
    const group = [...desk.hosts.values()].filter((host) => host.groups.includes(word.toLowerCase()));
    for (const host of group) names.add(host.name);
    if (group.length > 0) continue;
    const host = readHost(word, known);
    if (!host.ok) return host;
    names.add(host.value);
  }
  return ok([...names]);
}

function told<T>(result: Result<T, Failure>, say: (value: T) => Message): Result<Message> {
  return result.ok ? ok(say(result.value)) : result;
}
