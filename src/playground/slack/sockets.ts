/**
 * Socket Mode as Slack serves it: a one-time address, `hello`, envelopes that want an ack, pings from both ends, `disconnect`
 * before a refresh. Ten sockets at most; each envelope goes to one of them, in turn.
 */
import {randomUUID} from 'node:crypto';
import type {IncomingMessage} from 'node:http';
import type {Duplex} from 'node:stream';
import {WebSocket, WebSocketServer} from 'ws';
import type {Faults} from './faults.ts';

export type EnvelopeType = 'slash_commands' | 'interactive' | 'events_api';

/** What became of an envelope. `response` is what the ack carried. The other two are Slack's own words to the user. */
export type Delivery =
  | {readonly outcome: 'acked'; readonly envelopeId: string; readonly ackMs: number; readonly response: unknown}
  | {readonly outcome: 'operation_timeout' | 'dispatch_failed'; readonly envelopeId: string};

/** One line of the front's own record. `ackMs` is null as long as there is no ack. */
export interface EnvelopeRecord {
  readonly envelopeId: string;
  readonly type: EnvelopeType;
  readonly payload: unknown;
  readonly sentAtMs: number;
  readonly retryAttempt: number;
  readonly ackMs: number | null;
}

export interface Sockets {
  readonly record: readonly EnvelopeRecord[];
  /** A fresh address, good for one connection. */
  address(host: string): string;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  deliver(type: EnvelopeType, payload: unknown): Promise<Delivery>;
  /** The last envelope once more, under a new id, as Slack does when an ack was lost on its way; null before the first. */
  redeliver(): Promise<Delivery | null>;
  connected(): number;
  /** Called whenever a socket came or went. */
  listen(listener: () => void): () => void;
  /** Resolves once at least `count` sockets have had their hello. */
  whenConnected(count: number): Promise<void>;
  /** Cuts every TCP connection, without a word. */
  drop(): void;
  /** Asks every client to come back by a new socket, as Slack does every few hours. */
  refresh(): void;
  close(): void;
}

interface Timing {
  /** How long Slack waits for an ack: 3 s. */
  readonly ackMs: number;
  readonly pingMs: number;
}

/** Slack's own limit on connections of one app. */
const MOST_SOCKETS = 10;
const REFRESH_GRACE_MS = 10_000;
const MOST_RECORDS = 20_000;

type Open = {-readonly [K in keyof EnvelopeRecord]: EnvelopeRecord[K]};

