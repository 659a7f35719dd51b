// SPDX-License-Identifier: Apache-2.0
// Where the page is: #/instances?workflow=demo/Order@1. In the fragment, so that it works under any
// path; filters are part of it, so that a view can be sent to a colleague.
import { signal } from "@preact/signals";

export interface Place { parts: string[]; query: Record<string, string> }

function read(): Place {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const parts = path.split("/").filter((part) => part !== "").map(decodeURIComponent);
  const words: Record<string, string> = {};
  for (const word of query.split("&").filter(Boolean)) {
    const equals = word.indexOf("=");
    words[decodeURIComponent(word.slice(0, equals))] = decodeURIComponent(word.slice(equals + 1));
  }
  return { parts, query: words };
}

export const place = signal<Place>(read());
addEventListener("hashchange", () => (place.value = read()));

export function link(parts: string[], query: Record<string, string | undefined> = {}): string {
  const words = Object.entries(query).filter(([, value]) => value);
  const text = words.map(([name, value]) => `${name}=${encodeURIComponent(value!)}`).join("&");
  return `#/${parts.map(encodeURIComponent).join("/")}${text ? `?${text}` : ""}`;
}

export function go(parts: string[], query: Record<string, string | undefined> = {}) {
  location.hash = link(parts, query);
}

// Changes filters without an entry in the history of the browser.
export function setQuery(changes: Record<string, string | undefined>) {
  const query = { ...place.value.query, ...changes };
  history.replaceState(null, "", link(place.value.parts, query));
  place.value = read();
}
