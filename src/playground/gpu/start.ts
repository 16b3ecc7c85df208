/**
 * `npm run e2e:gpu`: bundles the zoo and runs the bundle here. `--bundle` only makes it, with Node beside it, to be carried;
 * `--page` writes docs/gpu-results.md from the raw files in docs/gpu-results.
 */
import {spawnSync} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {bundleZoo, packNode} from './bundle.ts';
import {PAGE, RAW, readRaw} from './raw-files.ts';
import {renderResults} from './results-page.ts';

const FOLDER = fileURLToPath(new URL('../../../dist/gpu', import.meta.url));
const words = process.argv.slice(2);

if (words.includes('--page')) {
  writeFileSync(PAGE, renderResults(readRaw(RAW)));
} else if (words.includes('--bundle')) {
  bundleZoo(FOLDER);
  const node = packNode(FOLDER);
  const unpack = node.endsWith('.xz') ? 'lzma' : 'gzip';
  process.stdout.write(`${FOLDER} is all that travels. There, as root:
python3 -c "import ${unpack},shutil; shutil.copyfileobj(${unpack}.open('dist/gpu/${node}'),open('/tmp/node','wb'))" && chmod +x /tmp/node && /tmp/node dist/gpu/e2e.js --out OUT
`);
} else {
  bundleZoo(FOLDER);
  const ended = spawnSync(process.execPath, [join(FOLDER, 'e2e.js'), ...words], {stdio: 'inherit'});
  process.exitCode = ended.status ?? 1;
}
