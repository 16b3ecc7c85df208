/** Drills say so wherever a run says how it stands, so that nobody takes one for a night that counts. */
import type {Run} from '../domain/run.ts';

/** "⏳ PRACTICE · Waiting for a go": the mark behind the sign, in words, at every title of a drill. */
export function withPractice(run: Run, title: string): string {
  if (!isDrill(run)) return title;
  const at = title.indexOf(' ');
  return `${title.slice(0, at)} PRACTICE · ${title.slice(at + 1)}`;
}

/** The same where a title begins with words: of a picture, which travels without its card. */
export function drillTitle(run: Run, title: string): string {
  return isDrill(run) ? `PRACTICE · ${title}` : title;
}

export function isDrill(run: Run): boolean {
  const [first] = run.events;
  return first?.kind === 'requested' && first.request.practice === true;
}
