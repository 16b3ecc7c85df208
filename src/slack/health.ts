/** `/healthz` on loopback: alive means heard by Slack, not merely started. */
import {createServer, type Server} from 'node:http';

export interface Health {
  readonly ok: boolean;
  /** 0 while the socket stands. */
  readonly socketDownMs: number;
  /** null: none yet. */
  readonly lastEventAgoMs: number | null;
  readonly lastApiOkAgoMs: number | null;
}

/** A refresh or a short outage is no illness. */
export const SICK_AFTER_MS = 60_000;

export async function serveHealth(port: number, look: () => Health): Promise<{readonly port: number; close(): void}> {
  const server: Server = createServer((request, response) => {
    const known = request.url === '/healthz' && request.method === 'GET';
    const health = look();
    response.writeHead(known ? (health.ok ? 200 : 503) : 404, {'content-type': 'application/json'});
    response.end(known ? JSON.stringify(health) : '{}');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
