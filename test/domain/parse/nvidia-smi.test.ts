import {describe, expect, it} from 'vitest';
import {
  busId,
  gpuUuid,
  parseCharges,
  parseFigure,
  parseGpus,
  parseInstances,
  parseMinors,
  placeInstances,
} from '../../../src/domain/parse/nvidia-smi.ts';
import {parseSmiAnswer, smiState} from '../../../src/domain/parse/smi-answer.ts';

const UUID = 'GPU-00000000-1111-2222-3333-444444444444';
const OTHER = 'GPU-00000000-1111-2222-3333-555555555555';
const FIELDS = 'index,uuid,pci.bus_id,name,memory.total,memory.used,utilization.gpu,driver_version'.split(',');
const row = (cells: Partial<Record<'index' | 'uuid' | 'bus' | 'name' | 'total' | 'used' | 'busy', string>>): string =>
  [
    cells.index ?? '0',
    cells.uuid ?? UUID,
    cells.bus ?? '00000000:00:06.0',
    cells.name ?? 'NVIDIA H200',
    cells.total ?? '143771',
    cells.used ?? '4623',
    cells.busy ?? '3',
    '580.159.04',
  ].join(', ');

describe('a figure of nvidia-smi', () => {
  it.each([
    ['143771', 143771],
    ['616 MiB', 616],
    ['0', 0],
    ['100 %', 100],
    [' 7 ', 7],
    ['103.70', 103.7],
  ])('reads %j as %d, units or not', (text, value) => {
    expect(parseFigure(text)).toEqual({known: true, value});
  });

  it.each([
    ['[N/A]', 'not-supported'],
    ['N/A', 'not-supported'],
    ['[Not Supported]', 'not-supported'],
    ['Not Supported', 'not-supported'],
    ['-', 'not-supported'],
    ['[Insufficient Permissions]', 'no-permission'],
    ['[Unknown Error]', 'fault'],
    ['[GPU is lost]', 'fault'],
    ['[GPU requires reset]', 'fault'],
    ['ERR!', 'fault'],
    ['Requested functionality has been deprecated', 'unreadable'],
    ['', 'unreadable'],
    ['-5', 'unreadable'],
    ['1e9', 'unreadable'],
  ])('never takes %j for a number: %s', (token, why) => {
    expect(parseFigure(token)).toEqual({known: false, why, token});
  });
});

describe('rows of the GPU query', () => {
  it('reads a plain row', () => {
    const {gpus, faults} = parseGpus(FIELDS, [row({})], [{uuid: UUID, busId: '00000000:00:06.0', minor: 4}]);
    expect(faults).toEqual([]);
    expect(gpus[0]).toMatchObject({
      uuid: UUID,
      index: 0,
      minor: 4,
      usedMiB: {known: true, value: 4623},
      reservedMiB: {known: false, why: 'not-supported'},
      fault: null,
    });
  });

  it('keeps commas in a card name and the fields on both sides of it', () => {
    const [gpu] = parseGpus(FIELDS, [row({name: 'Board, revision 2, OEM'})], []).gpus;
    expect(gpu).toMatchObject({name: 'Board, revision 2, OEM', totalMiB: {value: 143771}, driverVersion: '580.159.04'});
  });

  it('keeps the good fields of a row whose utilisation alone is an unknown error', () => {
    const [gpu] = parseGpus(FIELDS, [row({busy: '[Unknown Error]'})], []).gpus;
    expect(gpu).toMatchObject({usedMiB: {value: 4623}, utilizationPercent: {why: 'fault'}, fault: null});
  });

  it('does not trust 0 MiB beside "GPU requires reset"', () => {
    expect(parseGpus(FIELDS, [row({used: '0', busy: '[GPU requires reset]'})], []).gpus[0]?.fault).toBe(
      '[GPU requires reset]',
    );
  });

  it('takes a row without a key for a fault, and a sentence between rows as well, and keeps the rows around them', () => {
    const lost = FIELDS.map(() => '[Unknown Error]').join(', ');
    const sentence = 'Unable to determine the device handle for GPU0000:02:00.0: Unknown Error';
    const {gpus, faults} = parseGpus(FIELDS, [row({}), sentence, lost, row({uuid: OTHER, index: '1'})], []);
    expect(gpus.map((gpu) => gpu.uuid)).toEqual([UUID, OTHER]);
    expect(faults).toEqual([sentence, lost]);
  });

  it('finds the key of a row that lost its UUID by its place on the bus', () => {
    const minors = [{uuid: OTHER, busId: '00000000:02:00.0', minor: 1}];
    const [gpu] = parseGpus(FIELDS, [row({uuid: '[GPU is lost]', bus: '00000000:02:00.0'})], minors).gpus;
    expect(gpu).toMatchObject({uuid: OTHER, fault: '[GPU is lost]'});
  });

  it('reads memory that is not counted by this driver as not supported, not as 0', () => {
    expect(parseGpus(FIELDS, [row({total: '[N/A]', used: '[N/A]'})], []).gpus[0]).toMatchObject({
      usedMiB: {known: false, why: 'not-supported'},
      fault: null,
    });
  });
});

