/** The host pane: memory per GPU and the processes on it, as the host's own kernel tells it. */
import {byId, el} from './dom.js';

const MIB_PER_GIB = 1024;

export function showHosts(hosts) {
  byId('hosts-body').replaceChildren(...hosts.map(host));
  byId('hosts-sum').textContent = hosts.map(summary).join(' · ');
}

function summary(one) {
  const used = one.gpus.reduce((sum, gpu) => sum + gpu.usedMiB, 0);
  const alive = one.processes.filter((process) => process.alive).length;
  return `${one.name}: ${gib(used)} GiB used, ${alive} alive`;
}

function host(one) {
  return el(
    'section',
    {class: 'host', 'data-host': one.name},
    el('h3', {}, one.name),
    el('ul', {class: 'gpus'}, ...one.gpus.map(gpu)),
    el('ul', {class: 'processes'}, ...one.processes.map(process)),
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

function process(one) {
  const where = one.gpus.length === 0 ? '' : ` · GPU ${one.gpus.join(', ')}`;
  return el(
    'li',
    {class: one.alive ? 'alive' : 'ended', 'data-pid': one.pid},
    el('span', {class: 'name'}, `${one.pid} ${one.name}`),
    el('span', {class: 'quiet'}, `${one.user}${where}${one.alive ? '' : ' · ended'}`),
  );
}

function gib(mib) {
  return (mib / MIB_PER_GIB).toFixed(mib >= 10 * MIB_PER_GIB || mib === 0 ? 0 : 1);
}
