/** The line to the lab's first process: JSON objects over its standard input and output. When our end closes, the lab ends. */
import {type ChildProcess, spawn} from 'node:child_process';
import {createInterface} from 'node:readline';
import type {LockKeys} from './ledger.ts';
import {childrenOf} from './proc-tree.ts';

export interface Hello {
  readonly features: readonly string[];
  readonly keys: LockKeys;
}

export interface ControlLink {
  readonly hello: Hello;
  /** The process that waits for the lab and removes its folder; the lab's first process is its descendant. */
  readonly keeperPid: number;
  ask(op: string, fields?: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** Ends every process of the lab; resolves when its folder is gone. */
  end(): Promise<void>;
}

/**
 * Waits outside the lab's namespaces, so that folder and control groups go whatever ends the lab: `stop`, the end of
 * this program, or its kill -9. The lab's mounts are not visible here. A flat lab has no namespace that would end its
 * holders with its first process: whoever is left is known by its environment (that of a thread, for a zombie leader).
 */
const KEEPER = `lab=$1; shift
"$@"
code=$?
if [ -s "$lab/run/frozen" ]; then
  while read -r folder; do echo THAWED > "$folder/freezer.state"; done < "$lab/run/frozen"
fi 2>/dev/null
if [ -e "$lab/dev/nvidiactl" ]; then
  for place in $(grep -alF "PYTHONPATH=$lab/inside" /proc/[0-9]*/task/*/environ); do
    pid=\${place#/proc/}; kill -KILL "\${pid%%/*}"
  done
fi 2>/dev/null
if [ -s "$lab/run/cgroups" ]; then
  # The inner ones first; a group goes only after its last process, which may be ending still.
  sort -ru "$lab/run/cgroups" | while read -r folder; do
    tries=0
    until rmdir "$folder" || [ ! -d "$folder" ] || [ "$tries" -eq 50 ]; do sleep 0.02; tries=$((tries + 1)); done
  done
fi 2>/dev/null
rm -rf --one-file-system -- "$lab"
exit $code`;

/** Starts `argv` and waits for its first word. Rejects with the reason if the machine refuses. */
export async function startControl(
  folder: string,
  argv: readonly string[],
  runAs: {readonly uid: number; readonly gid: number} | null,
): Promise<ControlLink> {
  // Detached: Ctrl-C in the terminal must not end the lab under the bot's feet.
  const keeper = spawn('/bin/sh', ['-c', KEEPER, 'sh', folder, ...argv], {
    ...(runAs ?? {}),
    cwd: '/',
    detached: true,
    env: {PATH: '/usr/sbin:/usr/bin:/sbin:/bin'},
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => keeper.once('close', () => resolve()));
  const asked = new Map<number, {resolve: (value: unknown) => void; reject: (error: Error) => void}>();
  let said = '';
  keeper.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-4000);
  });
  keeper.stdin.on('error', () => {});

  const hello = await new Promise<Hello>((resolve, reject) => {
    createInterface({input: keeper.stdout}).on('line', (line) => {
      const message = JSON.parse(line) as Record<string, unknown>;
      if (message['event'] === 'hello') resolve(message as unknown as Hello);
      if (message['event'] === 'refused') said += String(message['why']);
      const waiting = asked.get(Number(message['id']));
      if (!waiting) return;
      asked.delete(Number(message['id']));
      if ('error' in message) waiting.reject(new Error(`lab: ${String(message['error'])}`));
      else waiting.resolve(message['value']);
    });
    keeper.once('error', reject);
    keeper.once('close', (code) => {
      const reason = said.trim().split('\n').at(-1) || `ended with code ${code}`;
      reject(new Error(reason));
      for (const waiting of asked.values()) waiting.reject(new Error(`lab ended: ${reason}`));
    });
  });

  let nextId = 1;
  return {
    hello,
    keeperPid: keeper.pid ?? 0,
    ask(op, fields = {}) {
      const id = nextId++;
      return new Promise((resolve, reject) => {
        if (keeper.exitCode !== null) {
          reject(new Error('the lab has ended'));
          return;
        }
        asked.set(id, {resolve, reject});
        keeper.stdin.write(`${JSON.stringify({...fields, id, op})}\n`);
      });
    },
    end: () => endLab(keeper, ended),
  };
}

async function endLab(keeper: ChildProcess, ended: Promise<void>): Promise<void> {
  keeper.stdin?.end();
  const overdue = setTimeout(() => {
    for (const pid of childrenOf(keeper.pid ?? -1)) process.kill(pid, 'SIGKILL');
  }, 8000);
  await ended;
  clearTimeout(overdue);
}
