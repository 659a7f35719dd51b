// SPDX-License-Identifier: Apache-2.0
// Runs the functions of a JavaScript file for `holdfast worker --node FILE`. It needs nothing but
// Node.js. docs/tasks.md says what functions see; docs/worker-protocol.md has the messages.
//
// Messages to the worker are lines on standard output that hold the marker; everything else there is
// the output of the task. Messages from the worker are lines of JSON on standard input.
import {writeSync, createReadStream} from "node:fs";
import {resolve} from "node:path";
import {createInterface} from "node:readline";
import {Writable} from "node:stream";
import {pathToFileURL} from "node:url";

const [marker, path] = process.argv.slice(-2);

// Nothing else of Node touches this descriptor, so it stays one that blocks.
function write(text) {
  let data = Buffer.from(text);
  while (data.length > 0) data = data.subarray(writeSync(1, data));
}
const send = (message) => write(marker + JSON.stringify(message) + "\n");
const output = new Writable({
  decodeStrings: false,
  write(chunk, encoding, done) {
    write(typeof chunk === "string" ? chunk : chunk.toString());
    done();
  },
});
Object.defineProperty(process, "stdout", {value: output});

class Yield extends Error {
  constructor(resume = null) {
    super("yielded");
    this.resume = resume;
  }
}

// What a function can know of the task that it runs, as its second argument.
class Task {
  constructor(entry) {
    this.key = entry.key;
    this.name = entry.name;
    this.graph = entry.graph;
    this.attempt = entry.attempt;
    this.devices = entry.devices;
    this.resume = entry.resume;
    this.Yield = Yield;
    this.dispatch = entry.d;
    this.controller = new AbortController();
    this.signal = this.controller.signal; // aborted when the task is to end
  }
  get stopped() {
    return this.signal.aborted;
  }
  get stopReason() {
    return this.signal.reason;
  }
  progress(value) {
    send({d: this.dispatch, progress: value ?? null});
  }
}

function describe(problem) {
  const text = problem instanceof Error ? `${problem.name}: ${problem.message}` : String(problem);
  return text.slice(0, 4000);
}

async function perform(functions, entry, task) {
  const answer = {d: entry.d};
  const names = [...functions.keys()].sort();
  const name = entry.function ?? (names.length === 1 ? names[0] : null);
  const found = functions.get(name);
  if (found === undefined) {
    const text = name === null ? "'function' is needed: the file has several functions" : `there is no function '${name}'`;
    return {...answer, error: {code: "node.function", message: `${text}; known: ${names.join(", ") || "none"}`, retryable: false}};
  }
  try {
    const result = await found(entry.input, task);
    try {
      return JSON.parse(JSON.stringify({...answer, ok: result ?? null}));
    } catch (problem) {
      return {...answer, error: {code: "node.result", message: "the result is not JSON: " + describe(problem), retryable: false}};
    }
  } catch (problem) {
    if (problem instanceof Yield) return {...answer, yield: problem.resume ?? null};
    console.error(problem);
    const code = typeof problem?.code === "string" && problem.code !== "" ? problem.code : "node.exception";
    return {...answer, error: {code, message: describe(problem), retryable: problem?.retryable !== false}};
  }
}

let module;
try {
  module = await import(pathToFileURL(resolve(path)).href);
} catch (problem) {
  console.error(problem);
  send({broken: describe(problem)});
  process.exit(1);
}
const functions = new Map();
// A CommonJS module is the default export, with its members beside it where Node finds them.
const exported = typeof module.default === "object" && module.default !== null ? {...module.default, ...module} : {...module};
for (const [name, value] of Object.entries(exported)) {
  if (typeof value === "function" && !name.startsWith("_")) functions.set(name, value);
}
send({ready: [...functions.keys()].sort()});

let current = null;
const lines = createInterface({input: createReadStream(null, {fd: 0, autoClose: false}), crlfDelay: Infinity});
lines.on("line", async (line) => {
  const message = JSON.parse(line);
  if (message.stop !== undefined) current?.controller.abort(message.stop.reason);
  if (message.work === undefined) return;
  current = new Task(message.work);
  const answer = await perform(functions, message.work, current);
  current = null;
  send(answer);
});
lines.on("close", () => process.exit(0)); // the worker is gone
