// SPDX-License-Identifier: Apache-2.0
// Views of the list of instances: filters under a name. Some are always there; others are kept in this
// browser. A view is a link, so it can be sent to a colleague, too.
import { useState } from "preact/hooks";
import { signal } from "@preact/signals";
import { parseJson, writeJson } from "./json";
import { link, place } from "./route";
import { Dialog } from "./widgets";

interface View { name: string; query: Record<string, string> }

const kKept = "holdfast.views";
const kMost = 30;
const kAlways: View[] = [
  { name: "All", query: {} }, { name: "In progress", query: { status: "waiting,running" } }, { name: "Failed", query: { status: "failed" } },
  { name: "Paused", query: { paused: "1" } },
];

function read(): View[] {
  try {
    const kept = parseJson(localStorage.getItem(kKept) ?? "[]") as any;
    return Array.isArray(kept) ? kept.filter((each) => typeof each?.name === "string" && typeof each?.query === "object").slice(0, kMost) : [];
  } catch {
    return [];
  }
}

const kept = signal<View[]>(read());

function keep(views: View[]) {
  kept.value = views.slice(-kMost);
  localStorage.setItem(kKept, writeJson(kept.value as any));
}

// What the address has beyond the place in the list.
function present(): Record<string, string> {
  const { after, ...query } = place.value.query;
  return query;
}

const same = (a: Record<string, string>, b: Record<string, string>) => writeJson(Object.entries(a).sort() as any) === writeJson(Object.entries(b).sort() as any);

export function Views() {
  const [names, setNames] = useState(false);
  const [name, setName] = useState("");
  const here = present();
  const isKnown = [...kAlways, ...kept.value].some((view) => same(view.query, here));
  function save(event: Event) {
    event.preventDefault();
    if (!name.trim()) return;
    keep([...kept.value.filter((view) => view.name !== name.trim()), { name: name.trim(), query: here }]);
    setNames(false);
    setName("");
  }
  const chip = (view: View) => <a href={link(["instances"], view.query)} aria-current={same(view.query, here) ? "true" : undefined}>{view.name}</a>;
  return (
    <nav class="views" aria-label="Views">
      {kAlways.map((view) => <span key={view.name}>{chip(view)}</span>)}
      {kept.value.map((view) => (
        <span key={view.name} class="own">{chip(view)}<button type="button" aria-label={`Remove the view ${view.name}`} onClick={() => keep(kept.value.filter((each) => each !== view))}>✕</button></span>
      ))}
      {!isKnown && <button type="button" class="small" onClick={() => setNames(true)}>Save view…</button>}
      {names && (
        <Dialog title="Save this view" close={() => setNames(false)}>
          <form onSubmit={save}>
            <label for="view-name">Name<input id="view-name" type="text" maxLength={60} autofocus value={name} onInput={(event) => setName(event.currentTarget.value)} /></label>
            <p class="quiet">It is kept in this browser. The address of the page is the same view, for others.</p>
            <footer><button type="submit" class="primary" disabled={!name.trim()}>Save</button></footer>
          </form>
        </Dialog>
      )}
    </nav>
  );
}
