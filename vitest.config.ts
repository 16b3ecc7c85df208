import {defineConfig} from 'vitest/config';

const CI = process.env['CI'] !== undefined;

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Labs, sshd and the program itself are started for real: a slow machine is no failure.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // Most of the time is spent waiting for other processes. CI's machines are slow at times: fewer at once there, and one
    // more try, since sockets, browsers and process starts are real.
    maxWorkers: CI ? 2 : 3,
    retry: CI ? 1 : 0,
  },
});
