// SPDX-License-Identifier: Apache-2.0
// The instance that started this one, and those that it started: an instance begins in the record in
// which another opens the effect that runs it.
import { get } from "./api";
import { keyText } from "./format";
import { rowLink } from "./instances";
import { Json, writeJson } from "./json";
import { useFresh } from "./use";
import { Age, Badge, Empty, Loading, ProblemBox } from "./widgets";

const kRun = /^sys\/workflow\.run@/;
const kMost = 1000;

interface Name { workflow: string; key: Json }
interface Child extends Name { record: number; time_ns: bigint; ended?: string }

const isSame = (a: Name, b: Name) => a.workflow === b.workflow && writeJson(a.key) === writeJson(b.key);
const runs = (instance: any): any[] => (instance.opened ?? []).filter((each: any) => kRun.test(each.effect));
const begins = (instance: any): boolean => !instance.previous;

// Records in any order. Parents are several only where one record starts instances of several.
export function familyOf(records: any[], own: Name): { parents: Name[]; children: Child[] } {
  const ended = new Map<string, string>();
  const children: Child[] = [];
  let parents: Name[] = [];
  for (const record of [...records].sort((a, b) => Number(a.record) - Number(b.record))) {
    const self = record.instances.find((each: any) => isSame(each, own));
    if (!self) continue;
    for (const each of self.settled ?? []) ended.set(each.intent, each.status);
    const others = record.instances.filter((each: any) => each !== self);
    if (begins(self)) parents = others.filter((each: any) => runs(each).length > 0);
    const opened = runs(self);
    if (opened.length === 0) continue;
    const begun = others.filter(begins);
    begun.forEach((each: any, i: number) => children.push({
      workflow: each.workflow, key: each.key, record: record.record, time_ns: record.time_ns, ended: begun.length === opened.length ? opened[i].intent : undefined,
    }));
  }
  return { parents, children: children.map((child) => ({ ...child, ended: child.ended && (ended.get(child.ended) ?? "running") })) };
}

export function Family({ path, own, record }: { path: string; own: Name; record: number }) {
  const fresh = useFresh<any>((abort) => get(`${path}/timeline`, { limit: kMost }, abort), `${path} family ${record}`, 0);
  const { parents, children } = familyOf(fresh.data?.records ?? [], own);
  const name = (each: Name) => <a href={rowLink(each)}><b>{keyText(each.key)}</b></a>;
  return (
    <section aria-label="Family" class="stack">
      <ProblemBox problem={fresh.problem} />
      <Loading of={fresh} />
      {fresh.data && parents.length === 0 && children.length === 0 && <Empty>No other instance started it, and it started none{fresh.data.records.length === kMost && ` in its last ${kMost} records`}.</Empty>}
      {parents.length > 0 && <section class="panel"><p>Started by {parents.map((each, i) => <span key={i}>{i > 0 && " or "}{name(each)} <span class="quiet">{each.workflow}</span></span>)}</p></section>}
      {children.length > 0 && (
        <div class="scroll" tabIndex={0}><table class="rows">
          <thead><tr><th>Started</th><th>Ended</th><th>When</th></tr></thead>
          <tbody>{children.reverse().map((child) => (
            <tr key={`${child.workflow} ${keyText(child.key)} ${child.record}`} data-row>
              <td class="name">{name(child)}<span class="quiet">{child.workflow}</span></td>
              <td>{child.ended && <Badge status={child.ended} />}</td><td><Age ns={child.time_ns} /></td>
            </tr>
          ))}</tbody>
        </table></div>
      )}
    </section>
  );
}
