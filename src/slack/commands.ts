/** The slash command: acknowledged first, then taken once, then answered in the background. */
import {isApprover} from '../domain/authority.ts';
import {type Failure, fail, ok, type Result} from '../domain/failure.ts';
import {isGoodAlone} from '../domain/grammar/access.ts';
import {type Command, readCommand} from '../domain/grammar/command.ts';
import type {Verb} from '../domain/grammar/rules.ts';
import {LONGEST} from '../domain/grammar/typed-text.ts';
import {readLookedAt, readStatus} from '../domain/looks-words.ts';
import {readCancel, readRun} from '../domain/run-words.ts';
import {readReclaim} from '../domain/words.ts';
import {failureMessage} from './blocks/answers.ts';
import {cancelledAnswer, pausedAnswer, resumedAnswer, stillLooking} from './blocks/command-answers.ts';
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

export async function runCommand(desk: Desk, asker: Asker, text: string): Promise<void> {
  const command = readText(text);
  const asks = command.ok && isAsking(command.value);
  const isHelp = command.ok && command.value.kind === 'help';
  const refused = refuseHere(desk, asker, isHelp || (asks && isAlone(asker)));
  if (refused !== null) return answer(desk, asker, refused);
  if (!command.ok) return answer(desk, asker, failureMessage(command.failure));
  const who = await desk.people.identify(asker.user, asker.team);
  if (command.value.kind === 'help')
    return answer(desk, asker, shareable(desk, asker, 'help', helpFor(desk, who, asker, command.value.about)));
  const asked = command.value;
  if (asked.verb === 'reclaim') {
    const request = readReclaim(asked.words, [...desk.hosts.values()], who.person);
    if (!request.ok) return answer(desk, asker, failureMessage(request.failure));
    return askForPlan(desk, asker, who, request.value);
  }
  const told = await withPatience(desk, asker, () => tell(desk, asker, who, asked));
  if (told.ok) {
    if (asks) return answer(desk, asker, shareable(desk, asker, asked.verb, told.value));
    // The thread of the run tells by itself who has stopped it.
    return asked.verb === 'cancel' ? answer(desk, asker, told.value) : say(desk, asker, who, told.value);
  }
  for (const message of refusal(told.failure, who)) await answer(desk, asker, message);
}

function readText(text: string): Result<Command> {
  return text.length > LONGEST
    ? fail({reason: 'command-too-long', characters: text.length, limit: LONGEST})
    : readCommand(wordsOf(text), 'slack');
}

function isAsking(command: Command): boolean {
  return command.kind === 'help' || isGoodAlone(command, command.form);
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
  {verb, form, words}: Extract<Command, {readonly kind: 'do'}>,
): Promise<Result<Message>> {
  const {engine} = desk;
  switch (verb) {
    case 'status':
      return status(desk, words);
    case 'diagnose':
      return diagnose(desk, words);
    case 'runs':
      return told(await engine.recent(RECENT), runsMessage);
    case 'show':
      return told(await engine.find(readRun(words)), runMessage);
    case 'cancel':
      return cancel(desk, who, words);
    case 'pause':
      return told(await engine.pause(who.person), () => pausedAnswer(desk.command));
    case 'resume':
      return resume(desk, who);
    case 'report':
      return askForReport(desk, asker, who, words);
    case 'schedules':
      return schedulesAsked(desk, who, form.sub, words);
    case 'profile':
      return profileAsked(desk, asker, who, form.sub, words);
    case 'keep':
      return keepAsked(desk, asker, who, words);
    case 'hosts':
      return ok(hostsMessage([...desk.hosts.values()]));
    default:
      throw new Error(`Internal error: ${verb} is answered elsewhere`);
  }
}

export function helpFor(desk: Desk, who: Identified, asker: Pick<Asker, 'channel'>, about: Verb | null): Message {
  return helpMessage(
    {
      command: desk.command,
      hosts: [...desk.hosts.values()],
      policy: desk.policy,
      approvers: approverMentions(desk.policy),
      isApprover: isApprover(who.person, desk.policy),
      place: desk.channels.includes(asker.channel) ? 'here' : isAlone(asker) ? 'alone' : 'elsewhere',
      channels: desk.channels,
    },
    about,
  );
}

async function status(desk: Desk, words: readonly string[]): Promise<Result<Message>> {
  const names = readStatus(words, [...desk.hosts.values()]);
  if (!names.ok) return names;
  const looks = await Promise.all(
    names.value.map(async ({name, by}) => ({name, look: await desk.engine.look(name, {unasked: by !== 'name'})})),
  );
  return ok(statusMessage(looks));
}

async function diagnose(desk: Desk, words: readonly string[]): Promise<Result<Message>> {
  const host = readLookedAt(words, [...desk.hosts.values()], 'diagnose');
  if (!host.ok) return host;
  return told(await desk.engine.diagnose(host.value), (look) => diagnosisMessage(look.diagnosis));
}

/** Anyone may stop: a waiting run closes, a working one stops before its next signal. */
async function cancel(desk: Desk, who: Identified, words: readonly string[]): Promise<Result<Message>> {
  const {given, reason} = readCancel(words);
  if (given === '') return fail({reason: 'run-unknown', given: '', nearest: []});
  const found = await desk.engine.find(given);
  if (!found.ok) return found;
  const link = await cardLink(desk, found.value.id);
  return told(await desk.engine.cancel(found.value, who.person, reason), (run) => cancelledAnswer(run, link));
}

async function resume(desk: Desk, who: Identified): Promise<Result<Message>> {
  const before = await desk.engine.paused();
  return told(await desk.engine.resume(who.person), () => resumedAnswer(before.ok ? before.value : null));
}

function told<T>(result: Result<T, Failure>, say: (value: T) => Message): Result<Message> {
  return result.ok ? ok(say(result.value)) : result;
}
