/** Whether a verb may be run by somebody here: for telling people beforehand. Who acts is asked again where it counts. */
import type {Host} from '../host.ts';
import type {Policy} from '../policy.ts';
import type {Door, Form, Verb, VerbRule} from './rules.ts';
import {isAt} from './verb-table.ts';

export interface Viewer {
  readonly door: Door;
  readonly hosts: readonly Pick<Host, 'mode'>[];
  readonly policy: Pick<Policy, 'approvers' | 'breakGlass'>;
  readonly isApprover: boolean;
  /** `elsewhere`: a channel in which nothing but help answers. `alone`: with the bot, where what only looks is answered. */
  readonly place: 'here' | 'alone' | 'elsewhere';
}

export type Access =
  | 'yes'
  | 'other-door'
  | 'elsewhere'
  | 'approvers-only'
  | 'holder-or-approver'
  /** A plan may be asked for as a dry run only: nobody could give the go. */
  | 'no-approver'
  /** The same, since no host may be signalled. */
  | 'no-act-host'
  | 'no-host';

export function accessOf(rule: VerbRule, form: Form, viewer: Viewer): Access {
  if (!isAt(rule, viewer.door)) return 'other-door';
  if (viewer.place === 'elsewhere' && rule.verb !== 'help') return 'elsewhere';
  if (viewer.place === 'alone' && !isGoodAlone(rule, form)) return 'elsewhere';
  if (form.who === 'approver' && !viewer.isApprover) return 'approvers-only';
  if (form.who === 'holder-or-approver' && !viewer.isApprover) return 'holder-or-approver';
  if (viewer.hosts.length === 0 && form.places.some(({kind}) => kind === 'host' || kind === 'hosts')) return 'no-host';
  if (rule.ends !== 'plan') return 'yes';
  if (!viewer.hosts.some(({mode}) => mode === 'act')) return 'no-act-host';
  return viewer.policy.approvers.length === 0 ? 'no-approver' : 'yes';
}

/** They ask of what there is, and change nothing: good in private, and to be shared. */
export function isGoodAlone({verb}: Pick<VerbRule, 'verb'>, form: Form): boolean {
  return GOOD_ALONE.includes(verb) && form.sub !== 'remove';
}

const GOOD_ALONE: readonly Verb[] = ['help', 'status', 'diagnose', 'runs', 'show', 'hosts', 'schedules'];
