// SPDX-License-Identifier: Apache-2.0
// One action on many instances: counted first, then done by the server, with progress.
import { useState } from "preact/hooks";
import { get, post, Problem } from "./api";
import { count, keyText } from "./format";
import { Json } from "./json";
import { rowLink } from "./instances";
import { may } from "./me";
import { link } from "./route";
import { changed, useFresh } from "./use";
import { Age, Badge, Dialog, Empty, Loading, ProblemBox, tellProblem } from "./widgets";

export interface Scope { filter?: Record<string, Json>; ids?: { workflow: string; key: Json }[] }

function Progress({ batch }: { batch: any }) {
  const all = Number(batch.done) + Number(batch.unchanged) + Number(batch.failed);
  return (
    <div class="progress">
      <progress max={Math.max(Number(batch.expected), all, 1)} value={all} aria-label={`${all} of ${batch.expected}`} />
      <p><b>{count(batch.done)}</b> done{Number(batch.unchanged) > 0 && <>, {count(batch.unchanged)} unchanged</>}{Number(batch.failed) > 0 && <span class="bad">, {count(batch.failed)} failed</span>} <span class="quiet">of {count(batch.expected)}</span></p>
      {batch.errors.map((each: any, i: number) => <p key={i} class="bad">{keyText(each.key)}: {each.error}</p>)}
    </div>
  );
}

async function abort(batch: any) {
  try {
    await post(`v1/batches/${batch.batch}/abort`);
    changed();
  } catch (error) {
    tellProblem(error);
  }
}

function Running({ id, close }: { id: string; close: () => void }) {
  const fresh = useFresh<any>((signal) => get(`v1/batches/${id}`, {}, signal), `batch ${id}`, 400, true);
  const batch = fresh.data;
  return (
    <div class="body">
      <ProblemBox problem={fresh.problem} />
      {batch && <><p><Badge status={batch.status} /></p><Progress batch={batch} /></>}
      <footer>
        {batch?.status === "running" && <button type="button" class="danger" onClick={() => abort(batch)}>Abort</button>}
        <button type="button" class="primary" onClick={close}>{batch?.status === "running" ? "Leave it running" : "Close"}</button>
      </footer>
    </div>
  );
}

export function BatchDialog({ action, scope, close }: { action: string; scope: Scope; close: () => void }) {
  const [reason, setReason] = useState("");
  const [begun, setBegun] = useState("");
  const [problem, setProblem] = useState<Problem>();
  const tried = useFresh<any>(() => post("v1/batches", { action, dry_run: true, ...scope } as any), `dry run ${action}`, 0);
  async function begin(event: Event) {
    event.preventDefault();
    try {
      setBegun((await post("v1/batches", { action, reason, ...scope } as any)).batch);
    } catch (error) {
      setProblem(error as Problem);
    }
  }
  function end() {
    changed();
    close();
  }
  const expected = tried.data ? `${tried.data.exact ? "" : "more than "}${count(tried.data.expected)}` : "…";
  return (
    <Dialog title={`${action} ${expected} instances`} close={end}>
      {begun ? <Running id={begun} close={end} /> : (
        <form onSubmit={begin}>
          <ProblemBox problem={problem ?? tried.problem} />
          <Loading of={tried} />
          {tried.data && Number(tried.data.expected) === 0 && <p>No instance fits.</p>}
          {tried.data && Number(tried.data.expected) > 0 && (
            <>
              <ul class="names">{tried.data.examples.map((each: any) => <li key={`${each.workflow} ${keyText(each.key)}`}><b>{keyText(each.key)}</b> <span class="quiet">{each.workflow}</span></li>)}</ul>
              {Number(tried.data.expected) > tried.data.examples.length && <p class="quiet">and {count(Number(tried.data.expected) - tried.data.examples.length)} more</p>}
              <label for="reason">Reason, for the record<input id="reason" type="text" maxLength={4096} value={reason} onInput={(event) => setReason(event.currentTarget.value)} /></label>
            </>
          )}
          <footer><button type="submit" class={action === "cancel" ? "danger" : "primary"} disabled={!tried.data || Number(tried.data.expected) === 0}>{action} {expected}</button></footer>
        </form>
      )}
    </Dialog>
  );
}

export function Batches() {
  const fresh = useFresh<any>((signal) => get("v1/batches", {}, signal), "batches", 1000, true);
  const batches: any[] = fresh.data?.batches ?? [];
  return (
    <main>
      <header class="title"><h1>Batches</h1><span class="quiet">Actions on many instances since the server began.</span></header>
      <ProblemBox problem={fresh.problem} />
      <Loading of={fresh} />
      {fresh.data && batches.length === 0 && <Empty>No batch was begun. Filter <a href={link(["instances"], { status: "waiting" })}>instances</a> and act on all that match.</Empty>}
      <ul class="cards">
        {batches.map((batch) => (
          <li class="card" key={batch.batch}>
            <div>
              <b>{batch.action}</b> <Badge status={batch.status} /> <span class="quiet">by {batch.by}, <Age ns={batch.begun_ns} /></span>
              {batch.reason && <p>{batch.reason}</p>}
              <Progress batch={batch} />
              {batch.examples.length > 0 && <p class="sub">{batch.examples.slice(0, 5).map((each: any) => <a key={keyText(each.key)} href={rowLink(each)}>{keyText(each.key)}</a>)}</p>}
            </div>
            {batch.status === "running" && may("operator") && <button type="button" class="danger" onClick={() => abort(batch)}>Abort</button>}
          </li>
        ))}
      </ul>
    </main>
  );
}
