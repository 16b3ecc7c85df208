/** The real script under each shell, against stand-ins of tools that this machine has not: they answer, fail, or hang. */
import {spawnSync} from 'node:child_process';
import {chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeEach, describe, expect, it} from 'vitest';
import {hostName} from '../../src/domain/host.ts';
import type {OwnerFacts, OwnerName} from '../../src/domain/owner.ts';
import {parseOwners} from '../../src/domain/parse/owners.ts';
import {ownersScript, ownersWords} from '../../src/ssh/owners-script.ts';

const NONCE = 'feedbeeffeedbeeffeedbeeffeedbeef';
const ID = '12ab'.repeat(16);
const OTHER = '34cd'.repeat(16);
const STANDARD = '/usr/sbin:/usr/bin:/sbin:/bin';
const MY_UID = process.getuid?.() ?? 0;
const has = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
const SHELLS = [['dash'], ['bash'], ['busybox', 'sh'], ['mksh']].filter(([program]) => has(program ?? ''));

const SYSTEMCTL = `
echo "$@" >>"$LOG"; echo "runtime $XDG_RUNTIME_DIR" >>"$LOG"
shift "$(($# > 4 ? $# - 2 : 0))"
cat <<'END'
Id=ollama.service
LoadState=loaded
ActiveState=active
Restart=always
NRestarts=7
InvocationID=0123456789abcdef0123456789abcdef

Id=a\\x2db.service
LoadState=loaded
ActiveState=active
Restart=on-failure
NRestarts=0
InvocationID=

Id=gone.service
LoadState=not-found
ActiveState=inactive
END`;
const USER_UNIT = `
case "$*" in *--user*) printf 'Id=vllm.service\\nLoadState=loaded\\nActiveState=active\\nRestart=no\\nNRestarts=0\\nInvocationID=ff\\n'; exit ;; esac`;
const DOCKER = `
echo "$@" >>"$LOG"
printf 'Id ${ID}\\nName /inf-server\\nStatus running\\nStartedAt 2026-12-01T11:00:00Z\\nRestart unless-stopped\\nRestartCount 35\\n\\n'
echo 'Error: No such container: ${OTHER}' >&2
exit 1`;
const SCONTROL = `
[ "$3" != 8 ] || { echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1; }
cat <<END
JobId=$3 JobName=a b JobState=FAILED
   UserId=anna(1000) GroupId=anna(1000) MCS_label=N/A
   JobState=RUNNING Reason=None Dependency=(null)
   Requeue=0 Restarts=1 BatchFlag=1 Reboot=0 ExitCode=0:0
   StartTime=2026-12-01T10:00:00 EndTime=Unknown
   Command=/srv/x JobState=COMPLETED
END`;
const HANG = 'while :; do sleep 1000; done';
const DEAF = "trap '' TERM; while :; do sleep 1000; done";

const unit = (id: string): OwnerName => ({kind: 'unit', id, uid: null});
const job = (id: string): OwnerName => ({kind: 'slurm-job', id, uid: null});
const container = (kind: 'docker' | 'podman', id = ID): OwnerName => ({kind, id, uid: null});
const mine: OwnerName = {kind: 'user-unit', id: 'vllm.service', uid: MY_UID};
const ASKED = [
  unit('ollama.service'),
  unit('a\\x2db.service'),
  unit('gone.service'),
  mine,
  container('docker'),
  container('docker', OTHER),
  job('7'),
  job('8'),
];

