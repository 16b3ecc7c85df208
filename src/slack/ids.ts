/** Names that travel through Slack and come back with a click or a form, and what a button carries. */
import type {RunId} from '../domain/run.ts';
import {runId} from '../domain/run.ts';

export const ACTION = {
  terminateThenKill: 'go_terminate_then_kill',
  terminateOnly: 'go_terminate_only',
  choose: 'choose',
  /** Inside of the form that `choose` opens. */
  chooseBack: 'choose_back',
  chooseNext: 'choose_next',
  chooseLook: 'choose_look',
  /** Value: tick or untick, and the first member of the workload. */
  chooseWhole: 'choose_whole',
  chooseGpu: 'choose_gpu',
  chooseOwner: 'choose_owner',
  chooseShow: 'choose_show',
  chooseFind: 'choose_find',
  chooseFindNow: 'choose_find_now',
  chooseClear: 'choose_clear',
  leave: 'leave',
  stop: 'stop',
  stopLooking: 'stop_looking',
  /** The request of a run that is over, once more: only opens a card. */
  askAgain: 'ask_again',
  /** Value: a host name, and perhaps a PID. Only opens a card. */
  propose: 'propose',
  /** Value: the id of a private answer that is kept for a while. */
  share: 'share_answer',
  /** On App Home; the ones with a dot at their end only open a form. */
  homeLook: 'home_look_now',
  homeDiagnose: 'home_diagnose',
  homePropose: 'home_propose',
  homeReport: 'home_add_report',
  homeHelp: 'home_help',
  /** Value: a schedule's id. */
  removeSchedule: 'remove_schedule',
  /** Value: a campaign's id and the question that was asked of it. */
  idleEnd: 'idle_end',
  idleKeep: 'idle_keep',
} as const;

export type ActionId = (typeof ACTION)[keyof typeof ACTION];

/** What changes an open form at once; everything else in one is read when it is submitted. */
export function isTurn(actionId: string): boolean {
  return actionId.startsWith('choose_');
}

export const CALLBACK = {
  homeDiagnose: 'home_diagnose_host',
  homePropose: 'home_propose_reclaim',
  homeReport: 'home_report',
  /** The same once more with its next times, before it is kept. */
  homeReportSure: 'home_report_sure',
  /** Shows an answer; nothing is submitted there. */
  homeAnswer: 'home_answer',
  choose: 'choose_processes',
  /** Typed reason for a break-glass go. */
  breakGlass: 'break_glass',
  leave: 'leave_reason',
} as const;

export type CallbackId = (typeof CALLBACK)[keyof typeof CALLBACK];

/** What a button on a root card carries: which run, and which plan the person saw. */
export interface ButtonValue {
  readonly runId: RunId;
  /** Plan digest; null on a button that is about no plan (Stop). */
  readonly digest: string | null;
}

/** `7f3a00112233:9f2c…`; the digest is empty where there is no plan. */
export function buttonValue(value: ButtonValue): string {
  return `${value.runId}:${value.digest ?? ''}`;
}

/** null for anything that no button of ours ever carried. */
export function readButtonValue(text: string | undefined): ButtonValue | null {
  const [, id, digest] = /^([0-9a-f]{12}):([0-9A-Za-z_-]{0,128})$/.exec(text ?? '') ?? [];
  if (id === undefined) return null;
  return {runId: runId(id), digest: digest === undefined || digest === '' ? null : digest};
}

/** "Propose reclaim" carries the host's name, and the PID where one process is meant. */
export function proposeValue(host: string, pid: number | null = null): string {
  return pid === null ? `host:${host}` : `host:${host} pid:${pid}`;
}

/** The name as it was carried; whether it is in the hosts file is the reader's to ask. null for any other value. */
export function readProposeValue(
  text: string | undefined,
): {readonly host: string; readonly pid: number | null} | null {
  const [, host, pid] = /^host:(\S{1,255})(?: pid:([1-9]\d{0,6}))?$/.exec(text ?? '') ?? [];
  return host === undefined ? null : {host, pid: pid === undefined ? null : Number(pid)};
}

/** "Remove" on a schedule carries its id. */
export function scheduleValue(id: string): string {
  return `schedule:${id}`;
}

/** The id as it was carried; null for any other value. */
export function readScheduleValue(text: string | undefined): string | null {
  const [, id] = /^schedule:(\S{1,255})$/.exec(text ?? '') ?? [];
  return id ?? null;
}

/** "Share" carries the id of a kept answer, never the answer. */
export function shareValue(id: string): string {
  return `share:${id}`;
}

/** null for anything that no button of ours ever carried. */
export function readShareValue(text: string | undefined): string | null {
  return /^share:([0-9a-f]{16})$/.exec(text ?? '')?.[1] ?? null;
}

/** Both answers to "is it over?" carry the campaign and the question. */
export function idleValue(campaign: string, question: string): string {
  return `idle:${campaign}:${question}`;
}

/** null for any other value. */
export function readIdleValue(text: string | undefined): {readonly campaign: string; readonly question: string} | null {
  const [, campaign, question] = /^idle:(c[0-9a-f]{1,12}):(\d{1,16}(?:-\d{1,16})?)$/.exec(text ?? '') ?? [];
  return campaign === undefined || question === undefined ? null : {campaign, question};
}
