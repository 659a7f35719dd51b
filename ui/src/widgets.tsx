// SPDX-License-Identifier: Apache-2.0
// Small parts that all screens share.
import { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { signal } from "@preact/signals";
import { Problem } from "./api";
import { Json, writeJson } from "./json";
import { ago, clock, Ns, until } from "./format";
import { now } from "./use";

export function Badge({ status, paused }: { status: string; paused?: boolean }) {
  const word = paused && (status === "waiting" || status === "running") ? "paused" : status;
  return <span class={`badge ${word}`}>{word}</span>;
}

export function ProblemBox({ problem }: { problem?: Problem }) {
  if (!problem) return null;
  return (
    <div class="problem" role="alert">
      <strong>{problem.code || `status ${problem.status}`}</strong> {problem.detail}
      {problem.path && <code> {problem.path}</code>}
    </div>
  );
}

export function Loading({ of }: { of: { data?: unknown; problem?: Problem } }) {
  return of.data === undefined && !of.problem ? <p class="quiet">Loading…</p> : null;
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="empty">{children}</div>;
}

export function Age({ ns }: { ns: Ns }) {
  return <time title={clock(ns)}>{ago(ns, now.value)}</time>;
}

export function Due({ ns }: { ns: Ns }) {
  return <time title={clock(ns)}>{until(ns, now.value)}</time>;
}

// A sentence of the server with its moments in the time zone of the reader. `short` leaves out what
// is shown beside it: that there are more reasons, and since when.
const kMoment = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

export function Sentence({ text, short }: { text: string; short?: boolean }) {
  const whole = short ? text.replace(/; and for \d+ more reasons?\.$/, ".").replace(/, opened by record \d+ at \S+?(?=\.$|$)/, "") : text;
  const parts: ComponentChildren[] = [];
  let from = 0;
  for (const found of whole.matchAll(kMoment)) {
    const ns = BigInt(Date.parse(found[0])) * 1_000_000n;
    parts.push(whole.slice(from, found.index), <time title={clock(ns)}>{clock(ns).slice(0, 19)}</time>);
    from = found.index! + found[0].length;
  }
  return <>{parts}{whole.slice(from)}</>;
}

// A value, folded where it is large.
export function Value({ value, depth = 0 }: { value: Json; depth?: number }) {
  if (value === null || typeof value !== "object") {
    const kind = value === null ? "null" : typeof value;
    return <span class={`v-${kind}`}>{writeJson(value)}</span>;
  }
  const entries: [string, Json][] = Array.isArray(value) ? value.map((each, i) => [String(i), each]) : Object.entries(value);
  if (entries.length === 0) return <span class="v-punctuation">{Array.isArray(value) ? "[]" : "{}"}</span>;
  return (
    <details class="value" open={depth < 2 || entries.length <= 4}>
      <summary>
        <span class="v-punctuation">{Array.isArray(value) ? `[ ${entries.length} ]` : `{ ${entries.length} }`}</span>
      </summary>
      <ul>
        {entries.slice(0, 200).map(([name, each]) => (
          <li key={name}>
            <span class="v-name">{name}</span>
            <span class="v-punctuation">: </span>
            <Value value={each} depth={depth + 1} />
          </li>
        ))}
        {entries.length > 200 && <li class="quiet">… {entries.length - 200} more</li>}
      </ul>
    </details>
  );
}

export function Copy({ text, label = "Copy" }: { text: string; label?: string }) {
  const [done, setDone] = useState(false);
  async function copy() {
    await navigator.clipboard.writeText(text);
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  }
  return (
    <button type="button" class="small" onClick={copy} title={text}>
      {done ? "Copied" : label}
    </button>
  );
}

export function Tabs({ tabs, chosen, to }: { tabs: [string, string][]; chosen: string; to: (tab: string) => string }) {
  return (
    <nav class="tabs" aria-label="Parts of this page">
      {tabs.map(([name, label]) => (
        <a key={name} href={to(name)} aria-current={name === chosen ? "page" : undefined}>
          {label}
        </a>
      ))}
    </nav>
  );
}

export function Dialog({ title, close, children, isWide }: { title: string; close: () => void; children: ComponentChildren; isWide?: boolean }) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    element.current?.showModal();
  }, []);
  return (
    <dialog ref={element} class={isWide ? "wide" : ""} onClose={close} aria-label={title} onClick={(event) => event.target === element.current && close()}>
      <header>
        <h2>{title}</h2>
        <button type="button" class="small" onClick={close} aria-label="Close">
          ✕
        </button>
      </header>
      {children}
    </dialog>
  );
}

// Asks why before something is done.
export function ReasonDialog({ title, action, act, close }: { title: string; action: string; act: (reason: string) => Promise<void>; close: () => void }) {
  const [reason, setReason] = useState("");
  const [problem, setProblem] = useState<Problem>();
  async function submit(event: Event) {
    event.preventDefault();
    try {
      await act(reason);
      close();
    } catch (error) {
      setProblem(error as Problem);
    }
  }
  return (
    <Dialog title={title} close={close}>
      <form onSubmit={submit}>
        <ProblemBox problem={problem} />
        <label for="act-reason">Reason, for the record<input id="act-reason" type="text" maxLength={4096} value={reason} onInput={(event) => setReason(event.currentTarget.value)} /></label>
        <footer><button type="submit" class={action === "cancel" ? "danger" : "primary"}>{action}</button></footer>
      </form>
    </Dialog>
  );
}

// What was done, for a moment at the bottom of the page.
interface Toast { text: string; isBad: boolean; number: number }
const toasts = signal<Toast[]>([]);
let toastNumber = 0;

export function tell(text: string, isBad = false) {
  const toast = { text, isBad, number: ++toastNumber };
  toasts.value = [...toasts.value.slice(-3), toast];
  setTimeout(() => (toasts.value = toasts.value.filter((each) => each !== toast)), isBad ? 8000 : 3500);
}

export function tellProblem(error: unknown) {
  tell(error instanceof Problem ? `${error.code || error.status}: ${error.detail}` : String(error), true);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((toast) => (
        <div key={toast.number} class={toast.isBad ? "toast bad" : "toast"}>
          {toast.text}
        </div>
      ))}
    </div>
  );
}
