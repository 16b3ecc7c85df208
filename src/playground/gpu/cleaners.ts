/** What people type instead. Each is run only where all that it could hit is the zoo's own. */
import {bills, type Ended, fuserPids, shellOn} from './commands.ts';
import type {Site} from './site.ts';

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

/**
 * PIDs that hold a device node of this name, in whatever mount namespace, are billed, or carry the server's name, and are
 * not this zoo's. The product is asked for that name and the cleaners hit whatever they find, so where there is a stranger
 * nothing is run: other people's work, and other labs' on one machine, must not be what the zoo is measured on.
 */
export async function strangers(site: Site, own: ReadonlySet<number>): Promise<readonly number[]> {
  // The pattern is put together by the shell, so that its own argv does not hold it.
  const named = await shellOn(site, `a=vl; b=lm; c=VL; d=LM; pgrep -f "$a$b|$c$d"`);
  const open = await shellOn(site, `find /proc/[0-9]*/fd -maxdepth 1 -lname '${site.devices}/nvidia*' 2>/dev/null`);
  const found = [
    ...(await fuserPids(site)),
    ...(await bills(site)).map((bill) => bill.pid),
    ...(named.out.match(/\d+/g)?.map(Number) ?? []),
    ...[...open.out.matchAll(/^\/proc\/(\d+)\//gm)].map((match) => Number(match[1])),
  ];
  return [...new Set(found)].filter((pid) => !own.has(pid));
}
