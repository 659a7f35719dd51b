// SPDX-License-Identifier: Apache-2.0
// One stream for all tabs of a browser (HTTP/1.1 gives six connections to all of them together): the
// tab that holds the lock reads GET /v1/watch and tells the others. Without it the page asks again by
// the clock.
import { signal } from "@preact/signals";
import { events, isConnected, Problem, token } from "./api";
import { parseJson } from "./json";

export const lastRecord = signal(0);
export const isLive = signal(false);

const kLock = "holdfast.watch";
const kAgainMs = 1000;
const channel = "BroadcastChannel" in window ? new BroadcastChannel(kLock) : undefined;

function take(record: number, live: boolean) {
  isLive.value = live;
  // A restored world may have fewer records than before.
  if (record > 0) lastRecord.value = record;
}

function tell(record: number, live: boolean) {
  take(record, live);
  channel?.postMessage({ record, live });
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function follow() {
  try {
    for await (const event of events("v1/watch", new AbortController().signal))
      if (event.data && event.event !== "problem") tell(Number((parseJson(event.data) as any).record), true);
  } catch (error) {
    if (!(error instanceof Problem)) isConnected.value = false;
  }
  tell(0, false);
}

async function lead() {
  while (true) {
    const used = token.value;
    await follow();
    await pause(kAgainMs);
    // Another tab may have a token that works.
    if (used !== token.value || !isConnected.value) continue;
    return;
  }
}

export async function watch() {
  if (!navigator.locks || !channel) return;
  channel.onmessage = ({ data }) => {
    if (data === "hello") return isLive.value && channel.postMessage({ record: lastRecord.value, live: true });
    if (data.live) isConnected.value = true;
    take(data.record, data.live);
  };
  channel.postMessage("hello");
  while (true) {
    await navigator.locks.request(kLock, lead);
    await pause(kAgainMs);
  }
}
