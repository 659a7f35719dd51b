// SPDX-License-Identifier: Apache-2.0
// The state at any record of the instance, and what differs from another record.
import { useMemo } from "preact/hooks";
import { get } from "./api";
import { clock } from "./format";
import { Json, writeJson } from "./json";
import { place, setQuery } from "./route";
import { useFresh } from "./use";
import { Badge, Loading, ProblemBox, Value } from "./widgets";

interface Line { text: string; change: "" | "added" | "removed" }

// Lines of two texts by their longest common subsequence; states are small.
export function differences(before: string[], after: string[]): Line[] {
  const most = 1500;
  if (before.length > most || after.length > most) return after.map((text) => ({ text, change: "" }));
  const table: number[][] = Array.from({ length: before.length + 1 }, () => new Array(after.length + 1).fill(0));
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      table[i][j] = before[i] === after[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
  const lines: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      lines.push({ text: after[j], change: "" });
      i += 1;
      j += 1;
    } else if (i < before.length && (j === after.length || table[i + 1][j] >= table[i][j + 1])) {
      lines.push({ text: before[i], change: "removed" });
      i += 1;
    } else {
      lines.push({ text: after[j], change: "added" });
      j += 1;
    }
  }
  return lines;
}

function textOf(state: Json): string[] {
  return writeJson(state, 2).split("\n");
}

export function StateView({ path, record }: { path: string; record: number }) {
  const timeline = useFresh<any>((abort) => get(`${path}/timeline`, { limit: 500 }, abort), `${path} moments ${record}`, 0);
  const moments: { record: number; time_ns: bigint }[] = useMemo(() => [...(timeline.data?.records ?? [])].reverse(), [timeline.data]);
  const query = place.value.query;
  const chosen = query.at ? moments.findIndex((each) => String(each.record) === query.at) : moments.length - 1;
  const index = chosen < 0 ? moments.length - 1 : chosen;
  const at = moments[index]?.record;
  const compareAt = query.with ?? (index > 0 ? String(moments[index - 1].record) : "");
  const state = useFresh<any>((abort) => (at === undefined ? Promise.resolve(null) : get(`${path}/state`, { at }, abort)), `${path} state ${at}`, 0);
  const other = useFresh<any>((abort) => (compareAt ? get(`${path}/state`, { at: compareAt }, abort).catch(() => null) : Promise.resolve(null)), `${path} state ${compareAt}`, 0);
  const showsDifference = query.view !== "value";
  const lines = useMemo(() => (state.data ? differences(other.data ? textOf(other.data.state) : [], textOf(state.data.state)) : []), [state.data, other.data]);
  return (
    <section aria-label="State">
      <ProblemBox problem={timeline.problem ?? state.problem} />
      <Loading of={timeline} />
      {moments.length > 0 && (
        <div class="slider">
          <label for="moment">Record {at} <span class="quiet">{moments[index] && clock(moments[index].time_ns)}</span> {state.data && <Badge status={state.data.status} />}</label>
          <input id="moment" type="range" min={0} max={moments.length - 1} value={index}
            onInput={(event) => setQuery({ at: String(moments[Number(event.currentTarget.value)].record), with: undefined })} />
          <div class="bar">
            <button type="button" disabled={index === 0} onClick={() => setQuery({ at: String(moments[index - 1].record) })}>Earlier</button>
            <button type="button" disabled={index === moments.length - 1} onClick={() => setQuery({ at: String(moments[index + 1].record) })}>Later</button>
            <label for="compare">compare with
              <select id="compare" value={compareAt} onChange={(event) => setQuery({ with: event.currentTarget.value })}>
                <option value="">nothing</option>
                {moments.map((each) => <option key={each.record} value={String(each.record)}>record {each.record}</option>)}
              </select>
            </label>
            <button type="button" onClick={() => setQuery({ view: showsDifference ? "value" : undefined })}>{showsDifference ? "show as tree" : "show differences"}</button>
          </div>
        </div>
      )}
      {state.data && !showsDifference && <div class="panel"><Value value={state.data.state} /></div>}
      {state.data && showsDifference && (
        <pre class="difference">{lines.map((line, i) => <span key={i} class={line.change}>{line.change === "added" ? "+ " : line.change === "removed" ? "- " : "  "}{line.text}{"\n"}</span>)}</pre>
      )}
    </section>
  );
}
