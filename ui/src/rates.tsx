// SPDX-License-Identifier: Apache-2.0
// How many instances began and ended over time, as the index counts them: bars for how they ended, a
// line for those that began.
import { count, duration, Ns, timeOfDay, toMs } from "./format";
import { link, place } from "./route";

interface Point { from_ns: Ns; begun: number; completed: number; failed: number; cancelled: number }

export const kWindows: [string, string][] = [["10", "10 min"], ["60", "1 h"], ["360", "6 h"], ["2880", "2 d"]];
const kEnds = ["completed", "failed", "cancelled"] as const;
const kWidth = 600;
const kHeight = 100;

export function chosenMinutes(): number {
  const said = place.value.query.minutes;
  return Number(kWindows.find(([minutes]) => minutes === said)?.[0] ?? "10");
}

// A round number that is not below this one: 1, 2, 5, 10, 20, ...
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return [1, 2, 5, 10].map((each) => each * power).find((each) => each >= value)!;
}

export function Rates({ rates, nowMs }: { rates: { step_ns: Ns; points: Point[] }; nowMs: number }) {
  const minutes = chosenMinutes();
  const stepMs = toMs(rates.step_ns);
  const end = Math.ceil(nowMs / stepMs) * stepMs;
  const steps = Math.round((minutes * 60_000) / stepMs);
  const begin = end - steps * stepMs;
  const at = new Map(rates.points.map((point) => [Math.round((toMs(point.from_ns) - begin) / stepMs), point]));
  const shown = Array.from({ length: steps }, (_, i) => at.get(i));
  const ended = (point?: Point) => (point ? kEnds.reduce((sum, name) => sum + Number(point[name]), 0) : 0);
  const top = roundUp(Math.max(1, ...shown.map((point) => Math.max(ended(point), Number(point?.begun ?? 0)))));
  const width = kWidth / steps;
  const y = (value: number) => kHeight - (value / top) * kHeight;
  const total = (name: keyof Point) => shown.reduce((sum, point) => sum + Number(point?.[name] ?? 0), 0);
  const line = shown.map((point, i) => `${((i + 0.5) * width).toFixed(1)},${y(Number(point?.begun ?? 0)).toFixed(1)}`).join(" ");
  const legend: [keyof Point, string][] = [["begun", "begun"], ["completed", "completed"], ["failed", "failed"], ["cancelled", "cancelled"]];
  return (
    <div class="rates">
      <div class="chart">
        <span class="top" title={`in ${duration(stepMs)}`}>{count(top)}</span>
        <svg viewBox={`0 0 ${kWidth} ${kHeight}`} preserveAspectRatio="none" role="img" aria-label={`In the last ${duration(minutes * 60_000)}: ${legend.map(([name, label]) => `${total(name)} ${label}`).join(", ")}`}>
          {shown.map((point, i) => {
            let from = 0;
            return point && kEnds.map((name) => {
              const value = Number(point[name]);
              if (value === 0) return null;
              from += value;
              return <rect key={`${i} ${name}`} class={name} x={(i * width + width * 0.12).toFixed(2)} width={(width * 0.76).toFixed(2)} y={y(from).toFixed(2)} height={(y(from - value) - y(from)).toFixed(2)} />;
            });
          })}
          <polyline points={line} />
        </svg>
        <p class="times"><span>{timeOfDay(BigInt(Math.round(begin)) * 1_000_000n).slice(0, 5)}</span><span>bars of {duration(stepMs)}</span><span>now</span></p>
      </div>
      <ul>{legend.map(([name, label]) => <li key={name} class={name}>{label} <b>{count(total(name))}</b></li>)}</ul>
    </div>
  );
}

export function Windows() {
  const minutes = String(chosenMinutes());
  return (
    <nav class="windows" aria-label="Time shown">
      {kWindows.map(([value, label]) => <a key={value} href={link([], { minutes: value })} aria-current={value === minutes ? "true" : undefined}>{label}</a>)}
    </nav>
  );
}
