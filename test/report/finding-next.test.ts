/** What may be done about each finding, and the next safe step. */
import {describe, expect, it} from 'vitest';
import {FINDING_ORDER} from '../../src/domain/finding.ts';
import {diagnosisNotes} from '../../src/report/diagnosis-notes.ts';
import {FINDING_NEXT, holderNextLine, keptNext} from '../../src/report/finding-next.ts';
import {holderLines} from '../../src/report/host-state.ts';
import {aDiagnosis, aGpu, aProcess, aSnapshot, billed, holderOf, PLAIN_ZOMBIE} from '../doubles/build.ts';

describe('the next safe step', () => {
  it('is there for every finding, as one sentence', () => {
    for (const kind of FINDING_ORDER) {
      const {may, next} = FINDING_NEXT[kind];
      expect(may, kind).toMatch(/^[^.]+$/);
      expect(next, kind).not.toMatch(/\.$/);
    }
  });

  it('with a dead process names who has to reap it', () => {
    const zombie = aProcess({pid: 700, ppid: 400, comm: 'VLLM::Worker_TP', ...PLAIN_ZOMBIE});
    const parent = aProcess({pid: 400, words: ['python3', 'launch.py']});
    const diagnosis = aDiagnosis(aSnapshot([zombie, parent]));
    expect(holderNextLine(holderOf(diagnosis, 700), diagnosis.snapshot)).toBe(
      'May be done: no signal: it is dead. Next: PID 400 launch.py must reap it; when that one ends, PID 1 does.',
    );
  });

  it('with one that is contained is its owner, whatever else it is', () => {
    const diagnosis = aDiagnosis(aSnapshot([billed(aProcess({pid: 500, comm: 'vllm'}), {0: 100})], {used: [200]}));
    const holder = {...holderOf(diagnosis, 500), findings: ['deaf', 'contained'] as const};
    expect(holderNextLine(holder, diagnosis.snapshot)).toMatch(
      /kill -9 without a wait\. Next: stop it with its owner's/,
    );
  });

  it.each(['deaf', 'stopped', 'writing'] as const)('with live work that is %s as well is still its owner', (manner) => {
    const diagnosis = aDiagnosis(aSnapshot([billed(aProcess({pid: 500, comm: 'train'}), {0: 100})], {used: [200]}));
    const holder = {...holderOf(diagnosis, 500), findings: [manner, 'bystander'] as const};
    expect(holderNextLine(holder, diagnosis.snapshot)).toBe(
      "May be done: only by explicit choice, with another approver's go. Next: ask its owner.",
    );
  });

  it.each([
    ['protected', ['bystander'], ''],
    ['in-use', ['bystander'], 'ask its owner'],
    ['contained', ['workload'], "stop it with its owner's command"],
    ['detached', ['importer'], 'ask its owner to restart it; that gives the memory back'],
  ] as const)('with one that is kept as %s and found %j is "%s"', (why, findings, next) => {
    expect(keptNext({why, findings})).toBe(next);
  });
});

it('a diagnosis says what of a process could not be read', () => {
  const process = aProcess({pid: 500, unreadable: ['exe', 'cgroup']});
  const lines = holderLines(aDiagnosis(aSnapshot([billed(process, {0: 100})], {used: [200]})));
  expect(lines).toContain('   · could not be read: exe, cgroup');
});

describe('beside its holders, a diagnosis says', () => {
  it('the next step with a broken GPU, and none with a sound one', () => {
    const gpus = [aGpu(0, 4, {fault: '[GPU requires reset]'}), aGpu(1)];
    expect(diagnosisNotes(aDiagnosis(aSnapshot([], {gpus})))).toEqual([
      'Next, GPU 0: no signal helps: drain it, then the recovery that nvidia-smi names, a reset or a reboot',
    ]);
  });

  it('which causes are possible where nobody explains the memory', () => {
    const notes = diagnosisNotes(aDiagnosis(aSnapshot([], {used: [9_000]})));
    expect(notes[0]).toBe('What may hold what nobody explains:');
    expect(notes.filter((note) => note.startsWith('  possible: ')).length).toBeGreaterThan(2);
    expect(diagnosisNotes(aDiagnosis(aSnapshot([], {used: [4]})))).toEqual([]);
  });

  it('what was not read whole', () => {
    const sections = [{name: 'facts', exitCode: 124, complete: false, note: 'timed out'}];
    expect(diagnosisNotes(aDiagnosis(aSnapshot([], {used: [4], sections})))).toContain(
      'Not read whole: facts (timed out)',
    );
  });
});
