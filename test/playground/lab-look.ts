/** What the kernel and the stand-in say of a lab's processes, read over SSH as a person would. */
import type {Lab} from '../../src/playground/lab/lab.ts';
import {connectToLab, type LabConnection} from '../../src/playground/lab/run-in-lab.ts';

export interface ProcessLook {
  readonly state: string;
  readonly parent: number;
  readonly comm: string;
  /** Open files of the process itself. */
  readonly gpu: number;
  readonly control: number;
  readonly uvm: number;
  /** Open files of all its threads, whatever the device. */
  readonly threads: number;
  readonly mapped: readonly ('gpu' | 'control' | 'uvm')[];
}

export interface AppRow {
  readonly gpu: number;
  readonly pid: number;
  readonly name: string;
  readonly MiB: number;
}

export interface LabEyes {
  readonly ssh: LabConnection;
  process(pid: number): Promise<ProcessLook>;
  /** Rows of `--query-compute-apps`. */
  apps(): Promise<readonly AppRow[]>;
  /** memory.used of one GPU. */
  usedMiB(gpu: number): Promise<number>;
  /** Standard output of one command. */
  read(command: string): Promise<string>;
}

export async function openEyes(lab: Lab): Promise<LabEyes> {
  const ssh = await connectToLab(lab);
  const dev = lab.hostsEntry().deviceFolder ?? '/dev';
  const smi = `${lab.hostsEntry().extraPath[0]}/nvidia-smi`;
  const read = async (command: string): Promise<string> => (await ssh.run(command)).stdout;
  const kindOf = (path: string): 'gpu' | 'control' | 'uvm' =>
    path.endsWith('nvidiactl') ? 'control' : path.endsWith('nvidia-uvm') ? 'uvm' : 'gpu';
  return {
    ssh,
    read,
    process: async (pid) => {
      const text = await read(`p=/proc/${pid}
        sed 's/.*) //' $p/stat | cut -d' ' -f1,2; cat $p/comm
        find $p/fd -maxdepth 1 -lname '${dev}/nvidia*' -printf 'open %l\\n' 2>/dev/null
        find $p/task/*/fd -maxdepth 1 -lname '${dev}/nvidia*' -printf 'thread %l\\n' 2>/dev/null
        grep -o '${dev}/nvidia.*' $p/maps | sed 's/^/map /'`);
      const [stat = '', comm = '', ...links] = text.trimEnd().split('\n');
      const [state = '', parent = '0'] = stat.split(' ');
      const paths = (word: string) =>
        links.filter((line) => line.startsWith(`${word} `)).map((line) => kindOf(line.slice(word.length + 1)));
      const opens = paths('open');
      const maps = paths('map');
      return {
        state,
        parent: Number(parent),
        comm,
        gpu: opens.filter((kind) => kind === 'gpu').length,
        control: opens.filter((kind) => kind === 'control').length,
        uvm: opens.filter((kind) => kind === 'uvm').length,
        threads: paths('thread').length,
        mapped: (['gpu', 'control', 'uvm'] as const).filter((kind) => maps.includes(kind)),
      };
    },
    apps: async () => {
      const query = 'gpu_uuid,pid,process_name,used_memory';
      const text = await read(`${smi} --query-compute-apps=${query} --format=csv,noheader,nounits`);
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => {
          const [uuid, pid, name = '', MiB] = line.split(', ');
          return {gpu: lab.gpus.findIndex((gpu) => gpu.uuid === uuid), pid: Number(pid), name, MiB: Number(MiB)};
        });
    },
    usedMiB: async (gpu) =>
      Number(
        await read(`${smi} --query-gpu=index,memory.used --format=csv,noheader,nounits | sed -n 's/^${gpu}, //p'`),
      ),
  };
}
