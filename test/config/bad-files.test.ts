import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {loadConfig} from '../../src/config/load.ts';
import type {ConfigMistake} from '../../src/domain/failure.ts';
import {type Folder, keyText, makeFolder} from './folder.ts';

const HOSTS = '.config/gpu-reclaim/hosts.yaml';
const POLICY = '.config/gpu-reclaim/policy.yaml';
const LOOK = '{user: bot, keyFile: ~/.ssh/gpu-look}';
const RIGHT = `hosts: {gpu-01: {look: ${LOOK}}}`;

let folder: Folder;
beforeEach(() => {
  folder = makeFolder();
});
afterEach(() => folder.remove());

describe('a wrong hosts file: the whole list of its mistakes', () => {
  test.each<[string, string, readonly string[]]>([
    ['says nothing', '# nothing', ['hosts| is empty; expected keys']],
    ['has no host', 'hosts: {}', ['hosts| names no host']],
    ['is a list', '- gpu-01', ['| does not begin with a key']],
    ['is no YAML', 'hosts:\n  gpu-01: {look: [}\n', ['| no right YAML at line 2, column 19']],
    ['says a key twice', 'hosts:\n  a: {}\n  a: {}\n', ['| no right YAML at line 3']],
    ['has a tag of code', 'hosts: !!js/function "x"', ['| no right YAML at line 1']],
    ['has two documents', 'hosts: {}\n---\nhosts: {}\n', ['| no right YAML at line 2']],
    ['has a key that JavaScript would swallow', `hosts: {__proto__: {look: ${LOOK}}}`, ['| has a key __proto__']],
    [
      'has unknown keys everywhere',
      `hots: {}\ndefaults: {prot: 22}\nhosts: {gpu-01: {adress: x, look: {user: bot, keyfile: x}, wibble: 1}}`,
      [
        'defaults.prot| not known > did you mean `port`?',
        'hosts.gpu-01.adress| not known > did you mean `address`?',
        'hosts.gpu-01.look.keyfile| not known > did you mean `keyFile`?',
        'hosts.gpu-01.wibble| not known > known here: port, user,',
        'hots| not known > did you mean `hosts`?',
      ],
    ],
    [
      'has addresses and other non-names for hosts',
      `hosts: {10.0.0.7: {}, 0x7f.1: {}, "2130706433": {}, "::1": {}, GPU-01: {}, a_b: {}, -x: {}}`,
      ['"10.0.0.7"', '"0x7f.1"', '"2130706433"', '"::1"', '"GPU-01"', '"a_b"', '"-x"'].map(
        (name) => `hosts.${name.slice(1, -1)}| the key ${name} is not a host name`,
      ),
    ],
    [
      'has a host for drills that is not beside the bot',
      `hosts:\n  gpu-01: {look: ${LOOK}, practice: true}\n  drill: {address: 127.0.0.1, look: ${LOOK}, practice: true}`,
      ['hosts.gpu-01.practice| is for a lab host beside the bot, and gpu-01 is no loopback address'],
    ],
    [
      'has clocks that nvidia-smi would not take',
      `hosts: {gpu-01: {look: ${LOOK}, clocks: {lockedGraphics: [1980, 1200], lockedMemory: 2619, gpus: {a: {lockedMemory: [1, "2"]}}}}}`,
      [
        'hosts.gpu-01.clocks.gpus.a| ',
        'hosts.gpu-01.clocks.lockedGraphics| is a list; expected two clocks in MHz, the lower first',
        'hosts.gpu-01.clocks.lockedMemory| is 2619; expected two clocks',
      ],
    ],
    [
      'has wrong values of every kind',
      `hosts:
  gpu-01:
    address: bot@10.0.0.7
    port: 70000
    user: "bot; reboot"
    mode: acting
    sudo: "yes"
    extraPath: ["/opt/nv bin", /opt/../x, relative]
    libraryPath: /usr/lib
    groups: [ok, Not Ok]
    labels: {rack: [1]}
    people: {anna: 1001, 1002: Anna Smith}
    links: {wiki: "javascript:alert(1)"}
    deviceFolder: /dev/$(id)
    hostKeys: ["ssh-ed25519 AAAA"]
    look: ${LOOK}`,
      [
        'hosts.gpu-01.address| is "bot@10.0.0.7"; expected a DNS name or an IP address',
        'hosts.gpu-01.deviceFolder| is "/dev/$(id)"; expected an absolute folder',
        'hosts.gpu-01.extraPath[0]| is "/opt/nv bin"; expected an absolute folder',
        'hosts.gpu-01.extraPath[1]| is "/opt/../x"; expected an absolute folder',
        'hosts.gpu-01.extraPath[2]| is "relative"; expected an absolute folder',
        'hosts.gpu-01.groups[1]| is "Not Ok"; expected a name',
        'hosts.gpu-01.hostKeys[0]| is "ssh-ed25519 AAAA"; expected a public host key',
        'hosts.gpu-01.labels.rack| is a list; expected a word',
        'hosts.gpu-01.libraryPath| is "/usr/lib"; expected a list > write [one, two]',
        'hosts.gpu-01.links.wiki| is "javascript:alert(1)"; expected a web address',
        'hosts.gpu-01.mode| is "acting"; expected observe or act > write for example observe',
        'hosts.gpu-01.people.1002| is "Anna Smith"; expected a login name',
        'hosts.gpu-01.people.anna| the key "anna" is not a uid of that host',
        'hosts.gpu-01.port| is 70000; expected a whole number from 1 to 65535 > write for example 22',
        'hosts.gpu-01.sudo| is "yes"; expected true or false',
        'hosts.gpu-01.user| is "bot; reboot"; expected a login name',
      ],
    ],
    [
      'has empty places',
      'defaults:\nhosts:\n  gpu-01:\n',
      [
        'defaults| is empty; expected keys',
        'hosts.gpu-01| is empty; expected keys with values below it > indent its keys',
      ],
    ],
    [
      'says act for all hosts at once',
      `defaults: {mode: act, look: ${LOOK}}\nhosts: {gpu-01: {}}`,
      ['defaults.mode| is "act"; expected no mode among the defaults'],
    ],
    [
      'names no key and nobody to log in as',
      'hosts: {gpu-01: {}, gpu-02: {user: bot, look: {user: bot}}}',
      ['hosts.gpu-01.look.user| is missing', 'hosts.gpu-01.look| names no key', 'hosts.gpu-02.look| names no key'],
    ],
    [
      'names a key twice over',
      `hosts: {gpu-01: {look: {user: bot, keyFile: x, agent: {}}}, gpu-02: {look: {user: bot, agent: {}, passphraseEnv: X}}}`,
      [
        'hosts.gpu-01.look| names both keyFile and agent',
        'hosts.gpu-02.look.agent| names no socket, and SSH_AUTH_SOCK is not set',
        'hosts.gpu-02.look.passphraseEnv| stands beside an agent',
      ],
    ],
    [
      'puts the passphrase where its variable belongs, and is not told so aloud',
      `hosts: {gpu-01: {look: {user: bot, keyFile: ~/.ssh/gpu-look, passphraseEnv: hunter2}}}`,
      ['hosts.gpu-01.look.passphraseEnv| is something else; expected the NAME of an environment variable'],
    ],
    [
      'acts without a credential, and without an answer on sudo',
      `defaults: {look: ${LOOK}}
hosts:
  gpu-01: {mode: act}
  gpu-02: {mode: act, act: {user: bot, keyFile: ~/.ssh/gpu-look}}
  gpu-03: {mode: act, sudo: false, act: {user: bot, keyFile: ~/.ssh/gpu-look}}
  gpu-04: {mode: act, act: {user: root, keyFile: ~/.ssh/gpu-look}}`,
      [
        'hosts.gpu-01.act| is missing, and the host is in mode act',
        'hosts.gpu-02.sudo| is not said, and bot alone can',
      ],
    ],
    [
      'gives one machine two names',
      `defaults: {look: ${LOOK}}
hosts: {a: {address: GPU.lab}, b: {address: gpu.lab.}, c: {address: gpu.lab, port: 2222}, gpu.lab: {}}`,
      ['hosts.b.address| is gpu.lab port 22, as is a', 'hosts.gpu.lab.address| is gpu.lab port 22, as is a'],
    ],
    [
      'calls a group like a host',
      `defaults: {look: ${LOOK}, groups: [a]}\nhosts: {a: {}, b: {groups: [a, c]}}`,
      ['defaults.groups| names a, which is a host', 'hosts.b.groups| names a, which is a host'],
    ],
    [
      'names files that are not there, once however many hosts use them',
      `defaults: {user: bot, look: {keyFile: nokey}, knownHosts: nofile}\nhosts: {a: {}, b: {}, c: {}}`,
      [
        'defaults.knownHosts| .config/gpu-reclaim/nofile cannot be read',
        'defaults.look.keyFile| .config/gpu-reclaim/nokey is not there > ssh-keygen -t ed25519',
      ],
    ],
    [
      'has a wrong port, which does not hide its missing key file, and a mistyped key file, which is not told twice',
      `hosts: {a: {port: ssh, look: {user: bot, keyFile: nokey}}, b: {look: {user: bot, keyFile: 7}}}`,
      [
        'hosts.a.look.keyFile| .config/gpu-reclaim/nokey is not there',
        'hosts.a.port| is "ssh"',
        'hosts.b.look.keyFile| is 7; expected a path',
      ],
    ],
    [
      'pins a key beside known_hosts',
      `hosts: {a: {look: ${LOOK}, knownHosts: x, hostKeys: [${pinned('ssh-ed25519')}]}}`,
      ['hosts.a.knownHosts| stands beside hostKeys'],
    ],
    [
      'pins a key whose inside is of another type, is cut off, or is missing',
      `hosts: {a: {look: ${LOOK}, hostKeys: ["${pinned('ssh-rsa').replace('ssh-rsa', 'ssh-ed25519')}", "${pinned('ssh-ed25519').slice(0, -8)}", 7]}, b: {look: ${LOOK}, hostKeys: []}}`.replace(
        'b: {',
        'b: {address: b2, ',
      ),
      [
        'hosts.a.hostKeys[0]| expected a public host key',
        'hosts.a.hostKeys[1]| expected a public host key',
        'hosts.a.hostKeys[2]| is 7; expected a public host key',
        'hosts.b.hostKeys| names no key',
      ],
    ],
  ])('%s', (_, text, expected) => {
    folder.write(HOSTS, text);
    compare(mistakes(), expected);
  });
});

