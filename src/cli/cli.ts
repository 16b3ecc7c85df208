/** One command of the terminal, from its words to its exit code. */
import {cancel, pause, resume} from './brakes.ts';
import type {CommandLine} from './command-line.ts';
import type {CliContext} from './context.ts';
import {diagnoseHost} from './diagnose.ts';
import type {ExitCode} from './exit-code.ts';
import {help} from './help.ts';
import {keep, profile} from './holds.ts';
import {hosts, probe} from './hosts.ts';
import {reclaim} from './reclaim.ts';
import {report} from './report.ts';
import {schedules} from './schedules.ts';
import {runs, show} from './show.ts';
import {status} from './status.ts';

export async function runCommand(line: CommandLine, context: CliContext): Promise<ExitCode> {
  switch (line.verb) {
    case 'help':
      return help(context, line.about);
    case 'status':
      return status(context, line.words);
    case 'diagnose':
      return diagnoseHost(context, line.words);
    case 'reclaim':
      return reclaim(context, line.words, {confirm: line.confirm, terminateOnly: line.terminateOnly});
    case 'runs':
      return runs(context);
    case 'show':
      return show(context, line.words);
    case 'cancel':
      return cancel(context, line.words);
    case 'pause':
      return pause(context);
    case 'resume':
      return resume(context);
    case 'hosts':
      return hosts(context);
    case 'report':
      return report(context, line.words);
    case 'schedules':
      return schedules(context, line.sub, line.words);
    case 'profile':
      return profile(context, line.sub, line.words);
    case 'keep':
      return keep(context, line.words);
    case 'probe':
      return probe(context, line.words, line.out);
    case 'start':
      throw new Error('Internal error: the bot is started by the composition root');
  }
}
