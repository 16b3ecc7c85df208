/** What a form about a report carries from one step to the next, since nothing is kept before it is added. */
import {z} from 'zod';

export interface ReportDraft {
  /** Hosts, groups and patterns, as they would be typed. */
  readonly hosts: readonly string[];
  /** As it was typed. */
  readonly when: string;
  readonly zone: string;
  readonly channel: string;
  readonly quiet: boolean;
}

const shape = z.strictObject({
  hosts: z.array(z.string().min(1).max(200)).max(200),
  when: z.string().max(200),
  zone: z.string().min(1).max(60),
  channel: z.string().regex(/^[A-Z0-9]{1,40}$/),
  quiet: z.boolean(),
});

/** Longer than that Slack carries nothing. */
const MOST = 3_000;

/** null where it would not fit. */
export function writeDraft(draft: ReportDraft): string | null {
  const text = JSON.stringify(draft);
  return text.length > MOST ? null : text;
}

/** null for anything that no form of ours ever carried. */
export function readDraft(text: string): ReportDraft | null {
  try {
    return shape.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
