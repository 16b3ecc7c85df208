/**
 * Work that is being written: which open files count, which of them grow, and what could not be read. A file that a kill
 * would cut is worth a longer grace; a log that runs on for ever is not.
 */

/** Where an open file stood in one look; null where that could not be read. */
export interface FileState {
  readonly sizeBytes: number | null;
  /** The writer's own position (`pos` of /proc/PID/fdinfo/FD): it moves also where the size was set beforehand. */
  readonly position: number | null;
}

/** A regular file that a process had open for writing at the second of two looks. */
export interface OpenFile {
  readonly pid: number;
  /** The process that was asked about: this one, or the nearest above it. */
  readonly asked: number;
  /** Host text; a newline in it reads `?`. */
  readonly path: string;
  readonly mode: 'write' | 'read-write';
  /** null: not open yet at the first look. */
  readonly first: FileState | null;
  readonly second: FileState;
}

/** What could not be read of a process that was asked about. `path` null: none of its open files. */
export interface Unread {
  readonly pid: number;
  readonly path: string | null;
  readonly why: 'refused' | 'no-answer';
}

export interface WritesLook {
  /** Between the two looks, ms of the host's uptime. */
  readonly overMs: number;
  readonly files: readonly OpenFile[];
  readonly unread: readonly Unread[];
}

/** A file that counts and grows. */
export interface GrowingFile {
  /** The process that was asked about. */
  readonly pid: number;
  /** Who has it open: that process, or one below it. */
  readonly writerPid: number;
  readonly path: string;
  readonly what: WorkKind;
  /** null: it was opened, or seen to grow, otherwise than between two sizes of one look. */
  readonly MiBPerSecond: number | null;
}

export interface Writing {
  readonly files: readonly GrowingFile[];
  readonly unread: readonly Unread[];
}

export const NOTHING_WRITTEN: Writing = {files: [], unread: []};

export type WorkKind = 'trace' | 'checkpoint' | 'model';

/** Endings of names that count, without the dot. Logs, event streams and databases of a tracker end otherwise. */
export const WORK_ENDINGS: Readonly<Record<WorkKind, readonly string[]>> = {
  // torch.profiler and others; Nsight Systems and Compute with what they write on the way; perfetto.
  trace: [
    'json',
    'pb',
    'nsys-rep',
    'qdrep',
    'qdstrm',
    'sqlite',
    'ncu-rep',
    'nsight-cuprof-report',
    'ncu-repz',
    'perfetto-trace',
    'pftrace',
    'nvvp',
    'nvprof',
    'pickle',
    'prof',
  ],
  checkpoint: ['pt', 'pth', 'ckpt', 'distcp', 'pkl', 'npz', 'npy', 'h5', 'hdf5', 'tar', 'nemo', 'msgpack', 'orbax'],
  model: ['safetensors', 'bin', 'onnx', 'gguf', 'ggml', 'engine', 'plan', 'keras', 'pdparams', 'pdopt', 'tflite'],
};

/** A file below such a folder is a checkpoint, whatever its name (orbax writes chunks without an ending). */
const WORK_FOLDER = /\.orbax-checkpoint-tmp(-\d+)?\//;
/** How writers call a file until it is whole: `x.pt.tmp`, `x.json.gz.tmp.1234`, `x.safetensors.incomplete`, `x.pt.part3`. */
const UNFINISHED = /[._-](tmp|temp|tempstate|part|partial|incomplete|inprogress|writing|new)[._-]?[a-z0-9]{0,12}$/;
const COMPRESSED = /\.(gz|zst|xz|bz2|lz4|zip)$/;

/** What a file of this name is, for us; null for one that nobody waits for. A deleted one is lost already. */
export function workKindOf(path: string): WorkKind | null {
  if (path.endsWith(' (deleted)')) return null;
  if (WORK_FOLDER.test(path)) return 'checkpoint';
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  const bare = name.replace(UNFINISHED, '');
  // As it is first: "model_new.pt" is whole.
  const names = [name, name.replace(COMPRESSED, ''), bare, bare.replace(COMPRESSED, '')];
  names.push(name.replace(COMPRESSED, '').replace(UNFINISHED, ''));
  const kinds: readonly WorkKind[] = ['trace', 'checkpoint', 'model'];
  return (
    kinds.find((kind) => WORK_ENDINGS[kind].some((ending) => names.some((one) => one.endsWith(`.${ending}`)))) ?? null
  );
}

/**
 * The files of a look that count and grow, one entry per asked process and path. `before`: an earlier look; what has
 * grown since then grows, too, since a writer may pause for longer than one look takes.
 */
export function growing(look: WritesLook, before: WritesLook | null = null): Writing {
  const files = new Map<string, GrowingFile>();
  const unread: Unread[] = [...look.unread];
  for (const file of look.files) {
    const what = workKindOf(file.path);
    if (what === null) continue;
    const grown = grownBytes(file);
    const key = `${file.asked} ${file.path}`;
    if (grown === 'unknown') unread.push({pid: file.asked, path: file.path, why: 'no-answer'});
    else if (grown === 'opened' || grown > 0 || hasGrownSince(file, before)) {
      const MiBPerSecond =
        grown === 'opened' || grown === 0 || look.overMs <= 0 ? null : grown / 2 ** 20 / (look.overMs / 1000);
      const known = files.get(key);
      if (known === undefined || (known.MiBPerSecond ?? 0) < (MiBPerSecond ?? 0))
        files.set(key, {pid: file.asked, writerPid: file.pid, path: file.path, what, MiBPerSecond});
    }
  }
  return {files: [...files.values()], unread: once(unread.filter((one) => !files.has(`${one.pid} ${one.path}`)))};
}

/** Nothing is known of these processes: the look failed as a whole. */
export function nothingRead(pids: readonly number[]): Writing {
  return {files: [], unread: pids.map((pid) => ({pid, path: null, why: 'no-answer'}))};
}

/**
 * Bytes between the two looks. The position counts where the size stands still or is not known, but only of a file that
 * is not read as well: reading moves it too.
 */
function grownBytes({mode, first, second}: OpenFile): number | 'opened' | 'unknown' {
  if (first === null) return second.sizeBytes === 0 && second.position === 0 ? 0 : 'opened';
  const bySize = difference(first.sizeBytes, second.sizeBytes);
  if (bySize !== null && bySize > 0) return bySize;
  const byPosition = mode === 'write' ? difference(first.position, second.position) : null;
  if (byPosition !== null && byPosition > 0) return byPosition;
  return bySize === null ? 'unknown' : 0;
}

function difference(before: number | null, after: number | null): number | null {
  return before === null || after === null ? null : after - before;
}

function hasGrownSince(file: OpenFile, before: WritesLook | null): boolean {
  const known = before?.files.find((one) => one.pid === file.pid && one.path === file.path)?.second;
  return (difference(known?.sizeBytes ?? null, file.second.sizeBytes) ?? 0) > 0;
}

function once(unread: readonly Unread[]): readonly Unread[] {
  const seen = new Map(unread.map((one) => [`${one.pid} ${one.path}`, one]));
  return [...seen.values()];
}
