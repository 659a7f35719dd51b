// SPDX-License-Identifier: Apache-2.0
// Runs that wait for an event from outside, each with a form for the answer.
import { useState } from "preact/hooks";
import { get, instancePath, post } from "./api";
import { may } from "./me";
import { keyText } from "./format";
import { initial } from "./form";
import { Json, writeJson } from "./json";
import { EventDialog, withSchemas } from "./instance";
import { Row, rowLink } from "./instances";
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

export function Questions() {
  const fresh = useFresh<Question[]>(findQuestions, "questions", 4000);
  const workflows = useFresh<any>((abort) => get("v1/workflows", {}, abort), "workflows", 30000);
  const [asked, setAsked] = useState<Question>();
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
              <p>Step <b>{question.reason.step}</b> waits for <code>{question.reason.schema}</code>
                {question.reason.requirements && Object.keys(question.reason.requirements).length > 0 && <> with <code>{writeJson(question.reason.requirements)}</code></>}.</p>
              <p class="quiet">since <Age ns={question.row.last_ns} />{question.reason.due_ns && <>, times out <Due ns={question.reason.due_ns} /></>}</p>
            </div>
            {may("operator") && <button type="button" class="primary" onClick={() => setAsked(question)}>Answer</button>}
          </li>
        ))}
      </ul>
      {asked && definition && (
        <EventDialog title={`Answer ${keyText(asked.row.key)}`} close={() => setAsked(undefined)} schemas={definition.schemas} given={prefilled(asked)}
          events={[{ schema: asked.reason.schema }]}
          send={async (schema, value) => {
            await post(`${instancePath(asked.row.workflow, asked.row.key)}/signal`, { schema, value });
            tell("The answer was sent.");
          }} />
      )}
    </main>
  );
}
