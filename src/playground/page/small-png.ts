/** A screenshot with 256 colours instead of millions: a third of its bytes, and nobody sees the difference in text. */
import {crc32, deflateSync, inflateSync} from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const COLOURS = 256;
const RGB = 2;
const RGBA = 6;

/** Takes what Chromium writes: 8 bits a channel, RGB or RGBA, not interlaced. */
export function smallPng(png: Buffer): Buffer {
  const {width, height, channels, data} = decoded(png);
  const {palette, indexes} = reduced(data, channels, width * height);
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y += 1) indexes.copy(rows, y * (width + 1) + 1, y * width, (y + 1) * width);
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', head),
    chunk('PLTE', palette),
    chunk('IDAT', deflateSync(rows, {level: 9})),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

interface Decoded {
  readonly width: number;
  readonly height: number;
  readonly channels: number;
  readonly data: Buffer;
}

function decoded(png: Buffer): Decoded {
  const parts: Buffer[] = [];
  let head = Buffer.alloc(13);
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const name = png.toString('latin1', at + 4, at + 8);
    const body = png.subarray(at + 8, at + 8 + length);
    if (name === 'IHDR') head = Buffer.from(body);
    if (name === 'IDAT') parts.push(body);
    at += length + 12;
  }
  const [width, height, depth, colour] = [head.readUInt32BE(0), head.readUInt32BE(4), head[8], head[9]];
  if (depth !== 8 || (colour !== RGB && colour !== RGBA) || head[12] !== 0)
    throw new Error(`Internal error: a PNG of another kind: depth ${depth}, colour ${colour}`);
  const channels = colour === RGB ? 3 : 4;
  return {
    width,
    height,
    channels,
    data: unfiltered(inflateSync(Buffer.concat(parts)), width * channels, height, channels),
  };
}

/** PNG 12.1: each row says how its bytes were predicted from the left, from above, or from both. */
function unfiltered(raw: Buffer, stride: number, height: number, channels: number): Buffer {
  const data = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (stride + 1)] ?? 0;
    for (let x = 0; x < stride; x += 1) {
      const at = y * stride + x;
      const left = x >= channels ? (data[at - channels] ?? 0) : 0;
      const up = y > 0 ? (data[at - stride] ?? 0) : 0;
      const corner = x >= channels && y > 0 ? (data[at - stride - channels] ?? 0) : 0;
      data[at] = (raw[y * (stride + 1) + 1 + x] ?? 0) + predicted(filter, left, up, corner);
    }
  }
  return data;
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  switch (filter) {
    case 1:
      return left;
    case 2:
      return up;
    case 3:
      return (left + up) >> 1;
    case 4: {
      const guess = left + up - corner;
      const [byLeft, byUp, byCorner] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
      if (byLeft <= byUp && byLeft <= byCorner) return left;
      return byUp <= byCorner ? up : corner;
    }
    default:
      return 0;
  }
}

/** The most frequent colours as they are; every other one becomes the nearest of them. */
function reduced(data: Buffer, channels: number, pixels: number): {readonly palette: Buffer; readonly indexes: Buffer} {
  const counts = new Map<number, number>();
  const keyAt = (pixel: number): number => data.readUIntBE(pixel * channels, 3);
  for (let pixel = 0; pixel < pixels; pixel += 1) counts.set(keyAt(pixel), (counts.get(keyAt(pixel)) ?? 0) + 1);
  const kept = [...counts]
    .toSorted((one, two) => two[1] - one[1])
    .slice(0, COLOURS)
    .map(([key]) => key);
  const nearest = new Map(kept.map((key, index) => [key, index]));
  const indexes = Buffer.alloc(pixels);
  for (let pixel = 0; pixel < pixels; pixel += 1) {
    const key = keyAt(pixel);
    let index = nearest.get(key);
    if (index === undefined) {
      index = nearestOf(kept, key);
      nearest.set(key, index);
    }
    indexes[pixel] = index;
  }
  const palette = Buffer.alloc(kept.length * 3);
  for (const [index, key] of kept.entries()) palette.writeUIntBE(key, index * 3, 3);
  return {palette, indexes};
}

function nearestOf(kept: readonly number[], key: number): number {
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (const [index, other] of kept.entries()) {
    const far = [16, 8, 0].reduce((sum, shift) => sum + (((key >> shift) & 255) - ((other >> shift) & 255)) ** 2, 0);
    if (far < least) {
      least = far;
      best = index;
    }
  }
  return best;
}

function chunk(name: string, body: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), body]);
  const whole = Buffer.alloc(named.length + 8);
  whole.writeUInt32BE(body.length, 0);
  named.copy(whole, 4);
  whole.writeUInt32BE(crc32(named), named.length + 4);
  return whole;
}
