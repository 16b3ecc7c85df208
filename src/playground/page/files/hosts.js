/** The host pane: memory per GPU and the processes on it, as the host's own kernel tells it. */
import {byId, el, svg} from './dom.js';

const MIB_PER_GIB = 1024;
/** How long a process that has ended stays on the list, and how far the line looks back. */
const REMEMBERED_MS = 120_000;
const SAMPLES = 90;
const WIDTH = 240;
const HEIGHT = 36;

const history = new Map();
const endedAt = new Map();
let latest = [];

export function showHosts(hosts) {
  latest = hosts;
  for (const {name, processes} of hosts)
    for (const {pid, alive} of processes) {
      const key = `${name} ${pid}`;
      if (alive) endedAt.delete(key);
      else if (!endedAt.has(key)) endedAt.set(key, Date.now());
    }
  byId('hosts-body').replaceChildren(...hosts.map(host));
}

/** Once a second: the line moves on also where nothing happens. */
export function tickHosts() {
  for (const one of latest) {
    const line = history.get(one.name) ?? [];
    line.push(usedOf(one));
    if (line.length > SAMPLES) line.shift();
    history.set(one.name, line);
    byId('hosts-body')
      .querySelector(`[data-host="${CSS.escape(one.name)}"] .line`)
      ?.replaceChildren(drawnLine(one));
  }
  for (const [key, at] of endedAt)
    if (Date.now() - at > REMEMBERED_MS)
      byId('hosts-body')
        .querySelector(`[data-process="${CSS.escape(key)}"]`)
        ?.remove();
}

function usedOf(one) {
  return one.gpus.reduce((sum, gpu) => sum + gpu.usedMiB, 0);
}

function totalOf(one) {
  return one.gpus.reduce((sum, gpu) => sum + gpu.totalMiB, 0);
}

function host(one) {
  const shown = one.processes.filter(
    ({pid, alive}) => alive || Date.now() - (endedAt.get(`${one.name} ${pid}`) ?? 0) < REMEMBERED_MS,
  );
  const alive = shown.filter((process) => process.alive).length;
  return el(
    'section',
    {class: 'host', 'data-host': one.name, 'aria-label': `Host ${one.name}`},
    el('h3', {}, one.name, el('span', {class: 'quiet'}, ` ${gib(usedOf(one))} of ${gib(totalOf(one))} GiB in use`)),
    el('div', {class: 'line', 'aria-hidden': 'true'}, drawnLine(one)),
    el('ul', {class: 'gpus', 'aria-label': `GPU memory of ${one.name}`}, ...one.gpus.map(gpu)),
    el('h4', {}, `Processes`, el('span', {class: 'quiet'}, ` ${alive} alive`)),
    el('ul', {class: 'processes'}, ...shown.map((process) => processLine(one.name, process))),
  );
}

/** The last minute and a half of all memory together. */
function drawnLine(one) {
  const samples = history.get(one.name) ?? [];
  const total = Math.max(1, totalOf(one));
  const points = samples.map((used, index) => {
    const x = WIDTH - (samples.length - 1 - index) * (WIDTH / (SAMPLES - 1));
    return `${x.toFixed(1)},${(HEIGHT - 1 - (used / total) * (HEIGHT - 2)).toFixed(1)}`;
  });
  return svg(
    'svg',
    {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none'},
    svg('polyline', {points: points.join(' '), class: 'curve'}),
  );
}

function gpu(one) {
  const share = one.totalMiB === 0 ? 0 : Math.min(1, one.usedMiB / one.totalMiB);
  const bar = el('span', {class: 'fill'});
  bar.style.width = `${Math.round(share * 1000) / 10}%`;
  return el(
    'li',
    {'data-gpu': one.index},
    el('span', {class: 'index'}, `GPU ${one.index}`),
    el('span', {class: 'bar', 'aria-hidden': 'true'}, bar),
    el('span', {class: 'amount'}, one.usedMiB === 0 ? 'free' : `${one.usedMiB.toLocaleString('en')} MiB`),
  );
}

function processLine(hostName, one) {
  const {pid, name, user, gpus, alive, state, what} = one;
  const where = gpus.length === 0 ? '' : ` · GPU ${gpus.join(', ')}`;
  return el(
    'li',
    {class: alive ? 'alive' : 'ended', 'data-pid': pid, 'data-process': `${hostName} ${pid}`},
    el('span', {class: 'name'}, `${pid} ${name}`),
    el(
      'span',
      {class: 'quiet'},
      [alive ? (state ?? 'alive') : 'ended', user].join(' · '),
      where,
      what === undefined || what === name ? '' : ` · ${what}`,
    ),
  );
}

function gib(mib) {
  return (mib / MIB_PER_GIB).toFixed(0);
}
