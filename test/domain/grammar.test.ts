/** What people really type, as phones, pages and shells deliver it: what is read, and what is asked back. */
import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {readHold} from '../../src/domain/campaign-words.ts';
import {readCommand, readVerb} from '../../src/domain/grammar/command.ts';
import {fitsPattern} from '../../src/domain/grammar/glob.ts';
import {settle} from '../../src/domain/grammar/settle.ts';
import {tidied, wordsIn, wordsOfArguments} from '../../src/domain/grammar/typed-text.ts';
import {readDuration, readGpus} from '../../src/domain/grammar/values.ts';
import {VERB_RULES} from '../../src/domain/grammar/verb-table.ts';
import {type Host, hostName} from '../../src/domain/host.ts';
import {readLookedAt, readStatus} from '../../src/domain/looks-words.ts';
import {readReport} from '../../src/domain/report-words.ts';
import {readCancel, readRun} from '../../src/domain/run-words.ts';
import {RECLAIM_OPTIONS, readReclaim} from '../../src/domain/words.ts';
import {failureSentence} from '../../src/report/failure-sentence.ts';
import {ANNA, aHost, aRequest} from '../doubles/build.ts';

const KNOWN: readonly Host[] = [
  ['gpu-07', ['h200', 'prod']],
  ['gpu-08', ['h200']],
  ['gpu-17', []],
  ['lab-a', ['lab']],
].map(([name, groups]) =>
  aHost({
    name: hostName(name as string),
    groups: groups as string[],
    people: new Map([
      [1001, 'anna'],
      [1002, 'U024BE7LH'],
      [1003, 'U0TWICE'],
      [1004, 'U0TWICE'],
    ]),
  }),
);

/** The words of one line behind `reclaim`, as the request that they are; a sentence where they are none. */
function reclaimed(line: string): unknown {
  const read = readReclaim(wordsIn(line), KNOWN, ANNA);
  return read.ok ? read.value : failureSentence(read.failure);
}

