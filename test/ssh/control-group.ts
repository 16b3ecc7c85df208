/** Control groups of a test's own, in whatever hierarchy this machine lets one be made. */
import {existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {until} from './signal-rig.ts';

const ROOTS = ['/sys/fs/cgroup', ...['unified', 'systemd', 'pids'].map((name) => `/sys/fs/cgroup/${name}`)];

export interface ControlGroup {
  /** As /proc/PID/cgroup names it. */
  readonly folder: string;
  /** Where it stands in the file system. */
  readonly path: string;
  add(pid: number): void;
  pids(): readonly number[];
  /** Waits until nobody is left in it, and removes it. */
  remove(): Promise<void>;
}

/** The root under which a group can be made, or null: a test that needs one then skips. */
export function groupRoot(): string | null {
  return (
    ROOTS.find((root) => {
      const attempt = join(root, `reclaim-try-${process.pid}`);
      try {
        if (!existsSync(join(root, 'cgroup.procs'))) return false;
        mkdirSync(attempt);
        rmdirSync(attempt);
        return true;
      } catch {
        return false;
      }
    }) ?? null
  );
}

let made = 0;

/** A group `/reclaim-….slice/NAME`. */
export function controlGroup(root: string, name: string): ControlGroup {
  made += 1;
  const slice = `/reclaim-${process.pid}-${made}.slice`;
  const folder = `${slice}/${name}`;
  const path = join(root, folder);
  mkdirSync(path, {recursive: true});
  const pids = (): readonly number[] =>
    readFileSync(join(path, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number);
  return {
    folder,
    path,
    pids,
    add: (pid) => writeFileSync(join(path, 'cgroup.procs'), String(pid)),
    async remove() {
      await until(() => pids().length === 0);
      rmdirSync(path);
      rmdirSync(join(root, slice));
    },
  };
}
