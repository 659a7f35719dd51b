// SPDX-License-Identifier: Apache-2.0
// What the records of an instance tell: effects as spans with a beginning and an end.
import { Json } from "./json";
import { toMs } from "./format";

export interface Span {
  intent: string; effect: string; label: string; params: Json; beginMs: number; beginRecord: number; endMs?: number; endRecord?: number;
  status?: string; payload?: Json; error?: { code: string; message: string }; dueNs?: bigint;
}

export interface Mark { ms: number; record: number; kind: string; label: string; value?: Json }

// Records in the order of their numbers.
export function spansOf(records: any[], workflow: string, key: Json): { spans: Span[]; marks: Mark[] } {
  const spans = new Map<string, Span>();
  const marks: Mark[] = [];
  const name = JSON.stringify(key, (_, value) => (typeof value === "bigint" ? value.toString() : value));
  for (const record of records) {
    const ms = toMs(record.time_ns);
    const tick = record.tick;
    if (tick.kind === "event") marks.push({ ms, record: record.record, kind: "event", label: tick.schema, value: tick.value });
    else if (tick.kind !== "receipt" && tick.kind !== "progress" && tick.kind !== "continue")
      marks.push({ ms, record: record.record, kind: tick.control ?? tick.kind, label: tick.control ?? tick.kind, value: tick });
    for (const instance of record.instances) {
      if (instance.workflow !== workflow || JSON.stringify(instance.key, (_, value) => (typeof value === "bigint" ? value.toString() : value)) !== name) continue;
      for (const settled of instance.settled) {
        const span = spans.get(settled.intent);
        if (!span) continue;
        span.endMs = ms;
        span.endRecord = record.record;
        span.status = settled.status;
        if (tick.kind !== "receipt" || tick.intent !== settled.intent) continue;
        span.payload = tick.payload;
        // The body of a step that fails has a good receipt all the same: its results say so.
        const failed = (instance.annotations ?? []).find((said: any) => said.kind === "attempt_failed" && said.step === (span.params as any)?.step);
        if (failed) Object.assign(span, { status: "error", error: { code: failed.code, message: failed.message } });
        else if (settled.status !== "ok" && (tick.payload as any)?.code) span.error = { code: (tick.payload as any).code, message: (tick.payload as any).message ?? "" };
      }
      for (const opened of instance.opened)
        spans.set(opened.intent, {
          intent: opened.intent, effect: opened.effect, label: labelOf(opened), params: opened.params, beginMs: ms, beginRecord: record.record,
          dueNs: opened.params?.deliver_at_ns ? BigInt(opened.params.deliver_at_ns) : undefined,
        });
    }
  }
  return { spans: [...spans.values()], marks };
}

function labelOf(opened: any): string {
  const step = opened.params?.step;
  const failures = Number(opened.params?.failures ?? 0);
  if (typeof step === "string") return failures > 0 ? `${step}, attempt ${failures + 1}` : step;
  if (opened.effect.startsWith("sys/timer.set@")) return "timer";
  return opened.effect.replace(/^[^/]*\//, "").replace(/@\d+$/, "");
}

// Idle time is compressed: a gap longer than the limit takes a fixed width on the axis.
export class Axis {
  private readonly points: { ms: number; x: number }[] = [];
  readonly gaps: { x: number; ms: number }[] = [];

  constructor(moments: number[]) {
    const sorted = [...new Set(moments)].sort((a, b) => a - b);
    const steps = sorted.slice(1).map((ms, i) => ms - sorted[i]).filter((ms) => ms > 0).sort((a, b) => a - b);
    const typical = steps.length ? steps[Math.floor(steps.length * 0.6)] : 1;
    const limit = Math.max(typical * 8, 1);
    let x = 0;
    sorted.forEach((ms, i) => {
      if (i > 0) {
        const step = ms - sorted[i - 1];
        if (step > limit) this.gaps.push({ x: x + limit / 2, ms: step });
        x += Math.min(step, limit);
      }
      this.points.push({ ms, x });
    });
  }

  // How long all of it took.
  get span(): number {
    return this.points.length ? this.points[this.points.length - 1].ms - this.points[0].ms : 0;
  }

  get width(): number {
    return Math.max(this.points.length ? this.points[this.points.length - 1].x : 0, 1e-6);
  }

  // Between 0 and 1.
  at(ms: number): number {
    const points = this.points;
    let low = 0;
    let high = points.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (points[middle].ms <= ms) low = middle;
      else high = middle - 1;
    }
    const here = points[low];
    const next = points[low + 1];
    if (!here) return 0;
    if (!next) return here.x / this.width;
    const part = (ms - here.ms) / (next.ms - here.ms);
    return (here.x + part * (next.x - here.x)) / this.width;
  }
}
