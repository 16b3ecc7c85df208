/** What the results say of the machine they were measured on. */
import {runOn, usedMiB} from './commands.ts';
import type {Machine} from './results.ts';
import type {Site} from './site.ts';

export async function machineFacts(site: Site): Promise<Machine> {
  const asked = await runOn(site, ['nvidia-smi', '--query-gpu=name,driver_version', '--format=csv,noheader']);
  const rows = asked.out.split('\n').filter((line) => line.trim() !== '');
  const [gpu = 'unknown', driver = 'unknown'] = rows[0]?.split(',').map((word) => word.trim()) ?? [];
  if (rows.length === 0) throw new Error(`nvidia-smi names no GPU: ${asked.out}${asked.err}`);
  const kernel = (await runOn(site, ['uname', '-r'])).out.split('.').slice(0, 2).join('.');
  const date = (await runOn(site, ['date', '+%Y-%m-%d'])).out.trim();
  const times: number[] = [];
  const gpus = rows.map((_, index) => index);
  let idleMiB: readonly number[] = [];
  for (let nth = 0; nth < 5; nth += 1) {
    const startedAt = performance.now();
    idleMiB = await usedMiB(site, gpus);
    times.push(performance.now() - startedAt);
  }
  const smiMs = Math.round(times.toSorted((a, b) => a - b)[2] ?? 0);
  return {date, gpu, gpus: rows.length, driver, kernel, standIn: site.standIn, idleMiB, smiMs};
}