describe('rows of the charges query', () => {
  it.each([
    ['a live process', `${UUID}, 490, python3, 4614`, 490, 'python3', {known: true, value: 4614}],
    ['units', `${UUID}, 490, python3, 4614 MiB`, 490, 'python3', {known: true, value: 4614}],
    ['a dead PID', `${UUID}, 768, [Not Found], 4614`, 768, '[Not Found]', {known: true, value: 4614}],
    ['a zombie leader', `${UUID}, 963, [No data], 4614`, 963, '[No data]', {known: true, value: 4614}],
    ['commas', `${UUID}, 5, /opt/py, with, commas, 12`, 5, '/opt/py, with, commas', {known: true, value: 12}],
    [
      'no figure',
      `${UUID}, 63488, [Not Found], [N/A]`,
      63488,
      '[Not Found]',
      {known: false, why: 'not-supported', token: '[N/A]'},
    ],
    [
      'no permission',
      `${UUID}, 524, [Insufficient Permissions], 9`,
      524,
      '[Insufficient Permissions]',
      {known: true, value: 9},
    ],
  ])('reads a row with %s', (_, line, pid, name, usedMiB) => {
    expect(parseCharges([line])).toEqual({charges: [{gpuUuid: UUID, pid, name, usedMiB}], others: []});
  });

  it.each([`${UUID}, -, -, -`, `${UUID}, 0, x, 5`, 'No running processes found', `, 5, x, 5`, `${UUID}, 12 34, x, 5`])(
    'takes %j for no charge',
    (line) => {
      expect(parseCharges([line])).toEqual({charges: [], others: [line.trim()]});
    },
  );

  it('keeps one row for each GPU of a process, MIG instances under their own key', () => {
    const mig = 'MIG-aaaaaaaa-1111-2222-3333-444444444444';
    const {charges} = parseCharges([`${UUID}, 5, a, 1`, `${OTHER}, 5, a, 2`, `${mig}, 6, b, 3`]);
    expect(charges.map(({gpuUuid, pid}) => [gpuUuid, pid])).toEqual([
      [UUID, 5],
      [OTHER, 5],
      [mig, 6],
    ]);
  });
});

describe('bills on MIG instances', () => {
  const MIG = 'MIG-feb88891-0321-5fef-9c87-d4af3b54259e';
  const SECOND = 'MIG-a25704ba-3a06-5299-a795-fd7cf4d13973';
  const LIST = [
    `GPU 0: NVIDIA A100-SXM4-80GB (UUID: ${UUID})`,
    `  MIG 1g.10gb     Device  0: (UUID: ${MIG})`,
    `GPU 1: NVIDIA A100-SXM4-80GB (UUID: ${OTHER})`,
    `  MIG 3g.20gb     Device  0: (UUID: ${SECOND})`,
  ];
  const gpus = (...modes: readonly string[]) =>
    parseGpus(
      ['index', 'uuid', 'mig.mode.current'],
      modes.map((mode, index) => `${index}, ${index === 0 ? UUID : OTHER}, ${mode}`),
      [],
    ).gpus;
  const placed = (uuid: string, modes: readonly string[], list: readonly string[] = []) =>
    placeInstances(parseCharges([`${uuid}, 5, python, 9807`]).charges, gpus(...modes), parseInstances(list))[0];

  it('reads from the list which GPU an instance is a part of', () => {
    expect([...parseInstances(LIST)]).toEqual([
      [MIG, UUID],
      [SECOND, OTHER],
    ]);
    expect([...parseInstances([`  MIG 1g.10gb Device 0: (UUID: ${MIG})`, 'GPU 0: (UUID: none)', 'a line'])]).toEqual(
      [],
    );
  });

  it.each<[string, string, readonly string[], readonly string[], string]>([
    ['by the list', SECOND, ['Enabled', 'Enabled'], LIST, OTHER],
    [
      'by the instance’s own name, as drivers before 470 print it',
      `MIG-${OTHER}/7/0`,
      ['Enabled', 'Enabled'],
      [],
      OTHER,
    ],
    ['as the only GPU that is split', MIG, ['Disabled', 'Enabled'], [], OTHER],
    ['not at all, and keeps its own name', MIG, ['Enabled', 'Enabled'], [], MIG],
    [
      'not to a GPU that no row names',
      `MIG-GPU-99999999-1111-2222-3333-444444444444/7/0`,
      ['Enabled', 'Enabled'],
      [],
      'MIG-GPU-99999999-1111-2222-3333-444444444444/7/0',
    ],
    ['not where no GPU is split', MIG, ['[N/A]', '[N/A]'], [], MIG],
  ])('are put to a GPU %s', (_, uuid, modes, list, gpuUuid) => {
    expect(placed(uuid, modes, list)).toMatchObject({gpuUuid, instance: uuid, pid: 5, usedMiB: {value: 9807}});
  });

  it('leave other bills as they are', () => {
    expect(placed(UUID, ['Disabled', 'Enabled'])).toEqual({
      gpuUuid: UUID,
      pid: 5,
      name: 'python',
      usedMiB: {known: true, value: 9807},
    });
  });
});

