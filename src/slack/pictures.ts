/**
 * The pictures of a closed run, into its thread after the report's words. The words are whole without them: what can't be
 * drawn or posted is left out with one line in the log. Claimed for this card before they are drawn, so that none comes twice.
 */
import type {webApi} from '@slack/bolt';
import type {Run} from '../domain/run.ts';
import {hasTried, outcomeOf} from '../domain/run-state.ts';
import type {Card, Clock, Log, RunStore} from '../engine/ports.ts';
import {barsPicture} from '../report/picture-bars.ts';
import {curvePicture} from '../report/picture-curve.ts';
import {troubleOf} from './api-errors.ts';
import {shortId} from './blocks/people.ts';
import type {Pace} from './pace.ts';
import type {Work} from './work.ts';

/** SVG to PNG. */
export type Draw = (svg: string) => Promise<Uint8Array>;

export interface Pictures {
  /** Never throws, and nobody waits for it. */
  show(run: Run, card: Card): void;
}

export function makePictures(deps: {
  readonly client: webApi.WebClient;
  /** null: no pictures are wanted. */
  readonly draw: Draw | null;
  readonly store: RunStore;
  readonly pace: Pace;
  readonly work: Work;
  readonly clock: Clock;
  readonly log: Log;
}): Pictures {
  const {client, draw, store, pace, clock, log} = deps;

  const post = async (run: Run, card: Card, draw: Draw): Promise<void> => {
    const outcome = outcomeOf(run);
    // Nothing was done that could have freed anything: a picture would show a host as it always is.
    if (outcome === null || !hasTried(run)) return;
    const bars = barsPicture(run, outcome);
    const curve = curvePicture(run);
    const pictures = [
      ...(bars === null ? [] : [{...bars, name: 'before-after'}]),
      ...(curve === null ? [] : [{...curve, name: 'time-to-free'}]),
    ];
    if (pictures.length === 0 || !(await store.claim(`pictures:${run.id}:${card.ts}`, clock.now()))) return;
    const files = [];
    for (const {name, title, altText, svg} of pictures)
      files.push({
        file: Buffer.from(await draw(svg)),
        filename: `${name}-${shortId(run.id)}.png`,
        title,
        alt_text: altText,
      });
    await pace.post(card.channel, 'reply');
    // One message of both. By a client that tries once: a second try after a lost answer could show them twice.
    await client.files.uploadV2({channel_id: card.channel, thread_ts: card.ts, file_uploads: files});
  };

  return {
    show: (run, card) => {
      if (draw === null) return;
      deps.work.start('pictures', async () => {
        try {
          await post(run, card, draw);
        } catch (error) {
          const trouble = troubleOf(error);
          log.warn({runId: run.id, trouble}, 'the pictures of a run were left out');
        }
      });
    },
  };
}
