/** What a submitted or changed view says of its inputs, as Slack sends it. */
export interface ViewState {
  readonly values: Readonly<Record<string, Readonly<Record<string, InputState>>>>;
}

export interface InputState {
  readonly selected_options?: readonly {readonly value?: string | undefined}[] | undefined;
  readonly selected_option?: {readonly value?: string | undefined} | null | undefined;
  readonly selected_conversation?: string | null | undefined;
  readonly value?: string | null | undefined;
}
