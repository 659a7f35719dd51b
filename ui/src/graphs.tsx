// SPDX-License-Identifier: Apache-2.0
// Task graphs: how far each is, its tasks, and their logs. A small graph is drawn; a large one opens
// collapsed, as counts and a list of which only what is on the screen is asked for.
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { get, post, Problem } from "./api";
import { clock, count, duration, toMs } from "./format";
import { Collapsed, stemOf } from "./graph_groups";
import { may } from "./me";
import { link, place, setQuery } from "./route";
import { changed, now, useFresh } from "./use";
import { Age, Badge, Copy, Dialog, Empty, Loading, ProblemBox, ReasonDialog, Tabs, tell, Value } from "./widgets";
import { VirtualList } from "./virtual";

const kPart = 500;
const kMostDrawn = 300;
const kCollapsedAgainMs = 15_000;
const kEnds = ["done", "skipped", "failed", "cancelled", "pending"];

function Bar({ graph }: { graph: any }) {
  const total = Math.max(1, Number(graph.tasks));
  return (
    <span class="stacked" role="img" aria-label={kEnds.map((name) => `${graph[name]} ${name}`).join(", ")}>
      {kEnds.map((name) => Number(graph[name]) > 0 && <span key={name} class={name} style={{ width: `${(Number(graph[name]) / total) * 100}%` }} />)}
    </span>
  );
}

function Counts({ graph }: { graph: any }) {
  return <span class="counts">{kEnds.filter((name) => Number(graph[name]) > 0).map((name) => <span key={name} class={name}>{count(graph[name])} {name}</span>)}</span>;
}

function took(begin: any, end: any): string {
  return begin ? duration((end ? toMs(end) : now.value) - toMs(begin)) : "–";
}

function List() {
  const open = place.value.query.open;
  const after = place.value.query.after;
  const fresh = useFresh<any>((abort) => get("v1/graphs", { open, after, limit: 50 }, abort), `graphs ${open} ${after}`);
  const graphs: any[] = fresh.data?.graphs ?? [];
  return (
    <main>
      <header class="title"><h1>Task graphs</h1>
        <label class="check"><input type="checkbox" checked={open === "1"} onChange={(event) => setQuery({ open: event.currentTarget.checked ? "1" : undefined, after: undefined })} /> only those under way</label>
      </header>
      <ProblemBox problem={fresh.problem} />
      <Loading of={fresh} />
      {fresh.data && graphs.length === 0 && <Empty>{open || after ? "No graph matches." : <>No graph was submitted yet. <code>holdfast submit graph.yaml</code> submits one; <a href={link(["workers"])}>workers</a> run its tasks.</>}</Empty>}
      {graphs.length > 0 && (
        <div class="scroll"><table class="rows">
          <thead><tr><th>Status</th><th>Graph</th><th class="wide">Tasks</th><th class="number wide-only">Took</th><th class="wide-only">Submitted</th></tr></thead>
          <tbody>{graphs.map((graph) => (
            <tr key={graph.id} data-row>
              <td><Badge status={graph.status.toLowerCase()} /></td>
              <td class="name"><a href={link(["graphs", graph.id])}><b>{graph.name || graph.id}</b></a><span class="quiet">{graph.id}</span></td>
              <td class="wide"><Bar graph={graph} /><Counts graph={graph} /></td>
              <td class="number wide-only">{took(graph.started_ns, graph.ended_ns)}</td>
              <td class="wide-only"><Age ns={graph.created_ns} /></td>
            </tr>
          ))}</tbody>
        </table></div>
      )}
      <footer class="pages">
        {after && <button type="button" onClick={() => history.back()}>Previous</button>}
        {fresh.data?.next != null && <a class="button" href={link(["graphs"], { open, after: String(fresh.data.next) })}>Next</a>}
      </footer>
    </main>
  );
}

