/** Pictures for the README: fewer colours, the same picture. */
import {deflateSync, inflateSync} from 'node:zlib';
import {expect, it} from 'vitest';
import {smallPng} from '../../src/playground/page/small-png.ts';

const RED = [200, 10, 20];
const WHITE = [255, 255, 255];

/** 2 x 2 RGB; each row predicted in another way. Checksums are nobody's here. */
function png(rows: readonly (readonly number[])[]): Buffer {
  const chunk = (name: string, body: Buffer): Buffer => {
    const head = Buffer.alloc(4);
    head.writeUInt32BE(body.length);
    return Buffer.concat([head, Buffer.from(name), body, Buffer.alloc(4)]);
  };
  const head = Buffer.from([0, 0, 0, 2, 0, 0, 0, 2, 8, 2, 0, 0, 0]);
  const data = deflateSync(Buffer.from(rows.flat()));
  return Buffer.concat([Buffer.alloc(8), chunk('IHDR', head), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

function chunkOf(file: Buffer, name: string): Buffer {
  const at = file.indexOf(name, 0, 'latin1');
  return file.subarray(at + 4, at + 4 + file.readUInt32BE(at - 4));
}

it.each([
  ['nothing', [0, ...RED, ...WHITE], [0, ...WHITE, ...RED]],
  ['the left', [1, ...RED, 55, 245, 235], [1, ...WHITE, 201, 11, 21]],
  ['above', [0, ...RED, ...WHITE], [2, 55, 245, 235, 201, 11, 21]],
  ['both, halved', [0, ...RED, ...WHITE], [3, 155, 250, 245, 201, 11, 21].map((value) => value & 255)],
])('keeps every point of a picture predicted from %s', (_, first, second) => {
  const small = smallPng(png([first, second]));
  const palette = chunkOf(small, 'PLTE');
  const rows = inflateSync(chunkOf(small, 'IDAT'));
  const colour = (at: number) => [...palette.subarray((rows[at] ?? 0) * 3, (rows[at] ?? 0) * 3 + 3)];
  expect([colour(1), colour(2)]).toEqual([RED, WHITE]);
  expect([colour(4), colour(5)]).toEqual([WHITE, RED]);
});
