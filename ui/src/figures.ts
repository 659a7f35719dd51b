// SPDX-License-Identifier: Apache-2.0
// The figures of GET /metrics, by name and labels.
import { getText } from "./api";

export interface Sample { labels: Record<string, string>; value: number }
export type Figures = Map<string, Sample[]>;

export function readFigures(text: string): Figures {
  const figures: Figures = new Map();
  for (const line of text.split("\n")) {
    const found = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!found) continue;
    const labels: Record<string, string> = {};
    for (const label of (found[2] ?? "").matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)) labels[label[1]] = label[2];
    const samples = figures.get(found[1]) ?? [];
    samples.push({ labels, value: Number(found[3]) });
    figures.set(found[1], samples);
  }
  return figures;
}

export async function getFigures(): Promise<Figures> {
  return readFigures(await getText("metrics", "text/plain"));
}

export function one(figures: Figures | undefined, name: string): number | undefined {
  return figures?.get(name)?.[0]?.value;
}

// A quantile of a histogram, as the upper bound of its bucket.
export function quantile(figures: Figures | undefined, name: string, part: number): number | undefined {
  const buckets = figures?.get(`${name}_bucket`);
  const total = one(figures, `${name}_count`);
  if (!buckets || !total) return undefined;
  return buckets.map((each) => ({ to: Number(each.labels.le), value: each.value })).find((each) => each.value >= total * part)?.to;
}
