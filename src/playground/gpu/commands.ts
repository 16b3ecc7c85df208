/** Commands of the zoo's own on the machine, and what nvidia-smi and fuser say there. */
import type {Site} from './site.ts';

export interface Ended {
  readonly out: string;
  readonly err: string;
  /** Exit status, or the name of the signal that ended it. */
  readonly end: string;
  readonly seconds: number;
}

export function runOn(site: Site, argv: readonly string[], limitMs = 60_000): Promise<Ended> {
  const startedAt = performance.now();
  const child = site.start(argv);
  const said = {out: '', err: ''};
  child.stdout?.on('data', (chunk: Buffer) => {
    said.out += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    said.err += chunk.toString();
  });
  child.stdin?.on('error', () => {});
  child.stdin?.end();
  const timer = setTimeout(() => child.kill('SIGKILL'), limitMs);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      resolve({...said, end: signal ?? String(code), seconds: (performance.now() - startedAt) / 1000});
    });
  });
}

export function shellOn(site: Site, text: string, limitMs?: number): Promise<Ended> {
  return runOn(site, ['sh', '-c', text], limitMs);
}

/** Used MiB of the given GPUs. */
export async function usedMiB(site: Site, gpus: readonly number[]): Promise<readonly number[]> {
  const answer = await runOn(site, ['nvidia-smi', '--query-gpu=index,memory.used', '--format=csv,noheader,nounits']);
  const lines = answer.out.split('\n').filter((line) => /^\d+, *\d+$/.test(line.trim()));
  const rows = new Map(lines.map((line) => line.split(',').map(Number) as [number, number]));
  return gpus.map((gpu) => {
    const used = rows.get(gpu);
    if (used === undefined || Number.isNaN(used))
      throw new Error(`nvidia-smi gave no figure for GPU ${gpu}: ${answer.out}${answer.err}`);
    return used;
  });
}

export function sum(figures: readonly number[]): number {
  return figures.reduce((total, figure) => total + figure, 0);
}

export interface Bill {
  readonly pid: number;
  readonly MiB: number;
}

export async function bills(site: Site): Promise<readonly Bill[]> {
  const answer = await runOn(site, [
    'nvidia-smi',
    '--query-compute-apps=pid,used_memory',
    '--format=csv,noheader,nounits',
  ]);
  return answer.out
    .split('\n')
    .filter((line) => /^\d+, *\d+$/.test(line.trim()))
    .map((line) => line.split(',').map(Number) as [number, number])
    .map(([pid, MiB]) => ({pid, MiB}));
}

/** PIDs that fuser finds on the device nodes (PIDs on standard output, everything else on standard error). */
export async function fuserPids(site: Site): Promise<readonly number[]> {
  const answer = await shellOn(site, `exec fuser ${site.devices}/nvidia*`);
  return [...new Set(answer.out.match(/\d+/g)?.map(Number) ?? [])];
}

const GPU_FIELDS = 'index,memory.total,memory.reserved,memory.used,memory.free,utilization.gpu';
const APP_FIELDS = 'pid,process_name,used_memory';

/** What a person would see now, as printed: the figures, the bill, the holders. Standard error after standard output. */
export async function rawLooks(site: Site): Promise<Readonly<Record<string, string>>> {
  const commands = [
    `nvidia-smi --query-gpu=${GPU_FIELDS} --format=csv`,
    `nvidia-smi --query-compute-apps=${APP_FIELDS} --format=csv`,
    `fuser -v ${site.devices}/nvidia*`,
  ];
  const looks: Record<string, string> = {};
  for (const command of commands) {
    const {out, err} = await shellOn(site, `exec ${command}`);
    looks[command] = out + err;
  }
  return looks;
}