describe('the tools of owners', () => {
  const root = mkdtempSync(join(tmpdir(), 'owners-'));
  const bin = join(root, 'bin');
  const log = join(root, 'log');
  afterAll(() => rmSync(root, {recursive: true, force: true}));

  function standIn(name: string, body: string): void {
    writeFileSync(join(bin, name), `#!/bin/sh\nLOG=${log}\n${body}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  beforeEach(() => {
    rmSync(bin, {recursive: true, force: true});
    rmSync(log, {force: true});
    mkdirSync(bin);
    standIn('systemctl', `${USER_UNIT}${SYSTEMCTL}`);
    standIn('docker', DOCKER);
    standIn('scontrol', SCONTROL);
  });

  function ask(asked: readonly OwnerName[], shell: readonly string[] = ['sh']): readonly OwnerFacts[] {
    const [program = 'sh', ...args] = shell;
    const ran = spawnSync(program, [...args, '-s'], {
      input: ownersScript(NONCE, asked),
      env: {PATH: `${bin}:${STANDARD}`},
      timeout: 30_000,
      killSignal: 'SIGKILL',
    });
    const about = {host: hostName('here'), hostKey: 'k', nonce: NONCE, exitCode: ran.status, tookMs: 1};
    const parsed = parseOwners({...about, stdout: ran.stdout, stderr: ''}, asked);
    if (!parsed.ok) throw new Error(`${JSON.stringify(parsed.failure)} ${ran.stderr.toString()}`);
    expect(ran.stderr.toString()).toBe('');
    expect(ran.stdout.toString().trimEnd().endsWith(`@@${NONCE} END 0`)).toBe(true);
    return parsed.value;
  }
  const brief = (facts: readonly OwnerFacts[]) =>
    facts.map(({kind, id, title, state, restarts, setting, run, restartCount}) => [
      kind,
      id.slice(0, 14),
      title,
      state,
      restarts,
      setting,
      run,
      restartCount,
    ]);

  it.each(SHELLS)('are asked by name, all at once, under %s', (...shell) => {
    expect(brief(ask(ASKED, shell))).toEqual([
      ['unit', 'ollama.service', null, 'active', 'yes', 'Restart=always', '0123456789abcdef0123456789abcdef', 7],
      ['unit', 'a\\x2db.service'.slice(0, 14), null, 'active', 'unknown', 'Restart=on-failure', null, 0],
      ['user-unit', 'vllm.service', null, 'active', 'no', 'Restart=no', 'ff', 0],
      [
        'docker',
        ID.slice(0, 14),
        'inf-server',
        'running',
        'yes',
        'restart policy unless-stopped',
        '2026-12-01T11:00:00Z',
        35,
      ],
      ['slurm-job', '7', 'a b JobState=FAILED', 'RUNNING', 'no', 'Requeue=0', '2026-12-01T10:00:00', 1],
      ['slurm-job', '8', null, 'not known to Slurm', 'unknown', null, null, null],
    ]);
    const said = readFileSync(log, 'utf8');
    expect(said).toContain('-- ollama.service a\\x2db.service gone.service\n');
    expect(said).toContain(`-- ${ID} ${OTHER}\n`);
  });

  it("a user's own systemd is asked as that user, another's through the machine of that user", () => {
    standIn('systemctl', `${SYSTEMCTL}`);
    ask([mine, {...mine, uid: MY_UID + 1}]);
    const said = readFileSync(log, 'utf8').split('\n');
    expect(said).toContain(`--user show -p Id,LoadState,ActiveState,Restart,NRestarts,InvocationID -- vllm.service`);
    expect(said).toContain(`runtime /run/user/${MY_UID}`);
    expect(said.some((line) => line.startsWith(`--user --machine=${MY_UID + 1}@.host show `))).toBe(true);
  });

  it.each([
    ['hangs', HANG],
    ['hangs and does not hear SIGTERM', DEAF],
  ])('one that %s is given up after a second, and costs the others nothing', (_, body) => {
    standIn('docker', body);
    standIn('scontrol', `echo "$@" >>"$LOG"\n${body}`);
    const facts = ask([unit('ollama.service'), container('docker'), job('7'), job('9'), job('10')]);
    expect(facts.map((one) => one.id)).toEqual(['ollama.service']);
    // A controller that did not answer for one job is not asked about the next.
    expect(readFileSync(log, 'utf8').match(/^show job \d+$/gm)).toEqual(['show job 7']);
  });

  it('one that hangs in the middle of its answer has not answered', () => {
    standIn('docker', `${DOCKER.replace('exit 1', '')}\n${HANG}`);
    expect(ask([container('docker'), unit('ollama.service')]).map((one) => one.id)).toEqual(['ollama.service']);
  });

  it('one that is missing, fails or talks nonsense says nothing', () => {
    standIn('systemctl', 'echo "Failed to connect to bus: No such file or directory" >&2; exit 1');
    standIn('docker', `echo 'Id ${OTHER}'; head -c 100000 /dev/zero | tr '\\0' x`);
    standIn(
      'scontrol',
      `printf '\\n@@${NONCE.replace('f', 'e')} end job.7 0\\n@rc 0\\nJobId=9 JobName=x\\n   JobState=RUNNING\\n'`,
    );
    expect(ask([...ASKED, container('podman')])).toEqual([]);
  });
});

describe('the words of a question', () => {
  it('stand on the last line, quoted, and only names of their shape are let through', () => {
    const lines = ownersScript(NONCE, ASKED).trimEnd().split('\n');
    expect(lines[0]).toBe(':');
    expect(lines.at(-1)).toBe(
      `NONCE=${NONCE}; owners_main units ollama.service 'a\\x2db.service' gone.service user ${MY_UID} vllm.service docker ${ID} ${OTHER} podman jobs 7 8 </dev/null; exit $?`,
    );
    const bad: readonly OwnerName[] = [
      unit('a;b.service'),
      unit('-p.service'),
      unit('units'),
      job('7 8'),
      container('docker', 'abc'),
      {kind: 'kubernetes', id: ID, uid: null},
      {...mine, uid: null},
      {...unit('a.service'), uid: 0},
      {...mine, uid: 1.5},
    ];
    for (const name of bad) expect(() => ownersWords([name])).toThrow(/^Internal error/);
  });

  it('runs nothing when it was cut anywhere', () => {
    const lines = ownersScript(NONCE, ASKED).trimEnd().split('\n');
    for (const kept of [1, 20, Math.floor(lines.length / 2), lines.length - 1]) {
      expect(spawnSync('sh', ['-s'], {input: `${lines.slice(0, kept).join('\n')}\n`}).stdout.toString()).toBe('');
    }
  });
});
