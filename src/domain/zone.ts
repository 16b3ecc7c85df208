/** Time zones by their IANA names, as the runtime's own tables know them. */
import {nearest} from './nearest.ts';

/** The name as the tables spell it (`europe/berlin` -> `Europe/Berlin`); null for one that they do not know. */
export function readZone(text: string): string | null {
  if (/^(utc|gmt|z)$/i.test(text)) return 'UTC';
  // An offset such as +02:00 has no clock changes: most likely a place was meant. Three letters (CET, EST) mean several.
  if (!text.includes('/')) return null;
  try {
    return new Intl.DateTimeFormat('en-GB', {timeZone: text}).resolvedOptions().timeZone;
  } catch {
    return null;
  }
}

/** Up to two names that were most likely meant: by the whole name, or by its last part (`Berlin`). */
export function nearestZones(text: string): readonly string[] {
  const all = Intl.supportedValuesOf('timeZone');
  const last = (text.split('/').at(-1) ?? '').replaceAll(' ', '_');
  const named = all.filter((zone) => zone.toLowerCase().endsWith(`/${last.toLowerCase()}`));
  if (named.length > 0) return named.slice(0, 2);
  const whole = nearest(text, all);
  if (whole.length > 0) return whole;
  const cities = nearest(
    last,
    all.map((zone) => zone.split('/').at(-1) ?? ''),
  );
  return all.filter((zone) => cities.includes(zone.split('/').at(-1) ?? '')).slice(0, 2);
}

/** `2027-03-28` and `18:00` as the clocks of that zone show this instant; of UTC, where the tables do not know it. */
export function wallClock(atMs: number, zone: string): {readonly day: string; readonly time: string} {
  const parts = new Map(
    clockOf(zone)
      .formatToParts(new Date(atMs))
      .map(({type, value}) => [type, value]),
  );
  const part = (name: Intl.DateTimeFormatPartTypes): string => parts.get(name) ?? '';
  return {day: `${part('year')}-${part('month')}-${part('day')}`, time: `${part('hour')}:${part('minute')}`};
}

/** Making one costs a hundred times what asking it does. */
const CLOCKS = new Map<string, Intl.DateTimeFormat>();

function clockOf(zone: string): Intl.DateTimeFormat {
  const two = '2-digit';
  const made =
    CLOCKS.get(zone) ??
    new Intl.DateTimeFormat('en-GB', {
      timeZone: readZone(zone) ?? 'UTC',
      year: 'numeric',
      month: two,
      day: two,
      hour: two,
      minute: two,
      hourCycle: 'h23',
    });
  CLOCKS.set(zone, made);
  return made;
}
