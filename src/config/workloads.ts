/**
 * The workloads that are known by name as shipped. A literal is looked for in the command line and the comm of a process,
 * whatever its case; it only names what holds a GPU anyway, and on its own neither ticks nor signals anybody.
 */
import type {Workload} from '../domain/policy.ts';

export const BUILT_IN_WORKLOADS: readonly Workload[] = [
  {name: 'vllm', literals: ['vllm']},
  {name: 'sglang', literals: ['sglang', 'sgl_diffusion']},
  {name: 'tensorrt-llm', literals: ['tensorrt_llm', 'tensorrt-llm', 'trtllm']},
  {name: 'text-generation-inference', literals: ['text-generation-server', 'text_generation_server']},
  {name: 'lmdeploy', literals: ['lmdeploy']},
  {name: 'atom', literals: ['atom::']},
  {name: 'llama.cpp', literals: ['llama-server', 'llama_cpp']},
  {name: 'ollama', literals: ['ollama']},
  {name: 'triton', literals: ['tritonserver', 'triton_python_backend_stub']},
  // "ray" alone stands in "array".
  {name: 'ray', literals: ['ray::', 'raylet']},
  {name: 'torchrun', literals: ['torchrun', 'torch.distributed', 'torch/distributed']},
  {name: 'deepspeed', literals: ['deepspeed']},
  {name: 'accelerate', literals: ['accelerate.commands', 'accelerate-launch']},
  {name: 'megatron', literals: ['megatron']},
  {name: 'jupyter', literals: ['ipykernel', 'jupyter']},
  {name: 'comfyui', literals: ['comfyui']},
];
