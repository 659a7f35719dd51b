// SPDX-License-Identifier: Apache-2.0
// What an instance puts out, live. A reader that is cut off goes on after the last entry it has.
import { useEffect, useState } from "preact/hooks";
import { events, Problem } from "./api";
import { Json, parseJson } from "./json";
import { brief } from "./format";
import { Empty, ProblemBox, Value } from "./widgets";

interface Entry { id: string; event: string; value: Json }
const kMost = 2000;

export function useStream(path: string): { entries: Entry[]; problem?: Problem; isLive: boolean } {
  const [entries, setEntries] = useState<Entry[]>([]);
  const [problem, setProblem] = useState<Problem>();
  const [isLive, setLive] = useState(true);
  useEffect(() => {
    const abort = new AbortController();
    let last = "";
    let waiting: Entry[] = [];
    const timer = setInterval(() => {
      if (waiting.length === 0) return;
      const more = waiting;
      waiting = [];
      setEntries((old) => [...old, ...more].slice(-kMost));
    }, 250);
    async function follow() {
      while (!abort.signal.aborted) {
        try {
          for await (const event of events(path, abort.signal, last)) {
            setProblem(undefined);
            if (event.id) last = event.id;
            if (event.event === "problem") break;
            waiting.push({ id: event.id, event: event.event, value: event.data ? parseJson(event.data) : null });
            if (event.event === "end") return setLive(false);
          }
        } catch (error) {
          if (abort.signal.aborted) return;
          setProblem(error as Problem);
          if ((error as Problem).status >= 400 && (error as Problem).status < 500) return setLive(false);
        }
        await new Promise((resolve) => setTimeout(resolve, 1000));
      }
    }
    void follow();
    return () => {
      abort.abort();
      clearInterval(timer);
    };
  }, [path]);
  return { entries, problem, isLive };
}

export function StreamView({ path }: { path: string }) {
  const { entries, problem, isLive } = useStream(`${path}/stream`);
  const [hides, setHides] = useState(true);
  const shown = entries.filter((each) => !hides || (each.value as any)?.kind !== "steps");
  return (
    <section aria-label="Stream">
      <ProblemBox problem={problem} />
      <div class="bar">
        <span class={isLive ? "live" : "quiet"}>{isLive ? "live" : "ended"}</span>
        <label class="check"><input type="checkbox" checked={hides} onChange={() => setHides(!hides)} /> hide changes of steps</label>
      </div>
      {shown.length === 0 && <Empty>Nothing was put out yet.</Empty>}
      <ol class="entries">
        {shown.map((entry, i) => (
          <li key={`${entry.id} ${i}`}>
            <code class="quiet">{entry.id}</code> <span class="kind">{entry.event || (entry.value as any)?.kind || "entry"}</span>
            <details><summary>{brief(entry.value, 140)}</summary><Value value={entry.value} /></details>
          </li>
        ))}
      </ol>
    </section>
  );
}
