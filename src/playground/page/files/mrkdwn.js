/** Slack's mrkdwn to elements: bold, italic, strike, code, quotes, links, mentions, dates. Anything else is plain text. */
import {el} from './dom.js';

const EMOJI = {
  white_check_mark: '✅',
  x: '❌',
  warning: '⚠️',
  hourglass_flowing_sand: '⏳',
  lock: '🔒',
  no_entry: '⛔',
  rotating_light: '🚨',
  skull: '💀',
  eyes: '👀',
  large_green_circle: '🟢',
  red_circle: '🔴',
  bell: '🔔',
  bar_chart: '📊',
  mag: '🔎',
  pause_button: '⏸',
};

/** Names for ids: {users: Map, channels: Map, groups: Map}. */
export function mrkdwn(text, names) {
  const parts = text.split(/```\n?([\s\S]*?)\n?```/);
  return parts.flatMap((part, index) =>
    index % 2 === 1 ? [el('pre', {tabindex: '0'}, decode(part))] : lines(part, names),
  );
}

export function plain(text) {
  return withEmoji(decode(text));
}

export function textObject(object, names) {
  if (object === undefined || object === null) return [];
  return object.type === 'mrkdwn' ? mrkdwn(object.text, names) : [plain(object.text)];
}

export function decode(text) {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

function withEmoji(text) {
  return text.replaceAll(/:([a-z0-9_+-]+):/g, (whole, name) => EMOJI[name] ?? whole);
}

function lines(text, names) {
  const out = [];
  let quote = [];
  const flush = () => {
    if (quote.length > 0) out.push(el('blockquote', {}, ...joined(quote, names)));
    quote = [];
  };
  let plainLines = [];
  const flushPlain = () => {
    if (plainLines.length > 0) out.push(...joined(plainLines, names));
    plainLines = [];
  };
  for (const line of text.split('\n')) {
    const quoted = /^&gt; ?(.*)$/.exec(line);
    if (quoted !== null) {
      flushPlain();
      quote.push(quoted[1]);
    } else {
      flush();
      plainLines.push(line);
    }
  }
  flush();
  flushPlain();
  return out;
}

function joined(some, names) {
  return some.flatMap((line, index) => (index === 0 ? inline(line, names) : [el('br'), ...inline(line, names)]));
}

const STYLES = {'*': 'strong', _: 'em', '~': 's'};

function inline(text, names) {
  const out = [];
  let rest = '';
  const flush = () => {
    if (rest !== '') out.push(withEmoji(decode(rest)));
    rest = '';
  };
  for (let at = 0; at < text.length; ) {
    const here = text[at];
    const before = text[at - 1] ?? ' ';
    const code = here === '`' ? /^`([^`]+)`/.exec(text.slice(at)) : null;
    const angle = here === '<' ? /^<([^<>]+)>/.exec(text.slice(at)) : null;
    const style = STYLES[here];
    const styled =
      style !== undefined && /[\s(*_~]/.test(before)
        ? new RegExp(`^\\${here}(\\S(?:[^\\${here}]*\\S)?)\\${here}(?=$|[\\s).,:;!?*_~])`).exec(text.slice(at))
        : null;
    const found = code ?? angle ?? styled;
    if (found === null) {
      rest += here;
      at += 1;
      continue;
    }
    flush();
    if (code !== null) out.push(el('code', {}, decode(code[1])));
    else if (angle !== null) out.push(reference(angle[1], names));
    else out.push(el(style, {}, ...inline(found[1], names)));
    at += found[0].length;
  }
  flush();
  return out;
}

function reference(inside, names) {
  const [target, label] = split(inside);
  const mention = (text) => el('span', {class: 'mention'}, text);
  if (target.startsWith('@')) return mention(`@${names.users.get(target.slice(1)) ?? label ?? target.slice(1)}`);
  if (target.startsWith('#')) return mention(`#${names.channels.get(target.slice(1)) ?? label ?? target.slice(1)}`);
  if (target.startsWith('!subteam^'))
    return mention(`@${names.groups.get(target.slice(9)) ?? (label ?? target.slice(9)).replace(/^@/, '')}`);
  if (target.startsWith('!date^')) return dated(target, label);
  if (target.startsWith('!')) return mention(`@${target.slice(1)}`);
  if (!isLink(target)) return decode(`<${inside}>`);
  return safeLink(decode(target), decode(label ?? target));
}

function isLink(target) {
  return /^(https?:|mailto:)/.test(target);
}

/** A link that leads somewhere; any other address is shown as what it is. */
export function safeLink(url, label) {
  if (!isLink(url)) return `${label} (${url})`;
  return el('a', {href: url, rel: 'noreferrer noopener', target: '_blank'}, label);
}

function split(inside) {
  const at = inside.indexOf('|');
  return at < 0 ? [inside, undefined] : [inside.slice(0, at), inside.slice(at + 1)];
}

/** `!date^unix^format`: shown in the reader's own time zone, the fallback as title. */
export function dated(target, fallback) {
  const [, unix, format = '{date} {time}'] = target.split('^');
  const when = new Date(Number(unix) * 1000);
  if (Number.isNaN(when.getTime())) return decode(fallback ?? '');
  const day = (options) => when.toLocaleDateString(undefined, options);
  const time = (options) => when.toLocaleTimeString(undefined, {hour12: false, ...options});
  const short = day({month: 'short', day: 'numeric'});
  const forms = {
    date_num: when.toISOString().slice(0, 10),
    date: day({month: 'long', day: 'numeric'}),
    date_short: short,
    date_long: day({weekday: 'long', month: 'long', day: 'numeric'}),
    date_pretty: short,
    date_short_pretty: short,
    date_long_pretty: short,
    time: time({hour: '2-digit', minute: '2-digit'}),
    time_secs: time({hour: '2-digit', minute: '2-digit', second: '2-digit'}),
  };
  const text = format.replaceAll(/\{(\w+)\}/g, (whole, name) => forms[name] ?? whole);
  return el('time', {datetime: when.toISOString(), title: decode(fallback ?? '')}, decode(text));
}
