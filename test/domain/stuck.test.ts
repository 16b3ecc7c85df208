/** Stuck in the kernel: only a thread that has its kill -9 and was seen not to take it. */
import {describe, expect, it} from 'vitest';
import type {KernelState} from '../../src/domain/deep.ts';
import {aDiagnosis, aProcess, aSnapshot, billed, holderOf, keptOf, planFor, targetPids} from '../doubles/build.ts';
import {aThread, deeper} from '../doubles/deep.ts';

const process = aProcess({pid: 500, state: 'D', words: ['vllm']});
const look = aSnapshot([billed(process, {0: 4_614})], {used: [4_623]});
const IN_DRIVER = ['os_acquire_rwlock_write', 'nvidia_close', '__fput'];

function seen(...kernel: readonly KernelState[]) {
  return holderOf(aDiagnosis(deeper(look, {kernel})), 500);
}

describe('stuck', () => {
  it.each<[string, Partial<KernelState>, string]>([
    [
      'state D in the driver, as its stack and wchan say',
      {stack: IN_DRIVER, wchan: 'os_acquire_rwlock_write'},
      'thread 501 in state D, kill -9 pending, stands in os_acquire_rwlock_write of the GPU driver',
    ],
    [
      'state D below the driver: the innermost of its functions counts',
      {stack: ['schedule', 'rwsem_down_write_slowpath', 'uvm_release', 'uvm_release_entry'], wchan: 'rwsem_down_write'},
      'thread 501 in state D, kill -9 pending, stands in uvm_release of the GPU driver, waits in rwsem_down_write',
    ],
    [
      'state D elsewhere: a disk, a network file system',
      {stack: ['nvme_wait_ready', 'nfs_wait_client_init_complete']},
      'thread 501 in state D, kill -9 pending, stands in nvme_wait_ready, not in the GPU driver',
    ],
    [
      'state D, and the stack is not for us to read',
      {},
      'thread 501 in state D, kill -9 pending, its kernel stack could not be read',
    ],
    [
      'running inside the driver',
      {state: 'R', stack: ['_nv039321rm', 'rm_kernel_rmapi_op', 'nvidia_ioctl']},
      'thread 501 in state R, kill -9 pending, stands in _nv039321rm of the GPU driver',
    ],
    [
      'dying already, so that no signal is pending any more',
      {killPending: false, stack: ['nvidia_close', '__fput', 'do_exit', 'do_group_exit']},
      'thread 501 in state D, dying already, stands in nvidia_close of the GPU driver',
    ],
  ])('%s', (_, change, fact) => {
    const holder = seen(aThread(500, {tid: 501, ...change}));
    expect(holder.findings.slice(0, 2)).toEqual(['stuck', 'workload']);
    expect(holder.evidence).toContainEqual({source: 'kernel', fact});
  });

  it.each<[string, readonly KernelState[]]>([
    ['no thread is in the kernel', [aThread(500, {state: 'S', stack: IN_DRIVER})]],
    ['it reads a disk and has no kill -9', [aThread(500, {killPending: false, stack: ['folio_wait_bit']})]],
    ['it runs outside of the driver: it is about to die', [aThread(500, {state: 'R', stack: ['exit_mmap']})]],
    ['it runs and its stack could not be read', [aThread(500, {state: 'R'})]],
    ['another process is', [aThread(501)]],
    ['nobody looked', []],
  ])('is not said when %s', (_, kernel) => {
    expect(seen(...kernel).findings).not.toContain('stuck');
  });

  it('is seen without a deeper look, by state D and a pending kill -9', () => {
    const pending = (change: object) =>
      holderOf(aDiagnosis(aSnapshot([billed({...process, ...change}, {0: 4_614})], {used: [4_623]})), 500).findings;
    expect(pending({signalPending: '0000000000000100'})).toContain('stuck');
    expect(pending({signalPending: '0000000000004000'})).not.toContain('stuck');
    expect(pending({signalPending: '0000000000000100', state: 'R'})).not.toContain('stuck');
    expect(pending({signalPending: ''})).not.toContain('stuck');
  });

  it('is locked, whatever was typed: it has its kill -9', () => {
    const deep = deeper(look, {kernel: [aThread(500)]});
    for (const request of [{match: 'vllm'}, {pids: [500]}, {includeOthers: true}]) {
      expect(targetPids(planFor(deep, request))).toEqual([]);
      expect(keptOf(planFor(deep, request), 500)).toMatchObject({why: 'stuck', choosable: false});
    }
  });
});
