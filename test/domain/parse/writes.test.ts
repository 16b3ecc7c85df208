/** The answer of the writes script, as it comes back: whole, cut, and hostile. */
import {describe, expect, it} from 'vitest';
import {hostName} from '../../../src/domain/host.ts';
import {parseWrites} from '../../../src/domain/parse/writes.ts';
import type {OpenFile, WritesLook} from '../../../src/domain/writing.ts';

const NONCE = 'feedbeeffeedbeeffeedbeeffeedbeef';
const REGULAR = '81a4';

interface Said {
  readonly below?: string;
  readonly open?: readonly [string, string];
  readonly place?: readonly [string, string];
  readonly size?: readonly [string, string];
  /** Sections whose end never came. */
  readonly cut?: readonly string[];
  readonly end?: string;
}

function answerOf(said: Said, pids: readonly number[] = [500]) {
  const {below = '', open = ['', ''], place = ['', ''], size = ['', ''], cut = [], end = 'END 0'} = said;
  const section = (name: string, body: string): string =>
    `\n@@${NONCE} begin ${name}\n${body}\n${cut.includes(name) ? '' : `\n@@${NONCE} end ${name} 0\n`}`;
  const look = (at: 0 | 1): string =>
    [
      section(`open.${at + 1}`, `${open[at]}\n@find 0\n@rc 0`),
      section(`place.${at + 1}`, `${place[at]}\n@rc 0`),
      section(`clock.${at + 1}`, `${at === 0 ? '1000.10' : '1000.62'} 99.0`),
      section(`size.${at + 1}`, size[at]),
    ].join('');
  const text = `Welcome\n\n@@${NONCE} BEGIN writes 1\n${section('below', below)}${look(0)}${look(1)}\n@@${NONCE} ${end}\n`;
  const stdout = new TextEncoder().encode(text);
  const transcript = {host: hostName('gpu-07'), hostKey: 'k', nonce: NONCE, stdout, stderr: '', exitCode: 0, tookMs: 1};
  return parseWrites(transcript, pids);
}

function lookOf(said: Said, pids?: readonly number[]): WritesLook {
  const answer = answerOf(said, pids);
  if (!answer.ok) throw new Error(JSON.stringify(answer.failure));
  return answer.value;
}

const both = (line: string): readonly [string, string] => [line, line];
const sizes = (first: number, second: number, of = '/proc/500/fd/7'): readonly [string, string] => [
  `${of} ${REGULAR} ${first}`,
  `${of} ${REGULAR} ${second}`,
];

const TRACE: OpenFile = {
  pid: 500,
  asked: 500,
  path: '/d/x.json.gz',
  mode: 'write',
  first: {sizeBytes: 10, position: 10},
  second: {sizeBytes: 30, position: 30},
};
const TRACE_SAID: Said = {
  open: both('/proc/500/fd/7 300 /d/x.json.gz'),
  place: ['/proc/500/fdinfo/7:pos:\t10\n/proc/500/fdinfo/7:mnt_id:\t29', '/proc/500/fdinfo/7:pos:\t30'],
  size: sizes(10, 30),
};

describe('a whole answer', () => {
  it('gives each open file with both its states, and the time between them', () => {
    expect(lookOf(TRACE_SAID)).toEqual({overMs: 520, files: [TRACE], unread: []});
    expect(lookOf({})).toEqual({overMs: 520, files: [], unread: []});
  });

  it.each<[string, Said, Partial<OpenFile> | null]>([
    ['opened for reading too', {open: both('/proc/500/fd/7 700 /d/x.json.gz')}, {mode: 'read-write'}],
    ['opened in between', {open: ['', '/proc/500/fd/7 300 /d/x.json.gz']}, {first: null}],
    ['closed in between', {open: ['/proc/500/fd/7 300 /d/x.json.gz', '']}, null],
    [
      'that took the place of another',
      {open: ['/proc/500/fd/7 300 /d/w.json', '/proc/500/fd/7 300 /d/x.json.gz']},
      {first: null},
    ],
    ['that is a directory', {size: both('/proc/500/fd/7 41ed 4096')}, null],
    [
      'without a size',
      {size: both('')},
      {first: {sizeBytes: null, position: 10}, second: {sizeBytes: null, position: 30}},
    ],
    ['of a process below', {below: '/proc/500/task/500/children:499 501 \n/proc/501/task/777/children:502 '}, {}],
  ])('a file %s', (_, change, difference) => {
    const {files} = lookOf({...TRACE_SAID, ...change});
    expect(files).toEqual(difference === null ? [] : [{...TRACE, ...difference}]);
  });

  it('puts what a child writes to the nearest above it that was asked about, and nobody else', () => {
    const said = {
      below: '/proc/400/task/400/children:500 600 \n/proc/500/task/501/children:510 \n/proc/510/task/510/children:511 ',
      open: both('/proc/511/fd/3 300 /a.pt\n/proc/600/fd/3 300 /b.pt\n/proc/700/fd/3 300 /c.pt'),
    };
    const asked = (pids: readonly number[]) => lookOf(said, pids).files.map(({pid, asked: of}) => [pid, of]);
    expect(asked([400, 500])).toEqual([
      [511, 500],
      [600, 400],
    ]);
    expect(asked([500])).toEqual([[511, 500]]);
  });

  it('says whose open files may not be read, once', () => {
    const denied = "find: '/proc/500/fd': Permission denied";
    const other = "find: '/proc/900/fd': Permission denied";
    const below = "find: '/proc/501/fd': Permission denied";
    const said = {open: both(`${denied}\n${other}\n${below}`), below: '/proc/500/task/500/children:501 '};
    expect(lookOf(said).unread).toEqual([{pid: 500, path: null, why: 'refused'}]);
  });

  it('reads a hostile name as a name', () => {
    const name = `/d/a b?@@${NONCE.slice(0, 8)} end open.2 0?/proc/9/fd/1 300 x.json`;
    expect(lookOf({...TRACE_SAID, open: both(`/proc/500/fd/7 300 ${name}`)}).files).toEqual([{...TRACE, path: name}]);
    const odd =
      '/proc/500/fd/7 300\n/proc/500/fd/x 300 /a.pt\n/proc/500/fd/7 999 /a.pt\n500 /a.pt\n/proc/500/fd/8 300 a.pt';
    expect(lookOf({open: both(odd)}).files).toEqual([]);
  });
});

describe('an answer that is not whole', () => {
  it.each<[string, Said, string]>([
    ['its end', {end: 'x'}, 'END'],
    ['a list of the first look', {cut: ['open.1']}, 'open.1'],
    ['a list of the second', {cut: ['open.2']}, 'open.2'],
  ])('without %s says nothing of anybody', (_, change, section) => {
    expect(answerOf({...TRACE_SAID, ...change})).toMatchObject({
      ok: false,
      failure: {reason: 'probe-unreadable', section},
    });
  });

  it('without the sizes of a mount that hangs still has the positions', () => {
    const files = lookOf({...TRACE_SAID, size: both(''), cut: ['size.1', 'size.2']}).files;
    expect(files).toMatchObject([{first: {sizeBytes: null, position: 10}, second: {sizeBytes: null, position: 30}}]);
  });

  it('of another kind is refused', () => {
    const stdout = new TextEncoder().encode(`\n@@${NONCE} BEGIN probe 1\n\n@@${NONCE} END 0\n`);
    const transcript = {host: hostName('a'), hostKey: 'k', nonce: NONCE, stdout, stderr: '', exitCode: 0, tookMs: 1};
    expect(parseWrites(transcript, [1])).toMatchObject({ok: false, failure: {section: 'BEGIN'}});
  });
});
