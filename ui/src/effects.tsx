// SPDX-License-Identifier: Apache-2.0
// Open effects by name, and those that programs outside of the server perform.
import { get } from "./api";
import { getFigures } from "./figures";
import { count, duration, keyText } from "./format";
import { rowLink } from "./instances";
import { link, place } from "./route";
import { useFresh } from "./use";
import { Age, Empty, Loading, ProblemBox, Value } from "./widgets";

function OpenEffects({ effect }: { effect: string }) {
  const fresh = useFresh<any>((abort) => get("v1/effects", { effect, limit: 200 }, abort), `effects ${effect}`);
  const effects: any[] = fresh.data?.effects ?? [];
  return (
    <section class="panel">
      <h2><code>{effect}</code></h2>
      <ProblemBox problem={fresh.problem} />
      <Loading of={fresh} />
      {fresh.data && effects.length === 0 && <Empty>None that a program outside performs is open. Those that the server performs itself are shown with their <a href={link(["instances"], { status: "waiting" })}>instances</a>.</Empty>}
      {effects.length > 0 && (
        <div class="inner-scroll"><table class="rows">
          <thead><tr><th>Instance</th><th>Params</th><th class="number">Progress</th><th>Open for</th></tr></thead>
          <tbody>{effects.map((each) => (
            <tr key={each.intent} data-row><td class="name"><a href={rowLink(each)}><b>{keyText(each.key)}</b></a><span class="quiet">{each.workflow}</span></td>
              <td><Value value={each.params} depth={2} /></td><td class="number">{count(each.progress)}</td><td><Age ns={each.since_ns} /></td></tr>
          ))}</tbody>
        </table></div>
      )}
    </section>
  );
}

export function Effects() {
  const figures = useFresh(getFigures, "figures", 2000);
  const chosen = place.value.parts[1];
  const oldest = figures.data?.get("holdfast_oldest_effect_age_seconds") ?? [];
  const kinds = (figures.data?.get("holdfast_open_effects_by_kind") ?? []).filter((each) => each.value > 0)
    .map((each) => ({ ...each, age: oldest.find((age) => age.labels.effect === each.labels.effect)?.value ?? 0 })).sort((a, b) => b.age - a.age);
  return (
    <main>
      <header class="title"><h1>Effects</h1><span class="quiet">Work that is under way outside of the workflows, by kind.</span></header>
      <ProblemBox problem={figures.problem} />
      <Loading of={figures} />
      {figures.data && kinds.length === 0 && <Empty>No effect is open.</Empty>}
      {kinds.length > 0 && (
        <div class="scroll"><table class="rows">
          <thead><tr><th>Effect</th><th>Performed by</th><th class="number">Open</th><th class="number">Oldest</th></tr></thead>
          <tbody>{kinds.map((each) => (
            <tr key={each.labels.effect} data-row><td class="plain"><a href={link(["effects", each.labels.effect])} aria-current={each.labels.effect === chosen ? "true" : undefined}><code>{each.labels.effect}</code></a></td>
              <td><span class="kind">{each.labels.executor}</span></td><td class="number">{count(each.value)}</td><td class="number">{duration(each.age * 1000)}</td></tr>
          ))}</tbody>
        </table></div>
      )}
      {chosen && <OpenEffects effect={chosen} />}
    </main>
  );
}
