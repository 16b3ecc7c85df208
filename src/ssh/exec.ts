/** One remote command: start it, feed its script, collect its answer, and be back by the deadline whatever happens. */
import type {ClientChannel} from 'ssh2';
import type {Clock} from '../engine/ports.ts';
import type {Connection} from './connection.ts';
import {watchFrames} from './frames.ts';
import {after} from './timer.ts';

export interface ExecRequest {
  readonly command: string;
  readonly stdin: string;
  readonly nonce: string;
  /** From now, the opening of the channel included. */
  readonly deadlineMs: number;
  readonly stdoutMaxBytes: number;
  readonly stderrMaxBytes: number;
  readonly exitGraceMs: number;
  readonly closeGraceMs: number;
  /** Hears each line after BEGIN as it arrives. */
  readonly onLine: (line: string) => void;
}

export interface ExecAnswer {
  /** `refused`: no channel or no command; `lost`: the link ended first; `flooded`: more output than allowed. */
  readonly end: 'exited' | 'lost' | 'timed-out' | 'flooded' | 'refused';
  /** Why the channel was refused. */
  readonly refusal: {readonly message: string; readonly reason: number | null} | null;
  /** False: not one byte of the script left us, so nothing of it can run. */
  readonly scriptSent: boolean;
  readonly stdout: Buffer;
  readonly stderr: string;
  readonly exitCode: number | null;
  readonly exitSignal: string | null;
  readonly began: boolean;
  readonly ended: boolean;
  readonly tookMs: number;
}

/** Rejects only with what `onLine` threw, after the command has been seen to its end. */
export function exec(connection: Connection, request: ExecRequest, clock: Clock): Promise<ExecAnswer> {
  const startedMs = clock.ticks();
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  let stdoutBytes = 0;
  let stderrBytes = 0;
  let scriptSent = false;
  let exited = false;
  let exitCode: number | null = null;
  let exitSignal: string | null = null;
  let settled = false;
  let closing = false;
  let channel: ClientChannel | null = null;
  let thrown: {readonly error: unknown} | null = null;
  const frames = watchFrames(request.nonce, (line) => {
    try {
      request.onLine(line);
    } catch (error) {
      // A bug in the listener must not end the watch of a signal that is on its way.
      thrown ??= {error};
    }
  });

  return new Promise((resolve, reject) => {
    let stopWaiting = (): void => {};
    const stops = [after(clock, request.deadlineMs, () => settle('timed-out'))];

    function settle(end: ExecAnswer['end'], refusal: ExecAnswer['refusal'] = null): void {
      if (settled) return;
      settled = true;
      for (const stop of [...stops, stopWaiting]) stop();
      // Frees our side. The remote command may run on: it has its own limit.
      channel?.close();
      if (thrown !== null) {
        reject(thrown.error);
        return;
      }
      resolve({
        end,
        refusal,
        scriptSent,
        stdout: Buffer.concat(stdout),
        stderr: Buffer.concat(stderr).toString('utf8'),
        exitCode,
        exitSignal,
        began: frames.began(),
        ended: frames.ended(),
        tookMs: clock.ticks() - startedMs,
      });
    }

    function onStdout(chunk: Buffer): void {
      if (settled) return;
      const room = request.stdoutMaxBytes - stdoutBytes;
      const kept = chunk.length > room ? chunk.subarray(0, room) : chunk;
      stdout.push(kept);
      stdoutBytes += kept.length;
      frames.feed(kept);
      if (kept.length < chunk.length) settle('flooded');
    }

    function onStderr(chunk: Buffer): void {
      // Read to its end even when full: unread stderr stops stdout as well, they share one window.
      const kept = chunk.subarray(0, request.stderrMaxBytes - stderrBytes);
      if (kept.length === 0) return;
      stderr.push(kept);
      stderrBytes += kept.length;
    }

    function onExit(code: number | null, signal: string | null): void {
      exited = true;
      exitCode = code;
      exitSignal = signal;
      waitForRest();
      closeSoon();
    }

    /** 'close' may never come while a background child holds stdout; but output may still follow 'exit', and slowly. */
    function waitForRest(): void {
      stopWaiting();
      if (exited && !frames.ended()) stopWaiting = after(clock, request.exitGraceMs, () => settle('exited'));
    }

    function closeSoon(): void {
      if (closing || !exited || !frames.ended()) return;
      closing = true;
      stops.push(after(clock, request.closeGraceMs, () => settle('exited')));
    }

    function onChannel(opened: ClientChannel): void {
      channel = opened;
      opened.on('error', () => {});
      opened.stderr.on('error', () => {});
      opened.stderr.on('data', onStderr);
      opened.on('data', (chunk: Buffer) => {
        onStdout(chunk);
        if (settled) return;
        waitForRest();
        closeSoon();
      });
      opened.on('exit', (code: number | null, signal?: string) => onExit(code, signal ?? null));
      opened.on('close', () => settle(exited ? 'exited' : 'lost'));
      // Called back after the deadline: whoever waited has been told that nothing went out, and nothing may.
      if (settled) {
        opened.close();
        return;
      }
      scriptSent = true;
      opened.end(request.stdin);
    }

    try {
      connection.exec(request.command, (error, opened) => {
        if (error === undefined) onChannel(opened);
        else settle(connection.usable() ? 'refused' : 'lost', refusalOf(error));
      });
    } catch (error) {
      settle('lost', refusalOf(error));
    }
  });
}

function refusalOf(error: unknown): {readonly message: string; readonly reason: number | null} {
  if (!(error instanceof Error)) return {message: String(error), reason: null};
  const {reason} = error as Error & {reason?: unknown};
  return {message: error.message, reason: typeof reason === 'number' ? reason : null};
}
