/** The words after `npm run e2e:gpu --`. */
export const STAGES = ['alive', 'timing', 'dead', 'several', 'cleaners'] as const;
export type Stage = (typeof STAGES)[number];

export interface Options {
  readonly lab: boolean;
  /** Folder for what was measured. */
  readonly out: string;
  readonly stages: readonly Stage[];
  /** Names of species; null for all. */
  readonly only: readonly string[] | null;
  /** No new row is begun after so many seconds. */
  readonly budgetS: number;
  /** GPUs of the stage `several`, which needs two at least; `all` = every one that the machine has. The others use GPU 0. */
  readonly gpus: readonly number[] | 'all';
}

export const USAGE =
  'e2e:gpu [--lab] [--out FOLDER] [--stages alive,timing,dead,several,cleaners] [--only "plain,in flight"] [--budget SECONDS] [--gpus 0|0,1|all]';

export function readOptions(argv: readonly string[]): Options {
  let options: Options = {lab: false, out: 'dist/gpu-results', stages: STAGES, only: null, budgetS: 540, gpus: [0]};
  const words = [...argv];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '--lab') {
      options = {...options, lab: true};
      continue;
    }
    const value = words.shift();
    if (value === undefined) throw new Error(`${word} needs a value; ${USAGE}`);
    const list = value.split(',').map((one) => one.trim());
    if (word === '--out') options = {...options, out: value};
    else if (word === '--only') options = {...options, only: list};
    else if (word === '--budget') options = {...options, budgetS: Number(value)};
    else if (word === '--gpus') options = {...options, gpus: value === 'all' ? 'all' : list.map(Number)};
    else if (word === '--stages') {
      const unknown = list.find((one) => !STAGES.some((stage) => stage === one));
      if (unknown !== undefined) throw new Error(`no stage ${unknown}; ${USAGE}`);
      options = {...options, stages: STAGES.filter((stage) => list.includes(stage))};
    } else throw new Error(`${word} is not known; ${USAGE}`);
  }
  return options;
}
