/** At most `limit` at once; the others wait in the order they came. */
export interface Turns {
  /** Resolves when it is your turn; call the answer once when done. */
  take(): Promise<() => void>;
}

export function makeTurns(limit: number): Turns {
  let taken = 0;
  const waiting: (() => void)[] = [];

  function giveBack(): void {
    const next = waiting.shift();
    if (next === undefined) taken -= 1;
    else next();
  }

  return {
    take: () =>
      new Promise((resolve) => {
        const start = (): void => {
          let done = false;
          resolve(() => {
            if (!done) giveBack();
            done = true;
          });
        };
        if (taken < limit) {
          taken += 1;
          start();
        } else {
          waiting.push(start);
        }
      }),
  };
}
