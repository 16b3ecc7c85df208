/** What every verb of the terminal is given. */
import type {Failure} from '../domain/failure.ts';
import type {Host, HostName} from '../domain/host.ts';
import type {Person} from '../domain/person.ts';
import type {Policy} from '../domain/policy.ts';
import type {Clock, Engine, Recovered} from '../engine/ports.ts';
import {failureSentence} from '../report/failure-sentence.ts';
import {type ExitCode, exitForFailure} from './exit-code.ts';
import {recoveredJson, visibleMarks} from './json.ts';
import type {Terminal} from './terminal.ts';

export interface CliContext {
  readonly engine: Engine;
  readonly hosts: ReadonlyMap<HostName, Host>;
  readonly policy: Policy;
  readonly person: Person;
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly json: boolean;
  /** Runs of dead programs that this command took up on its way; said in its JSON answer. */
  readonly recovered: readonly Recovered[];
  /** Hears Ctrl-C and SIGTERM while a run is under way; the returned function stops hearing. */
  readonly onInterrupt: (act: () => void) => () => void;
}

/** The version of every --json answer; a field may be added within one version, never changed or taken away. */
export const JSON_VERSION = 1;

/** What an answer needs: also to be had before there is a configuration. */
export type Answering = Pick<CliContext, 'terminal' | 'json' | 'recovered'>;

export function printJson(context: Answering, value: Readonly<Record<string, unknown>>): void {
  const recovered = context.recovered.length === 0 ? {} : {recovered: context.recovered.map(recoveredJson)};
  context.terminal.print(visibleMarks(JSON.stringify({version: JSON_VERSION, ...value, ...recovered}, null, 2)));
}

/** Says why not: one sentence for people, the failure itself with --json. */
export function refuse(context: Answering, failure: Failure): ExitCode {
  if (context.json) printJson(context, {ok: false, failure, sentence: failureSentence(failure)});
  else context.terminal.complain(failureSentence(failure));
  return exitForFailure(failure);
}
