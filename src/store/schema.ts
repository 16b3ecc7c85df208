/** The tables, and the list of steps that makes them. Plain SQL that SQLite and Postgres both read; times are epoch ms. */

import type {Generated} from 'kysely';

export interface Schema {
  readonly store_version: {readonly version: number};
  readonly runs: RunRow;
  readonly run_events: EventRow;
  readonly approvals: ApprovalRow;
  readonly outbox: OutboxTableRow;
  /** At most one row, with id 1. */
  readonly pause: {readonly id: number; readonly by_person: string; readonly at_ms: number};
  readonly looks: LookRow;
  /** Commands and clicks whose work was taken. */
  readonly claims: ClaimRow;
  /** The channel that a run was asked for in, from before its card stands there. */
  readonly places: {readonly run_id: string; readonly channel: string};
  /** A run's root card in Slack. */
  readonly cards: CardRow;
  readonly baselines: {readonly gpu_uuid: string; readonly used_mib: number; readonly at_ms: number};
  readonly schedules: ScheduleRow;
  readonly reports: ReportRow;
  readonly campaigns: CampaignRow;
  readonly campaign_samples: CampaignSamplesRow;
  readonly campaign_notes: CampaignNoteRow;
  /** What open forms showed; both columns as JSON. */
  readonly offers: {readonly id: string; readonly at_ms: number; readonly body: string; readonly look: string | null};
}

/** What a campaign sampled on one host, added up. */
export interface CampaignSamplesRow {
  readonly campaign_id: string;
  readonly host: string;
  /** When the next one is due. */
  readonly next_ms: number;
  readonly body: string;
}

export interface CampaignNoteRow {
  readonly campaign_id: string;
  readonly what: string;
  readonly at_ms: number;
  readonly by_whom: string;
}

export interface ClaimRow {
  readonly key: string;
  readonly at_ms: number;
  /** Who is to be answered, and how, as JSON; null: nobody. */
  readonly body: string | null;
  readonly done_at_ms: number | null;
}

export interface CampaignRow {
  readonly id: string;
  readonly started_at_ms: number;
  /** The campaign with its looks at the start, as JSON. */
  readonly body: string;
  readonly ended_by: string | null;
  readonly ended_at_ms: number | null;
  /** What was seen at its end, as JSON. */
  readonly after: string | null;
  readonly card: string | null;
}

export interface ScheduleRow {
  readonly id: string;
  readonly created_at_ms: number;
  /** The schedule itself, as JSON. */
  readonly body: string;
  /** When it is due, or a waiting one is looked at next; null: never again. */
  readonly next_ms: number | null;
  readonly watch: string | null;
  /** Where its reports are edited into, as JSON. */
  readonly message: string | null;
  readonly over_at_ms: number | null;
  readonly removed_by: string | null;
  readonly removed_at_ms: number | null;
}

/** A due time that was taken; schedule and due time together name it. */
export interface ReportRow {
  readonly schedule_id: string;
  readonly due_at_ms: number;
  /** begun, looked · told, skipped, undeliverable. */
  readonly phase: string;
  readonly begun_at_ms: number;
  readonly ended_at_ms: number | null;
  /** 1: nobody was there when it came due. */
  readonly late: number;
  readonly missed: number;
  readonly why: string;
  /** What was seen of each host, as JSON. */
  readonly seen: string | null;
}

export interface CardRow {
  readonly run_id: string;
  readonly team: string;
  readonly channel: string;
  readonly ts: string;
  /** How many of the run's events its thread has told. */
  readonly told: Generated<number>;
}

export interface RunRow extends LeaseColumns {
  readonly id: string;
  readonly host: string;
  readonly requester: string;
  readonly phase: string;
  readonly version: number;
  readonly created_at_ms: number;
  readonly boot_id: string | null;
  readonly pid_namespace: string | null;
  readonly stop_by: string | null;
  readonly stop_at_ms: number | null;
  /** When the closed run's host is to be looked at next; null: not at all. */
  readonly next_look_ms: number | null;
}

/** All null: nobody works on the run. */
export interface LeaseColumns {
  readonly lease_kind: string | null;
  readonly lease_pid: number | null;
  readonly lease_start_ticks: string | null;
  readonly lease_boot_id: string | null;
  readonly lease_by: string | null;
}

export interface EventRow {
  readonly run_id: string;
  readonly seq: number;
  /** The run's version that this event came with. */
  readonly version: number;
  readonly kind: string;
  /** Version of the JSON in `body`, so that an older program can tell what it must not guess at. */
  readonly format: number;
  readonly at_ms: number;
  readonly body: string;
}

export interface ApprovalRow {
  readonly run_id: string;
  /** The run's version that opened it: a later one replaces an earlier one. */
  readonly opened_version: number;
  readonly digest: string;
  readonly expires_at_ms: number;
  /** pending · approved, denied, expired, cancelled · withdrawn: replaced, or its run moved on without it. */
  readonly decision: string;
  readonly decided_by: string | null;
  readonly decided_at_ms: number | null;
}

