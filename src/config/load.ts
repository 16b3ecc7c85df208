/** Environment and files to one config, or to the whole list of what is wrong with them. */
import {type ConfigMistake, fail, ok, type Result} from '../domain/failure.ts';
import type {HostName} from '../domain/host.ts';
import type {Policy} from '../domain/policy.ts';
import {checkWritten} from './check-written.ts';
import type {Config, HostEntry} from './config.ts';
import {type Env, readSettings, type Settings, unknownVariables} from './env.ts';
import {passphraseNames, readHosts} from './hosts-file.ts';
import {hostsFileSchema} from './hosts-schema.ts';
import {listed, type Mistake} from './mistake.ts';
import {policyOf} from './policy-file.ts';
import {policyFileSchema, type WrittenPolicy} from './policy-schema.ts';
import {hostsMistakes, policyMistakes} from './rules.ts';
import {schedulesOf} from './schedules.ts';
import {readSlackSettings} from './slack-env.ts';
import {readYamlFile} from './yaml-file.ts';

/** Mistakes of reading, and those of rules that may only follow from them. */
interface Part<T> {
  readonly value: T;
  readonly mistakes: readonly Mistake[];
  readonly ruleMistakes: readonly Mistake[];
}

/** Who asks for the config: the bot needs Slack's part too. */
export type ConfigFor = 'terminal' | 'bot';

/** `cwd` is where relative paths in `env` begin. Fails only with `config-bad`, whose list is complete. Reads files, waits for nothing. */
export function loadConfig(
  env: Env = process.env,
  cwd: string = process.cwd(),
  whom: ConfigFor = 'terminal',
): Result<Config> {
  const settings = readSettings(env, cwd);
  const hosts = loadHosts(env, settings.value);
  const policy = loadPolicy(settings.value);
  const slack = whom === 'bot' ? readSlackSettings(env) : {value: null, mistakes: []};
  const schedules = schedulesOf(policy.value.schedules, hosts.value, settings.value.policyPath);
  const mistakes: readonly ConfigMistake[] = listed(
    [...settings.mistakes, ...slack.mistakes, ...hosts.mistakes, ...policy.mistakes],
    // Without a hosts file that reads, every name in a schedule would be unknown.
    [...hosts.ruleMistakes, ...policy.ruleMistakes, ...(hosts.mistakes.length === 0 ? schedules.mistakes : [])],
  );
  if (mistakes.length > 0) return fail({reason: 'config-bad', mistakes});
  const {databasePath, logLevel, hostsPath, policyPath} = settings.value;
  const byName = new Map<HostName, HostEntry>(hosts.value.map((entry) => [entry.host.name, entry]));
  return ok({
    hosts: byName,
    policy: policy.value.policy,
    schedules: schedules.value,
    databasePath,
    logLevel,
    hostsPath,
    policyPath,
    slack: slack.value,
  });
}

function loadHosts(env: Env, settings: Settings): Part<readonly HostEntry[]> {
  const file = settings.hostsPath;
  const none = (mistakes: readonly Mistake[]) => {
    return {value: [], mistakes: [...mistakes, ...unknownVariables(env, null)], ruleMistakes: []};
  };
  const yaml = readYamlFile(file);
  if (yaml.absent) {
    const wayOut = `cp hosts.example.yaml ${file} and edit it, or name another file in GPU_RECLAIM_HOSTS`;
    return none([{file, at: [], problem: 'is not there, so no host is known', wayOut}]);
  }
  if (yaml.mistakes.length > 0) return none(yaml.mistakes);
  const {value: written, mistakes} = checkWritten(hostsFileSchema, yaml.value ?? {}, file);
  if (written === null) return none(mistakes);
  const {value, mistakes: hostMistakes} = readHosts(written, {file, env, settings, defaults: written.defaults ?? {}});
  return {
    value,
    mistakes: [...mistakes, ...unknownVariables(env, passphraseNames(written))],
    ruleMistakes: [...hostMistakes, ...hostsMistakes(written, value, file)],
  };
}

interface LoadedPolicy {
  readonly policy: Policy;
  readonly schedules: WrittenPolicy['schedules'];
}

function loadPolicy(settings: Settings): Part<LoadedPolicy> {
  const file = settings.policyPath;
  const builtIn: LoadedPolicy = {policy: policyOf({}), schedules: undefined};
  const yaml = readYamlFile(file);
  if (yaml.absent) {
    const wayOut = `cp policy.example.yaml ${file}, or leave GPU_RECLAIM_POLICY unset for the built-in policy`;
    const missing = {file, at: [], problem: 'is not there, and GPU_RECLAIM_POLICY names it', wayOut};
    return {value: builtIn, mistakes: settings.policyNamed ? [missing] : [], ruleMistakes: []};
  }
  if (yaml.mistakes.length > 0) return {value: builtIn, mistakes: yaml.mistakes, ruleMistakes: []};
  const {value: written, mistakes} = checkWritten(policyFileSchema, yaml.value ?? {}, file);
  const policy = policyOf(written ?? {});
  return {value: {policy, schedules: written?.schedules}, mistakes, ruleMistakes: policyMistakes(policy, file)};
}
