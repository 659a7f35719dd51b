// SPDX-License-Identifier: Apache-2.0
// The list of instances: filters are in the address, and rows never jump while somebody reads.
import { useEffect, useState } from "preact/hooks";
import { get, instancePath, keyWord, post } from "./api";
import { keyText } from "./format";
import { Json } from "./json";
import { link, place, setQuery } from "./route";
import { changed, useFresh } from "./use";
import { Age, Badge, Dialog, Empty, Loading, ProblemBox, tell, tellProblem } from "./widgets";

export interface Row {
  workflow: string; key: Json; status: string; paused: boolean; first_record: number; first_ns: bigint;
  last_record: number; last_ns: bigint; steps: number; error?: { code: string; message: string };
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

// Why an instance waits; asked for when its row is on the screen.
function Reason({ row }: { row: Row }) {
  const isOpen = row.status === "waiting";
  const fresh = useFresh<any>(
    (abort) => (isOpen ? get(`${instancePath(row.workflow, row.key)}/why`, {}, abort) : Promise.resolve(null)),
    `why ${row.workflow} ${keyText(row.key)} ${row.last_record}`, 0);
  if (row.error) return <span class="reason bad"><code>{row.error.code}</code> {row.error.message}</span>;
  if (!isOpen) return null;
  return <span class="reason" title={fresh.data?.sentence}>{fresh.data?.sentence ?? ""}</span>;
}

function ActOnMany({ rows, done }: { rows: Row[]; done: () => void }) {
  const [action, setAction] = useState<string>();
  const [reason, setReason] = useState("");
  const [progress, setProgress] = useState(0);
  if (rows.length === 0) return null;
  async function run() {
    let failed = 0;
    for (const [number, row] of rows.entries()) {
      setProgress(number + 1);
      await post(`${instancePath(row.workflow, row.key)}/${action}`, { reason }).catch(() => (failed += 1));
    }
    tell(`${action}: ${rows.length - failed} of ${rows.length} done`, failed > 0);
    setAction(undefined);
    changed();
    done();
  }
  return (
    <div class="bar" role="toolbar" aria-label="Act on what is selected">
      <strong>{rows.length} selected</strong>
      {["cancel", "pause", "resume"].map((name) => (
        <button key={name} type="button" class={name === "cancel" ? "danger" : ""} onClick={() => setAction(name)}>
          {name}
        </button>
      ))}
      <button type="button" onClick={done}>Clear</button>
      {action && (
        <Dialog title={`${action} ${rows.length} instances`} close={() => setAction(undefined)}>
          <ul class="names">{rows.slice(0, 12).map((row) => <li key={row.first_record}>{row.workflow} {keyText(row.key)}</li>)}</ul>
          {rows.length > 12 && <p class="quiet">and {rows.length - 12} more</p>}
          <label for="reason">Reason, for the record<input id="reason" type="text" value={reason} onInput={(event) => setReason(event.currentTarget.value)} /></label>
          <footer>
            {progress > 0 && <progress max={rows.length} value={progress} />}
            <button type="button" class="primary" disabled={progress > 0} onClick={run}>{action} {rows.length}</button>
          </footer>
        </Dialog>
      )}
    </div>
  );
}

export function Instances() {
  const query = place.value.query;
  const [selected, setSelected] = useState<Set<string>>(new Set());
  const [shown, setShown] = useState<any>();
  const key = JSON.stringify(query);
  const fresh = useFresh<any>((abort) => get("v1/instances", { ...query, limit: kLimit }, abort), `instances ${key}`);
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
      <ActOnMany rows={chosen} done={() => setSelected(new Set())} />
      {shown && rows.length === 0 && <Empty>No instance matches. {Object.keys(query).length > 0 && <a href={link(["instances"])}>Show all</a>}</Empty>}
      {rows.length > 0 && (
        <div class="scroll">
          <table class="rows">
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
                  <td><Badge status={row.status} paused={row.paused} /></td>
                  <td class="name"><a href={rowLink(row)}><b>{keyText(row.key)}</b></a><span class="quiet">{row.workflow}</span></td>
                  <td class="why"><Reason row={row} /></td>
                  <td class="number">{row.steps}</td>
                  <td><Age ns={row.first_ns} /></td>
                  <td><Age ns={row.last_ns} /></td>
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
