// SPDX-License-Identifier: Apache-2.0
// JSON without loss: an integer that a double cannot hold becomes a BigInt, and is written back as
// the same digits. JSON.parse would round 18446744073709551615.

export type Json = null | boolean | number | bigint | string | Json[] | { [name: string]: Json };

const number = /-?\d+(\.\d+)?([eE][+-]?\d+)?/y;
const plainText = /"([^"\\\u0000-\u001f]*)"/y;
const anyText = /"(?:[^"\\\u0000-\u001f]|\\.)*"/y;
const space = /[ \t\n\r]*/y;

export function parseJson(text: string): Json {
  let at = 0;

  function fail(): never {
    throw new SyntaxError(`not JSON at character ${at}`);
  }
  function take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at = pattern.lastIndex;
    return found;
  }
  function skip(word: string): boolean {
    take(space);
    if (!text.startsWith(word, at)) return false;
    at += word.length;
    return true;
  }
  function string(): string {
    take(space);
    const plain = take(plainText);
    if (plain) return plain[1];
    const found = take(anyText) ?? fail();
    return JSON.parse(found[0]);
  }
  function value(): Json {
    take(space);
    switch (text[at]) {
      case "{": {
        at += 1;
        const object: { [name: string]: Json } = Object.create(null);
        if (skip("}")) return object;
        do {
          const name = string();
          if (!skip(":")) fail();
          object[name] = value();
        } while (skip(","));
        return skip("}") ? object : fail();
      }
      case "[": {
        at += 1;
        const list: Json[] = [];
        if (skip("]")) return list;
        do list.push(value());
        while (skip(","));
        return skip("]") ? list : fail();
      }
      case '"':
        return string();
    }
    for (const [word, meaning] of [["true", true], ["false", false], ["null", null]] as const)
      if (skip(word)) return meaning;
    const found = take(number) ?? fail();
    const read = Number(found[0]);
    return found[1] || found[2] || Number.isSafeInteger(read) ? read : BigInt(found[0]);
  }

  const result = value();
  take(space);
  return at === text.length ? result : fail();
}

export function writeJson(value: Json, indent = 0, depth = 0): string {
  if (typeof value === "bigint") return value.toString();
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const parts = Array.isArray(value)
    ? value.map((each) => writeJson(each, indent, depth + 1))
    : Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}:${indent ? " " : ""}${writeJson(each, indent, depth + 1)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  if (parts.length === 0) return open + close;
  if (!indent) return open + parts.join(",") + close;
  const inner = "\n" + " ".repeat(indent * (depth + 1));
  return open + inner + parts.join("," + inner) + "\n" + " ".repeat(indent * depth) + close;
}
