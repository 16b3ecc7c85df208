/** Sentences are written for the terminal; here their commands are those that can be typed in Slack. */

/** "gpu-reclaim diagnose X" -> "/gpu diagnose X", for the verbs that Slack has. */
export function slackWords(text: string): string {
  return text.replaceAll(
    /"gpu-reclaim (help|status|diagnose|reclaim|runs|show|cancel|pause|resume|hosts|report|schedules|profile|keep)\b/g,
    '"/gpu $1',
  );
}
