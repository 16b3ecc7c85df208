import {expect, test} from 'vitest';
import {ledgerTotals, readLedger} from '../../src/playground/lab/ledger.ts';

const LOCKS = `1: POSIX  ADVISORY  WRITE 412 fe:00:9 0 EOF
2: OFDLCK ADVISORY  READ -1 00:2f:5 524288000 524384843
3: OFDLCK ADVISORY  READ -1 00:2f:6 525336576 525336675
3: -> OFDLCK ADVISORY  WRITE -1 00:2f:6 0 EOF
4: OFDLCK ADVISORY  READ -1 00:2f:6 4398045462528 4398045462528
5: OFDLCK ADVISORY  READ -1 00:30:5 524288000 524384843
6: OFDLCK ADVISORY  READ -1 00:31:1 525336576 525336580
7: OFDLCK ADVISORY  READ -1 00:2f:3 17592712429568 17592712433663
`;

test('only locks on the lab’s own devices count, each with the PID and MiB that its range spells', () => {
  const keys = {gpus: [['00:2f:5'], ['00:2f:6', '00:31:1']], control: '00:2f:3'};
  const entries = readLedger(keys, () => LOCKS);
  expect(entries).toEqual([
    {gpu: 0, pid: 500, MiB: 96_844},
    {gpu: 1, pid: 501, MiB: 100},
    {gpu: 1, pid: 4_194_303, MiB: 1},
    {gpu: 1, pid: 501, MiB: 5},
    {gpu: 1, pid: 502, MiB: 4_096},
  ]);
  expect(ledgerTotals(entries, 3)).toEqual([96_844, 4_202, 0]);
});

test('a lock that the kernel shows twice, or hides, while others come and go, is counted once', () => {
  const keys = {gpus: [['00:2f:5']], control: '00:2f:3'};
  const lock = (nth: number, pid: number) =>
    `${nth}: OFDLCK ADVISORY  READ -1 00:2f:5 ${BigInt(pid) << 20n} ${(BigInt(pid) << 20n) + 699n}`;
  const [one, two] = [lock(1, 500), lock(2, 501)];
  const readings = [[one, two, lock(3, 500), lock(4, 500)], [one], [one, two], [two, lock(9, 500)]];
  const read = () => (readings.shift() ?? []).join('\n');
  expect(ledgerTotals(readLedger(keys, read), 1)).toEqual([1_400]);
  expect(readings).toEqual([]);
});

test('two allocations of one size by one process are two', () => {
  const keys = {gpus: [['00:2f:5']], control: '00:2f:3'};
  const lock = '1: OFDLCK ADVISORY  READ -1 00:2f:5 524288000 524288699';
  expect(
    ledgerTotals(
      readLedger(keys, () => `${lock}\n${lock.replace('1:', '2:')}`),
      1,
    ),
  ).toEqual([1_400]);
});
