// SPDX-License-Identifier: Apache-2.0
// Data that stays fresh: asked for again while the page is visible. What was there stays when a
// later request fails, with the problem beside it, and rows do not jump.
import { useEffect, useRef, useState } from "preact/hooks";
import { signal } from "@preact/signals";
import { Problem } from "./api";

// Changes when something was done here, so that what shows it is asked for again at once.
export const changes = signal(0);
export function changed() {
  changes.value += 1;
}

export interface Fresh<T> { data?: T; problem?: Problem; reload(): void }

export function useFresh<T>(ask: (abort: AbortSignal) => Promise<T>, key: string, everyMs = 2000): Fresh<T> {
  const [state, setState] = useState<{ key: string; data?: T; problem?: Problem }>({ key });
  const [round, setRound] = useState(0);
  const latest = useRef(ask);
  latest.current = ask;
  const seen = changes.value;

  useEffect(() => {
    const abort = new AbortController();
    let timer = 0;
    async function run() {
      try {
        const data = await latest.current(abort.signal);
        setState({ key, data });
      } catch (error) {
        if (abort.signal.aborted) return;
        const problem = error instanceof Problem ? error : new Problem(0, "page", String(error));
        setState((old) => ({ key, data: old.key === key ? old.data : undefined, problem }));
      }
      if (everyMs > 0 && !abort.signal.aborted) timer = window.setTimeout(next, everyMs);
    }
    function next() {
      if (document.visibilityState === "visible") void run();
      else timer = window.setTimeout(next, everyMs);
    }
    void run();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [key, round, seen, everyMs]);

  const isOfThis = state.key === key;
  return { data: isOfThis ? state.data : undefined, problem: isOfThis ? state.problem : undefined, reload: () => setRound(round + 1) };
}

// The time, once a second, for ages and countdowns.
export const now = signal(Date.now());
setInterval(() => {
  if (document.visibilityState === "visible") now.value = Date.now();
}, 1000);
