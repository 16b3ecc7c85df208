/** Results as a page: the same JSON always gives the same text. Every figure in it is one that was measured. */
import {type Results, type Row, strangersSignalled} from './results.ts';

const PRODUCT = 'gpu-reclaim';

export function renderResults(results: Results): string {
  const {machine, rows, missing} = results;
  const one = rows.filter((row) => row.product !== null && !isSeveral(row));
  const parts = [
    '# Every way GPU memory stays held, and who gets it back',
    [
      `${machine.gpus} x ${machine.gpu}, driver ${machine.driver}, Linux ${machine.kernel}, ${machine.date}.`,
      machine.standIn
        ? 'A lab host: memory and nvidia-smi are stand-ins, so its times say nothing about a driver.'
        : 'A real GPU. Written by `npm run e2e:gpu`; this page is made from the raw files beside it.',
    ].join(' '),
    'Each species is a child of a server that holds no GPU, all in one session. Beside it run three innocents: another user’s job, a detached trainer of the same user, a persistence daemon. Each row is a zoo of its own.',
    ...(one.length === 0 ? [] : [monitorLine(one)]),
    ...productTable('The server still runs', one.filter(first('alive'))),
    ...productTable('The server is dead, as after a crash', one.filter(first('dead'))),
    ...severalTable(rows),
    ...timing(results),
    ...cleaners(rows),
    ...(missing.length === 0 ? [] : ['## Not run, or failed', missing.map((line) => `- ${oneLine(line)}`).join('\n')]),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** The fourth innocent, which no table of others has: a script that asks NVML has device files open all the time. */
function monitorLine(rows: readonly Row[]): string {
  const hit = rows.filter((row) => strangersSignalled(row).length > 0).length;
  return `A script that asks NVML every 20 ms runs beside each of gpu-reclaim's rows; a signal to it, or to anybody else that is not of the zoo, went out in ${hit} of ${rows.length}.`;
}

/** For whoever waits at the terminal. */
export function rowLine(row: Row): string {
  const alive = Object.values(row.innocents).filter((one) => one).length;
  const product = row.product;
  const own =
    product === null
      ? ''
      : `, ${product.findings.join('+') || 'no finding'}, ${product.outcome}, ${product.requests} request${product.requests === 1 ? '' : 's'}, free ${figure(product.freedAfterMs)} ms after the last signal, teardown ${figure(product.teardownMs)} ms`;
  return `${row.cleaner}, ${row.species}, server ${row.server}: ${row.freed ? 'freed' : 'NOT freed'} (${row.heldMiB} -> ${row.afterMiB} MiB), innocents ${alive} of 3, server ${row.serverGone ? 'gone' : 'left alive'}${own}, ${row.seconds} s${strangersSignalled(row).length > 0 ? ', A STRANGER WAS SIGNALLED' : ''}`;
}

function first(server: Row['server']): (row: Row) => boolean {
  return (row) => row.server === server && row.nth === 1;
}

function productTable(title: string, rows: readonly Row[]): readonly string[] {
  if (rows.length === 0) return [];
  const head = [
    'species',
    'finding',
    'belongs by',
    'freed',
    'innocents alive',
    'server',
    'ms, last signal to verified free',
    'ms, teardown polled',
    'MiB before',
    'after',
    'of it innocents',
  ];
  const body = rows.map((row) => {
    const product = row.product;
    return [
      row.species,
      product?.findings.join(', ') || '-',
      `${product?.belonging ?? '-'}${product?.requests === 2 ? ' (second request)' : ''}`,
      row.freed ? 'yes' : '**no**',
      `${aliveOf(row)} of 3`,
      row.serverGone ? 'gone' : '**left alive**',
      figure(product?.freedAfterMs ?? null),
      figure(product?.teardownMs ?? null),
      String(row.heldMiB),
      String(row.afterMiB),
      String(row.innocentMiB),
    ];
  });
  return [`## ${title}`, table(head, body)];
}

function isSeveral(row: Row): boolean {
  return row.species.startsWith('ghost on ');
}

function severalTable(all: readonly Row[]): readonly string[] {
  const rows = all.filter(isSeveral);
  if (rows.length === 0) return [];
  const head = ['species', 'asked for', 'freed', 'workers elsewhere alive', 'innocents alive', 'server', 'outcome'];
  const body = rows.map((row) => {
    const spared = Object.values(row.spared);
    return [
      row.species,
      `GPU ${row.gpus.join(', ')}`,
      row.freed ? 'yes' : '**no**',
      spared.length === 0 ? '-' : `${spared.filter((alive) => alive).length} of ${spared.length}`,
      `${aliveOf(row)} of 3`,
      row.serverGone ? 'gone' : 'alive',
      row.product?.outcome ?? '-',
    ];
  });
  return ['## Several GPUs', table(head, body)];
}

function timing({rows, machine}: Results): readonly string[] {
  const timed = [...new Set(rows.filter((row) => row.product !== null && row.nth > 1).map((row) => row.species))];
  if (timed.length === 0) return [];
  const body = timed.map((species) => {
    const own = rows.filter((row) => row.species === species && row.product !== null && row.server === 'alive');
    const freed = own.flatMap((row) => row.product?.freedAfterMs ?? []);
    const teardown = own.flatMap((row) => row.product?.teardownMs ?? []);
    const limit = median(teardown) === null ? null : Math.round(1.5 * (median(teardown) ?? 0) + machine.smiMs);
    const measured = median(freed);
    return [
      species,
      freed.map(figure).join(', '),
      figure(measured),
      teardown.map(figure).join(', '),
      figure(median(teardown)),
      figure(limit),
      measured === null || limit === null ? 'unknown' : measured <= limit ? 'within' : `over by ${measured - limit} ms`,
    ];
  });
  const head = ['species', 'verified free, ms', 'median', 'teardown, ms', 'median', '1.5 × teardown + 1 call', ''];
  return [
    '## Time to verified free',
    `From the last signal, by the host’s clock, which counts in 10 ms. Teardown is what a poll of the driver every 20 ms saw in the same run. One nvidia-smi call took ${machine.smiMs} ms here.`,
    table(head, body),
  ];
}

function cleaners(rows: readonly Row[]): readonly string[] {
  const others = [...new Set(rows.filter((row) => row.product === null).map((row) => row.cleaner))];
  if (others.length === 0) return [];
  const names = [PRODUCT, ...others];
  const of = (name: string): readonly Row[] =>
    rows.filter((row) => row.cleaner === name && first('alive')(row) && !isSeveral(row));
  const head = [
    'cleaner',
    'freed',
    'not freed',
    'other user alive',
    'trainer alive',
    'daemon alive',
    'server gone',
    'ended with',
    'seconds, median',
  ];
  const body = names.map((name) => {
    const own = of(name);
    const count = (is: (row: Row) => boolean): string => `${own.filter(is).length} of ${own.length}`;
    return [
      name,
      count((row) => row.freed),
      own
        .filter((row) => !row.freed)
        .map((row) => row.species)
        .join(', ') || '-',
      count((row) => row.innocents['another user']),
      count((row) => row.innocents['detached trainer']),
      count((row) => row.innocents['persistence daemon']),
      count((row) => row.serverGone),
      [...new Set(own.map((row) => row.end))].join(', '),
      figure(median(own.map((row) => row.seconds))),
    ];
  });
  return ['## Beside what people type', table(head, body)];
}

function aliveOf(row: Row): number {
  return Object.values(row.innocents).filter((one) => one).length;
}

function median(figures: readonly number[]): number | null {
  const sorted = figures.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}

function figure(value: number | null): string {
  return value === null ? '-' : String(value);
}

function table(head: readonly string[], body: readonly (readonly string[])[]): string {
  const rows = [head, head.map(() => '---'), ...body];
  return rows.map((row) => `| ${row.map(oneLine).join(' | ')} |`).join('\n');
}

/** Text of a host or an error: one line, and no bar that would end a cell. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').trim();
}
