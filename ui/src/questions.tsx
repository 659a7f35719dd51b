// SPDX-License-Identifier: Apache-2.0
// Runs that wait for an event from outside, each with a form for the answer.
import { useEffect, useState } from "preact/hooks";
import { address, events, get, instancePath, post } from "./api";
import { brief, keyText } from "./format";
import { initial } from "./form";
import { Json, parseJson, writeJson } from "./json";
import { EventDialog, withSchemas } from "./instance";
import { Row, rowLink } from "./instances";
import { may } from "./me";
import { useFresh } from "./use";
import { Age, Due, Empty, Loading, ProblemBox, tell } from "./widgets";

interface Question { row: Row; reason: any }

async function findQuestions(abort: AbortSignal): Promise<Question[]> {
  const workflows = await get("v1/workflows", {}, abort);
  const ofSteps = workflows.workflows.filter((each: any) => each.graph);
  const lists = await Promise.all(ofSteps.map((each: any) => get("v1/instances", { workflow: each.workflow, status: "waiting", why: 1, limit: 200 }, abort)));
  const rows: Row[] = lists.flatMap((list: any) => list.instances);
  return rows.flatMap((row) => (row.why?.reasons ?? []).filter((reason) => reason.kind === "wait").map((reason) => ({ row, reason })));
}

// What the run put out last, which is what it asks: read from its stream until nothing more comes.
// One after the other, as a browser has few connections.
const kQuietMs = 250;
const kMostAsked = 30;
const said = new Map<string, string>();

async function lastSaid(path: string): Promise<string> {
  const abort = new AbortController();
  let timer = setTimeout(() => abort.abort(), 4 * kQuietMs);
  let text = "";
  try {
    for await (const event of events(address(`${path}/stream`, { kinds: "event" }), abort.signal)) {
      const value: any = event.data ? parseJson(event.data) : null;
      if (value?.kind === "event") text = textOf(value.value) || text;
      if (event.event === "end") break;
      clearTimeout(timer);
      timer = setTimeout(() => abort.abort(), kQuietMs);
    }
  } catch {
    // The card says what is waited for all the same.
  }
  clearTimeout(timer);
  abort.abort();
  return text;
}

// A text in the event, or all of it.
function textOf(value: Json): string {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return "";
  const texts = Object.values(value).filter((each) => typeof each === "string") as string[];
  return texts.length > 0 ? texts.join(" ") : brief(value, 200);
}

function useSaid(questions: Question[]): Map<string, string> {
  const [, draw] = useState(0);
  const names = questions.slice(0, kMostAsked).map(({ row }) => ({ path: instancePath(row.workflow, row.key), id: `${row.workflow} ${keyText(row.key)} ${row.last_record}` }));
  useEffect(() => {
    let isOver = false;
    async function read() {
      for (const { path, id } of names) {
        if (isOver) return;
        if (said.has(id)) continue;
        said.set(id, await lastSaid(path));
        draw((old) => old + 1);
      }
    }
    void read();
    return () => { isOver = true; };
  }, [names.map(({ id }) => id).join()]);
  return said;
}

export function Questions() {
  const fresh = useFresh<Question[]>(findQuestions, "questions", 4000);
  const workflows = useFresh<any>((abort) => get("v1/workflows", {}, abort), "workflows", 30000);
  const [asked, setAsked] = useState<Question>();
  const texts = useSaid(fresh.data ?? []);
  const textFor = ({ row }: Question) => texts.get(`${row.workflow} ${keyText(row.key)} ${row.last_record}`);
  const definition = asked && withSchemas(workflows.data, asked.row.workflow);
  function prefilled(question: Question): Json {
    const type = definition.schemas[question.reason.schema];
    const key = definition.events.find((each: any) => each.schema === question.reason.schema)?.key_field;
    return { ...(initial(type, definition.schemas) as any), ...question.reason.requirements, ...(key ? { [key]: question.row.key } : {}) };
  }
  return (
    <main>
      <header class="title"><h1>Questions</h1><span class="quiet">Runs that wait for an event from a person or another program.</span></header>
      <ProblemBox problem={fresh.problem} />
      <Loading of={fresh} />
      {fresh.data?.length === 0 && <Empty>No run waits for an answer.</Empty>}
      <ul class="cards">
        {(fresh.data ?? []).map((question) => (
          <li class="card" key={`${question.row.workflow} ${keyText(question.row.key)} ${question.reason.item} ${question.reason.schema}`}>
            <div>
              <a href={rowLink(question.row)}><b>{keyText(question.row.key)}</b></a> <span class="quiet">{question.row.workflow}</span>
              <p class="asks">{textFor(question) || "\u00a0"}</p>
              <p>Step <b>{question.reason.step}</b> waits for <code>{question.reason.schema}</code>
                {question.reason.requirements && Object.keys(question.reason.requirements).length > 0 && <> with <code>{writeJson(question.reason.requirements)}</code></>}.</p>
              <p class="quiet">asked <Age ns={question.row.last_ns} />{question.reason.due_ns && <>, times out <Due ns={question.reason.due_ns} /></>}</p>
            </div>
            {may("operator") && <button type="button" class="primary" onClick={() => setAsked(question)}>Answer</button>}
          </li>
        ))}
      </ul>
      {asked && definition && (
        <EventDialog title={`Answer ${keyText(asked.row.key)}`} says={textFor(asked)} close={() => setAsked(undefined)} schemas={definition.schemas} given={prefilled(asked)}
          events={[{ schema: asked.reason.schema }]}
          send={async (schema, value) => {
            await post(`${instancePath(asked.row.workflow, asked.row.key)}/signal`, { schema, value });
            tell("The answer was sent.");
          }} />
      )}
    </main>
  );
}
