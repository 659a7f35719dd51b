// SPDX-License-Identifier: Apache-2.0
// A large task graph, collapsed: tasks whose names differ in digits only are one box, with how far
// they are. It is read part by part and drawn as it grows; of a task only its group is kept.
import { useEffect, useState } from "preact/hooks";
import { get, Problem } from "./api";
import { count, many } from "./format";
import { ProblemBox } from "./widgets";

const kPart = 1000;
const kMostGroups = 200;
const kMostLooked = 32;  // dependencies of a task that are followed
const kWidth = 230;
const kHeight = 74;

export interface Group { name: string; type: string; layer: number; row: number; count: number; states: Record<string, number>; from: Set<number> }

export class Groups {
  readonly groups: Group[] = [];
  read = 0;
  private readonly byName = new Map<string, number>();
  private readonly groupOf: number[] = [];
  private readonly layerOf: number[] = [];

  add(task: any, status: string) {
    this.read += 1;
    const number = Number(task.task);
    const group = this.find(stemOf(task.name), task.type);
    let layer = 0;
    for (const from of someOf(task.depends_on ?? [])) {
      layer = Math.max(layer, (this.layerOf[from] ?? 0) + 1);
      const other = this.groupOf[from];
      if (other !== undefined && other !== group) this.groups[group].from.add(other);
    }
    this.groupOf[number] = group;
    this.layerOf[number] = layer;
    const found = this.groups[group];
    if (layer < found.layer) found.layer = layer;
    found.count += 1;
    found.states[status] = (found.states[status] ?? 0) + 1;
  }

  // Rows of each layer, in the order in which they were met.
  place() {
    const layers = [...new Set(this.groups.map((group) => group.layer))].sort((a, b) => a - b);
    const rows = new Map<number, number>();
    for (const group of this.groups) {
      const layer = layers.indexOf(group.layer);
      group.row = rows.get(layer) ?? 0;
      rows.set(layer, group.row + 1);
    }
    return { layers, columns: layers.length, rows: Math.max(1, ...rows.values()) };
  }

  private find(name: string, type: string): number {
    const key = `${name} ${type}`;
    const known = this.byName.get(key);
    if (known !== undefined) return known;
    if (this.groups.length === kMostGroups) return this.find("others", "");
    if (this.groups.length > kMostGroups) return this.groups.length - 1;
    this.groups.push({ name, type, layer: Number.MAX_SAFE_INTEGER, row: 0, count: 0, states: {}, from: new Set() });
    this.byName.set(key, this.groups.length - 1);
    return this.groups.length - 1;
  }
}

export function stemOf(name: string): string {
  return name.replace(/\d+/g, "#");
}

// Some of many ranges of numbers: the ends of each, and numbers in between.
function* someOf(ranges: [number, number][]): Generator<number> {
  let left = kMostLooked;
  for (const [first, length] of ranges) {
    const step = Math.max(1, Math.floor(Number(length) / 8));
    for (let i = 0; i < Number(length) && left > 0; i += step, left -= 1) yield Number(first) + i;
    if (left <= 0) return;
  }
}

const kStates = ["done", "skipped", "failed", "cancelled", "dispatched", "queued", "waiting"];

function Box({ group, x, y, choose }: { group: Group; x: number; y: number; choose: (group: Group) => void }) {
  const said = kStates.filter((state) => group.states[state]).map((state) => `${count(group.states[state])} ${state}`).join(", ");
  return (
    <button type="button" class={group.states.failed ? "node group failed" : "node group"} style={{ left: `${x}px`, top: `${y}px` }} onClick={() => choose(group)} title={`${group.name} ${group.type}: ${said}`} aria-label={`${group.name}, ${many(group.count, "task")}: ${said}`}>
      <b>{group.name}</b><span class="quiet">{many(group.count, "task")}</span>
      <span class="stacked">{kStates.map((state) => group.states[state] && <span key={state} class={state} style={{ width: `${(group.states[state] / group.count) * 100}%` }} />)}</span>
    </button>
  );
}

export function Collapsed({ id, version, statusOf, choose }: { id: string; version: string; statusOf: (task: any) => string; choose: (group: Group) => void }) {
  const [state, setState] = useState<{ groups?: Groups; isWhole: boolean; problem?: Problem }>({ isWhole: false });
  useEffect(() => {
    const abort = new AbortController();
    async function read() {
      const groups = new Groups();
      try {
        for (let from: number | null = 0; from !== null; ) {
          const part: any = await get(`v1/graphs/${encodeURIComponent(id)}/tasks`, { from, limit: kPart, links: 1 }, abort.signal);
          for (const task of part.tasks) groups.add(task, statusOf(task));
          from = part.next === null ? null : Number(part.next);
          // What was drawn before stays until the new one is whole.
          setState((old) => (from === null || !old.isWhole ? { groups, isWhole: from === null } : old));
        }
      } catch (error) {
        if (!abort.signal.aborted && error instanceof Problem) setState((old) => ({ ...old, problem: error }));
      }
    }
    void read();
    return () => abort.abort();
  }, [id, version]);
  const groups = state.groups;
  const { layers, columns, rows } = groups ? groups.place() : { layers: [] as number[], columns: 1, rows: 1 };
  const at = (group: Group) => [layers.indexOf(group.layer) * kWidth, group.row * kHeight];
  return (
    <>
      <ProblemBox problem={state.problem} />
      <p class="quiet" role="status">{!groups ? "Loading…" : state.isWhole ? `${many(groups.groups.length, "group")}: tasks whose names differ in digits only are one box.` : `${count(groups.read)} tasks are read…`}</p>
      {groups && (
        <div class="drawing" tabIndex={0}><div style={{ width: `${columns * kWidth}px`, height: `${rows * kHeight}px` }}>
          <svg width={columns * kWidth} height={rows * kHeight} aria-hidden="true">
            {groups.groups.flatMap((group, i) => [...group.from].map((from) => {
              const [x2, y2] = at(group);
              const [x1, y1] = at(groups.groups[from]);
              return <path key={`${from} ${i}`} d={`M${x1 + 196} ${y1 + 30}C${x1 + 216} ${y1 + 30} ${x2 - 20} ${y2 + 30} ${x2} ${y2 + 30}`} />;
            }))}
          </svg>
          {groups.groups.map((group) => <Box key={`${group.name} ${group.type}`} group={group} x={at(group)[0]} y={at(group)[1]} choose={choose} />)}
        </div></div>
      )}
    </>
  );
}
