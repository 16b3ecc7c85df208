/** Deeper looks: a test says only what was found, everything else was looked for and is not there. */
import type {DeepLook, KernelState, NumberedDevice} from '../../src/domain/deep.ts';
import {deepen} from '../../src/domain/deepen.ts';
import type {Holding, ProcessFacts, Snapshot} from '../../src/domain/snapshot.ts';
import {HOST, MACHINE} from './build.ts';

/** Character majors as on the measured host (/proc/devices). */
const MAJORS = {nvidia: 195, 'nvidia-uvm': 238};
const SECTIONS = ['facts', 'numbers', 'network', 'mapped', 'queue', 'kernel', 'xids', 'modules'];

export function aDeepLook(change: Partial<DeepLook> = {}): DeepLook {
  return {
    host: HOST,
    machine: MACHINE,
    takenAtMs: 1_700_000_000_500,
    uptimeMs: 500_500,
    majors: MAJORS,
    numbered: [],
    queued: [],
    rings: [],
    kernel: [],
    xids: [],
    mps: null,
    leftovers: [],
    listening: [],
    modules: {},
    processes: [],
    sections: SECTIONS.map((name) => ({name, exitCode: 0, complete: true, note: ''})),
    ...change,
  };
}

/** The look with a deeper one joined to it. */
export function deeper(look: Snapshot, change: Partial<DeepLook> = {}): Snapshot {
  return deepen(look, aDeepLook(change));
}

/** `count` descriptors wait in a socket of each of these. */
export function waitingIn(processes: readonly ProcessFacts[], count = 23): Partial<DeepLook> {
  return {processes, queued: processes.map(({pid}) => ({pid, fd: 5, count}))};
}

/** Which section came back only in part. */
export function cutAt(name: string, note = 'timed out'): DeepLook['sections'] {
  return aDeepLook().sections.map((section) => (section.name === name ? {...section, complete: false, note} : section));
}

/** A GPU's node, or with minor 255 nvidiactl, under any name. */
export function aNode(minor: number, how: NumberedDevice['how'] = 'open', path = `/srv/gpu${minor}`): NumberedDevice {
  return {path, driver: 'nvidia', major: MAJORS.nvidia, minor, how, count: how === 'open' && minor < 254 ? 20 : 1};
}

export function uvm(how: NumberedDevice['how'] = 'open', path = '/srv/uvm'): NumberedDevice {
  return {path, driver: 'nvidia-uvm', major: MAJORS['nvidia-uvm'], minor: 0, how, count: 2};
}

/** What a CUDA process has, on one GPU, with no name that a scan by path would know. */
export function namelessContext(minor: number): readonly NumberedDevice[] {
  return [aNode(minor), aNode(255), uvm(), aNode(minor, 'mapped'), aNode(255, 'mapped')];
}

/** Nvidiactl and nothing else, as after an import of exported memory. */
export function controlOnly(pid: number): Holding {
  const opens = [{path: '/dev/nvidiactl', count: 1}];
  return {pid, opens, mappings: [], threadOpens: [], numbered: [], queued: 0};
}

export function aThread(pid: number, change: Partial<KernelState> = {}): KernelState {
  return {pid, tid: pid, state: 'D', killPending: true, wchan: null, stack: null, ...change};
}
