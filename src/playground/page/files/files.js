/** Files below a message: a picture is shown, a text by its first lines; anything else by its name. */
import {el} from './dom.js';

const LINES = 12;
const KIB = 1024;

export function fileCards(files) {
  return files.map((file) => card(file));
}

/** Only what this Slack keeps itself is drawn: the page asks no other machine for anything. */
export function isOurs(url) {
  return url !== '' && URL.canParse(url, location.href) && new URL(url, location.href).origin === location.origin;
}

function card(file) {
  const url = file.url_private ?? '';
  const {mimetype = '', size = 0} = file;
  const title = file.title || file.name || 'a file';
  const foot = el(
    'figcaption',
    {},
    el('a', {href: url, download: file.name ?? '', 'data-key': `file-${file.id}`}, title),
    el('span', {class: 'quiet'}, `${kindOf(file)} · ${sizeOf(size)}`),
  );
  if (!isOurs(url)) return el('figure', {class: 'file'}, foot);
  if (/^image\/(png|jpeg|gif)$/.test(mimetype)) return picture(url, file.alt_txt || title, foot);
  const isText = mimetype.startsWith('text/') || mimetype === 'application/json';
  if (!isText) return el('figure', {class: 'file'}, foot);
  const text = el('pre', {tabindex: '0', 'aria-label': title}, 'Reading…');
  void preview(url, text);
  return el('figure', {class: 'file'}, text, foot);
}

/** Its words stand below it too: a picture alone says nothing to who cannot see it. */
export function picture(url, alt, foot) {
  const image = el('img', {src: url, alt, loading: 'lazy'});
  const figure = el('figure', {class: 'file picture'}, image, foot);
  image.addEventListener('error', () =>
    image.replaceWith(el('p', {class: 'quiet'}, `The picture did not come. ${alt}`)),
  );
  return figure;
}

async function preview(url, box) {
  const text = await fetch(url).then(
    (answer) => (answer.ok ? answer.text() : null),
    () => null,
  );
  if (text === null) {
    box.textContent = 'The file did not come.';
    return;
  }
  const lines = text.trimEnd().split('\n');
  const shorten = lines.length > LINES + 2;
  box.textContent = (shorten ? lines.slice(0, LINES) : lines).join('\n');
  if (!shorten) return;
  const more = el(
    'button',
    {
      type: 'button',
      class: 'plain',
      onclick: () => {
        box.textContent = lines.join('\n');
        more.remove();
      },
    },
    `Show all ${lines.length} lines`,
  );
  box.after(more);
}

function kindOf(file) {
  return (file.pretty_type || file.filetype || file.mimetype || 'file').toUpperCase();
}

function sizeOf(bytes) {
  if (bytes < KIB) return `${bytes} B`;
  return bytes < KIB * KIB ? `${Math.round(bytes / KIB)} kB` : `${(bytes / KIB / KIB).toFixed(1)} MB`;
}
