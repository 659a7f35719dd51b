// SPDX-License-Identifier: Apache-2.0
// The workflows of the world: which events they take, how their steps hang together, a form to start one.
import { useState } from "preact/hooks";
import { get } from "./api";
import { GraphView } from "./graph";
import { StartDialog, withSchemas } from "./instance";
import { may } from "./me";
import { link, place } from "./route";
import { useFresh } from "./use";
import { Empty, Loading, ProblemBox, Value } from "./widgets";

export function Workflows() {
  const fresh = useFresh<any>((abort) => get("v1/workflows", {}, abort), "workflows", 30000);
  const [starts, setStarts] = useState<any>();
  const chosen = place.value.parts[1];
  return (
    <main>
      <header class="title"><h1>Workflows</h1></header>
      <ProblemBox problem={fresh.problem} />
      <Loading of={fresh} />
      {fresh.data?.workflows.length === 0 && <Empty>This world has no definitions yet. <code>holdfast apply</code> gives it some.</Empty>}
      <ul class="cards">
        {(fresh.data?.workflows ?? []).map((each: any) => (
          <li class="card tall" key={each.workflow}>
            <div>
              <h2><a href={link(each.workflow === chosen ? ["workflows"] : ["workflows", each.workflow])} aria-expanded={each.workflow === chosen}>{each.workflow}</a> <span class="kind">{each.kind}</span></h2>
              <p>{each.events.map((event: any) => <code key={event.schema} class={event.starts ? "starts" : ""} title={event.starts ? "can start an instance" : "for instances that are there"}>{event.schema}</code>)}</p>
              <p><a href={link(["instances"], { workflow: each.workflow })}>Instances</a></p>
            </div>
            {may("operator") && !each.workflow.startsWith("sys/") && each.events.some((event: any) => event.starts) && <button type="button" class="primary" onClick={() => setStarts(withSchemas(fresh.data, each.workflow))}>Start</button>}
            {each.workflow === chosen && (
              <div class="wide">
                {each.graph && <GraphView path={`v1/workflows/${each.workflow}/graph`} record="" />}
                <h3>Schemas</h3>
                {each.events.map((event: any) => <div key={event.schema}><code>{event.schema}</code> <Value value={fresh.data.schemas[event.schema]} depth={1} /></div>)}
              </div>
            )}
          </li>
        ))}
      </ul>
      {starts && <StartDialog workflow={starts} close={() => setStarts(undefined)} />}
    </main>
  );
}
