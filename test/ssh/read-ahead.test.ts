/**
 * bash reads ahead of a file and seeks back after each `read`. Where it can't, since the process of a /proc file died between
 * two lines, it hands what it had read ahead to the next file that is read. Here a process dies at exactly such a line.
 */
import {spawnSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {describe, expect, it} from 'vitest';
import {has} from './signal-rig.ts';

const script = (name: string): string =>
  readFileSync(new URL(`../../src/ssh/scripts/${name}.sh`, import.meta.url), 'utf8');

/** `key` is the name that the loop gives to the first word of a line; at `line` the process dies, and is reaped. */
function dyingAt(key: string, line: string): string {
  return `sleep 60 & dying=$!
read() {
  builtin read "$@" || return
  [ "\${${key}:-}" = ${line} ] || return 0
  kill -9 $dying; wait $dying
  return 0
}
`;
}

function bash(text: string): string {
  const ran = spawnSync('bash', ['-s'], {input: text, timeout: 30_000});
  return ran.stdout.toString() + ran.stderr.toString().replaceAll(/.*Killed.*\n/g, '');
}

describe.skipIf(!has('bash'))('a process that dies while its status is read, under bash', () => {
  it('leaves nothing of it to the clock that tells what is late', () => {
    const text = `${script('identity')}\n${dyingAt('key', 'Tgid:')}
read_stat $dying
compare $dying $TICKS 0 x hold
unset -f read
read_clock
echo "[$UPTIME_MS]"
`;
    expect(bash(text)).toMatch(/\[\d+\]\n$/);
  });

  it('leaves nothing of it to the time that a look has left', () => {
    const text = `${script('side')}\n${script('facts')}\n${dyingAt('p_key', 'PPid:')}
p_began=0
p_read_status $dying
unset -f read
p_seconds_left 0
builtin read -r next _ </proc/uptime
echo "[$p_left] [$next]"
`;
    expect(bash(text)).toMatch(/^\[1\] \[\d+\.\d+\]\n$/);
  });
});
