// SPDX-License-Identifier: Apache-2.0
// The records of an instance, the last first, compact or in full. #/.../history?record=12 opens one.
import { useState } from "preact/hooks";
import { get } from "./api";
import { brief, clock } from "./format";
import { place, setQuery } from "./route";
import { useFresh } from "./use";
import { Empty, Loading, ProblemBox, Value } from "./widgets";

export function tickText(tick: any): string {
  switch (tick.kind) {
    case "event": return `${tick.schema} ${brief(tick.value)}`;
    case "receipt": return `receipt ${tick.status} ${brief(tick.payload, 70)}`;
    case "progress": return `progress ${tick.progress_kind ?? ""}`;
    default: return `${tick.kind} ${tick.reason ?? ""}`;
  }
}

export function RecordRow({ record, isOpen, toggle }: { record: any; isOpen: boolean; toggle: () => void }) {
  const opened = record.instances.flatMap((each: any) => each.opened.map((one: any) => one.effect));
  return (
    <>
      <tr data-row>
        <td class="number"><button type="button" class="link" aria-expanded={isOpen} onClick={toggle}>{record.record}</button></td>
        <td class="time">{clock(record.time_ns)}</td>
        <td><span class={`kind ${record.tick.kind} ${record.tick.status ?? ""}`}>{record.tick.kind}</span></td>
        <td class="what">{tickText(record.tick)}{opened.length > 0 && <span class="quiet"> → {opened.slice(0, 4).join(", ")}{opened.length > 4 ? ` and ${opened.length - 4} more` : ""}</span>}</td>
      </tr>
      {isOpen && <tr class="detail"><td colSpan={4}><Value value={record} /></td></tr>}
    </>
  );
}

export function History({ path, record }: { path: string; record: number }) {
  const [from, setFrom] = useState<number>();
  const fresh = useFresh<any>((abort) => get(`${path}/timeline`, { limit: 100, from }, abort), `${path} history ${record} ${from}`, 0);
  const open = place.value.query.record;
  const records: any[] = fresh.data?.records ?? [];
  const last = records[records.length - 1];
  const previous = last?.instances.map((each: any) => each.previous).filter((each: number) => each > 0).sort((a: number, b: number) => b - a)[0];
  return (
    <section aria-label="History">
      <ProblemBox problem={fresh.problem} />
      <Loading of={fresh} />
      {fresh.data && records.length === 0 && <Empty>The journal does not have the records of this instance any more.</Empty>}
      {records.length > 0 && (
        <div class="scroll">
          <table class="rows records">
            <thead><tr><th class="number">Record</th><th>Time</th><th>Kind</th><th>What</th></tr></thead>
            <tbody>
              {records.map((each) => (
                <RecordRow key={each.record} record={each} isOpen={open === String(each.record)}
                  toggle={() => setQuery({ record: open === String(each.record) ? undefined : String(each.record) })} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <footer class="pages">
        {from !== undefined && <button type="button" onClick={() => setFrom(undefined)}>Newest</button>}
        {records.length === 100 && previous && <button type="button" onClick={() => setFrom(previous)}>Older</button>}
      </footer>
    </section>
  );
}
