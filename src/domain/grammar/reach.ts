/** How far a value reaches over the words behind its key, by its kind: `grace=30 s`, `gpus 0, 2`, `until tomorrow 07:30`. */
import {readClockRange} from '../locked-clocks.ts';
import {readUntil} from '../until-words.ts';
import {readZone} from '../zone.ts';
import type {OptionKind} from './rules.ts';
import {isUnit, readDuration, readGpus, readPids} from './values.ts';

export interface Reached {
  readonly value: string;
  /** How many of the words behind were taken. */
  readonly taken: number;
}

/** What stops a value whatever its kind: a key, a flag, or a host. */
export type IsBorder = (word: string, nth: number, all: readonly string[]) => boolean;

/** No time that reads has more words. */
const TIME_WORDS = 6;

/**
 * `started`: what stands at the key itself (`gpus=0,`); null: nothing, so that the value begins with the first of
 * `behind`. null: there is no value, or none that these words could be.
 */
export function reach(
  kind: OptionKind,
  started: string | null,
  behind: readonly string[],
  isBorder: IsBorder,
): Reached | null {
  const [first] = behind;
  const own = started ?? (first === undefined || isBorder(first, 0, behind) ? null : first);
  if (own === null) return null;
  const rest = started === null ? behind.slice(1) : behind;
  const border = rest.findIndex(isBorder);
  const open = border === -1 ? rest : rest.slice(0, border);
  const more = moreWords(kind, own, open);
  const value = [own, ...open.slice(0, more)].join(kind === 'gpus' || kind === 'pids' || kind === 'clocks' ? '' : ' ');
  return {value, taken: more + (started === null ? 1 : 0)};
}

/** Whether these words alone make it sure that a plain word in front of them is a key and no word of a text. */
export function surely(kind: OptionKind, value: string): boolean {
  switch (kind) {
    case 'gpus':
      return readGpus(value) !== null;
    case 'pids':
      return readPids(value) !== null;
    case 'duration':
      return readDuration(value) !== null;
    case 'time':
      return readUntil(value).ok;
    case 'zone':
      return readZone(value) !== null;
    case 'channel':
      return /^<#[A-Z0-9]+[|>]|^#./.test(value);
    case 'clocks':
      return readClockRange(value) !== null;
    case 'folder':
      return value.startsWith('/');
    default:
      return false;
  }
}

function moreWords(kind: OptionKind, own: string, open: readonly string[]): number {
  switch (kind) {
    case 'gpus':
    case 'pids':
    case 'clocks':
      return while_(open, (word, before) => /[,\-.[({]$/.test(before) || /^[,\-.\])}]/.test(word), own);
    case 'duration':
      return while_(open, (word, before) => (/\d$/.test(before) && isUnit(word)) || isLength(word), own);
    case 'time':
      return longest(open, own);
    case 'sentence':
      // Words in quotes are whole; without quotes the sentence goes on to the next key.
      return /\s/.test(own.trim()) ? 0 : open.length;
    default:
      return 0;
  }
}

function isLength(word: string): boolean {
  return readDuration(word) !== null;
}

/** How many words in a row go on with what stands before them. */
function while_(open: readonly string[], goesOn: (word: string, before: string) => boolean, own: string): number {
  let taken = 0;
  while (taken < open.length && goesOn(open[taken] ?? '', taken === 0 ? own : (open[taken - 1] ?? ''))) taken += 1;
  return taken;
}

/** The most words with which it reads as a time; none if it reads with none. */
function longest(open: readonly string[], own: string): number {
  for (let taken = Math.min(TIME_WORDS, open.length); taken > 0; taken -= 1)
    if (readUntil([own, ...open.slice(0, taken)].join(' ')).ok) return taken;
  return 0;
}