function useTasks(id: string, version: string) {
  const [tasks, setTasks] = useState<any[]>([]);
  const [next, setNext] = useState<number | undefined>(0);
  const [problem, setProblem] = useState<Problem>();
  const busy = useRef(false);
  const load = useCallback(async (from: number, isFresh: boolean) => {
    if (busy.current) return;
    busy.current = true;
    try {
      const part = await get(`v1/graphs/${encodeURIComponent(id)}/tasks`, { from, limit: kPart });
      setTasks((old) => {
        const byNumber = new Map(old.map((each) => [Number(each.task), each]));
        for (const each of part.tasks) byNumber.set(Number(each.task), each);
        return [...byNumber.values()].sort((a, b) => Number(a.task) - Number(b.task));
      });
      if (!isFresh) setNext(part.next === null ? undefined : Number(part.next));
      setProblem(undefined);
    } catch (error) {
      if (error instanceof Problem) setProblem(error);
    }
    busy.current = false;
  }, [id]);
  useEffect(() => { void load(0, tasks.length > 0); }, [id, version]);
  const more = useCallback(() => { if (next !== undefined && next > 0) void load(next, false); }, [next, load]);
  return { tasks, problem, more, isWhole: next === undefined };
}

function statusOf(task: any): string {
  if (task.skipped) return "skipped";
  if (task.status === "PENDING") return task.ready ? "queued" : "waiting";
  return task.status.toLowerCase();
}

function dependencies(task: any): number[] {
  return (task.depends_on ?? []).flatMap(([first, many]: [number, number]) => Array.from({ length: Number(many) }, (_, i) => Number(first) + i));
}

// Layers by the longest way from a task without dependencies; positions in a grid.
function layout(tasks: any[]) {
  const layer = new Map<number, number>();
  for (const task of tasks) layer.set(Number(task.task), Math.max(0, ...dependencies(task).map((each) => (layer.get(each) ?? 0) + 1)));
  const rows = new Map<number, number>();
  return new Map(tasks.map((task) => {
    const x = layer.get(Number(task.task))!;
    const y = rows.get(x) ?? 0;
    rows.set(x, y + 1);
    return [Number(task.task), { x, y }] as const;
  }));
}

function Drawing({ tasks, open }: { tasks: any[]; open: (task: any) => void }) {
  const places = useMemo(() => layout(tasks), [tasks]);
  const width = 190;
  const height = 48;
  const right = Math.max(...[...places.values()].map((each) => each.x)) * width + 170;
  const bottom = Math.max(...[...places.values()].map((each) => each.y)) * height + 40;
  return (
    <div class="drawing"><div style={{ width: `${right}px`, height: `${bottom}px` }}>
      <svg width={right} height={bottom} aria-hidden="true">
        {tasks.flatMap((task) => dependencies(task).map((from) => {
          const a = places.get(from);
          const b = places.get(Number(task.task))!;
          if (!a) return null;
          const [x1, y1, x2, y2] = [a.x * width + 166, a.y * height + 18, b.x * width, b.y * height + 18];
          return <path key={`${from} ${task.task}`} d={`M${x1} ${y1}C${x1 + 14} ${y1} ${x2 - 14} ${y2} ${x2} ${y2}`} />;
        }))}
      </svg>
      {tasks.map((task) => {
        const at = places.get(Number(task.task))!;
        return <button type="button" key={String(task.task)} class={`node ${statusOf(task)}`} style={{ left: `${at.x * width}px`, top: `${at.y * height}px` }} onClick={() => open(task)} title={`${task.name}: ${statusOf(task)}`}>{task.name}</button>;
      })}
    </div></div>
  );
}

function Logs({ graph, task }: { graph: string; task: any }) {
  const [lines, setLines] = useState<any[]>([]);
  const after = useRef(0);
  const fresh = useFresh<any>(async (abort) => {
    const part = await get(`v1/graphs/${encodeURIComponent(graph)}/tasks/${task.task}/logs`, { limit: 1000, after: after.current || undefined }, abort);
    after.current = Number(part.next);
    if (part.lines.length > 0) setLines((old) => [...old, ...part.lines.filter((line: any) => old.length === 0 || line.n > old[old.length - 1].n)].slice(-4000));
    return part;
  }, `logs ${graph} ${task.task}`, statusOf(task) === "dispatched" ? 1000 : 0, true);
  return (
    <>
      <ProblemBox problem={fresh.problem} />
      <Loading of={fresh} />
      {fresh.data && lines.length === 0 && <p class="quiet">It wrote nothing.</p>}
      {lines.length > 0 && <pre class="logs">{lines.map((line) => <span key={String(line.n)} class={line.stream === "stderr" ? "bad" : ""} title={clock(line.time_ns)}>{line.text}{"\n"}</span>)}</pre>}
    </>
  );
}

