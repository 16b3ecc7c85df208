/** Reads a PNG as the drawing library writes it: 8 bits, RGBA, not interlaced. Pixels by the picture's own units. */
import {inflateSync} from 'node:zlib';

export interface Png {
  readonly width: number;
  readonly height: number;
  /** `#rrggbb` at a unit of the picture, which is two pixels. */
  at(x: number, y: number): string;
  /** Every colour within a box of units, each once. */
  colours(x: number, y: number, width: number, height: number): ReadonlySet<string>;
}

export function readPng(bytes: Uint8Array): Png {
  const file = Buffer.from(bytes);
  if (file.toString('latin1', 1, 4) !== 'PNG') throw new Error('no PNG');
  const width = file.readUInt32BE(16);
  const height = file.readUInt32BE(20);
  if (file[24] !== 8 || file[25] !== 6 || file[28] !== 0) throw new Error('another kind of PNG');
  const parts: Buffer[] = [];
  for (let at = 8; at < file.length; ) {
    const length = file.readUInt32BE(at);
    if (file.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(file.subarray(at + 8, at + 8 + length));
    at += 12 + length;
  }
  const raw = inflateSync(Buffer.concat(parts));
  const stride = width * 4;
  const pixels = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (stride + 1)] ?? 0;
    for (let x = 0; x < stride; x += 1) {
      const left = x < 4 ? 0 : (pixels[y * stride + x - 4] ?? 0);
      const up = y === 0 ? 0 : (pixels[(y - 1) * stride + x] ?? 0);
      const corner = x < 4 || y === 0 ? 0 : (pixels[(y - 1) * stride + x - 4] ?? 0);
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter] ?? 0;
      pixels[y * stride + x] = ((raw[y * (stride + 1) + 1 + x] ?? 0) + guess) & 255;
    }
  }
  const pixel = (x: number, y: number): string =>
    `#${pixels.toString('hex', (y * width + x) * 4, (y * width + x) * 4 + 3)}`;
  return {
    width,
    height,
    at: (x, y) => pixel(Math.round(x * 2), Math.round(y * 2)),
    colours: (x, y, w, h) => {
      const found = new Set<string>();
      for (let row = Math.round(y * 2); row < (y + h) * 2; row += 1)
        for (let column = Math.round(x * 2); column < (x + w) * 2; column += 1) found.add(pixel(column, row));
      return found;
    },
  };
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [toLeft, toUp, toCorner] = [left, up, corner].map((one) => Math.abs(guess - one));
  if ((toLeft ?? 0) <= (toUp ?? 0) && (toLeft ?? 0) <= (toCorner ?? 0)) return left;
  return (toUp ?? 0) <= (toCorner ?? 0) ? up : corner;
}
