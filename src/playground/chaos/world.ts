/** One workspace with its bot, its lab hosts and people: conversations are played in it, a few at a time, one a host. */
import type {Lab} from '../lab/lab.ts';
import {startLab} from '../lab/lab.ts';
import type {LabProcess} from '../lab/process-tree.ts';
import {bystander, deaf, detachedTrainer, workload} from '../lab/species.ts';
import {receivedSignals} from '../lab/witness.ts';
import type {Named, SlackPerson} from '../slack/cast.ts';
import {type LocalSlack, startLocalSlack} from '../slack/local-slack.ts';
import {type Bot, makeBot} from '../story/bot.ts';
import {makeSlackBot, type SlackBot, slackEnv, slackPolicy} from '../story/slack-bot.ts';
import type {Conversation} from './deck.ts';
import type {LabSignal} from './judge.ts';
import {keepRecord, type Record_} from './record.ts';

/** A host with the channel and the people who talk about it: what is told to them belongs to one conversation at a time. */
export interface Slot {
  readonly host: string;
  readonly lab: Lab;
  readonly channel: Named;
  readonly requester: SlackPerson;
  readonly approver: SlackPerson;
  readonly second: SlackPerson;
  readonly stranger: SlackPerson;
}

export interface World {
  readonly name: string;
  readonly slack: LocalSlack;
  readonly record: Record_;
  readonly slots: readonly Slot[];
  /** Processes that the request of this conversation names. */
  stock(slot: Slot, conversation: Conversation): Promise<readonly LabProcess[]>;
  /** SIGKILL, and a fresh start once `between` is done; whoever else asks meanwhile waits for the same one. */
  killBot(between?: () => void): Promise<void>;
  signals(): Promise<readonly LabSignal[]>;
  /** Innocents that are dead, each as a sentence. */
  harmed(): Promise<readonly string[]>;
  said(): string;
  close(): Promise<void>;
}

const QUICK = {
  grace: '1s',
  memberDelay: '0s',
  stalled: '1s',
  verify: '10s',
  approval: '30s',
  limits: {openRuns: 100, runsPerPerson: 1000, targets: 64},
};

export async function startWorld(name: string, slotCount: number, program: string | undefined): Promise<World> {
  const nths = Array.from({length: slotCount}, (_, nth) => nth + 1);
  const roles = ['asker', 'goer', 'second', 'passer'] as const;
  const slack = await startLocalSlack({
    users: Object.fromEntries(nths.flatMap((nth) => roles.map((role) => [`${role}${nth}`, `${role}${nth}`]))),
    channels: nths.map((nth) => `gpu-${nth}`),
  });
  const undo: (() => Promise<void> | void)[] = [() => slack.close()];
  const close = async (): Promise<void> => {
    for (const one of undo.splice(0).toReversed()) await one();
  };
  try {
    const slots: Slot[] = [];
    for (const nth of nths) {
      const lab = await startLab({name: `${name}-${nth}`, gpus: 4});
      undo.push(() => lab.stop());
      const person = (role: (typeof roles)[number]): SlackPerson => {
        const found = slack.users[`${role}${nth}`];
        if (found === undefined) throw new Error(`Internal error: nobody is ${role}${nth}`);
        return found;
      };
      const channel = slack.channels[`gpu-${nth}`] ?? slack.channel;
      const people = {requester: person('asker'), approver: person('goer')};
      slots.push({host: lab.name, lab, channel, ...people, second: person('second'), stranger: person('passer')});
    }
    const innocents = new Map<Lab, readonly LabProcess[]>();
    for (const {lab} of slots)
      innocents.set(lab, [
        await lab.spawn(bystander([{gpu: 3, MiB: 21_630}])),
        await lab.spawn(detachedTrainer([{gpu: 2, MiB: 4_096}])),
      ]);
    const record = keepRecord(slack);
    const approvers = slots.flatMap((slot) =>
      [slot.requester, slot.approver, slot.second].map(({id}) => `slack:${id}`),
    );
    const env = {...slackEnv(slack), SLACK_CHANNEL: slots.map(({channel}) => channel.id).join(',')};
    const labs = Object.fromEntries(slots.map(({host, lab}) => [host, lab]));
    const bot: Bot = makeBot(labs, slackPolicy(slack, {...QUICK, approvers}), {env, owner: 'U0NOBODY'}, program);
    undo.push(() => bot.remove());
    const slackBot: SlackBot = makeSlackBot(bot, slack);
    undo.push(() => slackBot.stop());
    const begin = async (): Promise<void> => {
      record.starts.push(Date.now());
      await slackBot.start();
    };
    await begin();
    let killing: Promise<void> | null = null;
    const owners = new Map<Lab, Map<string, string>>(slots.map(({lab}) => [lab, new Map()]));
    return {
      name,
      slack,
      record,
      slots,
      stock: async ({lab}, {tag, deaf: isDeaf}) => {
        const stocked: LabProcess[] = [];
        for (const gpu of [0, 1]) {
          const label = `${tag} on GPU ${gpu}`;
          owners.get(lab)?.set(label, tag);
          const holds = [{gpu, MiB: 30_000 + gpu * 1_000}];
          stocked.push(await lab.spawn(isDeaf && gpu === 1 ? deaf(holds, {label}) : workload(holds, {label})));
        }
        return stocked;
      },
      killBot: (between = () => undefined) => {
        killing ??= (async () => {
          await slackBot.kill();
          between();
          await begin();
          killing = null;
        })();
        return killing;
      },
      signals: async () =>
        (
          await Promise.all(
            slots.map(async ({lab, host}) =>
              receivedSignals(await lab.witness()).map(({label, pid, signal, atMs}) => ({
                tag: owners.get(lab)?.get(label) ?? null,
                name: `${label} (PID ${pid}) on ${host}`,
                signal,
                atMs,
              })),
            ),
          )
        ).flat(),
      harmed: async () =>
        (
          await Promise.all(
            slots.map(async ({lab, host}) => {
              const fates = await Promise.all(
                (innocents.get(lab) ?? []).map(async (one) => ({one, alive: await lab.alive(one.pid)})),
              );
              return fates.filter(({alive}) => !alive).map(({one}) => `${one.label} on ${host} is dead`);
            }),
          )
        ).flat(),
      said: () => slackBot.said(),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
