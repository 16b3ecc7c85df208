import {describe, expect, it} from 'vitest';
import {compareHost} from '../../src/domain/campaign-report.ts';
import {NOT_DECLARED} from '../../src/domain/locked-clocks.ts';
import {noSamples} from '../../src/domain/samples.ts';
import {figure} from '../../src/domain/snapshot.ts';
import {campaignHostLines, campaignHostTitle, campaignLine, reportLines} from '../../src/report/campaign-lines.ts';
import {HOST, uuidOf} from '../doubles/build.ts';
import {aCampaign, aHolder, hostSettings, kept, settingsOf, someFacts} from '../doubles/campaign.ts';

const changed = compareHost(
  aCampaign(),
  someFacts({see: {holders: [aHolder(5, {title: 'old.py'})]}}),
  someFacts({
    see: {holders: [aHolder(5, {title: 'old.py'}), aHolder(7, {title: 'nsys', gpus: [0, 1], chargedMiB: 40_960})]},
    findings: {7: ['writing', 'renamed']},
    deep: {
      leftovers: [{kind: 'file', name: 'psm_1', MiB: 64, uid: 0, ageMs: 60_000}],
      xids: [{uptimeMs: 150_000, busId: '00000000:01:00.0', code: 79, pid: null, text: 'fell off\u001b[31m'}],
      mpsControl: 3,
      mpsSeen: true,
    },
    settings: hostSettings(
      [
        settingsOf(0, {powerLimitW: figure(300), graphicsMHz: figure(1200), eccVolatile: figure(1)}),
        settingsOf(1, {migMode: '[N/A]'}),
      ],
      {
        profilers: [
          {pid: 7, startTicks: '70', name: 'nsys', folder: '/x'},
          {pid: 8, startTicks: '80', name: 'ncu', folder: '/data/run'},
        ],
        files: [{path: '/data/run/a.ncu-rep', MiB: 12, changedAtMs: 5_000}],
        sought: [
          {folder: '/x', whole: true},
          {folder: '/data/run', whole: false},
        ],
      },
    ),
  }),
);

