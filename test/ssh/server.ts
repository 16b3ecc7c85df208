/** ssh2's own server in this process: it may show any host key, refuse any step, and count what it was asked. */
import {readFileSync} from 'node:fs';
import type {AddressInfo, Server as NetServer} from 'node:net';
import ssh2, {type Algorithms, type AuthContext, type Connection, type ServerChannel, type Session} from 'ssh2';

export interface Served {
  readonly port: number;
  readonly logins: () => number;
  readonly attempts: () => number;
  /** The connections open at once at most. */
  readonly mostAtOnce: () => number;
  close(): Promise<void>;
}

export async function serve(options: {
  readonly hostKeys: readonly string[];
  readonly algorithms?: Algorithms;
  readonly auth?: (context: AuthContext) => void;
  readonly onSession?: (accept: () => Session, reject: () => void) => void;
  readonly onExec?: (command: string, channel: ServerChannel) => void;
}): Promise<Served> {
  let logins = 0;
  let attempts = 0;
  let atOnce = 0;
  let mostAtOnce = 0;
  const clients = new Set<Connection>();
  const server = new ssh2.Server(
    {
      hostKeys: options.hostKeys.map((path) => readFileSync(path)),
      ...(options.algorithms && {algorithms: options.algorithms}),
    },
    (client) => {
      clients.add(client);
      attempts += 1;
      atOnce += 1;
      mostAtOnce = Math.max(mostAtOnce, atOnce);
      client.on('error', () => {});
      client.on('close', () => {
        clients.delete(client);
        atOnce -= 1;
      });
      client.on('authentication', (context) => (options.auth ?? ((asked) => asked.accept()))(context));
      client.on('ready', () => {
        logins += 1;
        client.on('session', (accept, reject) => {
          if (options.onSession !== undefined) {
            options.onSession(accept, reject);
            return;
          }
          accept().on('exec', (acceptExec, _rejectExec, info) => {
            const channel = acceptExec();
            channel.on('error', () => {});
            (options.onExec ?? answerEmpty)(info.command, channel);
          });
        });
      });
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return {
    port: (server.address() as AddressInfo).port,
    logins: () => logins,
    attempts: () => attempts,
    mostAtOnce: () => mostAtOnce,
    close: () =>
      new Promise((resolve) => {
        for (const client of clients) client.end();
        (server as unknown as NetServer).close(() => resolve());
      }),
  };
}

function answerEmpty(_command: string, channel: ServerChannel): void {
  channel.exit(0);
  channel.end();
}

/** Answers with a whole frame, whatever the script: the nonce is read from it. */
export function answerFramed(body: string): (command: string, channel: ServerChannel) => void {
  return (_command, channel) => {
    let script = '';
    channel.on('data', (chunk: Buffer) => {
      script += chunk.toString();
    });
    channel.on('end', () => {
      const nonce = /@@%s BEGIN \w+ 1\\n' ([0-9a-f]+)/.exec(script)?.[1] ?? 'none';
      channel.write(`\n@@${nonce} BEGIN probe 1\n${body}\n@@${nonce} END 0\n`);
      channel.exit(0);
      channel.end();
    });
  };
}
