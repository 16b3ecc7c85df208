/**
 * The zoo: every way that GPU memory stays held, on a lab host, each beside three innocents, reclaimed by the production
 * program and held against a committed table. `npm run zoo`, or `npm run zoo -- --kind user --show 'in flight' stopped`:
 * the best kind of lab if none is said, all species if none is named, and with --show each report as a person reads it.
 */
import {parseArgs} from 'node:util';
import {FINDING_WORD} from '../report/wording.ts';
import {startLab} from './lab/lab.ts';
import {say} from './stage.ts';
import {ZOO_HOST} from './zoo-host.ts';
import type {Judged} from './zoo-judge.ts';
import {playRound, spawnInnocents} from './zoo-round.ts';
import {ZOO} from './zoo-table.ts';

const KINDS = ['root', 'user', 'flat'] as const;

async function main(): Promise<number> {
  const {values, positionals} = parseArgs({
    options: {kind: {type: 'string'}, show: {type: 'boolean'}},
    allowPositionals: true,
  });
  const kind = KINDS.find((one) => one === values.kind);
  const unknown = positionals.filter((name) => !ZOO.some((row) => row.species === name));
  if (unknown.length > 0 || (values.kind !== undefined && kind === undefined)) {
    say(`There are the kinds ${KINDS.join(', ')} and the species ${ZOO.map((row) => row.species).join(', ')}.`);
    return 2;
  }
  const rows = ZOO.filter((row) => positionals.length === 0 || positionals.includes(row.species));
  const lab = await startLab({name: ZOO_HOST, gpus: 1, ...(kind === undefined ? {} : {kind})});
  process.once('SIGINT', () => void lab.stop().then(() => process.exit(130)));
  try {
    say(`A ${lab.why}.`, 'Beside each: another user, a detached trainer of the same user, the persistence daemon.', '');
    const innocents = await spawnInnocents(lab);
    const judged: Judged[] = [];
    const skipped: string[] = [];
    for (const row of rows) {
      const missing = row.needs.filter((feature) => !lab.features.has(feature));
      if (missing.length > 0) {
        skipped.push(row.species);
        say(`${pad(row.species)} skipped: needs a lab with ${missing.join(', ')}`);
        continue;
      }
      const one = await playRound(lab, ZOO_HOST, row, innocents);
      judged.push(one);
      say(...(values.show === true ? ['', one.report.trimEnd(), ''] : []), ...linesOf(one));
    }
    return verdict(judged, skipped);
  } finally {
    await lab.stop();
  }
}

function linesOf(one: Judged): readonly string[] {
  const [first] = one.findings;
  const called = first === undefined ? 'not named' : FINDING_WORD[first];
  const soon = one.freedAfterMs === null ? '' : ` in ${one.freedAfterMs} ms`;
  const end = one.refused === null && one.freed ? `freed${soon}` : (one.refused ?? 'kept, no reason given');
  const harm = one.harmed.length === 0 ? '0 harmed' : one.harmed.join('; ');
  const head = `${pad(one.species)} ${called.padEnd(33)} ${end.padEnd(36)} ${harm}`;
  return one.broken.length === 0 ? [`${head}  ok`] : [`${head}  BROKEN`, ...one.broken.map((line) => `    ${line}`)];
}

function verdict(judged: readonly Judged[], skipped: readonly string[]): number {
  const broken = judged.filter((one) => one.broken.length > 0);
  const freed = judged.filter((one) => one.freed).length;
  const harmed = judged.flatMap((one) => one.harmed).length;
  const skips = skipped.length === 0 ? '' : `, ${skipped.length} skipped (${skipped.join(', ')})`;
  say(
    '',
    `${judged.length} species${skips}: ${freed} freed, ${harmed} innocents harmed, ${broken.length} not as the table demands.`,
  );
  return broken.length === 0 ? 0 : 1;
}

function pad(text: string): string {
  return text.padEnd(22);
}

process.exitCode = await main();
