// SPDX-License-Identifier: Apache-2.0
// Data that stays fresh: asked for again when there are new records, or by the clock where those are
// not told, and only while the page is visible. What was there stays when a later request fails, with
// the problem beside it, and rows do not jump.
import { useEffect, useRef, useState } from "preact/hooks";
import { effect, signal } from "@preact/signals";
import { Problem } from "./api";
import { isLive, lastRecord } from "./live";

// Changes when something was done here, so that what shows it is asked for again at once.
export const changes = signal(0);
export function changed() {
  changes.value += 1;
}

export interface Fresh<T> { data?: T; problem?: Problem; reload(): void }

const kFullAgainMs = 400;
const kMostFull = 8;

// `everyMs`: 0 asks once. `byClock`: what changes without records.
export function useFresh<T>(ask: (abort: AbortSignal) => Promise<T>, key: string, everyMs = 2000, byClock = false): Fresh<T> {
  const [state, setState] = useState<{ key: string; data?: T; problem?: Problem }>({ key });
  const [round, setRound] = useState(0);
  const latest = useRef(ask);
  latest.current = ask;
  const seen = changes.value;

  useEffect(() => {
    const abort = new AbortController();
    let timer = 0;
    let stop = () => {};
    let full = 0;
    async function run() {
      const record = lastRecord.peek();
      try {
        const data = await latest.current(abort.signal);
        full = 0;
        setState({ key, data });
      } catch (error) {
        if (abort.signal.aborted) return;
        const problem = error instanceof Problem ? error : new Problem(0, "page", String(error));
        // The server has too much to do just now.
        if (problem.status === 429 && ++full < kMostFull) {
          timer = window.setTimeout(run, kFullAgainMs);
          return;
        }
        setState((old) => ({ key, data: old.key === key ? old.data : undefined, problem }));
        if (everyMs > 0 && !abort.signal.aborted) timer = window.setTimeout(next, everyMs);
        return;
      }
      if (everyMs > 0 && !abort.signal.aborted) wait(record);
    }
    // Until there are records that the last answer may not have.
    function wait(record: number) {
      if (byClock || !isLive.peek()) {
        timer = window.setTimeout(next, everyMs);
        return;
      }
      timer = window.setTimeout(() => {
        stop = effect(() => {
          if (isLive.value && lastRecord.value === record) return;
          queueMicrotask(() => { stop(); next(); });
        });
      }, Math.max(200, everyMs / 4));
    }
    function next() {
      if (abort.signal.aborted) return;
      if (document.visibilityState === "visible") void run();
      else document.addEventListener("visibilitychange", next, { once: true, signal: abort.signal });
    }
    void run();
    return () => {
      abort.abort();
      stop();
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