export interface OutboxTableRow {
  readonly key: string;
  readonly run_id: string;
  readonly kind: string;
  readonly body: string;
  readonly at_ms: number;
  /** Order among rows of one commit. */
  readonly version: number;
  readonly place: number;
  readonly posted_at_ms: number | null;
}

export interface LookRow {
  readonly host: string;
  readonly boot_id: string;
  readonly at_ms: number;
  readonly body: string;
}

/** Step N brings a store from version N to N + 1. Only ever add to the end: a phase, a column or a step keeps its meaning. */
export const MIGRATIONS: readonly (readonly string[])[] = [
  [
    `create table runs (
      id text primary key, host text not null, requester text not null, phase text not null, version bigint not null,
      created_at_ms bigint not null, boot_id text, pid_namespace text, stop_by text, stop_at_ms bigint,
      lease_kind text, lease_pid bigint, lease_start_ticks text, lease_boot_id text, lease_by text)`,
    // Two names for one machine can't run at once: by name from the start, by machine once surveyed.
    `create unique index one_open_run_a_host on runs (host) where phase <> 'closed'`,
    `create unique index one_open_run_a_machine on runs (boot_id, pid_namespace) where phase <> 'closed'`,
    `create index runs_by_time on runs (created_at_ms)`,
    `create index runs_by_requester on runs (requester, created_at_ms)`,
    `create table run_events (
      run_id text not null, seq bigint not null, version bigint not null, kind text not null, format bigint not null,
      at_ms bigint not null, body text not null, primary key (run_id, seq))`,
    `create table approvals (
      run_id text not null, opened_version bigint not null, digest text not null, expires_at_ms bigint not null,
      decision text not null, decided_by text, decided_at_ms bigint, primary key (run_id, opened_version))`,
    `create unique index one_pending_approval_a_run on approvals (run_id) where decision = 'pending'`,
    `create table outbox (
      key text primary key, run_id text not null, kind text not null, body text not null, at_ms bigint not null,
      version bigint not null, place bigint not null, posted_at_ms bigint)`,
    `create index outbox_owed on outbox (at_ms) where posted_at_ms is null`,
    `create table pause (id bigint primary key, by_person text not null, at_ms bigint not null)`,
    `create table looks (
      host text not null, boot_id text not null, at_ms bigint not null, body text not null,
      primary key (host, boot_id, at_ms))`,
    `create index looks_by_time on looks (at_ms)`,
    `create table baselines (gpu_uuid text primary key, used_mib bigint not null, at_ms bigint not null)`,
  ],
  [
    `create table claims (key text primary key, at_ms bigint not null)`,
    `create table cards (run_id text primary key, team text not null, channel text not null, ts text not null)`,
    `create unique index one_run_a_card on cards (channel, ts)`,
  ],
  [`alter table cards add column told bigint not null default 0`],
  [
    `alter table runs add column next_look_ms bigint`,
    `create index runs_owed_a_look on runs (next_look_ms) where next_look_ms is not null`,
  ],
  [
    `create table schedules (
      id text primary key, created_at_ms bigint not null, body text not null, next_ms bigint, watch text, message text,
      over_at_ms bigint, removed_by text, removed_at_ms bigint)`,
    `create index schedules_due on schedules (next_ms) where next_ms is not null`,
    `create table reports (
      schedule_id text not null, due_at_ms bigint not null, phase text not null, begun_at_ms bigint not null,
      ended_at_ms bigint, late bigint not null, missed bigint not null, why text not null, seen text,
      primary key (schedule_id, due_at_ms))`,
    `create index reports_owed on reports (due_at_ms) where phase in ('begun', 'looked')`,
  ],
  [
    `create table campaigns (
      id text primary key, started_at_ms bigint not null, body text not null, ended_by text, ended_at_ms bigint,
      after text, card text)`,
  ],
  [
    `create table campaign_samples (
      campaign_id text not null, host text not null, next_ms bigint not null, body text not null,
      primary key (campaign_id, host))`,
    `create table campaign_notes (
      campaign_id text not null, what text not null, at_ms bigint not null, by_whom text not null,
      primary key (campaign_id, what))`,
  ],
  [
    `alter table claims add column body text`,
    `alter table claims add column done_at_ms bigint`,
    `create index claims_open on claims (at_ms) where body is not null and done_at_ms is null`,
    `create table places (run_id text primary key, channel text not null)`,
  ],
  // Campaigns that were ended before there were notices of an end: whoever ended them was told.
  [
    `insert into campaign_notes (campaign_id, what, at_ms, by_whom)
      select id, 'ended', ended_at_ms, '' from campaigns where ended_at_ms is not null`,
  ],
  [
    `create table offers (id text primary key, at_ms bigint not null, body text not null, look text)`,
    `create index offers_by_time on offers (at_ms)`,
  ],
];
