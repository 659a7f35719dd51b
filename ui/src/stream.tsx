// SPDX-License-Identifier: Apache-2.0
// What an instance puts out, live. A reader that is cut off goes on after the last entry it has.
import { useEffect, useRef, useState } from "preact/hooks";
import { events, Problem } from "./api";
import { Json, parseJson } from "./json";
import { brief, many } from "./format";
import { Due, Empty, ProblemBox, Value } from "./widgets";

interface Entry { id: string; event: string; value: Json }
const kMost = 1000;

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

// What an entry says, for people: entries of step workflows have a kind (docs/api.md).
function Said({ value }: { value: any }) {
  switch (value?.kind) {
    case "event": return <><code>{value.schema}</code> {brief(value.value, 200)}</>;
    case "attempt_failed": return <span class="bad"><b>{value.step}</b> attempt {String(value.attempts)} failed: <code>{value.code}</code> {value.message}{value.due_ns ? <span class="quiet"> next <Due ns={value.due_ns} /></span> : null}</span>;
    case "failed": return <span class="bad"><code>{value.code}</code> {value.message}</span>;
    case "began_again": return <><b>{value.step}</b> was lost while it ran, and runs again: what it put out may come again</>;
    case "idle": return <span class="quiet">every step waits</span>;
    case "steps": return <>{(value.changes ?? []).map((each: any, i: number) => <span key={i}>{i > 0 && ", "}<b>{each.step}</b> {String(each.state).replace(/_/g, " ")}</span>)}</>;
    default: return <>{brief(value, 200)}</>;
  }
}

// Several entries may stand for one another in one event of the stream.
function flattened(entries: Entry[]): Entry[] {
  return entries.flatMap((entry) => {
    const value = entry.value as any;
    return value?.kind === "several" ? value.entries.map((each: Json, i: number) => ({ id: i === 0 ? entry.id : "", event: entry.event, value: each })) : [entry];
  });
}

export function StreamView({ path }: { path: string }) {
  const { entries, problem, isLive } = useStream(`${path}/stream`);
  const [hides, setHides] = useState(true);
  const [follows, setFollows] = useState(true);
  const box = useRef<HTMLOListElement>(null);
  const shown = flattened(entries).filter((each) => !hides || (each.value as any)?.kind !== "steps");
  useEffect(() => {
    if (follows && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [shown.length, follows]);
  return (
    <section aria-label="Stream" class="stack">
      <ProblemBox problem={problem} />
      <div class="bar">
        <span class={isLive ? "live" : "quiet"}>{isLive ? "live" : "ended"}</span>
        <label class="check"><input type="checkbox" checked={hides} onChange={() => setHides(!hides)} /> hide changes of steps</label>
        {isLive && <label class="check"><input type="checkbox" checked={follows} onChange={() => setFollows(!follows)} /> follow</label>}
        <span class="quiet">{many(shown.length, "entry", "entries")}</span>
      </div>
      {shown.length === 0 && <Empty>Nothing was put out yet.</Empty>}
      {shown.length > 0 && (
        <ol class="entries" ref={box} tabIndex={0}>
          {shown.map((entry, i) => (
            <li key={`${entry.id} ${i}`} class={(entry.value as any)?.kind}>
              <span class="kind">{(entry.event && entry.event !== "entry" ? entry.event : (entry.value as any)?.kind ?? "entry").replace(/_/g, " ")}</span>
              <details><summary><Said value={entry.value} /></summary><Value value={entry.value} /></details>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
