// SPDX-License-Identifier: Apache-2.0
// Schedules: what starts when, what became of the last due times, and a form for a new one that shows
// when it would be due.
import { useEffect, useState } from "preact/hooks";
import { get, post, Problem } from "./api";
import { clock, count, many, Ns } from "./format";
import { initial, SchemaForm } from "./form";
import { withSchemas } from "./instance";
import { rowLink } from "./instances";
import { Json } from "./json";
import { may } from "./me";
import { link, place } from "./route";
import { changed, useFresh } from "./use";
import { Badge, Copy, Dialog, Due, Empty, Loading, ProblemBox, tell, tellProblem, Value } from "./widgets";

const path = (name: string) => `v1/schedules/${encodeURIComponent(name)}`;

function Rule({ schedule }: { schedule: any }) {
  if (schedule.cron) return <><code>{schedule.cron}</code> <span class="quiet">{schedule.zone}</span></>;
  if (schedule.every) return <>every {schedule.every}</>;
  return schedule.at_ns ? <>at {clock(schedule.at_ns).slice(0, 19)}</> : null;
}

// The last due times as small bars, the newest on the right.
function Recent({ schedule }: { schedule: any }) {
  const recent: any[] = schedule.recent ?? [];
  return (
    <span class="recent" role="img" aria-label={recent.length === 0 ? "nothing was due yet" : `the last ${recent.length}: ${recent.map((each) => each.outcome).join(", ")}`}>
      {recent.map((each, i) => <span key={i} class={each.outcome} title={`${clock(each.due_ns).slice(0, 19)}: ${each.outcome}`} />)}
    </span>
  );
}

async function act(name: string, action: string, body: Json = {}): Promise<boolean> {
  try {
    await post(`${path(name)}/${action}`, body);
    tell(`${action}: done`);
    changed();
    return true;
  } catch (error) {
    tellProblem(error);
    return false;
  }
}

function RemoveDialog({ schedule, close }: { schedule: any; close: () => void }) {
  const [cancels, setCancels] = useState(false);
  async function remove(event: Event) {
    event.preventDefault();
    if (await act(schedule.name, "remove", { cancel: cancels })) location.hash = link(["schedules"]);
  }
  return (
    <Dialog title={`Remove ${schedule.name}`} close={close}>
      <form onSubmit={remove}>
        <p>Nothing is started any more. {schedule.running.length > 0 && `${many(schedule.running.length, "run")} of it ${schedule.running.length === 1 ? "has" : "have"} not ended.`}</p>
        {schedule.running.length > 0 && <label class="check"><input type="checkbox" checked={cancels} onChange={() => setCancels(!cancels)} /> cancel them, too</label>}
        <footer><button type="submit" class="danger">remove</button></footer>
      </form>
    </Dialog>
  );
}

function Detail({ name }: { name: string }) {
  const fresh = useFresh<any>((abort) => get(path(name), {}, abort), `schedule ${name}`, 1500);
  const [removes, setRemoves] = useState(false);
  const schedule = fresh.data;
  const facts: [string, any][] = schedule ? [
    ["Due", <Rule schedule={schedule} />],
    ["Next", schedule.next_ns ? <><Due ns={schedule.next_ns} /> <span class="quiet">{clock(schedule.next_ns).slice(0, 19)}</span></> : <span class="quiet">{schedule.error ?? "never"}</span>],
    ["Starts", <a href={link(["instances"], { workflow: schedule.workflow })}>{schedule.workflow}</a>],
    ["With the event", <code>{schedule.event}</code>],
    ["Key", <code>{schedule.key}</code>],
    ["While a run has not ended", `${schedule.overlap}`],
    ["After the server was down", `${schedule.catch_up}${schedule.catch_up_window ? ` within ${schedule.catch_up_window}` : ""}`],
    ...(schedule.jitter && schedule.jitter !== "0s" ? [["Spread over", schedule.jitter] as [string, any]] : []),
    ["Started", count(schedule.started)],
    ["Completed, failed, cancelled", `${count(schedule.completed)}, ${count(schedule.failed)}, ${count(schedule.cancelled)}`],
    ["Skipped, missed", `${count(schedule.skipped)}, ${count(schedule.missed)}`],
  ] : [];
  return (
    <main>
      <header class="title"><p class="crumbs"><a href={link(["schedules"])}>Schedules</a></p><h1>{name}</h1>{schedule && <Badge status={schedule.status} />}</header>
      <ProblemBox problem={fresh.problem} />
      <Loading of={fresh} />
      {schedule && (
        <>
          <div class="actions">
            {may("operator") && <button type="button" class="primary" onClick={() => act(name, "run")}>run now</button>}
            {may("operator") && schedule.status === "active" && <button type="button" onClick={() => act(name, "pause")}>pause</button>}
            {may("operator") && schedule.status === "paused" && <button type="button" onClick={() => act(name, "resume")}>resume</button>}
            {may("operator") && schedule.status !== "removing" && <button type="button" class="danger" onClick={() => setRemoves(true)}>remove</button>}
            <Copy text={`holdfast schedule show ${name} --server ${location.origin}`} label="copy CLI" />
          </div>
          <div class="columns">
            <section class="panel"><h2>Schedule</h2><dl class="facts">{facts.map(([label, value]) => <div key={label}><dt>{label}</dt><dd>{value}</dd></div>)}</dl>
              <h3>Input</h3><Value value={schedule.input} />
            </section>
            <section class="panel"><h2>Due times <span class="quiet">the last 20</span></h2>
              {schedule.recent.length === 0 && <Empty>Nothing was due yet.</Empty>}
              {schedule.recent.length > 0 && (
                <table class="rows">
                  <thead><tr><th>Due</th><th>Outcome</th><th>Instance</th></tr></thead>
                  <tbody>{[...schedule.recent].reverse().map((each: any, i: number) => (
                    <tr key={`${each.due_ns} ${i}`} data-row>
                      <td class="plain">{clock(each.due_ns).slice(0, 19)}</td><td><Badge status={each.outcome} /></td>
                      <td class="message">{each.key && <a href={rowLink({ workflow: schedule.workflow, key: each.key })}>{each.key}</a>} {each.note && <span class="quiet">{each.note}</span>}</td>
                    </tr>
                  ))}</tbody>
                </table>
              )}
              {schedule.queued_ns.length > 0 && <p class="quiet">{many(schedule.queued_ns.length, "due time")} wait for the run before.</p>}
            </section>
          </div>
          {removes && <RemoveDialog schedule={schedule} close={() => setRemoves(false)} />}
        </>
      )}
    </main>
  );
}

