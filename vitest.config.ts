import {defineConfig} from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Labs, sshd and the program itself are started for real: a slow machine is no failure.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // Most of the time is spent waiting for other processes: more files at once than there are processors.
    maxWorkers: 4,
  },
});
