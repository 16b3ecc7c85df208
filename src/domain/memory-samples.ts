/** Which samples of a memory watch are worth keeping, when a busy neighbour makes more of them than a run should carry. */

interface MemorySample {
  readonly usedMiB: Readonly<Record<string, number>>;
}

/**
 * At most `most` of them, in order: the first, the last, and of those between the ones that changed the most since the one
 * before. The host sends a sample only when a figure has changed, so what is left out is small movement.
 */
export function tellingSamples<S extends MemorySample>(samples: readonly S[], most: number): readonly S[] {
  if (samples.length <= most) return samples;
  const moved = samples.map((sample, at) => ({at, byMiB: changeMiB(samples[at - 1], sample)}));
  const kept = moved
    .slice(1, -1)
    .toSorted((a, b) => b.byMiB - a.byMiB || a.at - b.at)
    .slice(0, Math.max(0, most - 2))
    .map(({at}) => at);
  const chosen = new Set([0, samples.length - 1, ...kept]);
  return samples.filter((_, at) => chosen.has(at));
}

function changeMiB(before: MemorySample | undefined, now: MemorySample): number {
  return Object.entries(now.usedMiB).reduce(
    (sum, [uuid, usedMiB]) => sum + Math.abs(usedMiB - (before?.usedMiB[uuid] ?? usedMiB)),
    0,
  );
}
