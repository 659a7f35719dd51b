// SPDX-License-Identifier: Apache-2.0
// The world at a glance: how many of what, what everything waits for, what failed, how the engine is.
import { get, Problem } from "./api";
import { bytes, count, duration } from "./format";
import { getFigures, one, quantile } from "./figures";
import { chosenMinutes, Rates, Windows } from "./rates";
import { link } from "./route";
import { now, useFresh } from "./use";
import { WaitGroups } from "./waits";
import { Age, Empty, Loading, ProblemBox } from "./widgets";

// Running instances have steps to take, waiting ones do not: neither has ended.
const kColumns: [string, string[]][] = [["in progress", ["waiting", "running"]], ["completed", ["completed"]], ["failed", ["failed"]], ["cancelled", ["cancelled"]]];

function Tile({ label, value, note, href, isBad }: { label: string; value: string; note?: string; href?: string; isBad?: boolean }) {
  const inner = <><span class="tile-label">{label}</span><span class={isBad ? "tile-value bad" : "tile-value"}>{value}</span><span class="quiet">{note ?? "\u00a0"}</span></>;
  return href ? <a class="tile" href={href}>{inner}</a> : <div class="tile">{inner}</div>;
}

async function readiness(abort: AbortSignal): Promise<string> {
  try {
    await get("readyz", {}, abort);
    return "";
  } catch (error) {
    if (error instanceof Problem && error.status !== 0) return error.detail;
    throw error;
  }
}

export function Overview() {
  const minutes = chosenMinutes();
  const overview = useFresh<any>((abort) => get("v1/overview", { minutes }, abort), `overview ${minutes}`);
  const figures = useFresh(getFigures, "figures", 3000);
  const ready = useFresh(readiness, "ready", 5000, true);
  const data = overview.data;
  const counted = (each: any, statuses: string[]): number => statuses.reduce((sum, status) => sum + Number(each.counts[status] ?? 0), 0);
  const total = (statuses: string[]): number => (data?.workflows ?? []).reduce((sum: number, each: any) => sum + counted(each, statuses), 0);
  const [open, completed, failed] = kColumns.map(([, statuses]) => total(statuses));
  const all = total(kColumns.flatMap(([, statuses]) => statuses));
  const share = (part: number) => (all === 0 ? undefined : `${part > 0 && part / all < 0.01 ? "< 1" : Math.round((part / all) * 100)} %`);
  const lag = one(figures.data, "holdfast_history_lag") ?? 0;
  const free = one(figures.data, "holdfast_disk_free_bytes");
  const sync = quantile(figures.data, "holdfast_sync_seconds", 0.99);
  return (
    <main>
      <header class="title"><h1>Overview</h1>
        {ready.data !== undefined && (ready.data ? <span class="badge failed" title={ready.data}>takes no new work</span> : <span class="badge ok">ready</span>)}
        {ready.data && <span class="bad">{ready.data}</span>}
      </header>
      <ProblemBox problem={overview.problem} />
      <Loading of={overview} />
      {data && (
        <>
          <div class="tiles">
            <Tile label="Instances" value={count(all)} href={link(["instances"])} />
            <Tile label="In progress" value={count(open)} note={share(open)} href={link(["instances"], { status: "waiting,running" })} />
            <Tile label="Completed" value={count(completed)} note={share(completed)} href={link(["instances"], { status: "completed" })} />
            <Tile label="Failed" value={count(failed)} note={share(failed)} isBad={failed > 0} href={link(["instances"], { status: "failed" })} />
            <Tile label="Records" value={count((one(figures.data, "holdfast_next_record") ?? 1) - 1)} note={sync !== undefined ? `sync p99 ≤ ${duration(sync * 1000)}` : undefined} href={link(["journal"])} />
            <Tile label="Disk free" value={free === undefined ? "…" : bytes(free)} note={lag > 0 ? `index ${count(lag)} behind` : "index up to date"} isBad={free !== undefined && free < 1e9} href={link(["engine"])} />
          </div>
          <div class="columns">
            <div class="stack">
              <section class="panel">
                <header class="panel-head"><h2>Begun and ended</h2><Windows /></header>
                <Rates rates={data.rates} nowMs={now.value} />
              </section>
              <section class="panel">
                <h2>Workflows</h2>
                {data.workflows.length === 0 && <Empty>No instance was started yet. <a href={link(["workflows"])}>Start one</a></Empty>}
                {data.workflows.length > 0 && (
                  <table class="rows counted">
                    <thead><tr><th>Workflow</th>{kColumns.map(([name]) => <th key={name} class="number">{name}</th>)}</tr></thead>
                    <tbody>
                      {data.workflows.map((each: any) => (
                        <tr key={each.workflow}>
                          <td class="name"><a href={link(["instances"], { workflow: each.workflow })}>{each.workflow}</a></td>
                          {kColumns.map(([name, statuses]) => {
                            const value = counted(each, statuses);
                            return (
                              <td key={name} class={name === "failed" && value ? "number bad" : "number"}>
                                {value ? <a href={link(["instances"], { workflow: each.workflow, status: statuses.join(",") })}>{count(value)}</a> : <span class="quiet">0</span>}
                              </td>
                            );
                          })}
                        </tr>
                      ))}
                    </tbody>
                  </table>
                )}
              </section>
              <section class="panel">
                <h2>Failures <span class="quiet">among the last 200</span></h2>
                {data.failures.length === 0 && <Empty>Nothing failed.</Empty>}
                {data.failures.length > 0 && (
                  <table class="rows counted">
                    <thead><tr><th class="number">Failed</th><th>Code</th><th>Workflow</th><th>Last</th></tr></thead>
                    <tbody>
                      {data.failures.map((each: any) => (
                        <tr key={`${each.workflow} ${each.code}`}>
                          <td class="number"><a href={link(["instances"], { workflow: each.workflow, code: each.code })}><b>{count(each.count)}</b></a></td>
                          <td><code>{each.code}</code></td><td>{each.workflow}</td><td><Age ns={each.last_ns} /></td>
                        </tr>
                      ))}
                    </tbody>
                  </table>
                )}
              </section>
            </div>
            <section class="panel">
              <h2>What everything waits for</h2>
              <WaitGroups empty="Nothing waits." />
            </section>
          </div>
        </>
      )}
    </main>
  );
}