describe('a wrong policy file: the whole list of its mistakes', () => {
  test.each<[string, string, readonly string[]]>([
    ['is no YAML', 'grace: [', ['| no right YAML at line 1']],
    [
      'has unknown keys',
      'grase: 30s\nlimits: {openRun: 3}',
      ['grase| not known > did you mean `grace`?', 'limits.openRun| not known > did you mean `openRuns`?'],
    ],
    [
      'names one person twice, one alone, and by a name',
      'samePerson: [[os:anna, slack:U024BE7LH], [os:anna, slack:U024BE7LJ]]',
      ['samePerson| names os:anna twice'],
    ],
    [
      'names one person by one id, and by a display name',
      'samePerson: [[os:anna], [os:bo, "@bo"]]',
      ['samePerson[0]| names fewer than two ids', 'samePerson[1][1]| is "@bo"; expected os:LOGIN or slack:USER-ID'],
    ],
    [
      'has wrong values of every kind',
      `approvers: [anna, "@anna", os:root user, slack:anna, slack-group:U024BE7LH, 7]
selfGo: maybe
grace: 30
profilerGrace: 3 minutes
approval: 2d
verify: 20m
lookAgain: 1m
lateAfter: 1h
baselineMiB: -1
toleranceMiB: 1.5
limits: {targets: 0, runsPerPersonWithin: ten}
workloads: {vllm: [vl], x: ["tab\\tbed", " led", ok-literal], y: vllm}
protected: [{executables: [bin/x, /opt/../x, "/opt/*/x*y"], uids: [], units: ["a/b"]}, {name: x, uids: [root]}]`,
      [
        'approvers[0]| is "anna"; expected os:LOGIN',
        'approvers[1]| is "@anna"; expected os:LOGIN, slack:USER-ID or slack-group:GROUP-ID; Slack ids, since names',
        'approvers[2]| is "os:root user"',
        'approvers[3]| is "slack:anna"',
        'approvers[4]| is "slack-group:U024BE7LH"',
        'approvers[5]| is 7',
        'approval| is "2d"; expected a duration from 30s to 24h',
        'baselineMiB| is -1; expected a whole number',
        'grace| is 30; expected a duration from 1s to 1h: digits and one of ms, s, m, h > write for example 30s',
        'lateAfter| is "1h"; expected a duration from 1s to 2m',
        'limits.runsPerPersonWithin| is "ten"',
        'limits.targets| is 0; expected a whole number from 1',
        'lookAgain| is "1m"; expected a list',
        'profilerGrace| is "3 minutes"',
        'protected[0].executables[0]| is "bin/x"; expected the absolute path',
        'protected[0].executables[1]| is "/opt/../x"',
        'protected[0].executables[2]| is "/opt/*/x*y"',
        'protected[0].name| is empty; expected a short name',
        'protected[0].uids| names no uid: nothing could match it',
        'protected[0].units[0]| is "a/b"; expected a unit',
        'protected[1].uids[0]| is "root"; expected a whole number',
        'selfGo| is "maybe"; expected true or false',
        'toleranceMiB| is 1.5; expected a whole number',
        'verify| is "20m"; expected a duration from 1s to 10m',
        'workloads.vllm[0]| is "vl"; expected a literal of 3 to 64',
        'workloads.x[0]| is "tab\\tbed"',
        'workloads.x[1]| is " led"',
        'workloads.y| is "vllm"; expected a list',
      ],
    ],
    [
      'has a ladder that cannot be climbed',
      'grace: 10s\nmemberDelay: 11s\nprofilerGrace: 9s\nverify: 5s\nlookAgain: [1m, 1m]',
      [
        'lookAgain| does not grow',
        'memberDelay| is longer than grace',
        'profilerGrace| is shorter than grace',
        'stalled| is longer than verify',
      ],
    ],
    [
      'protects nothing, or the same twice',
      'protected: [{name: x}, {name: DCGM, units: [other.service]}]',
      ['protected| "x" covers nothing', 'protected| has a second "DCGM"'],
    ],
  ])('%s', (_, text, expected) => {
    folder.write(HOSTS, RIGHT);
    folder.write(POLICY, text);
    compare(mistakes(), expected);
  });
});

