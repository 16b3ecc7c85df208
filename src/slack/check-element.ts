/** What Slack would refuse in a button, a choice or an input. */
import {checkCount, checkLength, checkText, type Report} from './check-text.ts';
import {isRecord, type Json, LIMITS} from './limits.ts';

export function checkElement(element: unknown, where: string, say: Report): void {
  if (!isRecord(element)) {
    say(where, 'is no element');
    return;
  }
  const id = element['action_id'];
  if (id !== undefined) checkLength(String(id), LIMITS.actionId, `${where}.action_id`, say);
  if (element['confirm'] !== undefined) checkConfirm(element['confirm'], `${where}.confirm`, say);
  switch (element['type']) {
    case 'button':
      checkButton(element, where, say);
      break;
    case 'checkboxes':
      checkOptions(element, LIMITS.checkboxes, where, say);
      break;
    case 'radio_buttons':
      checkOptions(element, LIMITS.radioButtons, where, say);
      break;
    case 'static_select':
    case 'multi_static_select':
      checkOptions(element, LIMITS.selectOptions, where, say);
      break;
    case 'overflow':
      checkOptions(element, LIMITS.overflow.most, where, say);
      if (optionsOf(element, 'options').length < LIMITS.overflow.least) say(where, 'fewer than two options');
      break;
    case 'plain_text_input':
      checkTyping(element, where, say);
      break;
    default:
      if (typeof element['type'] !== 'string') say(where, 'has no type');
  }
}

function checkButton(button: Json, where: string, say: Report): void {
  checkText(button['text'], LIMITS.button.text, `${where}.text`, say, 'plain_text');
  if (button['value'] !== undefined) checkLength(String(button['value']), LIMITS.button.value, `${where}.value`, say);
  if (button['url'] !== undefined) checkLength(String(button['url']), LIMITS.button.url, `${where}.url`, say);
  const label = button['accessibility_label'];
  if (label !== undefined)
    checkLength(String(label), LIMITS.button.accessibilityLabel, `${where}.accessibility_label`, say);
  const style = button['style'];
  if (style !== undefined && style !== 'primary' && style !== 'danger')
    say(`${where}.style`, `${String(style)} is neither primary nor danger`);
}

function checkConfirm(confirm: unknown, where: string, say: Report): void {
  if (!isRecord(confirm)) {
    say(where, 'is no confirm dialog');
    return;
  }
  checkText(confirm['title'], LIMITS.confirm.title, `${where}.title`, say, 'plain_text');
  checkText(confirm['text'], LIMITS.confirm.text, `${where}.text`, say);
  checkText(confirm['confirm'], LIMITS.confirm.confirm, `${where}.confirm`, say, 'plain_text');
  checkText(confirm['deny'], LIMITS.confirm.deny, `${where}.deny`, say, 'plain_text');
}

function checkOptions(element: Json, most: number, where: string, say: Report): void {
  const options = optionsOf(element, 'options');
  checkCount(options.length, most, 'options', where, say);
  const values = new Set<string>();
  for (const [at, option] of options.entries()) {
    const here = `${where}.options[${at}]`;
    if (!isRecord(option)) {
      say(here, 'is no option');
      continue;
    }
    checkText(option['text'], LIMITS.option.text, `${here}.text`, say);
    if (option['description'] !== undefined)
      checkText(option['description'], LIMITS.option.description, `${here}.description`, say);
    const value = String(option['value'] ?? '');
    checkLength(value, LIMITS.option.value, `${here}.value`, say);
    if (values.has(value)) say(here, `value ${value} stands twice`);
    values.add(value);
  }
  const ticked = element['initial_options'];
  if (ticked === undefined) return;
  const known = new Set(options.map((option) => JSON.stringify(option)));
  const initial = optionsOf(element, 'initial_options');
  if (initial.length === 0) say(`${where}.initial_options`, 'is empty');
  // Slack compares the whole option, not its value alone.
  if (initial.some((option) => !known.has(JSON.stringify(option))))
    say(`${where}.initial_options`, 'holds what is no option');
}

function optionsOf(element: Json, name: string): readonly unknown[] {
  return Array.isArray(element[name]) ? (element[name] as readonly unknown[]) : [];
}

function checkTyping(input: Json, where: string, say: Report): void {
  const most = input['max_length'];
  if (typeof most === 'number' && (most < 1 || most > LIMITS.input.textLength))
    say(`${where}.max_length`, `${most}, from 1 to ${LIMITS.input.textLength}`);
  if (input['placeholder'] !== undefined)
    checkText(input['placeholder'], LIMITS.input.placeholder, `${where}.placeholder`, say, 'plain_text');
}
