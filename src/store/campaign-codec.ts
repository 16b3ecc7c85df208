/** Campaigns, their looks and samples from their JSON, by their outer shape; null for what is none. */
import {z} from 'zod';
import type {Campaign, KeptCampaign} from '../domain/campaign.ts';
import type {HostFacts} from '../domain/host-facts.ts';
import type {HostSamples} from '../domain/samples.ts';

const FACTS = z.looseObject({
  seen: z.looseObject({
    state: z.literal('seen'),
    host: z.string(),
    bootId: z.string(),
    gpus: z.array(z.looseObject({uuid: z.string()})),
    holders: z.array(z.looseObject({pid: z.number(), startTicks: z.string()})),
  }),
  uptimeMs: z.number(),
  settings: z.looseObject({gpus: z.array(z.looseObject({uuid: z.string()}))}).nullable(),
  deep: z.looseObject({mpsSeen: z.boolean()}).nullable(),
});

/** What a campaign of an older version lacks was not asked for then. */
const CAMPAIGN = z.looseObject({
  id: z.string(),
  kind: z.enum(['profile', 'keep']),
  hosts: z.array(z.string()),
  gpus: z.array(z.number()).nullable(),
  by: z.string(),
  startedAtMs: z.number(),
  untilMs: z.number().nullable(),
  sampleMs: z.number().nullable().default(null),
  processes: z
    .array(z.looseObject({host: z.string(), bootId: z.string(), pid: z.number(), startTicks: z.string()}))
    .default([]),
  locked: z.looseObject({}).default({graphics: null, memory: null}),
  before: z.array(FACTS),
});

const CARD = z.looseObject({channel: z.string(), ts: z.string()});

const SAMPLES = z.looseObject({
  host: z.string(),
  count: z.number(),
  missed: z.number(),
  costMs: z.number(),
  gaps: z.array(z.looseObject({fromMs: z.number(), toMs: z.number(), missed: z.number()})),
  gpus: z.array(z.looseObject({uuid: z.string(), maxMiB: z.number(), lastMiB: z.number()})),
  bills: z.array(z.string()),
});

export const decodeCampaign = (text: string): Campaign | null => decoded<Campaign>(CAMPAIGN, text);
export const decodeAfter = (text: string): readonly HostFacts[] | null =>
  decoded<readonly HostFacts[]>(z.array(FACTS), text);
export const decodeCard = (text: string): NonNullable<KeptCampaign['card']> | null =>
  decoded<NonNullable<KeptCampaign['card']>>(CARD, text);
export const decodeSamples = (text: string): HostSamples | null => decoded<HostSamples>(SAMPLES, text);

function decoded<T>(shape: z.ZodType, text: string): T | null {
  try {
    const found = shape.safeParse(JSON.parse(text));
    return found.success ? (found.data as T) : null;
  } catch {
    return null;
  }
}