describe('a reclaim, however it is typed', () => {
  it.each<[string, Parameters<typeof aRequest>[0]]>([
    // Typography.
    ['gpu-07 match=“vllm serve”', {match: 'vllm serve'}],
    ['gpu-07 match=‘vllm serve’', {match: 'vllm serve'}],
    ['gpu-07 match=«vllm serve»', {match: 'vllm serve'}],
    ['gpu-07 reason=“bo’s run”', {reason: "bo's run"}],
    ['gpu\u201107 —dry\u2011run', {dryRun: true}],
    ['gpu-07 –dry-run', {dryRun: true}],
    ['gpu-07\u00a0match=vllm', {match: 'vllm'}],
    ['gpu-07\u2003match=vllm\u3000dry-run', {match: 'vllm', dryRun: true}],
    ['gpu\u200b-07 ma\u00adtch=vl\u2060lm', {match: 'vllm'}],
    ['\u202egpu-07\u202c', {}],
    ['\ufeffgpu-07 match＝vllm', {match: 'vllm'}],
    ['gpu-07 gpus=0–3', {gpus: [0, 1, 2, 3]}],
    ['gpu-07 gpus=0，2', {gpus: [0, 2]}],
    ['gpu-07 gpus=0…3', {gpus: [0, 1, 2, 3]}],
    // Hosts as they come out of pages and sentences.
    ['http://gpu-07/ match=vllm', {match: 'vllm'}],
    ['GPU-07: match=vllm', {match: 'vllm'}],
    ['gpu-07, match=vllm', {match: 'vllm'}],
    ['on gpu-07 match=vllm', {match: 'vllm'}],
    ['host gpu-07', {}],
    ['match=vllm on gpu-07', {match: 'vllm'}],
    ['prod match=vllm', {match: 'vllm'}],
    ['*-07 match=vllm', {match: 'vllm'}],
    ['gpu-{07,09}', {}],
    // Any order, and every way to give a key its value.
    ['dry-run match=vllm gpus=1 gpu-07', {dryRun: true, match: 'vllm', gpus: [1]}],
    ['gpu-07 match = vllm', {match: 'vllm'}],
    ['gpu-07 match= vllm', {match: 'vllm'}],
    ['gpu-07 match =vllm', {match: 'vllm'}],
    ['gpu-07 match: vllm', {match: 'vllm'}],
    ['gpu-07 match:vllm', {match: 'vllm'}],
    ['gpu-07 match:"vllm serve"', {match: 'vllm serve'}],
    ['gpu-07 --match vllm', {match: 'vllm'}],
    ['gpu-07 --match=vllm', {match: 'vllm'}],
    ['--match=vllm gpu-07', {match: 'vllm'}],
    ['gpu-07 -match vllm', {match: 'vllm'}],
    ['gpu-07 match vllm', {match: 'vllm'}],
    ['gpu-07 MATCH=VLLM', {match: 'VLLM'}],
    ['gpu-07 matching vllm', {match: 'vllm'}],
    ['gpu-07 match="a=b c"', {match: 'a=b c'}],
    // GPUs.
    ['gpu-07 gpu 0-3', {gpus: [0, 1, 2, 3]}],
    ['gpu-07 gpus 0,2', {gpus: [0, 2]}],
    ['gpu-07 gpus 0, 2, 5', {gpus: [0, 2, 5]}],
    ['gpu-07 gpus=0, 2', {gpus: [0, 2]}],
    ['gpu-07 gpus 0 - 3', {gpus: [0, 1, 2, 3]}],
    ['gpu-07 gpus [0, 2]', {gpus: [0, 2]}],
    ['gpu-07 gpus=[0,2]', {gpus: [0, 2]}],
    ['gpu-07 gpus=0..3', {gpus: [0, 1, 2, 3]}],
    ['gpu-07 gpus=all', {gpus: null}],
    ['gpu-07 gpus all', {gpus: null}],
    ['gpu-07 gpu=GPU0', {gpus: [0]}],
    ['gpu-07 gpu3', {gpus: [3]}],
    ['gpu-07 GPU0-3', {gpus: [0, 1, 2, 3]}],
    ['gpu-07 gpus=gpu0-gpu3', {gpus: [0, 1, 2, 3]}],
    // Lengths of time.
    ['gpu-07 grace=30 s', {graceMs: 30_000}],
    ['gpu-07 grace 90 sec', {graceMs: 90_000}],
    ['gpu-07 grace=1m30s', {graceMs: 90_000}],
    ['gpu-07 grace=1m 30s', {graceMs: 90_000}],
    ['gpu-07 grace=2min', {graceMs: 120_000}],
    ['gpu-07 grace=1h', {graceMs: 3_600_000}],
    ['gpu-07 grace=30S', {graceMs: 30_000}],
    // Processes and people.
    ['gpu-07 pid 4711', {pids: [4711]}],
    ['gpu-07 pids=4711, 4712', {pids: [4711, 4712]}],
    ['gpu-07 user bo', {user: 'bo'}],
    ['gpu-07 user=@bo', {user: 'bo'}],
    ['gpu-07 user=<@U024BE7LH>', {user: '1002'}],
    ['gpu-07 user <@U024BE7LH|anna>', {user: '1002'}],
    // Flags.
    ['gpu-07 dry run', {dryRun: true}],
    ['gpu-07 dryrun', {dryRun: true}],
    ['gpu-07 dry_run', {dryRun: true}],
    ['gpu-07 Dry-Run', {dryRun: true}],
    ['gpu-07 --dry_run', {dryRun: true}],
    ['dry run gpu-07', {dryRun: true}],
    ['gpu-07 include others', {includeOthers: true}],
    ['gpu-07 include-others dry run', {includeOthers: true, dryRun: true}],
    // Sentences, with quotes and without.
    ['gpu-07 because "prod is down"', {reason: 'prod is down'}],
    ['gpu-07 because prod is down', {reason: 'prod is down'}],
    ['gpu-07 reason=prod is down dry-run', {reason: 'prod is down', dryRun: true}],
    ['gpu-07 because prod is down dry run', {reason: 'prod is down', dryRun: true}],
    ['gpu-07 because prod needs the gpu now', {reason: 'prod needs the gpu now'}],
    ['gpu-07 because prod is down --include-others', {reason: 'prod is down', includeOthers: true}],
    ['gpu-07 because "prod is down" include others', {reason: 'prod is down', includeOthers: true}],
    ['gpu-07 reason=prod include-others', {reason: 'prod', includeOthers: true}],
    // A quote that is never closed swallows nothing.
    ['gpu-07 reason="prod is down dry-run', {reason: 'prod is down', dryRun: true}],
    ["gpu-07 because 'tis urgent gpus=0 dry run", {reason: 'tis urgent', gpus: [0], dryRun: true}],
    // Also where a group of the site is called so.
    ['because prod is down match=vllm gpu-07', {reason: 'prod is down', match: 'vllm'}],
    ['gpu-07 --reason "prod is down" --dry-run', {reason: 'prod is down', dryRun: true}],
    ['gpu-07 override="anna said so"', {override: {why: 'anna said so', holds: []}}],
  ])('%s', (line, change) => {
    expect(reclaimed(line)).toEqual(aRequest(change));
  });

  it.each([
    // Nobody is taken for a target by default.
    ['', 'reclaim needs a host'],
    ['match=vllm', 'reclaim needs a host'],
    ['all', 'reclaim needs a host'],
    ['*', 'reclaim needs a host'],
    ['gpu3', 'reclaim needs a host'],
    // One host a run.
    ['gpu-0*', '"gpu-0*" fits 2 hosts (gpu-07, gpu-08), and one is meant; name it.'],
    ['h200', '"h200" fits 2 hosts (gpu-07, gpu-08), and one is meant; name it.'],
    ['gpu-07 and gpu-08', 'One host a run'],
    ['gpu-07,gpu-08', 'One host a run'],
    ['gpu-07 because gpu-08 is down', 'One host a run'],
    ['gpu-9*', '"gpu-9*" is not in the hosts file'],
    // A host called nearly so is more likely meant than a GPU of another.
    ['gpu-07 gpu8', 'did you mean "gpu-08"'],
    ['gpu-07 gpu-80', 'did you mean "gpu-07" or "gpu-08"'],
    ['gpu-07 10.0.0.7', 'is an address'],
    ['root@gpu-07', 'is an address'],
    // Values without their keys.
    ['gpu-07 0-3', 'did you mean "gpus=0-3"'],
    ['gpu-07 4711', 'did you mean "pid=4711"'],
    ['gpu-07 30s', 'did you mean "grace=30s"'],
    ['gpu-07 match=vllm serve', 'quotes around several words, such as match="vllm serve"'],
    ['gpu-07 vllm', '"vllm" is no argument here'],
    // A flag that is lost would do more than what was asked for.
    ['gpu-07 because prod is down dryrnu', '"dryrnu" is no argument here; did you mean "dry-run"'],
    ['gpu-07 --dryrnu', 'did you mean "dry-run"'],
    ['gpu-07 because prod match vllm', 'its words in quotes, since "match" may be meant as an argument'],
    // What narrows must not be lost in a text, and what widens must not come out of one.
    ['gpu-07 because prod is down gpu 3', 'since "gpu" may be meant as an argument'],
    ['gpu-07 because training hangs gpu3', 'since "gpu3" may be meant as an argument'],
    ['gpu-07 reason=prod gpus0-3', 'since "gpus0-3" may be meant as an argument'],
    ['gpu-07 because prod is down pids 4711', 'since "pids" may be meant as an argument'],
    ['gpu-07 because prod is down matching vllm', 'since "matching" may be meant as an argument'],
    ['gpu-07 because prod is down, do not include others', 'since "include others" may be meant as an argument'],
    ["gpu-07 override anna is away but don't include-others", 'since "include-others" may be meant as an argument'],
    ['gpu-07 reason=never include others', 'since "include others" may be meant as an argument'],
    ['gpu-07 reason="do not include-others', 'since "include-others" may be meant as an argument'],
    ['gpu-07 match="vllm serve dry-run', '"serve" is no argument here'],
    ['gpu-07 no include others', '"no" is no argument here'],
    ['gpu-07 force=1', 'there are gpus, match, user'],
    ['gpu-07 --yes', '"--yes" is no argument here'],
    ['gpu-07 json', '"json" is no argument here'],
    ['gpu-07 gpus=some', 'gpus=some does not read; expected indexes'],
    ['gpu-07 gpus', 'gpus= is missing'],
    ['gpu-07 user=<@U0NOBODY>', 'since the hosts file has no uid for this person there'],
    ['gpu-07 user=<@U0TWICE>', 'user=1003 or user=1004'],
    ['gpu-07 grace=30', 'such as 30s'],
    ['gpu-07 grace=forever', 'such as 30s'],
    ['gpu-07 match=vllm --match=vllm', 'it once only'],
  ])('"%s" is asked back: %s', (line, expected) => {
    const said = reclaimed(line);
    expect(said).toContain(expected);
    expect(said).not.toContain('\n');
  });
});