describe('files and the environment', () => {
  test('a hosts file that is not there says how to get one', () => {
    expect(mistakes()).toEqual([
      {
        file: folder.path(HOSTS),
        path: '',
        problem: 'is not there, so no host is known',
        wayOut: `cp hosts.example.yaml ${folder.path(HOSTS)} and edit it, or name another file in GPU_RECLAIM_HOSTS`,
      },
    ]);
  });

  test('a policy file may be missing where nobody named it, and must be there where somebody did', () => {
    folder.write(HOSTS, RIGHT);
    expect(mistakes()).toEqual([]);
    compare(mistakes({GPU_RECLAIM_POLICY: 'p.yaml'}), ['| is not there, and GPU_RECLAIM_POLICY names it']);
  });

  test('mistakes of both files and of the environment come in one list', () => {
    folder.write(HOSTS, `hosts: {gpu-01: {look: ${LOOK}, port: 0}}`);
    folder.write(POLICY, 'grace: 0s');
    const found = mistakes({GPU_RECLAIM_LOG_LEVEL: 'loud', GPU_RECLAIM_HOST: 'x'});
    expect(found.map(({file, path}) => `${file.replace(/.*\//, '')}: ${path}`).sort()).toEqual([
      'environment: GPU_RECLAIM_HOST',
      'environment: GPU_RECLAIM_LOG_LEVEL',
      'hosts.yaml: hosts.gpu-01.port',
      'policy.yaml: grace',
    ]);
    expect(found.find(({path}) => path === 'GPU_RECLAIM_HOST')?.wayOut).toBe('did you mean GPU_RECLAIM_HOSTS?');
  });

  test('a mistyped variable is told although it is why the hosts file is not found', () => {
    compare(mistakes({GPU_RECLAIM_HOST: '/etc/hosts.yaml'}), ['| is not there', 'GPU_RECLAIM_HOST| not known']);
  });

  test('a passphrase that the hosts file asks for is told by the name of its variable', () => {
    folder.write(HOSTS, `hosts: {a: {look: {user: bot, keyFile: ~/.ssh/gpu-act, passphraseEnv: GPU_RECLAIM_PASS}}}`);
    compare(mistakes(), ['hosts.a.look.passphraseEnv| names GPU_RECLAIM_PASS, which is not set']);
    expect(mistakes({GPU_RECLAIM_PASS: 'x'})).toEqual([]);
  });

  test.each<[string, string, number, string]>([
    ['open to everybody', keyText('none'), 0o604, 'is open to every user of this machine > chmod 600'],
    ['encrypted, without a passphrase', keyText('aes256-ctr'), 0o600, 'needs a passphrase > write passphraseEnv'],
    ['encrypted PEM', '-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n', 0o600, 'needs a passphrase'],
    ['the public half', 'ssh-ed25519 AAAA bot\n', 0o600, 'is the public half'],
    ['something else', 'hello\n', 0o600, 'is no private key'],
    ['empty', '', 0o600, 'is no private key'],
  ])('a key file that is %s is refused', (_, text, mode, expected) => {
    folder.write('key', text, mode);
    folder.write(HOSTS, `hosts: {a: {look: {user: bot, keyFile: ~/key}}}`);
    compare(mistakes(), [`hosts.a.look.keyFile| key ${expected}`]);
  });

  test('a hosts file that everybody may write is refused', () => {
    folder.write(HOSTS, RIGHT, 0o606);
    compare(mistakes(), ['| can be written by everybody, and it decides where signals go > chmod o-w']);
  });

  test.each<[string, (path: string) => void, string]>([
    ['a folder', (path) => folder.write(`${path}/x`, ''), 'is no regular file'],
    ['a device', (path) => folder.link(path, '/dev/zero'), 'is no regular file'],
    ['a loop of links', (path) => folder.link(path, folder.path(path)), 'cannot be read: ELOOP'],
    ['text in another encoding', (path) => folder.write(path, Buffer.from([0x61, 0xff])), 'is not UTF-8 text'],
    ['huge', (path) => folder.write(path, '#'.repeat(5_000_000)), 'has 5000000 bytes'],
    ['a bomb of aliases', (path) => folder.write(path, bomb()), 'Excessive alias count'],
  ])('a hosts file that is %s is told, not thrown', (_, make, expected) => {
    make(HOSTS);
    compare(mistakes(), [`| ${expected}`]);
  });
});

