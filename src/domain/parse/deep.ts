/** One deep look's transcript -> `DeepLook`. */
import type {DeepLook} from '../deep.ts';
import {fail, type Result} from '../failure.ts';
import type {Transcript} from '../transcript.ts';

/** `takenAtMs`: the bot's clock when the answer came back. */
export function parseDeep(transcript: Transcript, _takenAtMs: number): Result<DeepLook> {
  return fail({reason: 'probe-unreadable', host: transcript.host, section: 'BEGIN', detail: 'not yet'});
}