describe('a verb', () => {
  it.each([
    ['Status?', 'status'],
    ['HELP!', 'help'],
    ['?', 'help'],
    ['nvidia-smi', 'status'],
    ['diag', 'diagnose'],
    ['history', 'runs'],
    ['ls', 'hosts'],
  ])('%s is read as %s, which only looks', (word, verb) => {
    expect(readVerb(word)).toEqual({ok: true, value: verb});
  });

  it.each([
    ['kill', ['reclaim']],
    ['free', ['reclaim']],
    ['Kill!', ['reclaim']],
    ['stop', ['cancel', 'pause']],
    ['unpause', ['resume', 'pause']],
    ['schedule', ['report', 'schedules']],
    ['recliam', ['reclaim']],
    ['statsu', ['status']],
    // Asked whether to, it is not done.
    ['resume?', ['resume']],
    ['Resume?!', ['resume']],
    ['pause?', ['pause']],
    ['cancel?', ['cancel']],
    ['reclaim?', ['reclaim']],
    ['canel', ['cancel']],
    ['xyzzy', []],
  ])('%s is never done, and asked back as %j', (word, near) => {
    expect(readVerb(word)).toEqual({ok: false, failure: {reason: 'verb-unknown', verb: word, nearest: near}});
  });

  it('has no synonym that signals, stops or holds', () => {
    expect(VERB_RULES.filter(({ends, synonyms}) => ends !== 'look' && synonyms.length > 0)).toEqual([]);
    const all = VERB_RULES.flatMap(({verb, synonyms}) => [verb, ...synonyms]);
    expect(all).toHaveLength(new Set(all).size);
  });

  it('is near no verb that is not for this door', () => {
    expect(readVerb('prob', 'slack')).toMatchObject({failure: {nearest: []}});
    expect(readVerb('prob', 'terminal')).toMatchObject({failure: {nearest: ['probe']}});
  });
});

