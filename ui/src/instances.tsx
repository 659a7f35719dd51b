// SPDX-License-Identifier: Apache-2.0
// The list of instances: filters are in the address, and rows never jump while somebody reads.
import { useEffect, useState } from "preact/hooks";
import { get, keyWord } from "./api";
import { BatchDialog, Scope } from "./batches";
import { keyText } from "./format";
import { Json } from "./json";
import { may } from "./me";
import { link, place, setQuery } from "./route";
import { useFresh } from "./use";
import { Age, Badge, Empty, Loading, ProblemBox } from "./widgets";

export interface Row {
  workflow: string; key: Json; status: string; paused: boolean; first_record: number; first_ns: bigint;
  last_record: number; last_ns: bigint; steps: number; error?: { code: string; message: string };
  why?: { sentence: string; reasons: any[] };
}

const kStatuses = ["waiting", "completed", "failed", "cancelled", "deleted"];
const kLimit = 50;

export function rowLink(row: { workflow: string; key: Json }): string {
  return link(["instances", row.workflow, keyWord(row.key)]);
}

function Filters({ workflows }: { workflows: string[] }) {
  const query = place.value.query;
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()} role="search">
      <label>
        Workflow
        <select value={query.workflow ?? ""} onChange={(event) => setQuery({ workflow: event.currentTarget.value, after: undefined })}>
          <option value="">all</option>
          {workflows.map((name) => <option key={name}>{name}</option>)}
        </select>
      </label>
      <label>
        Status
        <select value={query.status ?? ""} onChange={(event) => setQuery({ status: event.currentTarget.value, after: undefined })}>
          <option value="">any</option>
          {kStatuses.map((name) => <option key={name}>{name}</option>)}
        </select>
      </label>
      <label class="grow">
        Field
        <input type="search" placeholder="state.sku=mug" value={query.where ?? ""}
          onChange={(event) => setQuery({ where: event.currentTarget.value, after: undefined })} />
      </label>
      <label class="grow">
        Words
        <input type="search" placeholder="in what it put out" value={query.words ?? ""}
          onChange={(event) => setQuery({ words: event.currentTarget.value, after: undefined })} />
      </label>
      <label class="check">
        <input type="checkbox" checked={query.paused === "1"} onChange={(event) => setQuery({ paused: event.currentTarget.checked ? "1" : undefined })} />
        paused
      </label>
    </form>
  );
}

function Reason({ row }: { row: Row }) {
  if (row.error) return <span class="reason bad" title={row.error.message}><code>{row.error.code}</code> {row.error.message}</span>;
  return row.why ? <span class="reason" title={row.why.sentence}>{row.why.sentence}</span> : null;
}

function Toolbar({ rows, query, done }: { rows: Row[]; query: Record<string, string>; done: () => void }) {
  const [asks, setAsks] = useState<{ action: string; scope: Scope }>();
  if (!may("operator")) return null;
  const ofRows: Scope = { ids: rows.map(({ workflow, key }) => ({ workflow, key })) };
  // What the server finds by itself: what is sifted by a value is not.
  const canFilter = (query.status ?? "waiting") === "waiting" && !query.where;
  const filter: Record<string, Json> = {};
  for (const name of ["workflow", "status", "words"]) if (query[name]) filter[name] = query[name];
  if (query.paused === "1") filter.paused = true;
  const scope: Scope | undefined = rows.length > 0 ? ofRows : canFilter ? { filter } : undefined;
  if (!scope) return null;
  return (
    <div class="bar" role="toolbar" aria-label="Act on many instances">
      {rows.length > 0 ? <strong>{rows.length} selected</strong> : <span class="quiet">All that match:</span>}
      {["pause", "resume", "cancel"].map((action) => (
        <button key={action} type="button" class={action === "cancel" ? "small danger" : "small"} onClick={() => setAsks({ action, scope })}>{action}{rows.length === 0 ? " all…" : "…"}</button>
      ))}
      {rows.length > 0 && <button type="button" class="small" onClick={done}>Clear</button>}
      {asks && <BatchDialog action={asks.action} scope={asks.scope} close={() => { setAsks(undefined); done(); }} />}
    </div>
  );
}

