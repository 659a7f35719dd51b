// SPDX-License-Identifier: Apache-2.0
// One instance: why it waits, what can be done, and its parts as tabs.
import { useState } from "preact/hooks";
import { get, Problem, post, wordPath } from "./api";
import { count, keyText, many } from "./format";
import { initial, SchemaForm } from "./form";
import { Json, writeJson } from "./json";
import { may } from "./me";
import { link, place } from "./route";
import { Family } from "./family";
import { History } from "./history";
import { StateView } from "./state";
import { GraphView } from "./graph";
import { StreamView } from "./stream";
import { Timeline } from "./timeline";
import { rowLink } from "./instances";
import { changed, useFresh } from "./use";
import { kWords } from "./waits";
import { Age, Badge, Copy, Dialog, Due, Loading, ProblemBox, ReasonDialog, Sentence, Tabs, tell, Value } from "./widgets";

function quoteForShell(text: string): string {
  return `'${text.replace(/'/g, `'\\''`)}'`;
}

export function useInstance(): { workflow: string; word: string; path: string } {
  const [, workflow, word] = place.value.parts;
  return { workflow, word, path: wordPath(workflow, word) };
}

function ReasonLine({ reason }: { reason: any }) {
  return (
    <li>
      <span class={`kind ${reason.kind}`}>{kWords[reason.kind] ?? reason.kind}</span>
      <span>
        {reason.step && <b>{reason.step} </b>}{reason.effect && <code>{reason.effect} </code>}{reason.schema && <code>{reason.schema} </code>}
        {reason.requirements && Object.keys(reason.requirements).length > 0 && <code>{writeJson(reason.requirements)} </code>}
        {reason.child && <a href={rowLink(reason.child)}>{keyText(reason.child.key)} </a>}
        {reason.failures ? <span>after {many(reason.failures, "failed attempt")} </span> : null}
        {reason.code && <span class="bad"><code>{reason.code}</code> {reason.message} </span>}
        {reason.due_ns && <span class="due"><Due ns={reason.due_ns} /></span>}
      </span>
    </li>
  );
}

// The last attempts that failed, with what they said: also of a run that went on or has ended.
function FailedAttempts({ attempts }: { attempts: any[] }) {
  return (
    <section class="panel attempts" aria-label="Failed attempts">
      <h2>{many(attempts.length, "failed attempt")}{attempts.length === 8 && <span class="quiet"> the last eight</span>}</h2>
      <ul>
        {[...attempts].reverse().map((each, i) => (
          <li key={i}><b>{each.step}</b><span class="quiet">attempt {String(each.attempt)}, <Age ns={each.at_ns} /></span><span class="bad"><code>{each.code}</code> {each.message}</span></li>
        ))}
      </ul>
    </section>
  );
}

// A form for an event: which one, and its value by its schema.
export function EventDialog({ title, says, events, schemas, send, close, given }: {
  title: string; says?: string; events: { schema: string }[]; schemas: any; close: () => void; given?: Json;
  send: (schema: string, value: Json) => Promise<void>;
}) {
  const [schema, setSchema] = useState(events[0]?.schema ?? "");
  const [value, setValue] = useState<Json>(() => given ?? initial(schemas[schema], schemas));
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  function choose(next: string) {
    setSchema(next);
    setValue(initial(schemas[next], schemas));
  }
  async function submit(event: Event) {
    event.preventDefault();
    setBusy(true);
    try {
      await send(schema, value);
      changed();
      close();
    } catch (error) {
      setProblem(error as Problem);
    }
    setBusy(false);
  }
  return (
    <Dialog title={title} close={close}>
      <form onSubmit={submit}>
        {says && <p class="asks">{says}</p>}
        {events.length > 1 && (
          <label for="event-schema">
            Event
            <select id="event-schema" value={schema} onChange={(event) => choose(event.currentTarget.value)}>
              {events.map((each) => <option key={each.schema}>{each.schema}</option>)}
            </select>
          </label>
        )}
        <SchemaForm key={schema} type={schemas[schema]} schemas={schemas} value={value} change={setValue} />
        <ProblemBox problem={problem} />
        <footer><button type="submit" class="primary" disabled={busy}>Send</button></footer>
      </form>
    </Dialog>
  );
}

const isOpen = (instance: any) => instance.status === "waiting" || instance.status === "running";

function Actions({ instance, workflow }: { instance: any; workflow?: any }) {
  const { path, word } = useInstance();
  const [asks, setAsks] = useState("");
  const open = isOpen(instance);
  const mayAct = may("operator");
  const control = (name: string) => <button type="button" class={name === "cancel" ? "danger" : ""} onClick={() => setAsks(name)}>{name}</button>;
  return (
    <div class="actions">
      {mayAct && open && workflow && <button type="button" class="primary" onClick={() => setAsks("signal")}>signal</button>}
      {mayAct && open && (instance.paused ? control("resume") : control("pause"))}
      {mayAct && open && control("cancel")}
      {mayAct && workflow && !workflow.workflow.startsWith("sys/") && <button type="button" onClick={() => setAsks("start")}>start like this</button>}
      <Copy text={`holdfast why ${quoteForShell(instance.workflow)} ${quoteForShell(word)} --server ${location.origin}`} label="copy CLI" />
      <Copy text={`curl ${quoteForShell(new URL(path, document.baseURI).href)}`} label="copy curl" />
      {asks === "signal" && (
        <EventDialog title={`Signal ${keyText(instance.key)}`} close={() => setAsks("")} schemas={workflow.schemas}
          events={[...workflow.events].sort((a: any, b: any) => Number(a.starts) - Number(b.starts))}
          send={async (schema, value) => {
            const key = workflow.events.find((each: any) => each.schema === schema)?.key_field;
            await post(`${path}/signal`, { schema, value: key ? { ...(value as any), [key]: instance.key } : value });
            tell(`${schema} was sent`);
          }} />
      )}
      {asks === "start" && <StartDialog workflow={workflow} close={() => setAsks("")} like={path} />}
      {["cancel", "pause", "resume"].includes(asks) && (
        <ReasonDialog title={`${asks} ${keyText(instance.key)}`} action={asks} close={() => setAsks("")}
          act={async (reason) => { await post(`${path}/${asks}`, { reason }); tell(`${asks}: done`); changed(); }} />
      )}
    </div>
  );
}

// What began an instance; undefined: the journal does not have it any more.
async function beginningOf(path: string, abort: AbortSignal): Promise<{ schema: string; value: Json } | null> {
  const { records } = await get(`${path}/timeline`, { limit: 1000 }, abort);
  const first = records[records.length - 1];
  return first?.tick.kind === "event" ? { schema: first.tick.schema, value: first.tick.value } : null;
}

// `like`: an instance whose beginning fills the form.
export function StartDialog({ workflow, close, like }: { workflow: any; close: () => void; like?: string }) {
  const given = useFresh<any>((abort) => (like ? beginningOf(like, abort) : Promise.resolve(null)), `start like ${like}`, 0);
  const starts = workflow.events.filter((each: any) => each.starts);
  if (given.data === undefined && !given.problem) return null;
  const isKnown = given.data && starts.some((each: any) => each.schema === given.data.schema);
  const events = isKnown ? [{ schema: given.data.schema }, ...starts.filter((each: any) => each.schema !== given.data.schema)] : starts;
  return (
    <EventDialog title={`Start ${workflow.workflow}`} close={close} schemas={workflow.schemas} given={isKnown ? given.data.value : undefined} events={events}
      send={async (event, input) => {
        const sent = await post(`v1/workflows/${workflow.workflow}/start`, { event, input });
        tell(`Started, record ${sent.record}`);
      }} />
  );
}

export function withSchemas(document: any, name: string): any {
  const found = document?.workflows.find((each: any) => each.workflow === name);
  return found && { ...found, schemas: document.schemas };
}

const kMostReasons = 12;
const kTabs: [string, string][] = [["timeline", "Timeline"], ["history", "History"], ["state", "State"], ["graph", "Graph"], ["stream", "Stream"], ["family", "Family"]];

export function Instance() {
  const { workflow, word, path } = useInstance();
  const tab = place.value.parts[3] ?? "timeline";
  const fresh = useFresh<any>((abort) => get(path, {}, abort), path, 1000);
  const instance = fresh.data;
  const why = useFresh<any>((abort) => get(`${path}/why`, {}, abort), `${path} why ${instance?.record} ${instance?.status}`, 0);
  const workflows = useFresh<any>((abort) => get("v1/workflows", {}, abort), "workflows", 30000);
  const definition = withSchemas(workflows.data, workflow);
  const tabs = kTabs.filter(([name]) => (name !== "graph" || definition?.graph) && (name !== "stream" || definition?.stream));
  return (
    <main>
      <header class="title">
        <p class="crumbs"><a href={link(["instances"], { workflow })}>{workflow}</a></p>
        <h1>{word}</h1>
        {instance && <Badge status={instance.status} paused={instance.paused} />}
      </header>
      <ProblemBox problem={fresh.problem} />
      <Loading of={fresh} />
      {instance && (
        <>
          <Actions instance={instance} workflow={definition} />
          {isOpen(instance) && (
            <section class="why-box" aria-label="Why it waits">
              {why.data ? <p><Sentence text={why.data.sentence} short /></p> : <p class="quiet">Loading…</p>}
              {why.data?.version && <p class="quiet">{why.data.version.sentence}</p>}
              {why.data?.reasons.length > 0 && <ul>{why.data.reasons.slice(0, kMostReasons).map((reason: any, i: number) => <ReasonLine key={i} reason={reason} />)}</ul>}
              {why.data?.reasons.length > kMostReasons && <p class="quiet">and {count(why.data.reasons.length - kMostReasons)} more</p>}
            </section>
          )}
          {instance.error && <section class="why-box bad"><p><code>{instance.error.code}</code> {instance.error.message}</p></section>}
          {instance.result !== undefined && instance.result !== null && <section class="why-box good"><p>Result</p><Value value={instance.result} /></section>}
          {why.data?.failed_attempts?.length > 0 && <FailedAttempts attempts={why.data.failed_attempts} />}
          <Tabs tabs={tabs} chosen={tab} to={(name) => link(["instances", workflow, word, name])} />
          {tab === "timeline" && <Timeline path={path} record={instance.record} />}
          {tab === "history" && <History path={path} record={instance.record} />}
          {tab === "state" && <StateView path={path} record={instance.record} />}
          {tab === "graph" && <GraphView path={`${path}/graph`} record={instance.record} />}
          {tab === "stream" && <StreamView path={path} />}
          {tab === "family" && <Family path={path} own={instance} record={instance.record} />}
        </>
      )}
    </main>
  );
}
