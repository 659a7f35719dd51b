// SPDX-License-Identifier: Apache-2.0
// How the engine is: durability, load, disk, requests.
import { getFigures, one, quantile } from "./figures";
import { bytes, count, duration } from "./format";
import { useFresh } from "./use";
import { Loading, ProblemBox } from "./widgets";

function seconds(value: number | undefined): string {
  return value === undefined ? "–" : duration(value * 1000);
}

export function EngineView() {
  const fresh = useFresh(getFigures, "figures", 2000);
  const figures = fresh.data;
  const number = (name: string) => {
    const value = one(figures, name);
    return value === undefined ? "–" : count(value);
  };
  const rows: [string, string][] = [
    ["Records", number("holdfast_records_total")],
    ["Syncs", number("holdfast_syncs_total")],
    ["Sync p50", `≤ ${seconds(quantile(figures, "holdfast_sync_seconds", 0.5))}`],
    ["Sync p99", `≤ ${seconds(quantile(figures, "holdfast_sync_seconds", 0.99))}`],
    ["Records in a batch, p50", `≤ ${quantile(figures, "holdfast_batch_records", 0.5) ?? "–"}`],
    ["Inputs that wait", number("holdfast_waiting_inputs")],
    ["Open effects", number("holdfast_open_effects")],
    ["Records after the last snapshot", number("holdfast_records_behind_snapshot")],
    ["Last start took", seconds(one(figures, "holdfast_recovery_seconds"))],
    ["Index behind", number("holdfast_history_lag")],
    ["Journal on disk", bytes(one(figures, "holdfast_disk_journal_bytes") ?? 0)],
    ["Other files", bytes(one(figures, "holdfast_disk_other_bytes") ?? 0)],
    ["Disk free", bytes(one(figures, "holdfast_disk_free_bytes") ?? 0)],
    ["Connections", number("holdfast_http_connections")],
    ["Event streams", number("holdfast_http_streams")],
  ];
  const routes = (figures?.get("holdfast_http_request_seconds_count") ?? []).map((each) => {
    const sum = figures!.get("holdfast_http_request_seconds_sum")?.find((other) => other.labels.route === each.labels.route)?.value ?? 0;
    return { route: each.labels.route, requests: each.value, mean: each.value ? sum / each.value : 0 };
  });
  return (
    <main>
      <header class="title"><h1>Engine</h1></header>
      <ProblemBox problem={fresh.problem} />
      <Loading of={fresh} />
      {figures && (
        <div class="columns">
          <section class="panel"><h2>Now</h2><dl class="facts">{rows.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl></section>
          <section class="panel"><h2>Requests</h2>
            <table class="rows"><thead><tr><th>Route</th><th class="number">Requests</th><th class="number">Mean</th></tr></thead>
              <tbody>{routes.sort((a, b) => b.requests - a.requests).map((each) => <tr key={each.route}><td>{each.route}</td><td class="number">{count(each.requests)}</td><td class="number">{seconds(each.mean)}</td></tr>)}</tbody>
            </table>
          </section>
        </div>
      )}
    </main>
  );
}
