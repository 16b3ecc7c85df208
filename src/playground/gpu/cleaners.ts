/** What people type instead. Each is run only where all that it could hit is the zoo's own. */
import {bills, type Ended, fuserPids, shellOn} from './commands.ts';
import type {Site} from './site.ts';
import type {Zoo} from './zoo.ts';

export interface Cleaner {
  readonly name: string;
  text(devices: string): string;
}

const NAME = 'vllm.entrypoints';

export const CLEANERS: readonly Cleaner[] = [
  {name: 'fuser -k', text: (devices) => `exec fuser -k ${devices}/nvidia*`},
  {
    name: 'kill -9 of compute-apps',
    text: () => 'nvidia-smi --query-compute-apps=pid --format=csv,noheader | xargs -r kill -9',
  },
  {name: 'pkill -9 -f', text: () => `exec pkill -9 -f ${NAME}`},
  {
    // SIGTERM by pattern, kill -9 by name, kill -9 of device holders, sleeps between, every error thrown away.
    name: 'the typed procedure',
    text: (devices) =>
      [
        `kill -15 $(pgrep -f "${NAME}") 2>/dev/null; sleep 3`,
        `pkill -9 -f "vllm|VLLM" 2>/dev/null; sleep 5`,
        `kill -9 $(fuser ${devices}/nvidia* 2>/dev/null) 2>/dev/null; sleep 2`,
        'nvidia-smi --query-gpu=index,memory.used --format=csv,noheader | head -2',
      ].join('\n'),
  },
];

/** The cleaner's shell, as a remote shell has it: the text stands in its argv. */
export function clean(site: Site, cleaner: Cleaner): Promise<Ended> {
  return shellOn(site, cleaner.text(site.devices), 30_000);
}

/** PIDs that one of the cleaners would hit and that are not this zoo's: then it must not run here. */
export async function strangers(site: Site, zoo: Zoo): Promise<readonly number[]> {
  const own = new Set(zoo.pids.values());
  // The pattern is put together by the shell, so that its own argv does not hold it.
  const named = await shellOn(site, `a=vl; b=lm; c=VL; d=LM; pgrep -f "$a$b|$c$d"`);
  const found = [
    ...(await fuserPids(site)),
    ...(await bills(site)).map((bill) => bill.pid),
    ...(named.out.match(/\d+/g)?.map(Number) ?? []),
  ];
  return [...new Set(found)].filter((pid) => !own.has(pid));
}