describe('a whole command', () => {
  const read = (line: string, door: 'slack' | 'terminal' = 'slack') => {
    const command = readCommand(wordsIn(line), door);
    if (!command.ok) return failureSentence(command.failure);
    const {value} = command;
    return value.kind === 'help'
      ? `help ${value.about ?? '-'}`
      : [value.verb, ...(value.form.sub === null ? [] : [value.form.sub]), ...value.words].join(' ');
  };

  it.each([
    ['', 'help -'],
    ['help', 'help -'],
    ['--help', 'help -'],
    ['help reclaim', 'help reclaim'],
    ['help me with reclaim', 'help reclaim'],
    ['reclaim --help', 'help reclaim'],
    ['reclaim gpu-07 -h', 'help reclaim'],
    ['reclaim help', 'help reclaim'],
    ['reclaim ?', 'help reclaim'],
    ['help reclaim?', 'help reclaim'],
    ['help kill', 'did you mean "reclaim"'],
    ['help probe', 'help probe'],
    ['gpu-07', '"gpu-07" is no command; did you mean "status gpu-07" or "diagnose gpu-07"'],
    ['schedules rmove s1', '"rmove" is no argument here; did you mean "remove"'],
    ['schedules gpu-0*', 'schedules gpu-0*'],
    ['/gpu status', 'status'],
    ['gpu-reclaim reclaim gpu-07', 'reclaim gpu-07'],
    ['$ gpu-reclaim', '"gpu-reclaim" is no command'],
    ['gpu-07 status', 'status gpu-07'],
    ['gpu-07 reclaim match=vllm', 'reclaim gpu-07 match=vllm'],
    ['profile', 'profile list'],
    ['profile STOP c0a1b2', 'profile stop c0a1b2'],
    ['profile stpo c0a1b2', '"stpo" is no argument here; did you mean "stop"'],
    ['profile list gpu-07', '"gpu-07" is no argument here; "profile list" takes nothing behind it'],
    ['schedules remove s1 s2', '"s2" is no argument here; "schedules remove" takes one word'],
    ['show run 7f3a', 'show 7f3a'],
    ['show 7f3a 8a', '"8a" is no argument here'],
    ['pause gpu-07', '"gpu-07" is no argument here; "pause" takes nothing behind it'],
    ['probe gpu-07', '"probe" is for the terminal: gpu-reclaim probe. Here, diagnose says what it means.'],
    ['start', '"start" is for the terminal'],
  ])('%s -> %s', (line, expected) => {
    expect(read(line)).toContain(expected);
  });
});

