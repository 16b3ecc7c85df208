#!/usr/bin/env node
/** Composition root: builds the edges, hands functions over, stops in order. */
import {createHash, randomBytes} from 'node:crypto';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir, userInfo} from 'node:os';
import {join} from 'node:path';
import {terminalAnnouncer} from './cli/announcer.ts';
import {runCommand} from './cli/cli.ts';
import {readCommandLine} from './cli/command-line.ts';
import {type CliContext, refuse} from './cli/context.ts';
import {diagnoseFile} from './cli/diagnose.ts';
import {EXIT} from './cli/exit-code.ts';
import {bareHelp} from './cli/help.ts';
import {makeTerminal} from './cli/terminal.ts';
import type {HostEntry} from './config/config.ts';
import {loadConfig} from './config/load.ts';
import {policyOf} from './config/policy-file.ts';
import type {HostName} from './domain/host.ts';
import {parseSignalLine} from './domain/parse/signal-output.ts';
import type {Person} from './domain/person.ts';
import {personId} from './domain/person.ts';
import {runId} from './domain/run.ts';
import {makeEngine} from './engine/engine.ts';
import {makeLogger} from './log.ts';
import {failureSentence} from './report/failure-sentence.ts';
import {nextTimes} from './schedule/next-times.ts';
import {makeRemoteHosts} from './ssh/remote-host.ts';
import {REMOTE_SCRIPTS} from './ssh/remote-scripts.ts';
import {isOwnerAlive, ownLeaseOwner} from './store/lease-owner.ts';
import {openStore} from './store/open-store.ts';
import {systemClock} from './system-clock.ts';

/** Verbs that can neither signal nor decide. */
const LOOKS: ReadonlySet<string> = new Set(['help', 'hosts', 'status', 'diagnose', 'probe']);

let isBot = false;

async function main(argv: readonly string[]): Promise<number> {
  const terminal = makeTerminal({in: process.stdin, out: process.stdout, err: process.stderr});
  const line = readCommandLine(argv);
  if (!line.ok) {
    return refuse({terminal, json: argv.includes('--json'), recovered: []}, line.failure);
  }
  const {json, verb, from, about} = line.value;
  if (verb === 'start') {
    // Bolt and what it brings are loaded for the bot only: the terminal starts without them.
    isBot = true;
    const {runBot} = await import('./bot.ts');
    return runBot({print: (text) => terminal.print(text), complain: (text) => terminal.complain(text)});
  }
  const config = loadConfig();
  if (verb === 'diagnose' && from !== null) {
    // A bug report is read where its host is in no hosts file, and where there may be none at all.
    const known = config.ok ? config.value : {hosts: new Map<HostName, HostEntry>(), policy: policyOf({})};
    return diagnoseFile({terminal, json, recovered: []}, from, {
      hosts: new Map([...known.hosts].map(([name, entry]) => [name, entry.host])),
      policy: known.policy,
    });
  }
  if (!config.ok) {
    const refused = refuse({terminal, json, recovered: []}, config.failure);
    if (verb !== 'help') return refused;
    terminal.print('', ...bareHelp(about, policyOf({})));
    return EXIT.done;
  }
  const {hosts, policy, databasePath, logLevel} = config.value;
  const logger = makeLogger({level: logLevel});
  const person = whoAmI();
  let store = await openStore(databasePath);
  let standIn: string | null = null;
  if (!store.ok && LOOKS.has(verb)) {
    // Only signals need the store: on a night with a full disk one must still be able to look.
    if (!json) terminal.complain(`${failureSentence(store.failure)} Looking goes on without it.`);
    standIn = mkdtempSync(join(tmpdir(), 'gpu-reclaim-'));
    store = await openStore(join(standIn, 'runs.db'));
  }
  if (!store.ok) return refuse({terminal, json, recovered: []}, store.failure);
  const clock = systemClock();
  const remote = makeRemoteHosts({
    access: new Map([...hosts].map(([name, entry]) => [name, entry.access])),
    newNonce: () => randomBytes(16).toString('hex'),
    scripts: REMOTE_SCRIPTS,
    parseSignalLine,
    clock,
  });
  const engine = makeEngine({
    hosts: new Map([...hosts].map(([name, entry]) => [name, entry.host])),
    remote,
    store: store.value,
    policy,
    clock,
    log: logger,
    announcer: terminalAnnouncer(terminal),
    newRunId: () => runId(randomBytes(6).toString('hex')),
    digest: (text) => createHash('sha256').update(text).digest('hex'),
    nextTimes,
    isAlive: isOwnerAlive,
    owner: ownLeaseOwner('terminal', personId(person)),
  });
  const context: CliContext = {
    engine,
    hosts: new Map([...hosts].map(([name, entry]) => [name, entry.host])),
    policy,
    person,
    terminal,
    clock,
    json,
    recovered: [],
    onInterrupt: hearInterrupts,
  };
  try {
    return await runCommand(line.value, context);
  } finally {
    await remote.close();
    await store.value.close();
    if (standIn !== null) rmSync(standIn, {recursive: true, force: true});
  }
}

/** The OS user that the kernel knows; no variable of the environment can say otherwise. */
function whoAmI(): Person {
  try {
    const {username, uid} = userInfo();
    return {kind: 'os-user', name: username, uid};
  } catch {
    // No entry in the password file, as in a container under an arbitrary uid.
    const uid = process.getuid?.() ?? -1;
    return {kind: 'os-user', name: `uid-${uid}`, uid};
  }
}

/** The first Ctrl-C asks for a stop; a second one ends the program, and the run is looked at again at the next start. */
function hearInterrupts(act: () => void): () => void {
  let heard = 0;
  const onSignal = (): void => {
    heard += 1;
    if (heard === 1) act();
    else process.exit(130);
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return () => {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  };
}

const code = await main(process.argv.slice(2));
// The socket library may leave a timer of 30 s behind; all that matters is closed by now.
if (isBot) process.exit(code);
process.exitCode = code;