function TaskDialog({ graph, task, close }: { graph: any; task: any; close: () => void }) {
  const [cancels, setCancels] = useState(false);
  const whole = useFresh<any>((abort) => get(`v1/graphs/${encodeURIComponent(graph.id)}/tasks`, { from: task.task, limit: 1, results: 1 }, abort), `task ${graph.id} ${task.task}`, 1500);
  const data = whole.data?.tasks[0] ?? task;
  const isOpen = ["PENDING", "DISPATCHED"].includes(data.status);
  return (
    <Dialog title={data.name} close={close} isWide>
      <div class="body">
        <dl class="facts">
          <div><dt>Status</dt><dd><Badge status={statusOf(data)} /></dd></div>
          <div><dt>Type</dt><dd><code>{data.type}</code></dd></div>
          <div><dt>Attempts</dt><dd>{String(data.attempts)}{data.max_attempts !== null && ` of ${data.max_attempts}`}</dd></div>
          {data.worker && <div><dt>Worker</dt><dd><code>{data.worker}</code></dd></div>}
          {Number(data.waits) > 0 && <div><dt>Waits for</dt><dd>{count(data.waits)} tasks</dd></div>}
          <div><dt>Took</dt><dd>{took(data.ready_ns, data.ended_ns)}</dd></div>
        </dl>
        {data.error && <section class="why-box bad"><p><code>{data.error.code}</code> {data.error.message}</p></section>}
        {data.result !== undefined && <section><h3>Result</h3><Value value={data.result} /></section>}
        <section><h3>Log</h3><Logs graph={graph.id} task={data} /></section>
      </div>
      <footer>{isOpen && may("operator") && <button type="button" class="danger" onClick={() => setCancels(true)}>cancel</button>}</footer>
      {cancels && <ReasonDialog title={`cancel ${data.name}`} action="cancel" close={() => setCancels(false)}
        act={async (reason) => { await post(`v1/graphs/${encodeURIComponent(graph.id)}/tasks/${data.task}/cancel`, { reason }); tell("cancel: done"); changed(); }} />}
    </Dialog>
  );
}

