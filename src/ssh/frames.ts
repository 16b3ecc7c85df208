/** Watches the stdout of a framed script as it arrives: whether it began, whether it ended, and each whole line between. */

export interface FrameWatch {
  feed(chunk: Buffer): void;
  began(): boolean;
  /** An END marker with this nonce has arrived, newline included. */
  ended(): boolean;
}

/** A longer line is no line of ours: kept as raw bytes by the caller, not handed on. */
const LONGEST_LINE = 256 * 1024;

/**
 * `@@NONCE BEGIN …` and `@@NONCE END …` count only at the start of a line. Whatever a login shell prints before BEGIN is
 * ignored. `onLine` hears each complete line after BEGIN, decoded, without its newline.
 */
export function watchFrames(nonce: string, onLine: (line: string) => void): FrameWatch {
  const begin = Buffer.from(`@@${nonce} BEGIN `);
  const end = Buffer.from(`@@${nonce} END `);
  let rest: Buffer = Buffer.alloc(0);
  let skipping = false;
  let began = false;
  let ended = false;

  function take(line: Buffer): void {
    if (startsWith(line, begin)) began = true;
    else if (began && startsWith(line, end)) ended = true;
    else if (began) onLine(line.toString('utf8'));
  }

  return {
    feed(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
        const piece = chunk.subarray(from, at);
        if (!skipping) take(rest.length === 0 ? piece : Buffer.concat([rest, piece]));
        rest = Buffer.alloc(0);
        skipping = false;
        from = at + 1;
      }
      if (skipping || from === chunk.length) return;
      rest = Buffer.concat([rest, chunk.subarray(from)]);
      if (rest.length > LONGEST_LINE) {
        rest = Buffer.alloc(0);
        skipping = true;
      }
    },
    began: () => began,
    ended: () => ended,
  };
}

function startsWith(line: Buffer, prefix: Buffer): boolean {
  return line.length >= prefix.length && line.subarray(0, prefix.length).equals(prefix);
}
