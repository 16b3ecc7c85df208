/** The production program with one promise taken out, so that the chaos run can be seen to fail. */
import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import type {Plugin} from 'esbuild';
import {otherProgram} from '../program.ts';

export const BREAKS = ['outbox', 'dedupe'] as const;
export type Breakage = (typeof BREAKS)[number];

export function brokenProgram(what: Breakage): Promise<{readonly file: string; remove(): void}> {
  return otherProgram([what === 'outbox' ? withoutOutbox : withoutClaims]);
}

const withoutOutbox: Plugin = {
  name: 'no outbox',
  setup: (build) => {
    const instead = fileURLToPath(new URL('./broken/outbox.ts', import.meta.url));
    build.onLoad({filter: /src\/store\/outbox\.ts$/}, () => ({contents: readFileSync(instead, 'utf8'), loader: 'ts'}));
  },
};

/** Whoever comes second is told that they are the first. */
const withoutClaims: Plugin = {
  name: 'no claims',
  setup: (build) => {
    build.onLoad({filter: /src\/store\/cards\.ts$/}, ({path}) => {
      const whole = readFileSync(path, 'utf8');
      const contents = whole.replace(
        'if (isUniqueViolation(error)) return false;',
        'if (isUniqueViolation(error)) return true;',
      );
      if (contents === whole) throw new Error('Internal error: the claim is not where it was');
      return {contents, loader: 'ts'};
    });
  },
};
