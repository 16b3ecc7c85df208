/** What "Choose…" needs of the store; part of `ports.ts` by room. */
import type {Offer} from '../domain/offer.ts';
import type {Snapshot} from '../domain/snapshot.ts';

/** `id` is made of what it holds: the same offer kept twice is one. */
export interface KeptOffer extends Offer {
  readonly id: string;
}

/** Offers outlive a restart, so that an open form still means what it showed. Each is kept for a day. */
export interface OfferStore {
  /** `look`: the fresh one behind it; null for a stale offer. */
  keep(offer: KeptOffer, look: Snapshot | null, atMs: number): Promise<void>;
  load(id: string): Promise<KeptOffer | null>;
  /** The look behind an offer; null where there is none. */
  lookOf(id: string): Promise<Snapshot | null>;
}
