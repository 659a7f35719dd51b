// SPDX-License-Identifier: Apache-2.0
// How times, durations and names are written.
import { signal } from "@preact/signals";
import { Json, writeJson } from "./json";

// Nanoseconds since 1970, or how many of them. They do not fit a double: only differences become one.
export type Ns = number | bigint;

const kUtc = "holdfast.utc";
export const isUtc = signal(localStorage.getItem(kUtc) === "1");
export function setUtc(value: boolean) {
  localStorage.setItem(kUtc, value ? "1" : "0");
  isUtc.value = value;
}

export function toMs(ns: Ns): number {
  return Number(BigInt(ns) / 1000n) / 1000;
}

export function clock(ns: Ns): string {
  const date = new Date(toMs(ns));
  const millis = String(date.getMilliseconds()).padStart(3, "0");
  if (isUtc.value) return `${date.toISOString().slice(0, 19).replace("T", " ")}.${millis}Z`;
  const two = (n: number) => String(n).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${millis}`;
}

export function timeOfDay(ns: Ns): string {
  return clock(ns).slice(11);
}

export function duration(ms: number): string {
  if (ms < 0) return `-${duration(-ms)}`;
  if (ms < 1) return `${Math.round(ms * 1000)} µs`;
  if (ms < 1000) return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  const s = ms / 1000;
  if (s < 60) return `${s < 10 ? s.toFixed(1) : Math.round(s)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${Math.floor(s % 60)} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

export function ago(ns: Ns, nowMs = Date.now()): string {
  const ms = nowMs - toMs(ns);
  return ms < 1000 ? "just now" : `${short(ms)} ago`;
}

// How long something lasts already.
export function forHow(ns: Ns, nowMs = Date.now()): string {
  return short(Math.max(0, nowMs - toMs(ns)));
}

export function until(ns: Ns, nowMs = Date.now()): string {
  const ms = toMs(ns) - nowMs;
  return ms <= 0 ? "due" : `in ${short(ms)}`;
}

function short(ms: number): string {
  const s = Math.round(ms / 1000);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86400) return `${Math.floor(s / 3600)} h`;
  return `${Math.floor(s / 86400)} d`;
}

export function bytes(n: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (n >= 1024 && unit < units.length - 1) {
    n /= 1024;
    unit += 1;
  }
  return `${n < 10 && unit > 0 ? n.toFixed(1) : Math.round(n)} ${units[unit]}`;
}

// "1 task", "3 tasks".
export function many(n: number | bigint, one: string, several = `${one}s`): string {
  return `${count(n)} ${Number(n) === 1 ? one : several}`;
}

export function count(n: number | bigint): string {
  return n.toString().replace(/\B(?=(\d{3})+(?!\d))/g, " ");
}

export function keyText(key: Json): string {
  return key === null || key === undefined ? "(one instance)" : typeof key === "string" ? key : writeJson(key);
}

export function brief(value: Json, most = 90): string {
  const text = writeJson(value);
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
