// SPDX-License-Identifier: Apache-2.0
// A form made from a schema (docs/formats/canonical-cbor.md has the types). The value is kept as
// JSON, so numbers keep all their digits; what the form cannot show is edited as JSON.
import { useState } from "preact/hooks";
import { Json, parseJson, writeJson } from "./json";

export type Schemas = { [name: string]: Json };

// A type is {"kind": parameters}.
function kindOf(type: Json): [string, any] {
  if (type === null || typeof type !== "object" || Array.isArray(type)) return ["any", {}];
  const [kind] = Object.keys(type);
  return [kind, (type as any)[kind]];
}

export function resolve(type: Json, schemas: Schemas, depth = 0): Json {
  const [kind, inner] = kindOf(type);
  if (kind !== "ref" || depth > 16) return type;
  const name = typeof inner === "string" ? inner : inner?.name;
  return name in schemas ? resolve(schemas[name], schemas, depth + 1) : type;
}

export function initial(type: Json, schemas: Schemas): Json {
  const [kind, inner] = kindOf(resolve(type, schemas));
  switch (kind) {
    case "record": return Object.fromEntries(Object.entries(inner).map(([name, each]) => [name, initial(each as Json, schemas)]));
    case "text": return "";
    case "bool": return false;
    case "nat": case "int": case "dec128": return 0;
    case "list": case "set": return [];
    case "variant": {
      const [tag] = Object.keys(inner);
      return { $tag: tag };
    }
    case "map": return {};
    default: return null;
  }
}

interface FieldProps { name: string; type: Json; value: Json; schemas: Schemas; change: (value: Json) => void }

function Field({ name, type, value, schemas, change }: FieldProps) {
  const [kind, inner] = kindOf(resolve(type, schemas));
  const id = `field-${name}`;
  const label = name.split(".").pop();
  switch (kind) {
    case "record":
      return (
        <fieldset>
          {label && <legend>{label}</legend>}
          {Object.entries(inner).map(([member, each]) => (
            <Field key={member} name={`${name}.${member}`} type={each as Json} schemas={schemas} value={(value as any)?.[member] ?? null}
              change={(next) => change({ ...(value as any), [member]: next })} />
          ))}
        </fieldset>
      );
    case "bool":
      return (
        <label class="check">
          <input type="checkbox" checked={value === true} onChange={(event) => change(event.currentTarget.checked)} /> {label}
        </label>
      );
    case "text":
      return (
        <label for={id}>
          {label}
          <input id={id} type="text" value={typeof value === "string" ? value : ""} onInput={(event) => change(event.currentTarget.value)} />
        </label>
      );
    case "nat": case "int":
      return <NumberField id={id} label={label!} value={value} change={change} isNat={kind === "nat"} />;
    case "variant": {
      const tags = Object.entries(inner);
      const isPlain = tags.every(([, each]) => kindOf(each as Json)[0] === "unit");
      if (!isPlain) break;
      return (
        <label for={id}>
          {label}
          <select id={id} value={(value as any)?.$tag} onChange={(event) => change({ $tag: event.currentTarget.value })}>
            {tags.map(([tag]) => <option key={tag}>{tag}</option>)}
          </select>
        </label>
      );
    }
    case "option":
      if (value === null)
        return (
          <p>
            {label}: <span class="quiet">not given</span>{" "}
            <button type="button" class="small" onClick={() => change(initial(inner, schemas))}>Give it</button>
          </p>
        );
      return <Field name={name} type={inner} value={value} schemas={schemas} change={change} />;
  }
  return <JsonField id={id} label={label!} value={value} change={change} />;
}

function NumberField({ id, label, value, change, isNat }: { id: string; label: string; value: Json; change: (value: Json) => void; isNat: boolean }) {
  const [text, setText] = useState(writeJson(value));
  const pattern = isNat ? /^\d+$/ : /^-?\d+$/;
  function read(next: string) {
    setText(next);
    if (pattern.test(next)) change(parseJson(BigInt(next).toString()));
  }
  return (
    <label for={id}>
      {label}
      <input id={id} type="text" inputMode="numeric" value={text} aria-invalid={!pattern.test(text)} onInput={(event) => read(event.currentTarget.value)} />
    </label>
  );
}

function JsonField({ id, label, value, change }: { id: string; label: string; value: Json; change: (value: Json) => void }) {
  const [text, setText] = useState(writeJson(value, 2));
  const [isBad, setBad] = useState(false);
  function read(next: string) {
    setText(next);
    try {
      change(parseJson(next));
      setBad(false);
    } catch {
      setBad(true);
    }
  }
  return (
    <label for={id}>
      {label} <span class="quiet">JSON</span>
      <textarea id={id} rows={4} value={text} aria-invalid={isBad} spellcheck={false} onInput={(event) => read(event.currentTarget.value)} />
    </label>
  );
}

export function SchemaForm({ type, schemas, value, change }: { type: Json; schemas: Schemas; value: Json; change: (value: Json) => void }) {
  return <Field name="" type={type} schemas={schemas} value={value} change={change} />;
}
