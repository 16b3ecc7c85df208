/**
 * SVG to PNG, in a program of its own that is started for one picture: what the drawing library takes of memory and time,
 * or breaks, is not the bot's. Its library is the only package of this room, and `draw.mjs` the only file that loads it.
 */
import {spawn} from 'node:child_process';
import {fileURLToPath} from 'node:url';

/** Bytes of a PNG. Rejects where it can't be drawn: no library for this platform, no memory, too late. */
export type Draw = (svg: string) => Promise<Uint8Array>;

/** A picture takes a fifth of a second; a machine that is busy elsewhere may take longer. */
const LIMIT_MS = 20_000;
const MOST_BYTES = 8_000_000;
const MOST_WORDS = 2_000;

/** One picture at a time: ten runs that end together must not start ten programs. */
export function makeDraw(options: {readonly program?: string; readonly limitMs?: number} = {}): Draw {
  const program = options.program ?? fileURLToPath(new URL('./draw.mjs', import.meta.url));
  let before: Promise<unknown> = Promise.resolve();
  return (svg) => {
    const drawn = before.then(() => drawOne(program, svg, options.limitMs ?? LIMIT_MS));
    before = drawn.catch(() => undefined);
    return drawn;
  };
}

function drawOne(program: string, svg: string, limitMs: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    // Nothing of our environment: there are tokens in it.
    const child = spawn(process.execPath, ['--max-old-space-size=64', program], {
      env: {},
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: limitMs,
      killSignal: 'SIGKILL',
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    let words = '';
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MOST_BYTES) child.kill('SIGKILL');
      else chunks.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      if (words.length < MOST_WORDS) words += chunk.toString('utf8');
    });
    // It may have ended before it read all: its exit says so.
    child.stdin.on('error', () => undefined);
    child.once('error', reject);
    child.once('close', (code, signal) => {
      const png = Buffer.concat(chunks);
      if (code === 0 && png.length > 0) resolve(png);
      else reject(new Error(`no picture: ${signal ?? `exit ${code}`} ${reasonIn(words)}`.trim()));
    });
    child.stdin.end(svg);
  });
}

/** The line of an error's report that names it. */
function reasonIn(words: string): string {
  const lines = words.split('\n').map((line) => line.trim());
  return (lines.find((line) => /^\w*Error\b/.test(line)) ?? lines[0] ?? '').slice(0, 200);
}