function mistakes(env: Readonly<Record<string, string>> = {}): readonly ConfigMistake[] {
  const config = loadConfig({HOME: folder.home, ...env}, folder.home);
  if (config.ok) return [];
  if (config.failure.reason !== 'config-bad') throw new Error(`Internal error: ${config.failure.reason}`);
  return config.failure.mistakes;
}

/** `path| part of the problem > part of the way out`: every mistake has its line, and every line its mistake. */
function compare(found: readonly ConfigMistake[], expected: readonly string[]): void {
  const lines = found.map(({path, problem, wayOut}) =>
    `${path}| ${problem} > ${wayOut}`.replaceAll(`${folder.home}/`, ''),
  );
  const fits = (line: string, wanted: string) => {
    const [at = '', rest = ''] = split(wanted, '| ');
    const [problem = '', wayOut = ''] = split(rest, ' > ');
    const [foundAt = '', foundRest = ''] = split(line, '| ');
    const [foundProblem = '', foundWayOut = ''] = split(foundRest, ' > ');
    return at === foundAt && foundProblem.includes(problem) && foundWayOut.includes(wayOut);
  };
  expect({
    unexpected: lines.filter((line) => !expected.some((wanted) => fits(line, wanted))),
    missing: expected.filter((wanted) => !lines.some((line) => fits(line, wanted))),
    count: lines.length,
  }).toEqual({unexpected: [], missing: [], count: expected.length});
  expect(found.every(({file, problem, wayOut}) => file !== '' && problem !== '' && wayOut !== '')).toBe(true);
}

function split(text: string, by: string): readonly string[] {
  const at = text.indexOf(by);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + by.length)];
}

function pinned(type: string): string {
  const name = Buffer.from(type);
  const field = (bytes: Buffer) => Buffer.concat([Buffer.from([0, 0, 0, bytes.length]), bytes]);
  return `${type} ${Buffer.concat([field(name), field(Buffer.alloc(32, 7))]).toString('base64')}`;
}

function bomb(): string {
  const levels = Array.from({length: 12}, (_, n) => `a${n}: &a${n} [${`*a${n - 1},`.repeat(n === 0 ? 0 : 9)}x]`);
  return `${levels.join('\n')}\nhosts: {}\n`;
}
