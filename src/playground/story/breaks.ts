/** One attack each, between the plan and its go or in the middle of the ladder. The promise: no forbidden signal, ever. */
import {userInfo} from 'node:os';
import type {Lab} from '../lab/lab.ts';
import {bystander, workload} from '../lab/species.ts';
import {type Answer, type Bot, LAB_POLICY} from './bot.ts';
import type {Cast} from './cast.ts';
import {type Door, terminalDoor, type Waiting} from './door.ts';
import {lastRun} from './play.ts';
import {asWords, received, type Sent} from './verdict.ts';

export interface Stage {
  readonly lab: Lab;
  readonly bot: Bot;
  readonly cast: Cast;
  readonly host: string;
  /** The terminal, if not said. */
  readonly door?: Door;
  /** Shows what the program printed. */
  readonly show: (answer: Answer) => void;
  readonly say: (...lines: readonly string[]) => void;
}

export interface Break {
  readonly what: string;
  /** What the policy file says beside the playground's own, from the start. */
  readonly policy?: Readonly<Record<string, unknown>>;
  /** It speaks of this door only. */
  readonly only?: Door['name'];
  /** A feature of the lab without which this attack cannot be made. */
  readonly needs?: string;
  /** Plays the attack; gives each forbidden thing that happened as a sentence. */
  readonly play: (stage: Stage) => Promise<readonly string[]>;
}

