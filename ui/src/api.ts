// SPDX-License-Identifier: Apache-2.0
// Requests to the server that the page came from. Paths are relative to the page, so that it works
// behind any prefix of a proxy.
import { signal } from "@preact/signals";
import { Json, parseJson, writeJson } from "./json";

const kToken = "holdfast.token";

export const token = signal(sessionStorage.getItem(kToken) ?? "");
export const needsToken = signal(false);
export const isConnected = signal(true);

export function setToken(value: string) {
  sessionStorage.setItem(kToken, value);
  token.value = value;
  needsToken.value = false;
}

// A refusal of the server (RFC 9457), or no answer at all.
export class Problem extends Error {
  constructor(readonly status: number, readonly code: string, readonly detail: string, readonly path = "") {
    super(detail);
  }
}

export type Query = Record<string, string | number | undefined>;

export function address(path: string, query: Query = {}): string {
  const words = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const text = words.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join("&");
  return text ? `${path}?${text}` : path;
}

// How an instance stands in a path: see "Names in paths" in docs/api.md.
export function instancePath(workflow: string, key: Json): string {
  return wordPath(workflow, keyWord(key));
}

// The same, of a key as it stands in a path already.
export function wordPath(workflow: string, word: string): string {
  return `v1/instances/${workflow.split("/").map(encodeURIComponent).join("/")}/${encodeURIComponent(word)}`;
}

export function keyWord(key: Json): string {
  if (key === null || key === undefined) return "-";
  if (typeof key !== "string") return writeJson(key);
  const isPlain = key !== "" && key !== "." && key !== ".." && !key.startsWith("~") && !/[\u0000-\u001f\u007f]/.test(key);
  if (isPlain) return key;
  return "~" + [...key].map((c) => (/[\u0000-\u001f\u007f~]/.test(c) ? "~" + c.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0") : c)).join("");
}

async function problemOf(response: Response): Promise<Problem> {
  try {
    const body = parseJson(await response.text()) as any;
    return new Problem(response.status, body.code ?? "", body.detail ?? response.statusText, body.path ?? "");
  } catch {
    return new Problem(response.status, "", response.statusText || `status ${response.status}`);
  }
}

export async function request(path: string, options: RequestInit & { headers?: Record<string, string> } = {}): Promise<Response> {
  const headers: Record<string, string> = { ...options.headers };
  if (token.value) headers.Authorization = `Bearer ${token.value}`;
  let response: Response;
  try {
    response = await fetch(new URL(path, document.baseURI), { ...options, headers, cache: "no-store" });
  } catch (error) {
    if ((error as Error).name === "AbortError") throw error;
    isConnected.value = false;
    throw new Problem(0, "unreachable", "The server does not answer.");
  }
  isConnected.value = true;
  if (response.status === 401) needsToken.value = true;
  if (!response.ok) throw await problemOf(response);
  return response;
}

export async function get(path: string, query: Query = {}, abort?: AbortSignal): Promise<any> {
  const response = await request(address(path, query), { signal: abort, headers: { Accept: "application/json" } });
  return parseJson(await response.text());
}

export async function getText(path: string, type: string): Promise<string> {
  const response = await request(path, { headers: { Accept: type } });
  return response.text();
}

export async function post(path: string, body: Json = {}, headers: Record<string, string> = {}): Promise<any> {
  const response = await request(path, {
    method: "POST", body: writeJson(body), headers: { "Content-Type": "application/json", ...headers },
  });
  return parseJson(await response.text());
}

// Server-sent events, read with fetch so that the token can be sent. Ends when the server does.
export interface ServerEvent { id: string; event: string; data: string }

export async function* events(path: string, abort: AbortSignal, after = ""): AsyncGenerator<ServerEvent> {
  const headers: Record<string, string> = { Accept: "text/event-stream" };
  if (after) headers["Last-Event-ID"] = after;
  const response = await request(path, { headers, signal: abort });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let next: ServerEvent = { id: "", event: "", data: "" };
  while (true) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop()!;
    for (const line of lines) {
      if (line === "") {
        if (next.data || next.event) yield next;
        next = { id: next.id, event: "", data: "" };
        continue;
      }
      const colon = line.indexOf(":");
      const name = line.slice(0, colon);
      const content = line.slice(colon + 1).replace(/^ /, "");
      if (name === "id") next.id = content;
      if (name === "event") next.event = content;
      if (name === "data") next.data += (next.data ? "\n" : "") + content;
    }
  }
}
