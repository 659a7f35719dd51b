// SPDX-License-Identifier: Apache-2.0
// The last records of the world, live.
import { useState } from "preact/hooks";
import { get } from "./api";
import { keyText } from "./format";
import { RecordRow } from "./history";
import { place, setQuery } from "./route";
import { useFresh } from "./use";
import { Empty, Loading, ProblemBox } from "./widgets";

const kLimit = 100;

async function lastRecords(abort: AbortSignal): Promise<any> {
  const { last } = await get("v1/journal", { limit: 1 }, abort);
  return get("v1/journal", { from: Math.max(1, Number(last) - kLimit + 1), limit: kLimit }, abort);
}

export function Journal() {
  const [isLive, setLive] = useState(true);
  const fresh = useFresh<any>(lastRecords, "journal", isLive ? 1500 : 0);
  const open = place.value.query.record;
  const records: any[] = [...(fresh.data?.records ?? [])].reverse();
  return (
    <main>
      <header class="title"><h1>Journal</h1>
        <button type="button" class="small" aria-pressed={isLive} onClick={() => setLive(!isLive)}>{isLive ? "pause" : "follow"}</button>
        {fresh.data && <span class="quiet">records {String(fresh.data.first)} to {String(fresh.data.last)}</span>}
      </header>
      <ProblemBox problem={fresh.problem} />
      <Loading of={fresh} />
      {fresh.data && records.length === 0 && <Empty>The journal is empty.</Empty>}
      {records.length > 0 && (
        <div class="scroll">
          <table class="rows records">
            <thead><tr><th class="number">Record</th><th>Time</th><th>Kind</th><th>What</th></tr></thead>
            <tbody>{records.map((each) => <RecordRow key={each.record} record={each} isOpen={open === String(each.record)}
              toggle={() => setQuery({ record: open === String(each.record) ? undefined : String(each.record) })} />)}</tbody>
          </table>
        </div>
      )}
    </main>
  );
}
