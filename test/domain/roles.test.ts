/** Which framework a process works for, and as what; and what a worker without its server looks like. */
import {describe, expect, it} from 'vitest';
import {processTable} from '../../src/domain/lineage.ts';
import {frameworkOf, lostItsServer, roleOf, titleOf} from '../../src/domain/roles.ts';
import {aDiagnosis, anExecutable, aProcess, aProgram, aSnapshot, holderOf, holds} from '../doubles/build.ts';

const PYTHON = '/usr/bin/python3';
const OLLAMA = '/usr/local/bin/ollama';
const STUB = '/opt/tritonserver/backends/python/triton_python_backend_stub';

describe('the framework of', () => {
  it.each<[readonly string[], string, 'worker' | 'server' | 'none']>([
    [['VLLM::Worker_TP0'], 'vLLM', 'worker'],
    [['VLLM::EngineCore_DP0'], 'vLLM', 'worker'],
    [['VLLM::APIServer_0'], 'vLLM', 'server'],
    [['vllm::router'], 'vLLM', 'server'],
    [[PYTHON, '/opt/venv/bin/vllm', 'serve', 'a/model'], 'vLLM', 'server'],
    [[PYTHON, '-m', 'vllm.entrypoints.openai.api_server', '--port', '8000'], 'vLLM', 'server'],
    [[PYTHON, '/opt/venv/bin/vllm', 'bench', 'serve'], '', 'none'],
    [['sglang::scheduler_DP0_TP0_EP0'], 'SGLang', 'worker'],
    [['sgl_diffusion::scheduler_U0'], 'SGLang', 'worker'],
    [['sglang::http_server'], 'SGLang', 'server'],
    [[PYTHON, '-X', 'faulthandler', '-m', 'sglang.launch_server'], 'SGLang', 'server'],
    [[PYTHON, '-m', 'sglang.bench_serving'], '', 'none'],
    [['/usr/lib/tensorrt_llm/bin/executorWorker'], 'TensorRT-LLM', 'worker'],
    [[PYTHON, '/usr/local/bin/trtllm-serve', 'serve', '/models/a'], 'TensorRT-LLM', 'server'],
    [['ray::IDLE'], 'Ray', 'worker'],
    [['ray::RayWorkerWrapper.execute_method'], 'Ray', 'worker'],
    [['/opt/ray/raylet/raylet', '--raylet_socket_name=/tmp/ray/session_1'], 'Ray', 'server'],
    [[PYTHON, '/opt/venv/bin/ray', 'start', '--head'], 'Ray', 'server'],
    [[PYTHON, '/opt/venv/bin/torchrun', '--nproc-per-node=8', 'train.py'], 'torchrun', 'server'],
    [[PYTHON, '-u', '-m', 'torch.distributed.run', 'train.py'], 'torchrun', 'server'],
    [[PYTHON, '-u', 'train.py'], '', 'none'],
    [['/opt/tritonserver/bin/tritonserver', '--model-repository=/models'], 'Triton', 'server'],
    [[STUB, '/models/a/1/model.py', 'shm_1'], 'Triton', 'worker'],
    [[OLLAMA, 'serve'], 'ollama', 'server'],
    [[OLLAMA, 'runner', '--model', '/x', '--port', '4711'], 'ollama', 'worker'],
    [[OLLAMA, 'run', 'llama3'], '', 'none'],
    [['ATOM::TP3'], 'ATOM', 'worker'],
    [[PYTHON, '-m', 'atom.entrypoints.openai_server'], 'ATOM', 'server'],
    [['tail', '-f', 'vllm.log'], '', 'none'],
    [['bash', '-c', 'vllm serve a/model'], '', 'none'],
    [[PYTHON, '-c', 'from vllm.entrypoints import main'], '', 'none'],
  ])('%j is %s, as %s', (words, framework, role) => {
    const process = aProcess({pid: 5, words});
    const asWhat = frameworkOf(process) === null ? 'none' : roleOf(process) === null ? 'server' : 'worker';
    expect([frameworkOf(process) ?? '', asWhat]).toEqual([framework, role]);
  });

  it('a process whose command line is empty is told by its comm, else by its program file', () => {
    expect(frameworkOf(aProcess({pid: 5, words: [], comm: 'VLLM::EngineCor'}))).toBe('vLLM');
    const stub = aProgram(STUB, {pid: 5, words: [], executable: anExecutable(STUB)});
    expect(frameworkOf(stub)).toBe('Triton');
    expect(frameworkOf(aProcess({pid: 5, words: []}))).toBeNull();
  });
});