export const BREAKS: Readonly<Record<string, Break>> = {
  'pid-reuse': {
    what: 'a target ends after the plan and a stranger gets its PID',
    needs: 'pid-reuse',
    play: async (stage) => {
      const plan = await planned(stage);
      const pid = stage.cast.ghost.pid;
      await stage.lab.reusePid(pid, bystander([{gpu: 0, MiB: 4_096}], {label: 'stranger'}));
      stage.say(`PID ${pid} is another process now`);
      await confirm(stage, plan);
      return forbidden(await received(stage.lab), (one) => one.pid === pid);
    },
  },
  exec: {
    what: 'a target becomes another program: PID and start time stay',
    play: async (stage) => {
      const plan = await planned(stage);
      const pid = stage.cast.ghost.pid;
      await stage.lab.execInPlace(pid);
      stage.say(`PID ${pid} runs another program now`);
      await confirm(stage, plan);
      return forbidden(await received(stage.lab), (one) => one.pid === pid);
    },
  },
  reboot: {
    what: 'the host is another boot by the time of the go',
    needs: 'boot-id',
    play: async (stage) => {
      const plan = await planned(stage);
      stage.lab.changeBootId();
      await confirm(stage, plan);
      return [...forbidden(await received(stage.lab), () => true), ...(await wordIs(stage, ['stood-down']))];
    },
  },
  drift: {
    what: 'a new job starts on the same GPU and a target ends by itself before the go',
    play: async (stage) => {
      const plan = await planned(stage);
      const fresh = await stage.lab.spawn(workload([{gpu: 1, MiB: 2_048}], {label: 'newcomer'}));
      const gone = stage.cast.server.workers.find((one) => one.pid !== stage.cast.deafWorker.pid);
      if (gone !== undefined) await stage.lab.endOfItself(gone.pid);
      stage.say(`PID ${fresh.pid} is new, PID ${gone?.pid} ended`);
      await confirm(stage, plan);
      return forbidden(await received(stage.lab), (one) => one.pid === fresh.pid || one.pid === gone?.pid);
    },
  },
  late: {
    what: 'the login shell sleeps past the promised time before it runs the script',
    needs: 'etc',
    policy: {lateAfter: '1s'},
    play: async (stage) => {
      const plan = await planned(stage);
      await stage.lab.setLoginShell('sleeps', 3);
      await confirm(stage, plan);
      await stage.lab.setLoginShell('normal');
      return forbidden(await received(stage.lab), () => true);
    },
  },
  stranger: {
    what: 'somebody who is no approver gives the go',
    only: 'terminal',
    play: async (stage) => {
      const plan = await planned(stage);
      stage.bot.setPolicy({...LAB_POLICY, approvers: [`os:not-${userInfo().username}`], breakGlass: false});
      const answer = await confirm(stage, plan);
      return [
        ...forbidden(await received(stage.lab), () => true),
        ...(answer.code === 6 ? [] : [`a stranger's go ended with ${answer.code}`]),
      ];
    },
  },
  outdated: {
    what: 'a go for an older plan than the one that waits',
    only: 'terminal',
    play: async (stage) => {
      const old = await planned(stage);
      const first = await lastRun(stage.bot);
      await stage.bot.run('cancel', first.id);
      await stage.lab.spawn(workload([{gpu: 2, MiB: 1_024}], {label: 'later'}));
      await planned(stage);
      const answer = await confirm(stage, old);
      return [
        ...forbidden(await received(stage.lab), () => true),
        ...(answer.code === 6 || answer.code === 2 ? [] : [`an outdated go ended with ${answer.code}`]),
      ];
    },
  },
  'smi-hung': {
    what: 'nvidia-smi hangs from the go on',
    play: async (stage) => {
      const plan = await planned(stage);
      stage.lab.setFault({kind: 'hung'});
      await confirm(stage, plan);
      stage.lab.setFault({kind: 'none'});
      return [
        ...forbidden(await received(stage.lab), (one) => !isGuilty(stage, one)),
        ...(await wordIs(stage, ['unknown', 'stood-down', 'failed'])),
      ];
    },
  },
  deny: {
    what: 'the host itself forbids signals: /etc/gpu-reclaim/deny',
    needs: 'etc',
    play: async (stage) => {
      const plan = await planned(stage);
      await stage.lab.setDeny(true);
      await confirm(stage, plan);
      return forbidden(await received(stage.lab), () => true);
    },
  },
  drop: {
    what: 'the connection is cut right after the first signal',
    play: async (stage) => {
      const plan = await planned(stage);
      const running = doorOf(stage).go(plan);
      await firstSignal(stage, running.done);
      stage.say(`${await stage.lab.dropConnections()} connections cut`);
      await running.done;
      const seen = await received(stage.lab);
      const twice = asWords(seen.filter((one) => one.signal === 'KILL')).filter(
        (word, at, all) => all.indexOf(word) !== at,
      );
      const run = await lastRun(stage.bot);
      return [
        ...forbidden(seen, (one) => !isGuilty(stage, one)),
        ...twice.map((word) => `${word} was sent twice`),
        ...(run.phase === 'closed' ? [] : [`the run is left at ${run.phase}`]),
      ];
    },
  },
};

function doorOf(stage: Stage): Door {
  return stage.door ?? terminalDoor(stage.bot, stage.host, (_, answer) => stage.show(answer));
}

function planned(stage: Stage): Promise<Waiting> {
  return doorOf(stage).plan();
}

function confirm(stage: Stage, plan: Waiting): Promise<Answer> {
  return doorOf(stage).go(plan).done;
}

function forbidden(seen: readonly Sent[], isForbidden: (one: Sent) => boolean): readonly string[] {
  return asWords(seen.filter(isForbidden)).map((word) => `forbidden: ${word}`);
}

function isGuilty(stage: Stage, signal: Sent): boolean {
  return stage.cast.guilty.some((one) => one.pid === signal.pid);
}

async function wordIs(stage: Stage, words: readonly string[]): Promise<readonly string[]> {
  const run = await lastRun(stage.bot);
  const word = run.outcome?.word ?? run.phase;
  return words.includes(word) ? [] : [`the outcome is ${word}, not ${words.join(' or ')}`];
}

/** Until some process of the lab has received a signal, or the program has ended. */
async function firstSignal(stage: Stage, done: Promise<unknown>): Promise<void> {
  let over = false;
  void done.then(() => {
    over = true;
  });
  while (!over && (await received(stage.lab)).length === 0) await new Promise((resolve) => setImmediate(resolve));
}
