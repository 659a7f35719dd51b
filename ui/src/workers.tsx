// SPDX-License-Identifier: Apache-2.0
// Workers: who is there, what each holds, and what tasks wait for.
import { useState } from "preact/hooks";
import { get, post } from "./api";
import { count, duration } from "./format";
import { may } from "./me";
import { place, setQuery } from "./route";
import { changed, useFresh } from "./use";
import { Age, Badge, Copy, Empty, Loading, ProblemBox, ReasonDialog, tell, Value } from "./widgets";
import { WaitGroups } from "./waits";

const kExample = `def hello(spec):
    print("saying hello")
    return "Hello, " + spec.get("name", "world")

def count(spec):
    words = spec["text"].split()
    return {"words": len(words)}
`;
const kGraph = `apiVersion: holdfast/v1
kind: Workflow
metadata: {name: hello}
spec:
  graph:
    nodes:
      - {name: greet, spec: {taskType: hello, name: Ada}}
      - {name: count, dependsOn: [greet], spec: {taskType: count, text: one two three}}
`;

function Busy({ running, slots }: { running: number; slots: number }) {
  return <span class="busy"><meter min={0} max={Math.max(slots, 1)} value={running} aria-label={`${running} of ${slots} slots are busy`} />{running}/{slots}</span>;
}

function FirstWorker() {
  const origin = new URL(".", document.baseURI).href.replace(/\/$/, "");
  return (
    <div class="panel guide">
      <h2>No worker has enrolled yet</h2>
      <p>Workers run the tasks of task graphs, on this machine or on others. Save these functions as <code>hello.py</code>:</p>
      <pre class="code">{kExample}</pre>
      <div class="actions"><Copy text={kExample} label="Copy the functions" /></div>
      <p>Start a worker with them. It appears here at once.</p>
      <pre class="code">{`holdfast worker --server ${origin} --python hello.py`}</pre>
      <div class="actions"><Copy text={`holdfast worker --server ${origin} --python hello.py`} label="Copy the command" /></div>
      <p>Then submit a graph, <code>hello.yaml</code>, with <code>holdfast submit --server {origin} hello.yaml</code>:</p>
      <pre class="code">{kGraph}</pre>
      <div class="actions"><Copy text={kGraph} label="Copy the graph" /></div>
    </div>
  );
}

function Actions({ worker }: { worker: any }) {
  const [asks, setAsks] = useState("");
  if (!may("operator") || ["lost", "left"].includes(worker.mode)) return null;
  const button = (name: string) => <button type="button" class="small" onClick={() => setAsks(name)}>{name}</button>;
  return (
    <div class="actions">
      {worker.cordoned ? button("uncordon") : button("cordon")}
      {worker.mode !== "draining" && button("drain")}
      {asks && <ReasonDialog title={`${asks} ${worker.name}`} action={asks} close={() => setAsks("")}
        act={async (reason) => { await post(`v1/workers/${encodeURIComponent(worker.worker)}/${asks}`, { reason }); tell(`${asks}: done`); changed(); }} />}
    </div>
  );
}

export function Workers() {
  const fresh = useFresh<any>((abort) => get("v1/workers", { limit: 500 }, abort), "workers", 2000, true);
  const showsGone = place.value.query.gone === "1";
  const all: any[] = fresh.data?.workers ?? [];
  const isGone = (worker: any) => ["lost", "left"].includes(worker.mode);
  const shown = all.filter((worker) => showsGone || !isGone(worker));
  const gone = all.filter(isGone).length;
  const [open, setOpen] = useState("");
  return (
    <main>
      <header class="title"><h1>Workers</h1>
        {gone > 0 && <label class="check"><input type="checkbox" checked={showsGone} onChange={(event) => setQuery({ gone: event.currentTarget.checked ? "1" : undefined })} /> also {count(gone)} that left or were lost</label>}
      </header>
      <ProblemBox problem={fresh.problem} />
      <Loading of={fresh} />
      {fresh.data && all.length === 0 && <FirstWorker />}
      {all.length > 0 && shown.length === 0 && <Empty>All workers have left.</Empty>}
      {shown.length > 0 && (
        <div class="scroll">
          <table class="rows">
            <thead><tr><th>Worker</th><th>Status</th><th>Busy</th><th class="number">Leases</th><th>Heard</th><th>Runs</th><th><span class="hidden">Actions</span></th></tr></thead>
            <tbody>
              {shown.map((worker) => (
                <>
                  <tr key={worker.worker} data-row>
                    <td class="name"><button type="button" class="link" aria-expanded={open === worker.worker} onClick={() => setOpen(open === worker.worker ? "" : worker.worker)}><b>{worker.name}</b></button><span class="quiet">{worker.node}</span></td>
                    <td><Badge status={worker.mode === "active" && !worker.live ? "silent" : worker.cordoned && worker.mode === "active" ? "cordoned" : worker.mode} /></td>
                    <td><Busy running={Number(worker.running)} slots={Number(worker.slots)} /></td>
                    <td class="number">{count(worker.leases)}</td>
                    <td class="quiet">{worker.silent_ms === null ? "–" : `${duration(Number(worker.silent_ms))} ago`}</td>
                    <td>{(worker.offer?.types ?? []).map((type: string) => <code key={type} class="tag">{type}</code>)}</td>
                    <td><Actions worker={worker} /></td>
                  </tr>
                  {open === worker.worker && (
                    <tr class="detail" key={`${worker.worker} detail`}><td colSpan={7}>
                      {worker.reason && <p>{worker.reason}{worker.by && <span class="quiet"> by {worker.by}</span>}</p>}
                      <p class="quiet">enrolled <Age ns={worker.enrolled_ns} />, <code>{worker.worker}</code></p>
                      <Value value={worker.offer} />
                    </td></tr>
                  )}
                </>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {all.length > 0 && <section class="panel"><h2>What tasks wait for</h2><WaitGroups workflow="sys/Task@1" empty="No task waits." /></section>}
    </main>
  );
}
