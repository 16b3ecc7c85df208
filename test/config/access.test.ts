import {expect, expectTypeOf, test} from 'vitest';
import type {HostAccess} from '../../src/config/config.ts';
import type {HostAccess as SshHostAccess} from '../../src/ssh/access.ts';

// The compiler is the judge: `npm run types` goes red when the two shapes part.
test('what config makes is what the ssh room takes, key by key', () => {
  const asSsh = (access: HostAccess): SshHostAccess => access;
  const asConfig = (access: SshHostAccess): HostAccess => access;
  expectTypeOf<HostAccess>().toEqualTypeOf<SshHostAccess>();
  expect(asSsh).not.toBe(asConfig);
});
