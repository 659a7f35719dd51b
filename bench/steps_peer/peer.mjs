// SPDX-License-Identifier: Apache-2.0
// The peer's side of bench/steps_peer/run: the graphs of bench/steps_peer.cc in @llamaindex/workflow-core,
// each in the two ways that its documentation reads a stream; the faster one counts.
// usage: peer.mjs <line|fan> <in flight> <seconds>; prints one line of JSON.
import { createWorkflow, workflowEvent } from '@llamaindex/workflow-core';

const [graph, inFlight, seconds] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];

// Three steps in a row: four events.
function line() {
  const workflow = createWorkflow();
  const start = workflowEvent(), a = workflowEvent(), b = workflowEvent(), stop = workflowEvent();
  workflow.handle([start], (_context, event) => a.with({ n: event.data.n + 1 }));
  workflow.handle([a], (_context, event) => b.with({ n: event.data.n + 1 }));
  workflow.handle([b], (_context, event) => stop.with({ n: event.data.n + 1 }));
  return { workflow, start, stop, events: 4, value: (id) => ({ id, n: 1 }), result: 4 };
}

// A fan-out of ten and a join: 22 events.
function fan() {
  const workflow = createWorkflow();
  const start = workflowEvent(), part = workflowEvent(), piece = workflowEvent(), stop = workflowEvent();
  workflow.handle([start], async (context, event) => {
    const { sendEvent, stream } = context;
    for (let n = 1; n <= event.data.n; ++n) sendEvent(part.with({ n }));
    let count = 0, sum = 0;
    for await (const one of stream) {
      if (!piece.include(one)) continue;
      sum += one.data.n;
      if (++count === event.data.n) break;
    }
    return stop.with({ n: sum });
  });
  workflow.handle([part], (_context, event) => piece.with({ n: event.data.n * event.data.n }));
  return { workflow, start, stop, events: 22, value: (id) => ({ id, n: 10 }), result: 385 };
}

const ways = {
  array: (made) => async (id) => {
    const { stream, sendEvent } = made.workflow.createContext();
    sendEvent(made.start.with(made.value(id)));
    const all = await stream.until(made.stop).toArray();
    return all[all.length - 1].data;
  },
  iterate: (made) => async (id) => {
    const { stream, sendEvent } = made.workflow.createContext();
    sendEvent(made.start.with(made.value(id)));
    for await (const event of stream) if (made.stop.include(event)) return event.data;
  },
};

async function measure(way, howLong) {
  const made = graph === 'fan' ? fan() : line();
  const run = ways[way](made);
  let next = 0, done = 0;
  const begun = process.hrtime.bigint();
  const end = begun + BigInt(Math.round(howLong * 1e9));
  const lane = async () => {
    while (process.hrtime.bigint() < end) {
      const { n } = await run(next++);
      if (n !== made.result) throw new Error(`a workflow came to ${n}`);
      done++;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  const took = Number(process.hrtime.bigint() - begun) / 1e9;
  return { workflows: done, seconds: took, events_per_s: (done * made.events) / took };
}

const found = {};
for (const way of Object.keys(ways)) {
  await measure(way, seconds / 4);  // until it is compiled
  found[way] = await measure(way, seconds);
}
const best = Object.keys(found).reduce((a, b) => (found[a].events_per_s > found[b].events_per_s ? a : b));
console.log(JSON.stringify({ who: 'workflow-core', graph, in_flight: inFlight, way: best, ...found[best] }));
