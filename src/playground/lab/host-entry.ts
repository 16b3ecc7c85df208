import type {Started} from './start.ts';

/** One entry under `hosts:` of a hosts file; plain data, ready for a YAML writer. */
export interface LabHostEntry {
  readonly address: string;
  readonly port: number;
  readonly mode: 'act';
  readonly look: {readonly user: string; readonly keyFile: string};
  readonly act: {readonly user: string; readonly keyFile: string};
  readonly hostKeys: readonly string[];
  readonly extraPath: readonly string[];
  readonly deviceFolder?: string;
  readonly labPidNamespace?: true;
  readonly people: Readonly<Record<string, string>>;
}

export function labHostEntry(started: Started): LabHostEntry {
  const {folder} = started;
  return {
    address: '127.0.0.1',
    port: started.port,
    mode: 'act',
    look: {user: 'root', keyFile: folder.lookKeyFile},
    act: {user: 'root', keyFile: folder.actKeyFile},
    hostKeys: [folder.hostKey],
    extraPath: [`${folder.path}/bin`],
    people: started.kind === 'root' ? {'1500': 'bo', '1501': 'ana'} : {},
    // A flat lab has no namespace of its own, but device files of its own.
    ...(started.kind === 'flat' ? {deviceFolder: started.devices} : {labPidNamespace: true as const}),
  };
}
