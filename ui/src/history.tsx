// SPDX-License-Identifier: Apache-2.0
// The records of an instance, the last first. More are asked for as the reader comes to them;
// #/.../history?record=12 opens one.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { get, Problem } from "./api";
import { brief, clock, count } from "./format";
import { place, setQuery } from "./route";
import { Copy, Dialog, Empty, ProblemBox, Value } from "./widgets";
import { VirtualList } from "./virtual";
import { writeJson } from "./json";

const kPart = 500;
const kRowHeight = 34;

export function tickText(tick: any): string {
  switch (tick.kind) {
    case "event": return `${tick.schema} ${brief(tick.value, 160)}`;
    case "receipt": return `${tick.status} ${brief(tick.payload, 160)}`;
    case "progress": return tick.progress_kind ?? "";
    case "control": return `${tick.control}${tick.reason ? `: ${tick.reason}` : ""}${tick.by ? ` (${tick.by})` : ""}`;
    default: return tick.reason ?? "";
  }
}

export function RecordLine({ record }: { record: any }) {
  const opened: string[] = record.instances.flatMap((each: any) => each.opened.map((one: any) => one.effect));
  const name = String(record.record);
  return (
    <div class="record" role="listitem" data-row key={name}>
      <button type="button" class="link number" onClick={() => setQuery({ record: name })} aria-label={`${name}: open the record`}>{name}</button>
      <span class="time">{clock(record.time_ns)}</span>
      <span class={`kind ${record.tick.kind} ${record.tick.status ?? ""}`}>{record.tick.kind}</span>
      <span class="what">{tickText(record.tick)}{opened.length > 0 && <span class="quiet"> → {opened.slice(0, 4).join(", ")}{opened.length > 4 ? ` and ${opened.length - 4} more` : ""}</span>}</span>
    </div>
  );
}

// The one that the address names.
export function OpenRecord({ records }: { records: any[] }) {
  const name = place.value.query.record;
  const record = name && records.find((each) => String(each.record) === name);
  if (!record) return null;
  return (
    <Dialog title={`Record ${name}`} close={() => setQuery({ record: undefined })} isWide>
      <div class="body"><p class="quiet">{clock(record.time_ns)} · {record.tick.kind}</p><Value value={record} /></div>
      <footer><Copy text={writeJson(record, 2)} label="Copy as JSON" /><Copy text={location.href} label="Copy link" /></footer>
    </Dialog>
  );
}

function newestFirst(records: any[]): any[] {
  const byNumber = new Map(records.map((each) => [Number(each.record), each]));
  return [...byNumber.values()].sort((a, b) => Number(b.record) - Number(a.record));
}

export function useRecords(path: string, record: number) {
  const [records, setRecords] = useState<any[]>([]);
  const [state, setState] = useState<{ next?: number; isLoaded: boolean; problem?: Problem }>({ isLoaded: false });
  const busy = useRef(false);
  const load = useCallback(async (from?: number) => {
    if (busy.current) return;
    busy.current = true;
    try {
      const part = await get(`${path}/timeline`, { limit: kPart, from });
      setRecords((old) => newestFirst([...part.records, ...old]));
      // What came last is asked for without a place, and says nothing of what is before the rest.
      setState((old) => ({ isLoaded: true, next: from === undefined && old.isLoaded ? old.next : part.next === null ? undefined : Number(part.next) }));
    } catch (error) {
      if (error instanceof Problem) setState((old) => ({ ...old, isLoaded: true, problem: error }));
    }
    busy.current = false;
  }, [path]);
  useEffect(() => void load(), [path, record]);
  const more = useCallback(() => { if (state.next !== undefined) void load(state.next); }, [state.next, load]);
  return { records, ...state, more };
}

export function History({ path, record }: { path: string; record: number }) {
  const { records, isLoaded, next, problem, more } = useRecords(path, record);
  const [kind, setKind] = useState("");
  const kinds = [...new Set(records.map((each) => each.tick.kind as string))].sort();
  const shown = kind ? records.filter((each) => each.tick.kind === kind) : records;
  return (
    <section aria-label="History">
      <ProblemBox problem={problem} />
      {!isLoaded && <p class="quiet">Loading…</p>}
      {isLoaded && records.length === 0 && !problem && <Empty>The journal does not have the records of this instance any more.</Empty>}
      {records.length > 0 && (
        <>
          <div class="bar">
            <label for="history-kind">Kind <select id="history-kind" value={kind} onChange={(event) => setKind(event.currentTarget.value)}>
              <option value="">all</option>{kinds.map((each) => <option key={each}>{each}</option>)}</select></label>
            <span class="quiet">{count(shown.length)} records{next !== undefined && ", and more below"}</span>
          </div>
          <VirtualList rows={shown} height={kRowHeight} label="Records" more={more} row={(each) => <RecordLine key={String(each.record)} record={each} />} />
        </>
      )}
      <OpenRecord records={records} />
    </section>
  );
}
