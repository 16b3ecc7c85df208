// @ts-check
// A program of its own: SVG on standard input, PNG on standard output. It ends with its picture, and its memory with it.
import {createRequire} from 'node:module';
import {fileURLToPath} from 'node:url';

/** @type {typeof import('@resvg/resvg-js')} */
const {Resvg} = createRequire(import.meta.url)('@resvg/resvg-js');

/** @type {Uint8Array[]} */
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);

const fontFiles = ['regular', 'bold'].map((weight) =>
  fileURLToPath(new URL(`./fonts/roboto-${weight}.ttf`, import.meta.url)),
);
// Two pixels for each of the picture's units: sharp on a phone. No font of this machine, so that all machines draw the same.
const picture = new Resvg(Buffer.concat(chunks).toString('utf8'), {
  fitTo: {mode: 'zoom', value: 2},
  font: {loadSystemFonts: false, fontFiles, defaultFontFamily: 'Roboto', sansSerifFamily: 'Roboto'},
});
process.stdout.write(picture.render().asPng());