describe('hosts that are looked at', () => {
  it.each([
    ['', 'gpu-07+ gpu-08+ gpu-17+ lab-a+'],
    ['all', 'gpu-07+ gpu-08+ gpu-17+ lab-a+'],
    ['gpu-07', 'gpu-07'],
    ['on gpu-07 and gpu-08', 'gpu-07 gpu-08'],
    ['gpu-07,gpu-08', 'gpu-07 gpu-08'],
    ['h200', 'gpu-07+ gpu-08+'],
    ['H200', 'gpu-07+ gpu-08+'],
    ['h200 gpu-08', 'gpu-07+ gpu-08'],
    ['gpu-*', 'gpu-07+ gpu-08+ gpu-17+'],
    ['gpu-0?', 'gpu-07+ gpu-08+'],
    ['*7', 'gpu-07+ gpu-17+'],
    ['gpu-0[78]', 'gpu-07 gpu-08'],
    ['gpu-[01]7', 'gpu-07 gpu-17'],
    ['gpu-[07-16]', 'gpu-07 gpu-08'],
    ['gpu-[07,17]', 'gpu-07 gpu-17'],
    ['gpu-{07,08}', 'gpu-07 gpu-08'],
    ['gpu-{07, 08}', 'gpu-07 gpu-08'],
    ['gpu-{07..17}', 'gpu-07 gpu-08 gpu-17'],
    ['{gpu-0*,lab-?}', 'gpu-07+ gpu-08+ lab-a+'],
    ['gpu-09', 'did you mean "gpu-07" or "gpu-08"'],
    ['h20', 'did you mean "h200"'],
    ['gpu-07 gpus=0', '"gpus" is no argument here; it takes hosts only'],
    ['gpu-[7', '"gpu-[7" is not in the hosts file'],
    ['10.0.0.7', 'is an address'],
  ])('status %s', (line, expected) => {
    const read = readStatus(wordsIn(line), KNOWN);
    const said = read.ok ? read.value.map(({name, by}) => (by === 'name' ? name : `${name}+`)).join(' ') : null;
    if (said === null && !read.ok) expect(failureSentence(read.failure)).toContain(expected);
    else expect(said).toBe(expected);
  });

  it('one, where one is meant: a pattern that fits it alone will do', () => {
    expect(readLookedAt(['gpu-1*'], KNOWN, 'diagnose')).toEqual({ok: true, value: 'gpu-17'});
    expect(readLookedAt(['lab'], KNOWN, 'diagnose')).toEqual({ok: true, value: 'lab-a'});
    expect(readLookedAt(['gpu-0*'], KNOWN, 'diagnose')).toMatchObject({failure: {reason: 'one-host-only'}});
    expect(readLookedAt([], KNOWN, 'diagnose')).toMatchObject({failure: {reason: 'host-missing'}});
  });

  it('by a pattern of any size without a long wait, and by none that would be the world', () => {
    expect(fitsPattern(`${'*a'.repeat(90)}`, 'a'.repeat(63))).toBe(false);
    expect(fitsPattern('gpu-[0-9999999]', 'gpu-1')).toBe(false);
    expect(fitsPattern('[0-9][0-9][0-9][0-9][0-9][0-9]', '123456')).toBe(false);
    expect(fitsPattern('gpu-[1-4]', 'gpu-2')).toBe(true);
    expect(fitsPattern('gpu-[1-4]', 'gpu-02')).toBe(false);
  });
});

