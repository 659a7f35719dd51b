// SPDX-License-Identifier: Apache-2.0
// The definitions that a world is made of, as values. Each file x_def.cc reads one kind from its
// JSON form and writes its canonical form; whether the names in it lead anywhere is checked when
// all definitions are known (defs/load.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "codec/type.h"
#include "codec/view.h"

namespace holdfast::defs {

// A named type.
struct SchemaDef {
  std::string name;
  codec::Type type;
};

enum class Runtime : std::uint8_t {
  kNative,   // compiled into the program
  kWasm,     // a WebAssembly artifact
  kSteps,    // built in: step workflows
  kGraph,    // built in: task graphs
  kBuiltin,  // built in: parts of the system itself
};

// What runs a workflow or an effect.
struct ModuleDef {
  std::string name;
  Runtime runtime = Runtime::kNative;
  std::optional<base::Hash> artifact;  // kWasm; absent until it is built
};

struct Impl {
  std::string module;
  std::string entrypoint;
};

// A state machine: its types, the effects it may emit, the code that steps it.
struct WorkflowDef {
  std::string name;
  std::string state;
  std::string event;
  std::optional<std::string> context;
  std::optional<std::string> annotations;
  std::optional<std::string> key_schema;
  std::vector<std::string> effects_emitted;  // sorted
  Impl impl;

  // Of a step workflow: what it is made of, as a map, so that it can be drawn without its code.
  // steps/graph_codec.h reads it. Definitions of before have none.
  std::optional<base::Bytes> graph = std::nullopt;
};

// Who performs an effect: a built-in executor, or remote workers that take from a queue.
struct Executor {
  std::string kind;
  std::string queue;  // kind == "worker"
};

// Something that a workflow may ask the outside world to do.
struct EffectDef {
  std::string name;
  std::string params;
  std::string receipt;
  std::variant<Impl, Executor> performer;
  std::optional<std::uint64_t> timeout_ns;
};

// A secret by name; its value never comes near a definition.
struct SecretDef {
  std::string name;
  std::string binding_id;
  std::optional<base::Hash> expected_digest;
};

struct NamedRef {
  std::string name;
  std::optional<base::Hash> hash;  // absent: whatever the definition's hash is
};

struct Subscription {
  std::string event;
  std::string workflow;
  std::optional<std::string> key_field;
};

// The definitions that make up one world, and where its events go.
struct Manifest {
  std::vector<NamedRef> schemas;
  std::vector<NamedRef> modules;
  std::vector<NamedRef> workflows;
  std::vector<NamedRef> effects;
  std::vector<NamedRef> secrets;
  std::vector<Subscription> subscriptions;  // in the order in which they are tried
};

using Definition = std::variant<SchemaDef, ModuleDef, WorkflowDef, EffectDef, SecretDef, Manifest>;

// "defschema", "defmodule", ... "manifest".
std::string_view kind_of(const Definition& definition) noexcept;

// The name, or "manifest": there is one manifest and it has no name.
std::string_view name_of(const Definition& definition) noexcept;

// Reads one definition; nothing if it was refused. All errors are reported, with paths below
// `path`.
std::optional<Definition> parse_definition(codec::View object, const std::string& path,
                                           codec::Errors& errors);

// The canonical bytes of a definition, `$kind` included, defaults and comments left out. Its hash
// is the hash of these bytes.
base::Bytes encode(const Definition& definition);

}  // namespace holdfast::defs