describe('a title', () => {
  it.each([
    [[PYTHON, '-W', 'ignore', '/srv/train.py', '--key', 's3cr3t'], 'train.py'],
    [[PYTHON, '-X', 'dev', '-m', 'sglang.launch_server'], 'sglang.launch_server'],
    [[PYTHON, '-m'], 'python3'],
    [[OLLAMA, 'runner', '--model', '/secret'], 'ollama'],
  ])('of %j is %s', (words, title) => {
    expect(titleOf(aProcess({pid: 5, words}))).toBe(title);
  });
});

describe('a worker has lost its server', () => {
  const runner = (ppid: number) => aProgram(OLLAMA, {pid: 500, ppid, words: [OLLAMA, 'runner', '--model', '/x']});
  const worker = (ppid: number) => aProcess({pid: 500, ppid, words: ['VLLM::Worker_TP0']});
  const serving = aProcess({pid: 400, words: [PYTHON, '/opt/bin/vllm', 'serve', 'a/model']});
  const shell = aProgram('/usr/bin/bash', {pid: 450, ppid: 400, words: ['bash', '-c', 'exec worker']});

  const SHIM = aProgram('/usr/bin/containerd-shim-runc-v2', {pid: 400});

  it.each([
    ['under a shell', [worker(100)], true],
    ['under PID 1', [worker(1)], true],
    ['under PID 1, by its command line alone', [runner(1)], true],
    ['under its server', [worker(400), serving], false],
    ['under a shell that its server started', [worker(450), serving, shell], false],
    ['under an engine whose server is gone', [worker(460), aProcess({pid: 460, words: ['VLLM::EngineCore']})], true],
    [
      'under its server, told by the command line',
      [runner(400), aProgram(OLLAMA, {pid: 400, words: [OLLAMA, 'serve']})],
      false,
    ],
    [
      "under another framework's server through a shell: that one's work, for all we know",
      [runner(450), serving, shell],
      false,
    ],
    [
      'under a shell in which an offline script has set up its environment',
      [worker(450), shell, aProcess({pid: 400, words: [PYTHON, 'rlhf.py']})],
      false,
    ],
    ['under the first process of its container, a shell', [worker(450), {...shell, ppid: 400}, SHIM], true],
    ['under PID 1, which serves it', [worker(1), {...serving, pid: 1, ppid: 0}], false],
    ['under an offline script', [worker(400), aProcess({pid: 400, words: [PYTHON, 'batch.py']})], false],
  ])('%s: %s', (_, seen, expected) => {
    const table = processTable(aSnapshot(seen));
    const process = table.get(500);
    expect(process !== undefined && lostItsServer(process, table)).toBe(expected);
  });

  it.each([
    ['a script of its own', aProcess({pid: 1, ppid: 0, words: [PYTHON, 'rlhf.py']}), false],
    ['an init that adopts', aProgram('/usr/bin/tini', {pid: 1, ppid: 0, words: ['tini', '--', 'run']}), true],
    ['a shell that adopts', aProgram('/usr/bin/bash', {pid: 1, ppid: 0, words: ['bash', 'start.sh']}), true],
    ['nobody in sight', null, false],
  ])('in a container that we stand in, where PID 1 is %s', (_, first, expected) => {
    const seen = [...(first === null ? [] : [first]), worker(1)];
    const look = aSnapshot([holds(worker(1), [0])], {
      processes: seen,
      sight: {...aSnapshot([]).sight, foreignPidNamespace: true},
    });
    expect(holderOf(aDiagnosis(look), 500).orphaned).toBe(expected);
  });
});