function Detail({ id }: { id: string }) {
  const path = `v1/graphs/${encodeURIComponent(id)}`;
  const fresh = useFresh<any>((abort) => get(path, {}, abort), path, 1000);
  const graph = fresh.data;
  const { tasks, problem, more, isWhole } = useTasks(id, graph ? `${graph.pending} ${graph.status} ${graph.frontier} ${graph.ended_ns ? 0 : Math.floor(now.value / 2000)}` : "");
  const [open, setOpen] = useState<any>();
  const [asks, setAsks] = useState(false);
  const [words, setWords] = useState("");
  const canDraw = graph && Number(graph.tasks) <= kMostDrawn && isWhole && tasks.length > 0;
  const isLarge = graph && Number(graph.tasks) > kMostDrawn;
  const tab = place.value.parts[2] ?? "graph";
  const status = place.value.query.status ?? "";
  const shown = tasks.filter((task) => (!status || statusOf(task) === status) && (`${task.name} ${task.type}`.toLowerCase().includes(words.toLowerCase()) || stemOf(task.name) === words));
  async function rerun() {
    try {
      const again = await post(`${path}/rerun`, {});
      tell(`Submitted as ${again.id}`);
      location.hash = link(["graphs", again.id]);
    } catch (error) {
      tell(error instanceof Problem ? error.detail : String(error), true);
    }
  }
  return (
    <main>
      <header class="title">
        <p class="crumbs"><a href={link(["graphs"])}>Task graphs</a></p>
        <h1>{graph?.name || id}</h1>{graph && <Badge status={graph.status.toLowerCase()} />}{graph?.cancelling && <Badge status="cancelling" />}
      </header>
      <ProblemBox problem={fresh.problem ?? problem} />
      <Loading of={fresh} />
      {graph && (
        <>
          <div class="actions">
            {!graph.ended_ns && may("operator") && <button type="button" class="danger" onClick={() => setAsks(true)}>cancel</button>}
            {graph.ended_ns && graph.status !== "DONE" && may("operator") && <button type="button" class="primary" onClick={rerun}>run the rest again</button>}
            <Copy text={`holdfast watch ${id} --server ${location.origin}`} label="copy CLI" />
          </div>
          <section class="panel"><Bar graph={graph} /><p><b>{count(graph.tasks)} tasks</b> <Counts graph={graph} />{graph.epochs && <span class="quiet"> epoch {String(graph.frontier)} of {String(graph.epochs)}</span>} <span class="quiet">· {graph.ended_ns ? "took" : "for"} {took(graph.started_ns, graph.ended_ns)}</span></p></section>
          {graph.error && <section class="why-box bad"><p>{graph.error}</p></section>}
          {graph.reason && <section class="why-box"><p>{graph.reason}{graph.cancelled_by && <span class="quiet"> by {graph.cancelled_by}</span>}</p></section>}
          <Tabs tabs={[["graph", "Graph"], ["tasks", "Tasks"]]} chosen={tab} to={(name) => link(["graphs", id, name])} />
          {tab === "graph" && canDraw && <Drawing tasks={tasks} open={setOpen} />}
          {tab === "graph" && isLarge && (
            <Collapsed id={id} version={`${graph.status} ${graph.ended_ns ? 0 : Math.floor(now.value / kCollapsedAgainMs)}`} statusOf={statusOf}
              choose={(group) => { setWords(group.name); location.hash = link(["graphs", id, "tasks"]); }} />
          )}
          {tab === "tasks" && (
            <>
              <div class="bar">
                <label for="task-status">Status <select id="task-status" value={status} onChange={(event) => setQuery({ status: event.currentTarget.value || undefined })}>
                  <option value="">all</option>{["waiting", "queued", "dispatched", "done", "skipped", "failed", "cancelled"].map((each) => <option key={each}>{each}</option>)}</select></label>
                <label for="task-words">Name <input id="task-words" type="search" value={words} onInput={(event) => setWords(event.currentTarget.value)} /></label>
                <span class="quiet">{count(shown.length)} of {count(tasks.length)}{!isWhole && ", and more below"}</span>
              </div>
              <VirtualList class="tall" rows={shown} height={36} label="Tasks" more={more} row={(task) => (
                <div class="record task" role="listitem" data-row key={String(task.task)}>
                  <button type="button" class="link number" onClick={() => setOpen(task)} aria-label={`${task.task}: open ${task.name}`}>{String(task.task)}</button>
                  <Badge status={statusOf(task)} /><b>{task.name}</b>
                  <span class="what">{task.error ? <span class="bad"><code>{task.error.code}</code> {task.error.message}</span> : <span class="quiet">{task.type}{task.attempts > 1 ? ` · ${task.attempts} attempts` : ""}{Number(task.waits) > 0 ? ` · waits for ${task.waits}` : ""}</span>}</span>
                  <span class="time">{task.ready_ns ? took(task.ready_ns, task.ended_ns) : ""}</span>
                </div>
              )} />
            </>
          )}
        </>
      )}
      {open && <TaskDialog graph={graph} task={open} close={() => setOpen(undefined)} />}
      {asks && <ReasonDialog title={`cancel ${graph.name || id}`} action="cancel" close={() => setAsks(false)}
        act={async (reason) => { await post(`${path}/cancel`, { reason }); tell("cancel: done"); changed(); }} />}
    </main>
  );
}

export function Graphs() {
  const id = place.value.parts[1];
  return id ? <Detail key={id} id={id} /> : <List />;
}
