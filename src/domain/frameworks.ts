/** The one table of serving and training frameworks: what their workers and their servers are called. Data only. */

/**
 * A program, script or module with the words behind it that tell it apart: `['vllm', 'serve']`, `['sglang.launch_server']`.
 * The first also stands for the modules below it.
 */
export type Call = readonly [string, ...string[]];

export interface Framework {
  readonly framework: string;
  /** Starts of comm or of the title in the first command-line word, as the worker sets it (setproctitle). */
  readonly workerTitles: readonly string[];
  /** Workers that keep the command line they were started with. */
  readonly workers: readonly Call[];
  /** What starts the workers, and would start them again. */
  readonly servers: readonly Call[];
}

export const FRAMEWORKS: readonly Framework[] = [
  {
    framework: 'vLLM',
    workerTitles: ['VLLM::'],
    workers: [],
    servers: [['vllm', 'serve'], ['vllm.entrypoints'], ['vllm_router'], ['vllm-router']],
  },
  {
    framework: 'SGLang',
    workerTitles: ['sglang::', 'sgl_diffusion::'],
    workers: [],
    servers: [['sglang', 'serve'], ['sglang.launch_server'], ['sglang_router'], ['sglang.launch_router']],
  },
  {
    framework: 'TensorRT-LLM',
    // Its Python workers are `python -m mpi4py.futures.server`, as those of any MPI pool: known by their server only.
    workerTitles: [],
    workers: [['executorWorker']],
    servers: [['trtllm-serve'], ['trtllm-llmapi-launch'], ['tensorrt_llm.commands.serve']],
  },
  {
    framework: 'Ray',
    workerTitles: ['ray::'],
    workers: [],
    servers: [['raylet'], ['gcs_server'], ['ray', 'start']],
  },
  {
    framework: 'torchrun',
    // A rank carries no mark of its own, and is as often started by a shell.
    workerTitles: [],
    workers: [],
    servers: [['torchrun'], ['torch.distributed.run'], ['torch.distributed.launch'], ['torch.distributed.elastic']],
  },
  {
    framework: 'Triton',
    workerTitles: [],
    workers: [['triton_python_backend_stub']],
    servers: [['tritonserver']],
  },
  {
    framework: 'ollama',
    workerTitles: [],
    workers: [['ollama', 'runner'], ['ollama_llama_server']],
    servers: [['ollama', 'serve']],
  },
  {
    framework: 'ATOM',
    workerTitles: ['ATOM::'],
    workers: [],
    servers: [['atom.entrypoints']],
  },
];
