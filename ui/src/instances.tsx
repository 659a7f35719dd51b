// SPDX-License-Identifier: Apache-2.0
// The list of instances: filters are in the address, and rows never jump while somebody reads.
import { useEffect, useState } from "preact/hooks";
import { get, keyWord } from "./api";
import { BatchDialog, Scope } from "./batches";
import { count, keyText } from "./format";
import { Json } from "./json";
import { may } from "./me";
import { link, place, setQuery } from "./route";
import { useFresh } from "./use";
import { Views } from "./views";
import { kWords } from "./waits";
import { Age, Badge, Empty, Loading, ProblemBox, Sentence } from "./widgets";

export interface Row {
  workflow: string; key: Json; status: string; paused: boolean; first_record: number; first_ns: bigint;
  last_record: number; last_ns: bigint; steps: number; error?: { code: string; message: string };
  why?: { sentence: string; reasons: any[] };
}

const kOpen = "waiting,running";
const kStatuses = [kOpen, "waiting", "running", "completed", "failed", "cancelled", "deleted"];
const kLimit = 50;

export function rowLink(row: { workflow: string; key: Json }): string {
  return link(["instances", row.workflow, keyWord(row.key)]);
}

function Filters({ workflows }: { workflows: string[] }) {
  const query = place.value.query;
  const set = (name: string, value: string | undefined) => setQuery({ [name]: value || undefined, after: undefined });
  const text = (name: string, label: string, placeholder: string) => (
    <label>
      {label}
      <input type="search" placeholder={placeholder} value={query[name] ?? ""} onChange={(event) => set(name, event.currentTarget.value.trim())} />
    </label>
  );
  const [kind, ...subject] = (query.reason ?? "").split(" ");
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()} role="search">
      <label>
        Workflow
        <select value={query.workflow ?? ""} onChange={(event) => set("workflow", event.currentTarget.value)}>
          <option value="">all</option>
          {[...new Set([...workflows, ...(query.workflow ? [query.workflow] : [])])].map((name) => <option key={name}>{name}</option>)}
        </select>
      </label>
      <label>
        Status
        <select value={query.status ?? ""} onChange={(event) => set("status", event.currentTarget.value)}>
          <option value="">any</option>
          {[...new Set([...kStatuses, ...(query.status ? [query.status] : [])])].map((name) => <option key={name} value={name}>{name === kOpen ? "in progress" : name}</option>)}
        </select>
      </label>
      {text("key", "Key begins with", "o-")}
      {text("where", "Field", "state.sku=mug")}
      {text("words", "Words", "in what it put out")}
      {text("code", "Error code", "not_charged")}
      {query.paused && <p class="chosen"><span class="quiet">{query.paused === "1" ? "only paused ones" : "without paused ones"}</span><button type="button" class="small" aria-label="Remove this filter" onClick={() => set("paused", undefined)}>✕</button></p>}
      {query.reason && (
        <p class="chosen">
          <span class="quiet">waits for</span> <span class={`kind ${kind}`}>{kWords[kind] ?? kind}</span> <code>{subject.join(" ")}</code>
          <button type="button" class="small" aria-label="Remove this filter" onClick={() => set("reason", undefined)}>✕</button>
        </p>
      )}
    </form>
  );
}

function Reason({ row }: { row: Row }) {
  if (row.error) return <span class="reason bad" title={row.error.message}><code>{row.error.code}</code> {row.error.message}</span>;
  return row.why ? <span class="reason" title={row.why.sentence}><Sentence text={row.why.sentence} short /></span> : null;
}

function Toolbar({ rows, query, done }: { rows: Row[]; query: Record<string, string>; done: () => void }) {
  const [asks, setAsks] = useState<{ action: string; scope: Scope }>();
  if (!may("operator")) return null;
  const ofRows: Scope = { ids: rows.map(({ workflow, key }) => ({ workflow, key })) };
  // What the server finds by itself: what is sifted by a value or a reason is not, and what has ended
  // cannot be controlled.
  const canFilter = ["", "waiting", "running"].includes(query.status ?? "") && !query.where && !query.reason && !query.code;
  const filter: Record<string, Json> = {};
  for (const name of ["workflow", "status", "words", "key"]) if (query[name]) filter[name] = query[name];
  if (query.paused === "1") filter.paused = true;
  const scope: Scope | undefined = rows.length > 0 ? ofRows : canFilter ? { filter } : undefined;
  if (!scope) return <p class="bar quiet">Select instances to act on them.</p>;
  return (
    <div class="bar" role="toolbar" aria-label="Act on many instances">
      {rows.length > 0 ? <strong>{rows.length} selected</strong> : <span class="quiet">All that {query.status === "running" ? "run" : "wait"} and match:</span>}
      {["pause", "resume", "cancel"].map((action) => (
        <button key={action} type="button" class={action === "cancel" ? "small danger" : "small"} onClick={() => setAsks({ action, scope })}>{action}{rows.length === 0 ? " all…" : "…"}</button>
      ))}
      {rows.length > 0 && <button type="button" class="small" onClick={done}>Clear</button>}
      {asks && <BatchDialog action={asks.action} scope={asks.scope} close={() => { setAsks(undefined); done(); }} />}
    </div>
  );
}

const idOf = (row: Row) => `${row.workflow} ${keyText(row.key)}`;

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
    const now = new Map<string, Row>(fresh.data.instances.map((row: Row) => [idOf(row), row]));
    setShown({ ...shown, total: fresh.data.total, instances: shown.instances.map((row: Row) => now.get(idOf(row)) ?? row) });
  }, [fresh.data]);

  const rows: Row[] = shown?.instances ?? [];
  const known = new Set(rows.map(idOf));
  const added = shown && fresh.data ? fresh.data.instances.filter((row: Row) => !known.has(idOf(row))).length : 0;
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
        {shown?.total != null && <span class="quiet">{count(shown.total)}</span>}
        {added > 0 && <button type="button" class="small new" onClick={() => setShown(fresh.data)}>{added} new</button>}
        {fresh.data?.lag > 0 && <span class="quiet">The index is {fresh.data.lag} records behind.</span>}
      </header>
      <Views />
      <Filters workflows={(workflows.data?.workflows ?? []).map((each: any) => each.workflow)} />
      <ProblemBox problem={fresh.problem} />
      <Loading of={fresh} />
      {shown && <Toolbar rows={chosen} query={query} done={() => setSelected(new Set())} />}
      {shown && rows.length === 0 && shown.next == null && <Empty>No instance matches. {Object.keys(query).length > 0 && <a href={link(["instances"])}>Show all</a>}</Empty>}
      {shown && rows.length === 0 && shown.next != null && <Empty>No instance matches among those that were looked at so far. <a href={link(["instances"], { ...query, after: String(shown.next) })}>Look further</a></Empty>}
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
                <tr key={idOf(row)} data-row>
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
        {shown?.next != null && rows.length > 0 && <a class="button" href={link(["instances"], { ...query, after: String(shown.next) })}>Next</a>}
      </footer>
    </main>
  );
}
