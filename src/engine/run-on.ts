/** A grace that runs on while files grow: what the looks before kill -9 saw, since when, and what people were told. */
import type {LadderState} from '../domain/escalation.ts';
import {growing, nothingRead, type WritesLook, type Writing} from '../domain/writing.ts';
import type {Clock} from './ports.ts';

export class RunOn {
  readonly #clock: Clock;
  readonly #told: Set<string>;
  #writers: ReadonlySet<number> = new Set();
  #fresh = false;
  #look: WritesLook | null = null;
  #sinceTicks: number | null = null;

  /** `known`: what the plan said already of what cannot be read. */
  constructor(clock: Clock, known: Writing) {
    this.#clock = clock;
    this.#told = new Set(known.unread.map(({pid, path}) => `unread ${pid} ${path}`));
  }

  /** Takes a look, null for one that failed; hands back what people have not heard yet. */
  saw(look: WritesLook | null, pids: readonly number[]): Writing {
    const writing = look === null ? nothingRead(pids) : growing(look, this.#look);
    // Whoever was seen writing is not taken to have stopped because one look failed; the longest grace ends it anyway.
    if (look !== null) {
      this.#writers = new Set(writing.files.map((file) => file.pid));
      this.#look = look;
    }
    this.#fresh = true;
    if (this.#writers.size > 0) this.#sinceTicks ??= this.#clock.ticks();
    return {
      files: writing.files.filter(({pid, path}) => this.#isNews(`file ${pid} ${path}`)),
      unread: writing.unread.filter(({pid, path}) => this.#isNews(`unread ${pid} ${path}`)),
    };
  }

  /** Time has passed: the last look says nothing any more. */
  waited(): void {
    this.#fresh = false;
  }

  writers(): ReadonlySet<number> {
    return this.#writers;
  }

  state(): Pick<LadderState, 'ranOnMs' | 'writing'> {
    return {
      ranOnMs: this.#sinceTicks === null ? 0 : this.#clock.ticks() - this.#sinceTicks,
      writing: this.#fresh ? this.#writers : null,
    };
  }

  #isNews(key: string): boolean {
    const news = !this.#told.has(key);
    this.#told.add(key);
    return news;
  }
}
