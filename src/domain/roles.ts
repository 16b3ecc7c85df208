/**
 * Known roles: which framework a process works for, as server or as worker. A worker is never started by a shell or by
 * init directly, so one that has such a parent has lost its server.
 */
import {type Call, FRAMEWORKS, type Framework} from './frameworks.ts';
import {ancestors, isEnvironment, type ProcessTable, programName} from './lineage.ts';
import type {ProcessFacts} from './snapshot.ts';

const INTERPRETER = /^(python|perl|ruby|node|java|Rscript)[0-9.]*$/;
/** Options of Python that have their value in a word of their own. */
const WITH_VALUE = new Set(['-X', '-W']);
/** Titles that a server gives itself in the style of its workers: what stands below one has its server. */
const SERVER_TITLE = /^[A-Za-z_]+::(api_?server|http_?server|grpc_?server|launch_?server|router)/i;

/**
 * What to call a process in one or two words: a rewritten title, the script or module that an interpreter runs, or the
 * program's own name. Never a whole command line: that may hold secrets. Chosen by the process: hostile text.
 */
export function titleOf(process: ProcessFacts): string {
  const [first = ''] = process.words;
  if (first.includes('::')) return first;
  if (process.comm.includes('::') || first === '') return process.comm;
  return callOf(process)[0] ?? process.comm;
}

/** The framework that a process serves or works for by its own title, program or command line; null if none says so. */
export function frameworkOf(process: ProcessFacts): string | null {
  const found = FRAMEWORKS.find((one) => isWorkerOf(process, one) || isServerOf(process, one));
  return found?.framework ?? null;
}

/** The framework of which it is a worker; null for servers, and for all that is no part of one. */
export function roleOf(process: ProcessFacts): Framework | null {
  const known = ROLES.get(process);
  if (known !== undefined) return known;
  const role = FRAMEWORKS.find((one) => isWorkerOf(process, one)) ?? null;
  ROLES.set(process, role);
  return role;
}

/** Asked of every parent of every holder, over and over; the facts of a look never change. */
const ROLES = new WeakMap<ProcessFacts, Framework | null>();
const CALLS = new WeakMap<ProcessFacts, readonly string[]>();

/**
 * A worker whose server is gone: above it and its fellow workers stand shells, supervisors and PID 1 alone. A worker below
 * any other live program (an offline script, say, also where a shell sets up its environment) is that program's work.
 * `initIsHosts`: PID 1 is the host's own; a container's may be the program itself.
 */
export function lostItsServer(process: ProcessFacts, table: ProcessTable, initIsHosts = true): boolean {
  const role = roleOf(process);
  if (role === null) return false;
  const line = ancestors(process.pid, table);
  if (line.some((parent) => isServerOf(parent, role))) return false;
  const at = line.findIndex((parent) => roleOf(parent) === null);
  if (at !== -1) return line.slice(at).every((parent) => isSurroundings(parent, initIsHosts));
  // Above the topmost that is known stands PID 1, of which nothing was read.
  return initIsHosts && (line.at(-1) ?? process).ppid === 1;
}

function isSurroundings(process: ProcessFacts, initIsHosts: boolean): boolean {
  if (!isEnvironment(process)) return false;
  // Known by its name alone, like everybody else.
  return process.pid > 1 || initIsHosts || isEnvironment({...process, pid: 2});
}

function isWorkerOf(process: ProcessFacts, {workerTitles, workers}: Framework): boolean {
  const names = titlesOf(process);
  if (names.some((name) => SERVER_TITLE.test(name))) return false;
  return (
    names.some((name) => workerTitles.some((title) => name.startsWith(title))) ||
    workers.some((call) => isCalled(process, call))
  );
}

function isServerOf(process: ProcessFacts, {workerTitles, servers}: Framework): boolean {
  return (
    titlesOf(process).some(
      (name) =>
        SERVER_TITLE.test(name) && workerTitles.some((title) => name.toLowerCase().startsWith(title.toLowerCase())),
    ) || servers.some((call) => isCalled(process, call))
  );
}

function titlesOf(process: ProcessFacts): readonly string[] {
  return [process.comm, process.words[0] ?? ''];
}

/** By the command line, or, where that is empty or rewritten, by the program file where the call is no more than that. */
function isCalled(process: ProcessFacts, call: Call): boolean {
  const [name, ...behind] = call;
  const [called = '', ...words] = callOf(process);
  if (called === name || called.startsWith(`${name}.`)) return behind.every((word, at) => words[at] === word);
  return behind.length === 0 && programName(process) === name;
}

/**
 * What runs, and the words behind it: the module behind `-m`, the script that an interpreter runs, or the program. Only
 * the interpreter for `-c`.
 */
export function callOf(process: ProcessFacts): readonly string[] {
  const known = CALLS.get(process);
  if (known !== undefined) return known;
  const call = readCall(process);
  CALLS.set(process, call);
  return call;
}

function readCall(process: ProcessFacts): readonly string[] {
  const [first = '', ...rest] = process.words;
  const program = baseName(first);
  if (!INTERPRETER.test(program)) return [program, ...rest];
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at] ?? '';
    if (word === '-m') return rest.length > at + 1 ? rest.slice(at + 1) : [program];
    if (word === '-c' || word === '-e') return [program];
    if (WITH_VALUE.has(word)) at += 1;
    else if (!word.startsWith('-')) return [baseName(word), ...rest.slice(at + 1)];
  }
  return [program];
}

function baseName(path: string): string {
  return path.split('/').findLast((part) => part !== '') ?? path;
}