export function openSockets(faults: Faults, timing: Timing): Sockets {
  const server = new WebSocketServer({noServer: true});
  const tickets = new Set<string>();
  const sockets: {readonly ws: WebSocket; missedPings: number}[] = [];
  const waiting = new Map<string, (response: unknown) => void>();
  const arrivals = new Set<() => void>();
  const listeners = new Set<() => void>();
  const counted = (): void => {
    for (const listener of listeners) listener();
  };
  const timers = new Set<NodeJS.Timeout>();
  const record: Open[] = [];
  let turn = 0;

  const pinger = setInterval(() => {
    for (const entry of [...sockets]) {
      if (entry.missedPings >= 2) entry.ws.terminate();
      entry.missedPings += 1;
      if (entry.ws.readyState === WebSocket.OPEN) entry.ws.ping();
    }
  }, timing.pingMs);
  pinger.unref();

  const welcome = (ws: WebSocket): void => {
    const entry = {ws, missedPings: 0};
    ws.on('error', () => ws.terminate());
    if (sockets.length >= MOST_SOCKETS) {
      ws.send(JSON.stringify({type: 'disconnect', reason: 'too_many_websockets', debug_info: {host: 'local'}}));
      ws.close();
      return;
    }
    sockets.push(entry);
    ws.on('pong', () => {
      entry.missedPings = 0;
    });
    ws.on('close', () => {
      sockets.splice(sockets.indexOf(entry), 1);
      counted();
    });
    ws.on('message', (data) => {
      const {envelope_id: id, payload} = parsed(String(data));
      if (typeof id === 'string') waiting.get(id)?.(payload);
    });
    ws.send(
      JSON.stringify({
        type: 'hello',
        num_connections: sockets.length,
        connection_info: {app_id: 'local'},
        debug_info: {host: 'local', build_number: 1, approximate_connection_time: 18_060},
      }),
    );
    for (const arrival of [...arrivals]) arrival();
    counted();
  };

  const openNow = (): readonly WebSocket[] =>
    sockets.filter(({ws}) => ws.readyState === WebSocket.OPEN).map(({ws}) => ws);

  const once = (type: EnvelopeType, payload: unknown, retryAttempt: number): Promise<Delivery> => {
    const envelopeId = randomUUID();
    const entry: Open = {envelopeId, type, payload, sentAtMs: Date.now(), retryAttempt, ackMs: null};
    record.push(entry);
    if (record.length > MOST_RECORDS) record.splice(0, MOST_RECORDS / 2);
    const open = openNow();
    turn += 1;
    const ws = open[turn % open.length];
    if (ws === undefined) return Promise.resolve({outcome: 'dispatch_failed', envelopeId});
    const text = JSON.stringify({
      envelope_id: envelopeId,
      type,
      payload,
      accepts_response_payload: type !== 'events_api',
      ...(type === 'events_api' ? {retry_attempt: retryAttempt, retry_reason: retryAttempt > 0 ? 'timeout' : ''} : {}),
    });
    return new Promise((resolve) => {
      const sentAt = performance.now();
      const isLost = faults.take('lose-ack') !== null;
      const end = (delivery: Delivery): void => {
        clearTimeout(timer);
        timers.delete(timer);
        waiting.delete(envelopeId);
        resolve(delivery);
      };
      const timer = setTimeout(() => end({outcome: 'operation_timeout', envelopeId}), timing.ackMs);
      timers.add(timer);
      waiting.set(envelopeId, (response) => {
        if (isLost) return;
        entry.ackMs = performance.now() - sentAt;
        end({outcome: 'acked', envelopeId, ackMs: entry.ackMs, response});
      });
      ws.send(text);
      if (faults.take('duplicate-envelope') !== null) ws.send(text);
    });
  };

  return {
    record,
    address: (host) => {
      const ticket = randomUUID();
      tickets.add(ticket);
      return `ws://${host}/link/?ticket=${ticket}&app_id=local`;
    },
    upgrade: (request, socket, head) => {
      const ticket = new URL(request.url ?? '/', 'http://local').searchParams.get('ticket') ?? '';
      const refused = faults.take('refuse-upgrade') !== null;
      if (refused || !tickets.delete(ticket)) {
        socket.end(`HTTP/1.1 ${refused ? '408 Request Timeout' : '403 Forbidden'}\r\nconnection: close\r\n\r\n`);
        return;
      }
      server.handleUpgrade(request, socket, head, welcome);
    },
    deliver: async (type, payload) => {
      const first = await once(type, payload, 0);
      if (first.outcome !== 'operation_timeout') return first;
      // Events come again by themselves; the rest only when a test asks for it.
      if (type !== 'events_api' && faults.take('redeliver-unacked') === null) return first;
      return once(type, payload, 1);
    },
    redeliver: async () => {
      const last = record.at(-1);
      return last === undefined ? null : once(last.type, last.payload, last.retryAttempt + 1);
    },
    connected: () => openNow().length,
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    whenConnected: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (openNow().length < count) return;
          arrivals.delete(look);
          resolve();
        };
        arrivals.add(look);
        look();
      }),
    drop: () => {
      for (const {ws} of [...sockets]) ws.terminate();
    },
    refresh: () => {
      for (const {ws} of [...sockets]) {
        ws.send(JSON.stringify({type: 'disconnect', reason: 'refresh_requested', debug_info: {host: 'local'}}));
        const timer = setTimeout(() => {
          timers.delete(timer);
          ws.terminate();
        }, REFRESH_GRACE_MS);
        timers.add(timer);
      }
    },
    close: () => {
      clearInterval(pinger);
      for (const timer of timers) clearTimeout(timer);
      for (const {ws} of [...sockets]) ws.terminate();
      server.close();
    },
  };
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}