// Asked a moment after the last key.
function usePreview(rule: Record<string, string>): { due?: Ns[]; problem?: Problem } {
  const [state, setState] = useState<{ due?: Ns[]; problem?: Problem }>({});
  const text = JSON.stringify(rule);
  useEffect(() => {
    let isOver = false;
    const timer = setTimeout(async () => {
      try {
        const { due_ns } = await post("v1/schedules/preview", { ...rule, count: 3 });
        if (!isOver) setState({ due: due_ns });
      } catch (error) {
        if (!isOver) setState({ problem: error as Problem });
      }
    }, 250);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [text]);
  return state;
}

const kOverlaps = [["skip", "skip this one"], ["queue", "start after it"], ["allow", "start beside it"], ["cancel", "cancel the earlier one"]];
const kCatchUps = [["latest", "start the last one missed"], ["none", "start none"], ["all", "start all"]];

function AddDialog({ close }: { close: () => void }) {
  const workflows = useFresh<any>((abort) => get("v1/workflows", {}, abort), "workflows", 0);
  const offered: any[] = (workflows.data?.workflows ?? []).filter((each: any) => !each.workflow.startsWith("sys/") && each.events.some((event: any) => event.starts));
  const [name, setName] = useState("");
  const [kind, setKind] = useState("cron");
  const [said, setSaid] = useState<Record<string, string>>({ cron: "0 6 * * *", every: "1h", at: new Date(Date.now() + 3_600_000).toISOString().slice(0, 19) + "Z", zone: Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC" });
  const [workflow, setWorkflow] = useState("");
  const [input, setInput] = useState<Json>();
  const [overlap, setOverlap] = useState("skip");
  const [catchUp, setCatchUp] = useState("latest");
  const [problem, setProblem] = useState<Problem>();
  const chosen = withSchemas(workflows.data, workflow || offered[0]?.workflow);
  const event = chosen?.events.find((each: any) => each.starts);
  // The key of an instance follows from the due time: the event has it where the route looks for it.
  const given = (): Json => (event ? { ...(initial(chosen.schemas[event.schema], chosen.schemas) as any), ...(event.key_field ? { [event.key_field]: "{key}" } : {}) } : {});
  const rule: Record<string, string> = kind === "cron" ? { cron: said.cron, zone: said.zone } : { [kind]: said[kind] };
  const preview = usePreview(rule);
  async function submit(submitted: Event) {
    submitted.preventDefault();
    try {
      await post("v1/schedules", { name, ...rule, workflow: chosen.workflow, event: event.schema, input: input ?? given(), overlap, catch_up: catchUp });
      tell(`${name} was added`);
      changed();
      close();
      location.hash = link(["schedules", name]);
    } catch (error) {
      setProblem(error as Problem);
    }
  }
  const text = (field: string, label: string) => (
    <label for={`schedule-${field}`}>{label}<input id={`schedule-${field}`} type="text" value={said[field]} onInput={(typed) => setSaid({ ...said, [field]: typed.currentTarget.value })} /></label>
  );
  return (
    <Dialog title="New schedule" close={close}>
      <form onSubmit={submit}>
        <label for="schedule-name">Name<input id="schedule-name" type="text" autofocus maxLength={100} value={name} onInput={(typed) => setName(typed.currentTarget.value)} /></label>
        <div class="pair">
          <label for="schedule-kind">Due<select id="schedule-kind" value={kind} onChange={(choice) => setKind(choice.currentTarget.value)}><option value="cron">by cron</option><option value="every">at intervals</option><option value="at">once</option></select></label>
          {kind === "cron" && text("cron", "Cron expression")}
          {kind === "every" && text("every", "Interval, such as 15m")}
          {kind === "at" && text("at", "Moment, in UTC")}
        </div>
        {kind === "cron" && text("zone", "Time zone")}
        <p class="preview" role="status">
          {preview.problem ? <span class="bad">{preview.problem.detail}</span> : preview.due === undefined ? "…" : preview.due.length === 0 ? "Never due." : <>Next: {preview.due.map((ns) => clock(ns).slice(0, 19)).join(", ")}</>}
        </p>
        <label for="schedule-workflow">Workflow<select id="schedule-workflow" value={chosen?.workflow ?? ""} onChange={(choice) => { setWorkflow(choice.currentTarget.value); setInput(undefined); }}>{offered.map((each) => <option key={each.workflow}>{each.workflow}</option>)}</select></label>
        {event && <fieldset class="framed"><legend>{event.schema}</legend><SchemaForm key={event.schema} type={chosen.schemas[event.schema]} schemas={chosen.schemas} value={input ?? given()} change={setInput} /></fieldset>}
        <div class="pair">
          <label for="schedule-overlap">If a run has not ended<select id="schedule-overlap" value={overlap} onChange={(choice) => setOverlap(choice.currentTarget.value)}>{kOverlaps.map(([value, label]) => <option key={value} value={value}>{label}</option>)}</select></label>
          <label for="schedule-catch-up">After the server was down<select id="schedule-catch-up" value={catchUp} onChange={(choice) => setCatchUp(choice.currentTarget.value)}>{kCatchUps.map(([value, label]) => <option key={value} value={value}>{label}</option>)}</select></label>
        </div>
        <ProblemBox problem={problem ?? workflows.problem} />
        <footer><button type="submit" class="primary" disabled={!name || !event}>Add</button></footer>
      </form>
    </Dialog>
  );
}

function List() {
  const after = place.value.query.after;
  const fresh = useFresh<any>((abort) => get("v1/schedules", { limit: 100, after }, abort), `schedules ${after}`);
  const [adds, setAdds] = useState(false);
  const schedules: any[] = fresh.data?.schedules ?? [];
  return (
    <main>
      <header class="title"><h1>Schedules</h1>{may("operator") && <button type="button" class="primary small" onClick={() => setAdds(true)}>New schedule…</button>}</header>
      <ProblemBox problem={fresh.problem} />
      <Loading of={fresh} />
      {fresh.data && schedules.length === 0 && <Empty>Nothing is scheduled. A schedule starts a workflow by a cron expression, at intervals, or once.</Empty>}
      {schedules.length > 0 && (
        <div class="scroll" tabIndex={0}><table class="rows">
          <thead><tr><th>Status</th><th>Schedule</th><th class="wide-only">Due</th><th>Next</th><th class="wide-only">Last 20</th><th class="number wide-only">Started</th><th class="number wide-only">Failed</th></tr></thead>
          <tbody>{schedules.map((schedule) => (
            <tr key={schedule.name} data-row>
              <td><Badge status={schedule.status} /></td>
              <td class="name"><a href={link(["schedules", schedule.name])}><b>{schedule.name}</b></a><span class="quiet">{schedule.workflow}</span><span class="narrow-only"><Rule schedule={schedule} /></span></td>
              <td class="plain wide-only"><Rule schedule={schedule} /></td>
              <td class="plain">{schedule.next_ns && schedule.status === "active" ? <Due ns={schedule.next_ns} /> : <span class="quiet">–</span>}</td>
              <td class="wide-only"><Recent schedule={schedule} /></td>
              <td class="number wide-only">{count(schedule.started)}</td>
              <td class={Number(schedule.failed) > 0 ? "number wide-only bad" : "number wide-only"}>{count(schedule.failed)}</td>
            </tr>
          ))}</tbody>
        </table></div>
      )}
      <footer class="pages">
        {after && <button type="button" onClick={() => history.back()}>Previous</button>}
        {fresh.data?.next != null && <a class="button" href={link(["schedules"], { after: String(fresh.data.next) })}>Next</a>}
      </footer>
      {adds && <AddDialog close={() => setAdds(false)} />}
    </main>
  );
}

export function Schedules() {
  const name = place.value.parts[1];
  return name ? <Detail key={name} name={name} /> : <List />;
}
