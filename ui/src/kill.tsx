// SPDX-License-Identifier: Apache-2.0
// The button that kills a supervised server with SIGKILL, and the proof afterwards that nothing was
// lost and nothing was counted twice: the journal, read from its beginning, against the counters.
import { useEffect, useState } from "preact/hooks";
import { signal } from "@preact/signals";
import { get, post, Problem } from "./api";
import { count, duration } from "./format";
import { writeJson } from "./json";
import { may, me } from "./me";
import { changed } from "./use";
import { Dialog, tellProblem } from "./widgets";

const kMostRecords = 20000;
const kPart = 1000;

interface Check {
  records: number; instances: number; isWhole: boolean; lost: number; twice: number; settled: number; differs: string[];
}
interface Killed { atMs: number; record: number; backMs?: number; check?: Check; problem?: string }
const killed = signal<Killed | undefined>(undefined);

// What the records up to the one that the counters have come to say.
export async function checkJournal(before: number): Promise<Check> {
  const overview = await get("v1/overview");
  const seen = Number(overview.seen);
  const { first, last } = await get("v1/journal", { limit: 1 });
  const begin = Math.max(Number(first), seen - kMostRecords + 1);
  let isWhole = begin === 1;
  const statuses = new Map<string, [string, string]>();
  const settled = new Map<string, number>();
  for (let from = begin; from <= seen; ) {
    const part = await get("v1/journal", { from, limit: kPart });
    for (const record of part.records) {
      if (record.record > seen) break;
      if (record.tick.kind === "forget") isWhole = false;
      if (record.tick.kind === "receipt") settled.set(record.tick.intent, (settled.get(record.tick.intent) ?? 0) + 1);
      for (const each of record.instances) statuses.set(`${each.workflow} ${writeJson(each.key)}`, [each.workflow, each.status]);
    }
    if (part.records.length === 0) break;
    from = Number(part.next);
  }
  const counted = new Map<string, number>();
  // The counters leave out what was deleted, and events that no instance took.
  for (const [workflow, status] of statuses.values()) if (status !== "deleted" && status !== "unhandled") counted.set(`${workflow} ${status}`, (counted.get(`${workflow} ${status}`) ?? 0) + 1);
  const kept = new Map<string, number>();
  for (const each of overview.workflows) for (const status in each.counts) kept.set(`${each.workflow} ${status}`, Number(each.counts[status]));
  const differs = isWhole ? [...new Set([...counted.keys(), ...kept.keys()])].filter((name) => counted.get(name) !== kept.get(name)) : [];
  return {
    records: seen - begin + 1, instances: statuses.size, isWhole, lost: Math.max(0, before - Number(last)), differs,
    twice: [...settled.values()].filter((times) => times > 1).length, settled: settled.size,
  };
}

async function waitForServer(): Promise<void> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    try {
      await get("readyz");
      return;
    } catch (error) {
      if (error instanceof Problem && error.status !== 0 && error.status !== 503) throw error;
    }
  }
}

async function kill() {
  try {
    const { last } = await get("v1/journal", { limit: 1 });
    await post("v1/dev/kill");
    killed.value = { atMs: Date.now(), record: Number(last) };
    await new Promise((resolve) => setTimeout(resolve, 300));
    await waitForServer();
    killed.value = { ...killed.value, backMs: Date.now() };
    changed();
    killed.value = { ...killed.value, check: await checkJournal(Number(last)) };
  } catch (error) {
    if (!killed.value) return tellProblem(error);
    killed.value = { ...killed.value, problem: error instanceof Problem ? error.detail : String(error) };
  }
}

export function KillButton() {
  const [asks, setAsks] = useState(false);
  if (!me.value?.supervised || !may("admin")) return null;
  return (
    <>
      <button type="button" class="small danger" onClick={() => setAsks(true)}>Kill -9</button>
      {asks && (
        <Dialog title="Kill the server with SIGKILL" close={() => setAsks(false)}>
          <p>The process ends at once, in the middle of whatever it does. Its supervisor starts it again, it goes on where it was, and the page compares the counters with the journal.</p>
          <footer><button type="button" class="danger" autofocus onClick={() => { setAsks(false); void kill(); }}>Kill it</button></footer>
        </Dialog>
      )}
    </>
  );
}

export function KillReport() {
  const [, setTick] = useState(0);
  const report = killed.value;
  const waits = report !== undefined && report.backMs === undefined && !report.problem;
  useEffect(() => {
    if (!waits) return;
    const timer = setInterval(() => setTick((old) => old + 1), 100);
    return () => clearInterval(timer);
  }, [waits]);
  if (!report) return null;
  const check = report.check;
  const isGood = check && check.lost === 0 && check.twice === 0 && check.differs.length === 0;
  return (
    <section class={`report ${check ? (isGood ? "good" : "bad") : report.problem ? "bad" : ""}`} role="status" aria-label="After the kill">
      <div>
        {report.problem && <p><b>The check failed.</b> {report.problem}</p>}
        {waits && <p><b>Killed with SIGKILL.</b> Waiting for the server, {duration(Date.now() - report.atMs)}…</p>}
        {report.backMs && !check && !report.problem && <p><b>Back after {duration(report.backMs - report.atMs)}.</b> Reading the journal…</p>}
        {check && (
          <>
            <p><b>{count(check.lost)} lost, {count(check.twice)} counted twice.</b> Back after {duration(report.backMs! - report.atMs)}.</p>
            <p class="quiet">Record {count(report.record)}, durable before the kill, is there. Of {count(check.settled)} effects {check.twice === 0 ? "each was settled once" : `${count(check.twice)} were settled twice`}.{" "}
              {!check.isWhole && `The last ${count(check.records)} records were read; the counters were not compared, as the journal is longer.`}
              {check.isWhole && (check.differs.length === 0
                ? `${count(check.instances)} instances in ${count(check.records)} records: the counters say the same.`
                : `The counters differ from the journal: ${check.differs.join(", ")}.`)}
            </p>
          </>
        )}
      </div>
      {!waits && <button type="button" class="small" onClick={() => (killed.value = undefined)} aria-label="Close the report">✕</button>}
    </section>
  );
}
