/** Says what Slack would refuse in a message or a view, before it is sent. */

/** A message as it would be sent, whoever made it: parsed JSON will do. */
export interface Sendable {
  readonly text?: string | undefined;
  readonly blocks: readonly unknown[];
}

/** Every limit broken, each as "where: what"; empty if Slack would take it. */
export function checkBlocks(_message: Sendable): readonly string[] {
  return [];
}

/** The same for a modal. */
export function checkView(_view: unknown): readonly string[] {
  return [];
}
