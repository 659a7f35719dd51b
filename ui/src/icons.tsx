// SPDX-License-Identifier: Apache-2.0
// Small pictures beside the names of screens, as paths in a box of 16 by 16.
const kPaths: Record<string, string> = {
  "": "M2 2h5v6H2zM9 2h5v3H9zM9 7h5v7H9zM2 10h5v4H2z",
  instances: "M2 3.5h12M2 8h12M2 12.5h12",
  questions: "M5.5 6a2.5 2.5 0 1 1 3.6 2.2C8.300 8.700 8 9.100 8 10M8 12.600v.1M8 1.500a6.500 6.500 0 1 0 0 13a6.500 6.500 0 1 0 0-13",
  graphs: "M4 3.500a1.500 1.500 0 1 0 0 .01M12 8a1.500 1.500 0 1 0 0 .01M4 12.500a1.500 1.500 0 1 0 0 .01M5 4l5.500 3.500M5 12l5.500-3.500",
  schedules: "M8 1.500a6.500 6.500 0 1 0 0 13a6.500 6.500 0 1 0 0-13M8 4.500V8l2.500 1.500",
  batches: "M5 2h9v9M2 5h9v9H2zM4.500 9.500l1.500 1.500 3-3",
  workers: "M3 4h10v8H3zM6 1.500V4M10 1.500V4M6 12v2.500M10 12v2.500M1 6.500h2M1 9.500h2M13 6.500h2M13 9.500h2",
  effects: "M9 1.500L3.500 9H8l-1 5.500L12.500 7H8z",
  workflows: "M2 2h4v4H2zM10 10h4v4h-4zM4 6v6h6",
  definitions: "M4 1.500h6l3 3v10H4zM10 1.500v3h3M6 8h5M6 11h5",
  journal: "M3 2h10v12H3zM6 2v12M8 5h3M8 8h3",
  engine: "M1.500 9h3l2-6 3 11 2-5h3",
};

export function Icon({ name }: { name: string }) {
  return <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d={kPaths[name]} /></svg>;
}