describe('a post-profiling report in words', () => {
  const text = campaignHostLines(changed, 'gpu-reclaim').join('\n');

  it.each([
    `${HOST}: left behind: 2 processes; 2 settings differ; shared memory left behind; faults since the start; MPS was started`,
    'peak: not sampled',
    'left behind: PID 7 nsys · profiler, writing a file, renamed · GPU 0-1, 40,960 MiB',
    `to get it back: gpu-reclaim reclaim ${HOST} pid=7`,
    'left behind: PID 8 ncu · profiler, holds no GPU, works in /data/run',
    'there at the start as well: PID 5 old.py',
    `as root on ${HOST}`,
    'GPU 0 power limit: was 700 W, is 300 W',
    `nvidia-smi -i ${uuidOf(0)} -pl 700`,
    'GPU 0 application clocks: was memory 3201, graphics 1980 MHz, is memory 3201, graphics 1200 MHz',
    `nvidia-smi -i ${uuidOf(0)} -rac`,
    'Not to be compared on GPU 1: MIG mode, for which nvidia-smi says [N/A]',
    'Locked clocks cannot be read back',
    'nvidia-smi -rmc',
    'shared memory that nobody has open: /dev/shm/psm_1, 64 MiB, 60 s old; once nobody needs it:',
    'rm -- /dev/shm/psm_1',
    'sought in /x, /data/run (not to its end): 1 file',
    '/data/run/a.ncu-rep, 12 MiB',
    'fault since the start: GPU 1 Xid 79 fell off [31m',
    'fault since the start: GPU 0, 1 uncorrected ECC error',
    'echo quit | nvidia-cuda-mps-control',
  ])('says %s', (line) => {
    expect(text).toContain(line);
  });

  it('holds no mark that a terminal would obey', () => {
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });

  it.each([
    ['file', 'a/b-1.x', 'rm -- /dev/shm/a/b-1.x'],
    ['segment', '42', 'ipcrm -m 42'],
    ['file', '../etc/passwd', '(a name that no command is made of)'],
    ['file', 'a; reboot', '(a name that no command is made of)'],
    ['segment', '4 2', '(a name that no command is made of)'],
  ] as const)('makes a command of plain names only: %s %s', (kind, name, said) => {
    const deep = {leftovers: [{kind, name, MiB: 1, uid: 0, ageMs: null}], xids: [], mpsControl: null, mpsSeen: true};
    const lines = campaignHostLines(compareHost(aCampaign(), someFacts(), someFacts({deep})), 'x');
    expect(lines.map((line) => line.trim())).toContain(said);
    expect(lines.filter((line) => /^ *(rm|ipcrm) /.test(line))).toHaveLength(said.startsWith('(') ? 0 : 1);
  });

  it('locks clocks to what was declared, and to nothing else', () => {
    const declared = {...NOT_DECLARED, graphics: {low: 1410, high: 1410}};
    const lines = campaignHostLines(compareHost(aCampaign({gpus: [0]}), someFacts(), someFacts(), {declared}), 'x');
    const at = lines.indexOf(
      `  Locked clocks cannot be read back. To lock them to what was declared for ${HOST}, should anybody have changed them:`,
    );
    expect(lines[at + 1]).toBe('      nvidia-smi -i 0 -lgc 1410,1410');
    expect(lines.filter((line) => /-(rgc|lmc)/.test(line) && !line.includes('If anybody'))).toEqual([]);
    expect(lines).toContain('      nvidia-smi -i 0 -rmc');
  });

  it('has each command on a line of its own', () => {
    const commands = campaignHostLines(changed, 'gpu-reclaim').filter((line) => line.trim().startsWith('nvidia-smi '));
    expect(commands).toHaveLength(2 + 2);
  });

  it('says where nothing differs, and that nothing was sought', () => {
    const same = compareHost(aCampaign(), someFacts(), someFacts());
    const lines = campaignHostLines(same, '/gpu').join('\n');
    expect(campaignHostTitle(same)).toBe(`${HOST}: as at the start, nothing differs`);
    expect(lines).toContain('No process is left behind.');
    expect(lines).toContain('are as at the start');
    expect(lines).toContain('Report files were not looked for');
    expect(lines).toContain('Faults since the start: none.');
  });

  it('names the dirty GPUs, and calls a ghost no unexplained memory', () => {
    const gpus = [{uuid: uuidOf(0), index: 0, state: 'dirty', usedMiB: 900, unexplainedMiB: 0}] as const;
    expect(campaignHostTitle(compareHost(aCampaign(), someFacts(), someFacts({see: {gpus}})))).toBe(
      `${HOST}: GPU 0 dirty`,
    );
  });

  it('does not say "nobody" where not everything was read', () => {
    const blind = compareHost(aCampaign(), someFacts(), someFacts({fullSight: false, settings: null, deep: null}));
    const lines = campaignHostLines(blind, '/gpu').join('\n');
    expect(campaignHostTitle(blind)).toBe(`${HOST}: nothing seen that differs, but not everything could be read`);
    expect(lines).not.toContain('No process is left behind.');
    expect(lines).toContain('Not everything on this host could be read');
    expect(lines).toContain('could not be compared');
    expect(lines).toContain('kernel log could not be read');
  });

  it('calls nothing the same, and no count none, that one of the two looks did not tell', () => {
    const untold = {known: false, why: 'fault', token: '[Unknown Error]'} as const;
    const now = someFacts({
      settings: hostSettings([
        settingsOf(0, {powerLimitW: untold, eccVolatile: untold, eccAggregate: untold}),
        settingsOf(1),
      ]),
    });
    const half = compareHost(aCampaign(), someFacts(), now);
    const lines = campaignHostLines(half, '/gpu').join('\n');
    expect(campaignHostTitle(half)).toBe(`${HOST}: nothing seen that differs, but not everything could be read`);
    expect(lines).not.toContain('Power limits, application clocks and modes are as at the start');
    expect(lines).toContain('what can be compared is as at the start');
    expect(lines).toContain('Not to be compared on GPU 0: power limit');
    expect(lines).toContain('ECC errors since the start: not known, the counts could not be read of GPU 0.');
    expect(lines).not.toContain('Faults since the start: none.');

    const silent = someFacts({settings: hostSettings([], {smi: {state: 'timed-out', exitCode: null, note: ''}})});
    const blind = campaignHostLines(compareHost(aCampaign(), silent, someFacts()), '/gpu').join('\n');
    expect(blind).toContain('could not be compared');
    expect(blind).toContain('ECC errors since the start: not known, the counts could not be read.');
  });

  it('calls a host unknown that did not answer', () => {
    const failure = {reason: 'host-unreachable', host: HOST, address: 'x', detail: 'refused'} as const;
    const lines = reportLines({campaign: aCampaign(), hosts: [{state: 'unseen', host: HOST, failure}, changed]}, 'x');
    expect(lines[0]).toBe(`${HOST}: unknown, it could not be looked at`);
    expect(lines.join('\n')).toContain('PID 7');
  });

  it.each([
    [{}, 'peak: highest of 214 samples, one every 60 s, 31 ms each on the host, 50 ms at most; none missed'],
    [{missed: 2}, '2 missed'],
    [
      {missed: 1, gaps: [{fromMs: 60_000, toMs: 60_000, missed: 1, why: 'failed'}]},
      'gap: 1970-01-01 00:01:00 UTC; the host did not answer',
    ],
    [
      {missed: 3, gaps: [{fromMs: 60_000, toMs: 180_000, missed: 3, why: 'not-made'}]},
      'gap: 1970-01-01 00:01:00 UTC to 1970-01-01 00:03:00 UTC, 3 missed; no bot was there to look',
    ],
    [{missed: 1, gaps: [{fromMs: 0, toMs: 0, missed: 1, why: 'run'}]}, 'a reclaim worked on this host'],
    [{gapsLeftOut: 7}, '… 7 earlier gaps'],
    [{count: 0, missed: 9}, 'peak: not known; one every 60 s was asked for, and none of 9 samples was made'],
  ] as const)('says what the peak rests on: %j', (change, said) => {
    const gpu = {uuid: uuidOf(0), index: 0, maxAtMs: 1, lastMiB: 4, lastAtMs: 2, fell: null};
    const samples = {
      ...noSamples(HOST),
      count: 214,
      costMs: 214 * 31,
      dearestMs: 50,
      gpus: [{...gpu, maxMiB: 143_771, count: 200}],
      ...change,
    };
    const lines = campaignHostLines(
      compareHost(aCampaign({sampleMs: 60_000}), someFacts(), someFacts(), {samples}),
      'x',
    );
    expect(lines.join('\n')).toContain(said);
    if (samples.count === 0) return;
    expect(lines).toContain('   0         4  143,771        4        4');
    expect(lines).toContain('  MiB; now GPU 0-1 clean');
    expect(lines.join('\n')).toContain('GPU 0: only 200 of them had its figure');
    for (const line of lines.slice(1, 5)) expect(line.length).toBeLessThanOrEqual(42);
  });

  it('lists holds with their state', () => {
    const time = (atMs: number): string => `t${atMs}`;
    expect(campaignLine(kept({label: 'sweep', gpus: [0, 1]}), 5, time)).toBe(
      `profile c0a1b2 "sweep" on ${HOST}, GPU 0-1, by os:anna: since t1000, holds until it is ended`,
    );
    expect(campaignLine(kept({kind: 'keep', untilMs: 9}), 5, time)).toContain('keep c0a1b2');
    expect(campaignLine(kept({untilMs: 9}), 5, time)).toContain('holds until t9');
    expect(campaignLine(kept({untilMs: 4}), 5, time)).toContain('its time was over at t4');
    expect(campaignLine(kept({}, {ended: {by: 'os:bo', atMs: 8, after: []}}), 5, time)).toContain('ended t8 by os:bo');
  });
});
