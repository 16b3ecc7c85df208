/** Whether a page can be read: contrast as WCAG computes it, and names for whatever can be used, as the browser tells them. */
import type {Page} from 'playwright-core';

/** Runs in the page: every visible piece of text whose contrast is below AA, as `ratio text (selector)`. */
const TOO_FAINT = `(() => {
  const parse = (text) => {
    const n = (text.match(/-?[\\d.]+(?:e-?\\d+)?/g) ?? []).map(Number);
    if (text.startsWith('color(')) return [n[0] * 255, n[1] * 255, n[2] * 255, n[3] ?? 1];
    return [n[0], n[1], n[2], n[3] ?? 1];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const backOf = (node) => {
    const layers = [];
    for (let at = node; at !== null; at = at.parentElement) layers.push(parse(getComputedStyle(at).backgroundColor));
    const base = matchMedia('(prefers-color-scheme: dark)').matches ? [18, 18, 18, 1] : [255, 255, 255, 1];
    return layers.reduceRight((below, layer) => over(layer, below), base);
  };
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const found = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let seen = 0;
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const words = node.textContent.trim();
    const parent = node.parentElement;
    if (words === '' || /^\\p{Extended_Pictographic}+$/u.test(words) || parent.closest('script, noscript, .unseen, .skip') !== null) continue;
    if (!parent.checkVisibility({visibilityProperty: true, opacityProperty: true})) continue;
    seen += 1;
    const style = getComputedStyle(parent);
    const back = backOf(parent);
    const ink = over(parse(style.color), back);
    const [one, two] = [light(ink), light(back)].sort((a, b) => b - a);
    const ratio = (one + 0.05) / (two + 0.05);
    const size = Number.parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) found.add(ratio.toFixed(2) + ' ' + words.slice(0, 30) + ' (' + parent.tagName + '.' + parent.className + ')');
  }
  return {seen, found: [...found]};
})()`;

export async function tooFaint(page: Page): Promise<readonly string[]> {
  const {seen, found} = await page.evaluate<{seen: number; found: readonly string[]}>(TOO_FAINT);
  if (seen < 10) throw new Error(`only ${seen} pieces of text were looked at`);
  return found;
}

const USABLE = new Set([
  'button',
  'link',
  'textbox',
  'checkbox',
  'radio',
  'combobox',
  'listbox',
  'menuitem',
  'tab',
  'dialog',
  'image',
  'spinbutton',
  'table',
  'group',
  'navigation',
  'complementary',
  'log',
]);

interface Node {
  readonly ignored: boolean;
  readonly role?: {readonly value: string};
  readonly name?: {readonly value: string};
}

/** Whatever can be used or looked at and has no name in the browser's own accessibility tree. */
export async function nameless(page: Page): Promise<{readonly count: number; readonly nameless: readonly string[]}> {
  const session = await page.context().newCDPSession(page);
  const {nodes} = (await session.send('Accessibility.getFullAXTree')) as {readonly nodes: readonly Node[]};
  await session.detach();
  const usable = nodes.filter((node) => !node.ignored && USABLE.has(node.role?.value ?? ''));
  return {
    count: usable.length,
    nameless: usable
      .filter((node) => (node.name?.value ?? '').trim() === '' && node.role?.value !== 'group')
      .map((node) => node.role?.value ?? ''),
  };
}
