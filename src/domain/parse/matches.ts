/** The `matches` section: whose command line or comm holds a literal that was asked for. */
import type {Match} from '../snapshot.ts';

/**
 * `@literal PATTERN` lines say what was asked; `/proc/PID/cmdline:FOUND` and `…/comm:FOUND` where something was found.
 * grep tells the longest literal at a place only, and a blank in a pattern stands for any byte: so each literal is
 * looked for again, in what grep found and in `rawText` (comm and command line, lower case).
 */
export function parseMatches(
  body: string,
  rawText: ReadonlyMap<number, string>,
  zombieLeaders: ReadonlySet<number>,
): Match[] {
  const lines = body.split('\n');
  const literals = lines.filter((line) => line.startsWith('@literal ')).map((line) => fromPattern(line.slice(9)));
  const found = new Map<number, string>();
  for (const line of lines) {
    const [, pid, text] = /^\/proc\/([1-9]\d{0,9})\/(?:cmdline|comm):(.*)$/.exec(line) ?? [];
    if (pid === undefined || text === undefined) continue;
    found.set(Number(pid), `${found.get(Number(pid)) ?? ''}\n${text.toLowerCase()}`);
  }
  // Their own command line is empty for grep; `rawText` has that of a thread.
  for (const pid of zombieLeaders) if (!found.has(pid)) found.set(pid, '');
  return [...found]
    .sort(([a], [b]) => a - b)
    .flatMap(([pid, text]) => {
      const where = `${text}\n${rawText.get(pid) ?? ''}`;
      return literals.filter((literal) => where.includes(literal.toLowerCase())).map((literal) => ({pid, literal}));
    });
}

/** A literal as a basic regular expression (grep(1)): blanks match the NUL between words. */
export function toPattern(literal: string): string {
  return literal.replace(/[\\.[\]*^$]/g, '\\$&').replaceAll(' ', '.');
}

function fromPattern(pattern: string): string {
  return pattern.replace(/\\(.)|\./g, (_, escaped: string | undefined) => escaped ?? ' ');
}
