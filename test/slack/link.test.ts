/** The one socket, over a client that behaves as 3.1.0 does at its worst: what any newer one does is less. */
import {EventEmitter} from 'node:events';
import {webApi} from '@slack/bolt';
import {describe, expect, it} from 'vitest';
import {keepLink} from '../../src/slack/link.ts';
import {handClock} from '../doubles/hand-clock.ts';

const LOG = {info: () => undefined, warn: () => undefined, error: () => undefined};

class Client extends EventEmitter {
  readonly starts: {resolve(): void; reject(error: unknown): void}[] = [];
  disconnects = 0;
  start(): Promise<void> {
    return new Promise((resolve, reject) => this.starts.push({resolve, reject}));
  }
  /** Never settles where the peer is gone. */
  disconnect(): Promise<void> {
    this.disconnects += 1;
    return new Promise(() => undefined);
  }
}

function linked() {
  const clock = handClock();
  const client = new Client();
  const fatal: unknown[] = [];
  const link = keepLink({
    client: client as unknown as Parameters<typeof keepLink>[0]['client'],
    clock,
    log: LOG,
    onFatal: (error) => void fatal.push(error),
  });
  return {clock, client, fatal, link};
}

describe('the socket to Slack', () => {
  it('is opened again at once after a refresh, whose end says nothing', async () => {
    const {clock, client, link} = linked();
    const started = link.start();
    await clock.turn(100);
    client.starts[0]?.resolve();
    await started;
    await clock.turn(20_000);
    client.emit('disconnected');
    await clock.turn(100);
    expect(client.starts).toHaveLength(2);
    expect(link.downMs()).toBeGreaterThan(0);
    client.starts[1]?.resolve();
    await clock.turn(100);
    expect(link.downMs()).toBe(0);
  });

  it('is tried again, ever slower, when opening it fails with nothing at all; and no listener is left behind', async () => {
    const {clock, client, fatal, link} = linked();
    void link.start();
    await clock.turn(100);
    for (let nth = 0; nth < 30; nth += 1) {
      client.starts.at(-1)?.reject(undefined);
      await clock.turn(10_100);
    }
    expect(client.starts.length).toBe(31);
    expect(client.listenerCount('disconnected')).toBeLessThanOrEqual(1);
    expect(fatal).toEqual([]);
  });

  it('that never says hello is closed, and another is opened', async () => {
    const {clock, client, link} = linked();
    void link.start();
    await clock.turn(20_100);
    expect(client.disconnects).toBe(1);
    await clock.turn(1_000);
    expect(client.starts).toHaveLength(2);
  });

  it('is given up where Slack says that it can never work', async () => {
    const {clock, client, fatal, link} = linked();
    void link.start();
    await clock.turn(100);
    client.starts[0]?.reject(new webApi.WebAPIPlatformError({ok: false, error: 'invalid_auth'}));
    await clock.turn(60_000);
    expect(fatal).toHaveLength(1);
    expect(client.starts).toHaveLength(1);
  });

  it('stops within 3 s, also where the library never says that it has', async () => {
    const {clock, client, link} = linked();
    const started = link.start();
    await clock.turn(100);
    client.starts[0]?.resolve();
    await started;
    let stopped = false;
    void link.stop().then(() => {
      stopped = true;
    });
    await clock.turn(3_000);
    expect(stopped).toBe(true);
    expect(client.starts).toHaveLength(1);
  });
});
