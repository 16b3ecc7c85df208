/** A saved transcript, read with no host, no store and no hosts file of its own: whoever gets one in a bug report has none. */
import {readFile} from 'node:fs/promises';
import {diagnose} from '../domain/diagnose.ts';
import type {Diagnosis} from '../domain/diagnosis.ts';
import {fail, ok, type Result} from '../domain/failure.ts';
import type {Host, HostName} from '../domain/host.ts';
import {NOT_DECLARED} from '../domain/locked-clocks.ts';
import {parseProbe} from '../domain/parse/probe-output.ts';
import type {Policy} from '../domain/policy.ts';
import {readTranscript} from '../domain/saved-transcript.ts';

/** What the reader knows of hosts: names of owners come from here, if the host is among them. */
export interface Known {
  readonly hosts: ReadonlyMap<HostName, Host>;
  readonly policy: Policy;
}

export async function readBack(path: string, known: Known): Promise<Result<Diagnosis>> {
  const text = await textOf(path);
  if (!text.ok) return text;
  const saved = readTranscript(text.value, path);
  if (!saved.ok) return saved;
  const snapshot = parseProbe(saved.value.transcript, saved.value.takenAtMs);
  if (!snapshot.ok) return snapshot;
  const host = known.hosts.get(snapshot.value.host) ?? stranger(snapshot.value.host);
  return ok(diagnose(snapshot.value, {host, policy: known.policy, baselines: new Map()}));
}

async function textOf(path: string): Promise<Result<string>> {
  try {
    return ok(await readFile(path, 'utf8'));
  } catch (error) {
    return fail({
      reason: 'transcript-unreadable',
      path,
      detail: error instanceof Error ? error.message : String(error),
    });
  }
}

function stranger(name: HostName): Host {
  return {
    name,
    mode: 'observe',
    groups: [],
    labels: {},
    people: new Map(),
    links: {},
    clocks: NOT_DECLARED,
    labPidNamespace: false,
    practice: false,
  };
}
