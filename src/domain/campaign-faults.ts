/** What went wrong on a host since a campaign's start, and what of its shared memory and MPS is not as it was. */
import type {SeenCampaignHost} from './campaign-report.ts';
import type {SharedLeftover} from './deep.ts';
import type {HostFacts} from './host-facts.ts';

export function newShared(before: HostFacts, now: HostFacts, rebooted: boolean): readonly SharedLeftover[] | null {
  const [was, is] = [before.deep?.leftovers ?? null, now.deep?.leftovers ?? null];
  if (is === null || (was === null && !rebooted)) return null;
  const old = new Set(rebooted ? [] : was?.map(({kind, name}) => `${kind} ${name}`));
  return is.filter(({kind, name}) => !old.has(`${kind} ${name}`));
}

export function newXids(
  before: HostFacts,
  now: HostFacts,
  rebooted: boolean,
  isMeant: (index: number | null) => boolean,
): SeenCampaignHost['xids'] {
  const lines = now.deep?.xids ?? null;
  if (lines === null) return null;
  const indexOf = (busId: string): number | null =>
    now.seen.gpus.find(({uuid}) => now.busIds[uuid] === busId)?.index ?? null;
  return lines
    .filter(({uptimeMs}) => rebooted || uptimeMs > before.uptimeMs)
    .map((line) => ({index: indexOf(line.busId), line}))
    .filter(({index}) => isMeant(index));
}

/** The count since the driver was loaded begins anew with a reboot; the one of the GPU's life does not. */
export function newEcc(
  before: HostFacts,
  now: HostFacts,
  rebooted: boolean,
  isMeant: (index: number | null) => boolean,
): SeenCampaignHost['ecc'] {
  return (now.settings?.gpus ?? []).flatMap((is) => {
    const was = before.settings?.gpus.find(({uuid}) => uuid === is.uuid);
    if (was === undefined || !isMeant(is.index)) return [];
    const counts = rebooted ? [] : [[was.eccVolatile, is.eccVolatile] as const];
    const more = [...counts, [was.eccAggregate, is.eccAggregate] as const].map(([from, to]) =>
      from.known && to.known ? to.value - from.value : 0,
    );
    const most = Math.max(0, ...more);
    return most === 0 ? [] : [{index: is.index, more: most}];
  });
}

/** GPUs whose count cannot be told to be the same: neither of the two was read, then and now. null: of none. */
export function unreadEcc(
  before: HostFacts,
  now: HostFacts,
  rebooted: boolean,
  isMeant: (index: number | null) => boolean,
): SeenCampaignHost['eccUnread'] {
  if (!hasSettings(before) || !hasSettings(now)) return null;
  return (now.settings?.gpus ?? []).flatMap((is) => {
    const was = before.settings?.gpus.find(({uuid}) => uuid === is.uuid);
    if (!isMeant(is.index)) return [];
    if (was === undefined) return [is.index];
    const pairs = [...(rebooted ? [] : [[was.eccVolatile, is.eccVolatile]]), [was.eccAggregate, is.eccAggregate]];
    const read = pairs.some((pair) => pair.every(({known}) => known));
    const absent = pairs.flat().every((figure) => !figure.known && figure.why === 'not-supported');
    return read || absent ? [] : [is.index];
  });
}

/** nvidia-smi told what is set on the GPUs. */
export function hasSettings({settings}: HostFacts): boolean {
  return settings !== null && settings.smi.state === 'answered';
}

export function mpsChange(before: HostFacts, now: HostFacts): SeenCampaignHost['mps'] {
  if (before.deep?.mpsSeen !== true || now.deep?.mpsSeen !== true) return 'unknown';
  const [was, is] = [before.deep.mpsControl !== null, now.deep.mpsControl !== null];
  return was === is ? 'same' : is ? 'started' : 'stopped';
}
