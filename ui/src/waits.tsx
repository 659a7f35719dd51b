// SPDX-License-Identifier: Apache-2.0
// What instances wait for, counted, the oldest wait first.
import { get } from "./api";
import { clock, count, forHow, keyText } from "./format";
import { rowLink } from "./instances";
import { link } from "./route";
import { now, useFresh } from "./use";
import { Empty, Loading, ProblemBox } from "./widgets";

export const kWords: Record<string, string> = {
  receipt: "effect", timer: "timer", child: "another instance", event: "event", wait: "answer", retry: "next attempt", attempt: "a step to end", queued: "its turn in a step",
  paused: "paused", room: "room in a mailbox", turn: "its turn", holds: "an effect to end", nothing: "nothing", dependency: "other tasks", epoch: "an epoch",
  running: "a worker to finish", busy: "a free worker", none_eligible: "a worker that can run it", key_limit: "its concurrency key", swapping: "its recipe to be swapped in", chosen: "a worker to take it", ending: "its end",
  sealing: "the rest of its graph", timeout: "the end of its time", other: "something else",
};

export function WaitGroups({ workflow, empty }: { workflow?: string; empty: string }) {
  const fresh = useFresh<any>((abort) => get("v1/waits", { workflow, limit: 500 }, abort), `waits ${workflow}`, 8000);
  const groups: any[] = fresh.data?.groups ?? [];
  const more = Number(fresh.data?.not_examined ?? 0);
  return (
    <>
      <ProblemBox problem={fresh.problem} />
      <Loading of={fresh} />
      {fresh.data && groups.length === 0 && <Empty>{empty}</Empty>}
      {groups.length > 0 && (
        <table class="rows waits">
          <thead><tr><th class="number">Waiting</th><th>For</th><th>Longest</th></tr></thead>
          <tbody>
            {groups.map((group) => (
              <tr key={`${group.workflow} ${group.kind} ${group.subject}`}>
                <td class="number"><a href={link(["instances"], { workflow: group.workflow, status: "waiting", reason: `${group.kind} ${group.subject}`.trim() })} aria-label={`${group.count} wait: ${kWords[group.kind] ?? group.kind} ${group.subject}`}><b>{count(group.count)}</b></a></td>
                <td><span class={`kind ${group.kind}`}>{kWords[group.kind] ?? group.kind}</span> <code>{group.subject}</code>
                  <span class="sub">{group.workflow} {group.examples.slice(0, 3).map((each: any) => <a key={keyText(each.key)} href={rowLink(each)} title={group.sentence}>{keyText(each.key)}</a>)}</span></td>
                <td class="plain" title={clock(group.oldest_ns)}>{forHow(group.oldest_ns, now.value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {more > 0 && <p class="quiet">{count(more)} more wait: the newest 500 are shown by what they wait for.</p>}
    </>
  );
}
