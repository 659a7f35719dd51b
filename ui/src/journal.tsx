// SPDX-License-Identifier: Apache-2.0
// The last records of the world, live.
import { useState } from "preact/hooks";
import { get } from "./api";
import { count } from "./format";
import { OpenRecord, RecordLine } from "./history";
import { place } from "./route";
import { useFresh } from "./use";
import { Empty, Loading, ProblemBox } from "./widgets";
import { VirtualList } from "./virtual";

const kLimit = 200;

async function lastRecords(abort: AbortSignal): Promise<any> {
  const { last } = await get("v1/journal", { limit: 1 }, abort);
  return get("v1/journal", { from: Math.max(1, Number(last) - kLimit + 1), limit: kLimit }, abort);
}

export function Journal() {
  const [isLive, setLive] = useState(true);
  // Nothing moves while one is read.
  const fresh = useFresh<any>(lastRecords, "journal", isLive && !place.value.query.record ? 1500 : 0);
  const records: any[] = [...(fresh.data?.records ?? [])].reverse();
  return (
    <main>
      <header class="title"><h1>Journal</h1>
        <button type="button" class="small" aria-pressed={isLive} onClick={() => setLive(!isLive)}>{isLive ? "pause" : "follow"}</button>
        {fresh.data && <span class="quiet">records {count(fresh.data.first)} to {count(fresh.data.last)}</span>}
      </header>
      <ProblemBox problem={fresh.problem} />
      <Loading of={fresh} />
      {fresh.data && records.length === 0 && <Empty>The journal is empty.</Empty>}
      {records.length > 0 && <VirtualList class="tall" rows={records} height={34} label="Records" row={(each) => <RecordLine key={String(each.record)} record={each} />} />}
      <OpenRecord records={records} />
    </main>
  );
}