describe('reports, holds and runs', () => {
  it.each([
    ['gpu-[07-08] every weekday 18:00', {hosts: [{kind: 'glob', pattern: 'gpu-[07-08]'}], quiet: true}],
    [
      'gpu-07,gpu-08 now',
      {
        hosts: [
          {kind: 'host', name: 'gpu-07'},
          {kind: 'host', name: 'gpu-08'},
        ],
      },
    ],
    ['on h200 at 18:00', {hosts: [{kind: 'group', name: 'h200'}]}],
    ['h200 every 4h --loud', {quiet: false}],
    ['h200 every 4h to <#C0REPORTS|x>', {channel: 'C0REPORTS'}],
    ['h200 every 4h <#C0REPORTS>', {channel: 'C0REPORTS'}],
    ['to = <#C0REPORTS> h200 every 4h', {channel: 'C0REPORTS'}],
    ['h200 every day 18:00 tz=Europe/Berlin', {zone: 'Europe/Berlin'}],
    ['h200 every day 18:00 zone Europe/Berlin', {zone: 'Europe/Berlin'}],
    ['gpu-07 when PID=12345 exits', {when: {kind: 'exit', pid: 12_345}}],
  ])('report %s', (line, asked) => {
    expect(readReport(wordsIn(line), KNOWN)).toMatchObject({ok: true, value: asked});
  });

  it('a time that is misspelt is no host', () => {
    const read = readReport(wordsIn('gpu-07 evry day 18:00'), KNOWN);
    expect(read.ok ? '' : failureSentence(read.failure)).toContain('did you mean "every"');
  });

  it.each([
    ['profile', 'gpu-0* gpus 0-3 nsys sweep', {hosts: ['gpu-07', 'gpu-08'], gpus: [0, 1, 2, 3], label: 'nsys sweep'}],
    ['profile', 'gpu-07 until tomorrow 07:30 sweep', {label: 'sweep', until: {kind: 'at'}}],
    ['profile', 'gpu-07 for 2h sweep', {label: 'sweep', until: {kind: 'after', ms: 7_200_000}}],
    ['profile', 'gpu-07 sweep of user data', {label: 'sweep of user data'}],
    ['profile', 'gpu-07 --out /data --label “big sweep”', {out: '/data', label: 'big sweep'}],
    ['profile', 'gpu-07 label=big sweep until=2h', {label: 'big sweep', until: {kind: 'after'}}],
    ['keep', 'gpu-07 until 18:00 debugging with carla', {label: 'debugging with carla'}],
    ['keep', 'gpu-{07,08} gpus=all until=2h why not', {gpus: null, label: 'why not'}],
  ] as const)('%s %s', (kind, line, asked) => {
    expect(readHold(kind, wordsIn(line), KNOWN)).toMatchObject({ok: true, value: {asked}});
  });

  it.each([
    ['7f3a', '7f3a', null],
    ['#7f3a.', '7f3a', null],
    ['7f3a because prod=down', '7f3a', 'prod=down'],
    ['7f3a reason="no need"', '7f3a', 'no need'],
    ['7f3a reason = no need', '7f3a', 'no need'],
    ['', '', null],
  ])('cancel %s', (line, given, reason) => {
    expect(readCancel(wordsIn(line))).toEqual({given, reason});
    expect(readRun(wordsIn(line))).toBe(given);
  });
});

describe('words of a shell', () => {
  it.each([
    [
      ['reclaim', 'gpu-07', 'match=“vllm', 'serve”'],
      ['reclaim', 'gpu-07', 'match=vllm serve'],
    ],
    [['status\u00a0gpu-07'], ['status', 'gpu-07']],
    [['reason=a\u00a0b'], ['reason=a b']],
    [['reason=two words'], ['reason=two words']],
    [['—dry-run'], ['--dry-run']],
    [['match=ab\nc'], ['match=ab\nc']],
    [[''], ['']],
  ])('%j', (argv, words) => {
    expect(wordsOfArguments(argv)).toEqual(words);
  });
});

