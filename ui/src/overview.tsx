// SPDX-License-Identifier: Apache-2.0
// The world at a glance: how many of what, what everything waits for, what failed, how the engine is.
import { get } from "./api";
import { bytes, count, duration } from "./format";
import { getFigures, one, quantile } from "./figures";
import { Rates } from "./rates";
import { link } from "./route";
import { useFresh } from "./use";
import { WaitGroups } from "./waits";
import { Age, Badge, Empty, Loading, ProblemBox } from "./widgets";

const kShown = ["waiting", "completed", "failed", "cancelled"];

function Tile({ label, value, note, href, isBad }: { label: string; value: string; note?: string; href?: string; isBad?: boolean }) {
  const inner = <><span class="tile-label">{label}</span><span class={isBad ? "tile-value bad" : "tile-value"}>{value}</span>{note && <span class="quiet">{note}</span>}</>;
  return href ? <a class="tile" href={href}>{inner}</a> : <div class="tile">{inner}</div>;
}

export function Overview() {
  const overview = useFresh<any>((abort) => get("v1/overview", {}, abort), "overview");
  const figures = useFresh(getFigures, "figures", 3000);
  const data = overview.data;
  const byStatus = (status: string): number => (data?.workflows ?? []).reduce((sum: number, each: any) => sum + (each.counts[status] ?? 0), 0);
  const total = kShown.reduce((sum, status) => sum + byStatus(status), 0);
  const lag = one(figures.data, "holdfast_history_lag") ?? 0;
  const free = one(figures.data, "holdfast_disk_free_bytes");
  const sync = quantile(figures.data, "holdfast_sync_seconds", 0.99);
  return (
    <main>
      <header class="title"><h1>Overview</h1></header>
      <ProblemBox problem={overview.problem} />
      <Loading of={overview} />
      {data && (
        <>
          <div class="tiles">
            <Tile label="Instances" value={count(total)} href={link(["instances"])} />
            <Tile label="Waiting" value={count(byStatus("waiting"))} href={link(["instances"], { status: "waiting" })} />
            <Tile label="Completed" value={count(byStatus("completed"))} href={link(["instances"], { status: "completed" })} />
            <Tile label="Failed" value={count(byStatus("failed"))} isBad={byStatus("failed") > 0} href={link(["instances"], { status: "failed" })} />
            <Tile label="Records" value={count((one(figures.data, "holdfast_next_record") ?? 1) - 1)} note={sync !== undefined ? `sync p99 ≤ ${duration(sync * 1000)}` : undefined} />
            <Tile label="Disk free" value={free === undefined ? "…" : bytes(free)} note={lag > 0 ? `index ${count(lag)} records behind` : "index up to date"} isBad={free !== undefined && free < 1e9} />
          </div>
          <div class="columns">
            <div class="stack">
            <section class="panel">
              <h2>Workflows</h2>
              {data.workflows.length === 0 && <Empty>No instance was started yet. <a href={link(["workflows"])}>Start one</a></Empty>}
              {data.workflows.length > 0 && (
                <table class="rows">
                  <thead><tr><th>Workflow</th>{kShown.map((status) => <th key={status} class="number">{status}</th>)}</tr></thead>
                  <tbody>
                    {data.workflows.map((each: any) => (
                      <tr key={each.workflow}>
                        <td class="name"><a href={link(["instances"], { workflow: each.workflow })}>{each.workflow}</a></td>
                        {kShown.map((status) => (
                          <td key={status} class={status === "failed" && each.counts[status] ? "number bad" : "number"}>
                            {each.counts[status] ? <a href={link(["instances"], { workflow: each.workflow, status })}>{count(each.counts[status])}</a> : <span class="quiet">0</span>}
                          </td>
                        ))}
                      </tr>
                    ))}
                  </tbody>
                </table>
              )}
            </section>
            <section class="panel">
              <h2>The last two minutes</h2>
              <Rates begun={total} completed={byStatus("completed")} failed={byStatus("failed")} />
            </section>
            <section class="panel">
              <h2>Failures <span class="quiet">of the last 200</span></h2>
              {data.failures.length === 0 && <Empty>Nothing failed.</Empty>}
              <ul class="waits">
                {data.failures.map((each: any) => (
                  <li key={`${each.workflow} ${each.code}`}>
                    <b>{count(each.count)}</b> <code>{each.code}</code>
                    <a href={link(["instances"], { workflow: each.workflow, status: "failed" })}>{each.workflow}</a> <span class="quiet">last <Age ns={each.last_ns} /></span>
                  </li>
                ))}
              </ul>
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
