/** Commands in the lab over SSH, as a person at a keyboard would: for the lab's own tests and the demo's proofs, never for the bot. */
import {readFileSync} from 'node:fs';
import ssh2 from 'ssh2';
import type {Lab} from './lab.ts';

export interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
  /** null: the link was lost, or a signal ended it. */
  readonly code: number | null;
}

export interface LabConnection {
  run(command: string, input?: string): Promise<CommandResult>;
  close(): void;
}

/** One command on a connection of its own. `user` as for `connectToLab`. */
export async function runInLab(lab: Lab, command: string, input = '', user = 'root'): Promise<CommandResult> {
  const connection = await connectToLab(lab, user);
  try {
    return await connection.run(command, input);
  } finally {
    connection.close();
  }
}

/** `user` is an account of a root lab (`root`, `bo`, `ana`); other kinds take any name. */
export async function connectToLab(lab: Lab, user = 'root'): Promise<LabConnection> {
  const entry = lab.hostsEntry();
  const client = new ssh2.Client();
  client.on('connect', () => client.setNoDelay(true));
  await new Promise<void>((resolve, reject) => {
    client.once('ready', resolve).on('error', reject);
    client.connect({
      host: entry.address,
      port: entry.port,
      username: user,
      privateKey: readFileSync(entry.look.keyFile),
      hostVerifier: (key: Buffer) => entry.hostKeys.includes(`ssh-ed25519 ${key.toString('base64')}`),
    });
  });
  return {run: (command, input = '') => execute(client, command, input), close: () => client.end()};
}

function execute(client: ssh2.Client, command: string, input: string): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    client.exec(command, (error, channel) => {
      if (error) {
        reject(error);
        return;
      }
      let stdout = '';
      let stderr = '';
      let code: number | null = null;
      channel.on('data', (chunk: Buffer) => {
        stdout += chunk.toString();
      });
      channel.stderr.on('data', (chunk: Buffer) => {
        stderr += chunk.toString();
      });
      channel.on('exit', (value: number | null) => {
        code = value;
      });
      channel.on('close', () => resolve({stdout, stderr, code}));
      channel.end(input);
    });
  });
}