describe('values', () => {
  it.each([
    ['0,2,5', [0, 2, 5]],
    ['(0,2)', [0, 2]],
    ['{0,2}', [0, 2]],
    ['gpu 0', [0]],
    ['ALL', 'all'],
    ['0:3', null],
    ['[0', null],
    ['0,,1', null],
    ['0-', null],
    ['1.5', null],
    [' '.repeat(9_000), null],
  ])('GPUs %j', (text, gpus) => {
    expect(readGpus(text)).toEqual(gpus);
  });

  it.each([
    ['1 h 30 min', 5_400_000],
    ['500 ms', 500],
    ['30', null],
    ['1.5h', null],
    ['-5s', null],
    ['5 parsecs', null],
    ['99999999999999999999h', null],
  ])('a length of time %j', (text, ms) => {
    expect(readDuration(text)).toBe(ms);
  });
});

const PIECE = fc.oneof(
  fc.constantFrom(
    ...['gpu-07', 'gpu-08', 'h200', 'gpu-0*', 'gpu-{07,', '08}', 'on', 'and', 'gpus', 'gpu', 'gpu3', '0-3', '0,', '2'],
    ...[
      '=',
      ':',
      'match',
      'match=',
      'match=vllm',
      '--match',
      'because',
      'reason=a',
      'dry',
      'run',
      'dry-run',
      '--dry_run',
    ],
    ...['grace', 'grace=30', 's', '1m', 'user', '<@U024BE7LH>', 'pid', '4711', 'include', 'others', '"two', 'words"'],
    ...['until', 'for', '2h', '18:00', 'tomorrow', 'label=x', 'every', 'day', 'to', '<#C0X>', '“', '”', '—', '\u00a0'],
  ),
  fc.string({maxLength: 12, unit: 'binary'}),
);
const LINE = fc.array(PIECE, {maxLength: 12}).map((parts) => parts.join(' '));

describe('whatever is typed', () => {
  it('is read twice as it is read once', () => {
    fc.assert(
      fc.property(LINE, fc.constantFrom('hosts', 'text'), (line, bare) => {
        expect(tidied(tidied(line))).toBe(tidied(line));
        const around = {options: RECLAIM_OPTIONS, known: KNOWN, bare} as const;
        const once = settle(wordsIn(line), around);
        if (!once.ok) return;
        expect(settle(once.value.words, around)).toEqual(once);
      }),
      {numRuns: 3_000},
    );
  });

  it('throws nothing, and is refused in one bounded line', () => {
    fc.assert(
      fc.property(fc.oneof(LINE, fc.string({maxLength: 300, unit: 'binary'})), (line) => {
        for (const door of ['slack', 'terminal'] as const) {
          const command = readCommand(wordsIn(line), door);
          if (!command.ok) expectOneLine(command.failure);
        }
        const words = wordsIn(line);
        for (const read of [
          readReclaim(words, KNOWN, ANNA),
          readReport(words, KNOWN),
          readHold('profile', words, KNOWN),
          readHold('keep', words, KNOWN),
          readStatus(words, KNOWN),
        ])
          if (!read.ok) expectOneLine(read.failure);
      }),
      {numRuns: 1_500},
    );
  });

  it.each([
    ['one word', 'x'.repeat(10_000)],
    ['words', 'gpus '.repeat(2_000)],
    ['brackets', '{'.repeat(10_000)],
    ['bracketed words', 'gpu-{07, '.repeat(1_100)],
    ['commas', '0,'.repeat(5_000)],
    ['blanks in a list', `gpus="${' '.repeat(9_900)}"`],
    ['a pattern', `gpu-${'*'.repeat(9_900)}`],
    ['times', 'until 18:00 '.repeat(800)],
    ['equals', 'a='.repeat(5_000)],
    ['quotes', '"'.repeat(10_000)],
  ])('%s of 10,000 characters are answered at once', (_what, line) => {
    const before = performance.now();
    const words = wordsIn(line);
    readReclaim(words, KNOWN, ANNA);
    readReport(words, KNOWN);
    readHold('keep', words, KNOWN);
    readCommand(words, 'slack');
    expect(performance.now() - before).toBeLessThan(2_000);
  });
});

function expectOneLine(failure: Parameters<typeof failureSentence>[0]): void {
  const said = failureSentence(failure);
  expect(said.length).toBeLessThan(600);
  expect(said).not.toMatch(/\n/);
}