describe('names of GPUs', () => {
  it.each([
    ['0000:09:00.0', '00000000:09:00.0'],
    ['00000000:09:00.0', '00000000:09:00.0'],
    ['GPU0000:02:00.0', '00000000:02:00.0'],
    ['GPU 0000:0A:00.0', '00000000:0a:00.0'],
    ['[Unknown Error]', ''],
  ])('spells bus id %j as %j', (text, id) => expect(busId(text)).toBe(id));

  it('puts the digits of a UUID in lower case and refuses what is none', () => {
    expect(gpuUuid(' GPU-ABCDEF00-1111-2222-3333-444444444444')).toBe('GPU-abcdef00-1111-2222-3333-444444444444');
    expect(gpuUuid('[GPU is lost]')).toBeNull();
  });

  it('reads which device file is which GPU from the driver', () => {
    const at = '/proc/driver/nvidia/gpus/0000:00:06.0/information';
    expect(
      parseMinors([`${at}:GPU UUID: \t ${UUID}`, `${at}:Bus Location: \t 0000:00:06.0`, `${at}:Device Minor: \t 0`]),
    ).toEqual([{uuid: UUID, busId: '00000000:00:06.0', minor: 0}]);
  });
});

describe('whether nvidia-smi answered', () => {
  const answer = (rc: number, ...lines: string[]) =>
    parseSmiAnswer(['@fields a,b', '@pid 7 6', ...lines, '', `@rc ${rc}`].join('\n'));
  const fine = answer(0, 'row');

  it.each([
    ['good rows', fine, 1, 'answered', 0],
    ['good rows although one GPU failed', answer(255, 'row', 'Unable to determine …'), 1, 'answered', 255],
    ['no devices', answer(6, 'No devices were found'), 0, 'failed', 6],
    ['nothing, with exit code 0', answer(0), 0, 'failed', 0],
    [
      'another driver version',
      answer(18, 'Failed to initialize NVML: Driver/library version mismatch', 'NVML library version: 535.161'),
      0,
      'failed',
      18,
    ],
    ['no NVML', answer(255, 'Failed to initialize NVML: Unknown Error'), 0, 'failed', 255],
    ['no end', parseSmiAnswer('@fields a\n@pid 7 6\n0, half a r'), 0, 'timed-out', null],
    ['nothing at all', parseSmiAnswer(''), 0, 'timed-out', null],
    ['missing', parseSmiAnswer('@missing\n@rc 127'), 0, 'missing', null],
    ['still stuck', parseSmiAnswer('@stuck 812\n@rc 75'), 0, 'still-stuck', null],
  ] as const)('%s', (_, gpus, rows, state, exitCode) => {
    expect(smiState(gpus, rows, fine, 0)).toMatchObject({state, exitCode});
  });

  it('is blind when the charges did not come, whatever the totals say', () => {
    expect(smiState(fine, 1, parseSmiAnswer('@fields a\n'), 0).state).toBe('timed-out');
    expect(smiState(fine, 1, answer(4, 'Insufficient Permissions'), 0).state).toBe('failed');
  });

  it('keeps what a mismatched driver said, and counts the last call only', () => {
    const twice = parseSmiAnswer(
      '@fields a,b,c\n@pid 7 6\nField "c" is not a valid field to query.\n\n@rc 2\n@fields a,b\n@pid 9 6\n1, 2\n\n@rc 0',
    );
    expect(twice).toEqual({state: 'answered', exitCode: 0, fields: ['a', 'b'], lines: ['1, 2'], pids: [7, 9]});
    expect(smiState(answer(18, 'Driver/library version mismatch'), 0, fine, 0).note).toContain('mismatch');
  });
});
