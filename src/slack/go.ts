/** A go from Slack: one conditional update decides; the loser is told who won. A go without a second opens a form for its reason. */
import type {GoChoice, Run} from '../domain/run.ts';
import {breakGlassModal} from './blocks/small-modals.ts';
import {cardLink} from './card-link.ts';
import {type Asker, answer, type Desk} from './desk.ts';
import {writeMetadata} from './form-metadata.ts';
import {openForm} from './forms.ts';
import {refusal} from './gate.ts';
import type {Identified} from './people.ts';

export interface GoClick {
  readonly run: Run;
  /** Of the plan that the person saw. */
  readonly digest: string;
  readonly choice: GoChoice;
  /** Typed for break-glass. */
  readonly reason: string | null;
}

export async function go(desk: Desk, asker: Asker, who: Identified, click: GoClick): Promise<void> {
  const {run, digest, choice, reason} = click;
  const approved = await desk.engine.approve({run, digest, person: who.person, choice, reason, atTerminal: false});
  if (approved.ok) {
    desk.execute(approved.value);
    return;
  }
  const {failure} = approved;
  const mayBreakGlass =
    failure.reason === 'break-glass-needs-reason' ||
    (failure.reason === 'needs-another-approver' && failure.breakGlass);
  if (mayBreakGlass && reason === null) {
    const metadata = writeMetadata({runId: run.id, digest, channel: asker.channel, choice});
    return openForm(desk, asker, breakGlassModal(run.host, metadata));
  }
  for (const message of refusal(failure, who, await cardLink(desk, run.id))) await answer(desk, asker, message);
}
