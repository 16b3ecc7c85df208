/** Elements without innerHTML: whatever text comes from a host or a person stays text. */

export function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? '' : String(value));
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export function byId(id) {
  return document.getElementById(id);
}

/** For a drawing: SVG elements live in a namespace of their own. */
export function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
  node.append(...children);
  return node;
}

/** What has the focus now, to be found again after it was drawn anew. Returns what puts the focus back. */
export function rememberFocus() {
  const was = document.activeElement;
  if (!(was instanceof HTMLElement) || was === document.body) return () => undefined;
  const {key} = was.dataset;
  const ts = was.closest('[data-ts]')?.dataset.ts;
  const log = was.closest('.log')?.id;
  return () => {
    if (was.isConnected) return was.focus();
    const again =
      ts === undefined || log === undefined ? null : byId(log)?.querySelector(`[data-ts="${CSS.escape(ts)}"]`);
    (again?.querySelector(`[data-key="${CSS.escape(key ?? '')}"]`) ?? again ?? byId('text')).focus();
  };
}

/** Says something to who cannot see the page. */
export function speak(text) {
  const voice = byId('voice');
  voice.replaceChildren(el('p', {}, text));
}
