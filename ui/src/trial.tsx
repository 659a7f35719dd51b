// SPDX-License-Identifier: Apache-2.0
// What the trial of a proposal has shown, as a difference: the present definitions beside the proposed.
import { count, keyText, many } from "./format";
import { rowLink } from "./instances";
import { Value } from "./widgets";

function Numbers({ title, rows }: { title: string; rows: [string, number, number][] }) {
  const changed = rows.filter(([, present, tried]) => Number(present) !== Number(tried));
  if (rows.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <table class="rows">
        <thead><tr><th /><th class="number">Present</th><th class="number">Tried</th><th class="number">Change</th></tr></thead>
        <tbody>
          {[...changed, ...rows.filter((row) => !changed.includes(row))].map(([name, present, tried]) => {
            const difference = Number(tried) - Number(present);
            return (
              <tr key={name}><td><code>{name}</code></td><td class="number">{count(present)}</td><td class="number">{count(tried)}</td>
                <td class={difference === 0 ? "number quiet" : "number changed-number"}>{difference === 0 ? "same" : `${difference > 0 ? "+" : "−"}${count(Math.abs(difference))}`}</td></tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

export function isTrial(report: any): boolean {
  return ["from", "to", "fed", "instances", "different"].every((name) => report?.[name] !== undefined);
}

export function Trial({ report }: { report: any }) {
  const allowed = (report.allow_lists ?? []).filter((each: any) => each.present !== each.tried);
  return (
    <div class="trial">
      <p>
        {Number(report.different) === 0 && Number(report.refused) === 0 ? <span class="badge ok">no difference</span> : <span class="badge paused">{many(report.different, "instance")} differ</span>}{" "}
        Records {count(report.from)} to {count(report.to)} were fed again: {many(report.fed, "tick")}{Number(report.refused) > 0 && <span class="bad">, {count(report.refused)} refused</span>}; {many(report.instances, "instance")} compared.
        {report.stopped && <span class="quiet"> {String(report.stopped)}</span>}
      </p>
      <Numbers title="Instances by status" rows={(report.statuses ?? []).map((each: any) => [each.status, each.present, each.tried])} />
      <Numbers title="Effects opened" rows={(report.effect_counts ?? []).map((each: any) => [each.effect, each.opened_present, each.opened_tried])} />
      {allowed.length > 0 && <section><h3>Allowed effects</h3><ul>{allowed.map((each: any) => <li key={`${each.workflow} ${each.effect}`}><span class={each.tried ? "kind added" : "kind removed"}>{each.tried ? "added" : "removed"}</span> <code>{each.effect}</code> <span class="quiet">{each.workflow}</span></li>)}</ul></section>}
      {(report.differences ?? []).length > 0 && (
        <section><h3>Instances that differ <span class="quiet">{count(report.different)}</span></h3>
          {report.differences.map((each: any, i: number) => (
            <details key={i} class="differs"><summary>{each.key !== undefined && each.workflow ? <a href={rowLink(each)}>{keyText(each.key)}</a> : String(each.instance ?? i + 1)} <span class="quiet">{each.workflow} {each.present?.status ?? "is not there"} → {each.tried?.status ?? "is not there"}</span></summary>
              <div class="pair"><div><h4>Present</h4><Value value={each.present ?? null} /></div><div><h4>Tried</h4><Value value={each.tried ?? null} /></div></div>
            </details>
          ))}
        </section>
      )}
    </div>
  );
}
