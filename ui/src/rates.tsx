// SPDX-License-Identifier: Apache-2.0
// How many instances begin and end a second, since the page was opened: two minutes of it, drawn as
// lines.
import { useEffect, useState } from "preact/hooks";

interface Sample { ms: number; begun: number; completed: number; failed: number }
const kShownMs = 120_000;
const kBetweenMs = 900;
const samples: Sample[] = [];

function add(sample: Sample) {
  const last = samples[samples.length - 1];
  if (last && sample.ms - last.ms < kBetweenMs) return;
  // Counters that go back are of another world.
  if (last && sample.begun < last.begun && sample.completed < last.completed) samples.length = 0;
  samples.push(sample);
  while (samples.length > 2 && samples[0].ms < sample.ms - kShownMs) samples.shift();
}

type Name = "begun" | "completed" | "failed";
const kLines: [Name, string][] = [["begun", "begun"], ["completed", "completed"], ["failed", "failed"]];

// Over the samples of about five seconds, so that a line is calm.
function rates(name: Name): [number, number][] {
  const width = 5;
  return samples.slice(width).map((each, i) => [each.ms, Math.max(0, ((each[name] - samples[i][name]) * 1000) / (each.ms - samples[i].ms))]);
}

export function Rates({ begun, completed, failed }: { begun: number; completed: number; failed: number }) {
  const [, draw] = useState(0);
  useEffect(() => {
    add({ ms: Date.now(), begun, completed, failed });
    draw((old) => old + 1);
  }, [begun, completed, failed]);
  const lines = kLines.map(([name, label]) => ({ name, label, points: rates(name) }));
  const end = samples.length ? samples[samples.length - 1].ms : 0;
  const most = Math.max(1, ...lines.flatMap((line) => line.points.map(([, rate]) => rate)));
  if (lines[0].points.length < 2) return <p class="quiet">Gathered while the page is open…</p>;
  const x = (ms: number) => 600 - ((end - ms) / kShownMs) * 600;
  const y = (rate: number) => 78 - (rate / most) * 72;
  return (
    <div class="rates">
      <svg viewBox="0 0 600 80" preserveAspectRatio="none" role="img" aria-label={lines.map(({ label, points }) => `${label} ${points[points.length - 1][1].toFixed(1)} a second`).join(", ")}>
        {lines.map(({ name, points }) => <polyline key={name} class={name} points={points.map(([ms, rate]) => `${x(ms).toFixed(1)},${y(rate).toFixed(1)}`).join(" ")} />)}
      </svg>
      <ul>{lines.map(({ name, label, points }) => <li key={name} class={name}>{label} <b>{points[points.length - 1][1].toFixed(1)}</b>/s</li>)}</ul>
    </div>
  );
}
