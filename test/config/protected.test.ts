/** The policy file adds to who is protected, and takes nobody away. */
import {expect, test} from 'vitest';
import {policyOf} from '../../src/config/policy-file.ts';
import {policyFileSchema} from '../../src/config/policy-schema.ts';
import {BUILT_IN_PROTECTED, protectedBy} from '../../src/domain/protected.ts';
import {aProgram} from '../doubles/build.ts';

const policy = (written: unknown) => policyOf(policyFileSchema.parse(written));
const guard = (written: unknown, path: string, uid: number) =>
  protectedBy(aProgram(path, {pid: 500, uid}), '4026531841', policy(written).protectedList)?.name;

const ADDED = {name: 'site monitor', executables: ['/opt/monitor/*/agent'], uids: [995]};

test.each<[string, unknown]>([
  ['an empty policy', {}],
  ['an empty list', {protected: []}],
  ['an addition', {protected: [ADDED]}],
  [
    'an entry under a name of the core, with less in it',
    {protected: [{name: 'DCGM', executables: ['/opt/x/y'], uids: [4]}]},
  ],
])('%s keeps the whole core', (_, written) => {
  expect(policy(written).protectedList.slice(0, BUILT_IN_PROTECTED.length)).toEqual(BUILT_IN_PROTECTED);
  expect(guard(written, '/usr/bin/nv-hostengine', 0)).toBe('DCGM');
  expect(guard(written, '/usr/bin/nvidia-persistenced', 116)).toBe('NVIDIA persistence daemon');
});

test('what it adds is protected as it says, and no further', () => {
  expect(guard({protected: [ADDED]}, '/opt/monitor/1.2/agent', 995)).toBe('site monitor');
  expect(guard({protected: [ADDED]}, '/opt/monitor/1.2/agent', 0)).toBeUndefined();
  expect(guard({}, '/opt/monitor/1.2/agent', 995)).toBeUndefined();
});

test('there is no key that takes anybody away', () => {
  for (const key of ['unprotected', 'unprotect', 'protectedOnly'])
    expect(policyFileSchema.safeParse({[key]: []}).success).toBe(false);
});
