// SPDX-License-Identifier: Apache-2.0
// Ctrl-K: go anywhere by typing. An instance is named by workflow and key.
import { useEffect, useMemo, useState } from "preact/hooks";
import { get, keyWord } from "./api";
import { keyText } from "./format";
import { link } from "./route";
import { useFresh } from "./use";
import { Badge, Dialog } from "./widgets";

export interface Screen { name: string; label: string; key: string; group: string }
export const kScreens: Screen[] = [
  { name: "", label: "Overview", key: "o", group: "Work" },
  { name: "instances", label: "Instances", key: "i", group: "Work" },
  { name: "questions", label: "Questions", key: "q", group: "Work" },
  { name: "schedules", label: "Schedules", key: "s", group: "Work" },
  { name: "graphs", label: "Task graphs", key: "t", group: "Work" },
  { name: "batches", label: "Batches", key: "b", group: "Work" },
  { name: "workers", label: "Workers", key: "r", group: "Run" },
  { name: "effects", label: "Effects", key: "f", group: "Run" },
  { name: "workflows", label: "Workflows", key: "w", group: "Define" },
  { name: "definitions", label: "Definitions", key: "d", group: "Define" },
  { name: "journal", label: "Journal", key: "j", group: "System" },
  { name: "engine", label: "Engine", key: "e", group: "System" },
];

export function Palette({ close }: { close: () => void }) {
  const [words, setWords] = useState("");
  const [chosen, setChosen] = useState(0);
  // The newest instances, and those whose key begins with what was typed.
  const [asked, setAsked] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setAsked(words.trim()), 200);
    return () => clearTimeout(timer);
  }, [words]);
  const list = useFresh<any>((abort) => get("v1/instances", { limit: 100 }, abort), "palette", 0);
  const byKey = useFresh<any>((abort) => (asked ? get("v1/instances", { key: asked, limit: 12 }, abort) : Promise.resolve({ instances: [] })), `palette ${asked}`, 0);
  const all = useMemo(() => {
    const rows = [...(byKey.data?.instances ?? []), ...(list.data?.instances ?? [])];
    const instances = new Map(rows.map((row: any) => [link(["instances", row.workflow, keyWord(row.key)]), row]));
    return [
      ...kScreens.map(({ name, label, key }) => ({ label, note: "screen", status: "", hint: `g ${key}`, to: link(name ? [name] : []) })),
      ...[...instances].map(([to, row]) => ({ label: keyText(row.key), note: row.workflow as string, status: row.status as string, hint: "", to })),
    ];
  }, [list.data, byKey.data]);
  const found = all.filter((each) => `${each.label} ${each.note} ${each.status}`.toLowerCase().includes(words.toLowerCase())).slice(0, 12);
  function open(to: string) {
    location.hash = to;
    close();
  }
  function key(event: KeyboardEvent) {
    if (event.key === "ArrowDown") setChosen(Math.min(chosen + 1, found.length - 1));
    else if (event.key === "ArrowUp") setChosen(Math.max(chosen - 1, 0));
    else if (event.key === "Enter" && found[chosen]) open(found[chosen].to);
    else return;
    event.preventDefault();
  }
  return (
    <Dialog title="Go to" close={close}>
      <input type="search" class="palette" aria-label="Screen or instance" placeholder="Screen or instance" autofocus value={words} onKeyDown={key}
        onInput={(event) => { setWords(event.currentTarget.value); setChosen(0); }} />
      <ul class="found">
        {found.map((each, i) => (
          <li key={each.to}><a href={each.to} class={i === chosen ? "chosen" : ""} onClick={(event) => { event.preventDefault(); open(each.to); }}>
            <b>{each.label}</b> <span class="quiet">{each.note}</span>{each.status && <Badge status={each.status} />}{each.hint && <kbd>{each.hint}</kbd>}</a></li>
        ))}
      </ul>
    </Dialog>
  );
}