export function Instances() {
  const query = place.value.query;
  const [selected, setSelected] = useState<Set<string>>(new Set());
  const [shown, setShown] = useState<any>();
  const key = JSON.stringify(query);
  const fresh = useFresh<any>((abort) => get("v1/instances", { ...query, why: 1, limit: kLimit }, abort), `instances ${key}`);
  const workflows = useFresh<any>((abort) => get("v1/workflows", {}, abort), "workflows", 30000);
  useEffect(() => setShown(undefined), [key]);
  useEffect(() => {
    // Rows that are there are brought up to date in place; new ones wait until they are asked for.
    if (!fresh.data) return;
    if (!shown) return setShown(fresh.data);
    const now = new Map<number, Row>(fresh.data.instances.map((row: Row) => [row.first_record, row]));
    setShown({ ...shown, instances: shown.instances.map((row: Row) => now.get(row.first_record) ?? row) });
  }, [fresh.data]);

  const rows: Row[] = shown?.instances ?? [];
  const known = new Set(rows.map((row) => row.first_record));
  const added = shown && fresh.data ? fresh.data.instances.filter((row: Row) => !known.has(row.first_record)).length : 0;
  const idOf = (row: Row) => `${row.workflow} ${keyText(row.key)}`;
  const chosen = rows.filter((row) => selected.has(idOf(row)));
  function toggle(row: Row) {
    const next = new Set(selected);
    if (!next.delete(idOf(row))) next.add(idOf(row));
    setSelected(next);
  }

  return (
    <main>
      <header class="title">
        <h1>Instances</h1>
        {added > 0 && <button type="button" class="small new" onClick={() => setShown(fresh.data)}>{added} new</button>}
        {fresh.data?.lag > 0 && <span class="quiet">The index is {fresh.data.lag} records behind.</span>}
      </header>
      <Filters workflows={(workflows.data?.workflows ?? []).map((each: any) => each.workflow)} />
      <ProblemBox problem={fresh.problem} />
      <Loading of={fresh} />
      {(chosen.length > 0 || rows.some((row) => row.status === "waiting")) && <Toolbar rows={chosen} query={query} done={() => setSelected(new Set())} />}
      {shown && rows.length === 0 && <Empty>No instance matches. {Object.keys(query).length > 0 && <a href={link(["instances"])}>Show all</a>}</Empty>}
      {rows.length > 0 && (
        <div class="scroll">
          <table class="rows list">
            <thead>
              <tr>
                <th class="tick"><input type="checkbox" aria-label="Select all" checked={chosen.length === rows.length}
                  onChange={() => setSelected(chosen.length === rows.length ? new Set() : new Set(rows.map(idOf)))} /></th>
                <th>Status</th><th>Instance</th><th>Why</th><th class="number">Steps</th><th>Begun</th><th>Changed</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.first_record} data-row>
                  <td class="tick"><input type="checkbox" aria-label={`Select ${keyText(row.key)}`} checked={selected.has(idOf(row))} onChange={() => toggle(row)} /></td>
                  <td class="state-cell"><Badge status={row.status} paused={row.paused} /></td>
                  <td class="name"><a href={rowLink(row)}><b>{keyText(row.key)}</b></a><span class="quiet">{row.workflow}</span></td>
                  <td class="why"><Reason row={row} /></td>
                  <td class="number steps">{row.steps}</td>
                  <td class="begun"><Age ns={row.first_ns} /></td>
                  <td class="changed"><Age ns={row.last_ns} /></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <footer class="pages">
        {query.after && <button type="button" onClick={() => history.back()}>Previous</button>}
        {shown?.next != null && <a class="button" href={link(["instances"], { ...query, after: String(shown.next) })}>Next</a>}
      </footer>
    </main>
  );
}
