/** Where the files of a finished upload went: the answer names each place with the ts of the message there. */
import {isObject, type Json} from './check-elements.ts';
import type {Answer} from './state-keeper.ts';

export function sharesIn(answer: Answer): readonly {readonly channel: string; readonly ts: string}[] {
  const places = objectsIn(answer['files'])
    .flatMap((file) => (isObject(file['shares']) ? Object.values(file['shares']).filter(isObject) : []))
    .flatMap((kind) => Object.entries(kind))
    .flatMap(([channel, shares]) => objectsIn(shares).map(({ts}) => `${channel} ${String(ts)}`));
  // Several files of one upload share one message.
  return [...new Set(places)].map((place) => {
    const [channel = '', ts = ''] = place.split(' ');
    return {channel, ts};
  });
}

function objectsIn(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
