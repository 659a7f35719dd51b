// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include "defs/forms.h"

namespace holdfast::defs {
namespace {

constexpr std::array<std::pair<Runtime, std::string_view>, 5> kRuntimes{{
    {Runtime::kNative, "native"},
    {Runtime::kWasm, "wasm"},
    {Runtime::kSteps, "steps"},
    {Runtime::kGraph, "graph"},
    {Runtime::kBuiltin, "builtin"},
}};

std::string_view word_for(Runtime runtime) noexcept {
  for (const auto& [known, word] : kRuntimes) {
    if (known == runtime) return word;
  }
  return "native";
}

void read_runtime(Fields& fields, ModuleDef& module) {
  const std::string kind = fields.text("kind");
  if (kind.empty()) return;
  bool known = false;
  for (const auto& [runtime, word] : kRuntimes) {
    if (word != kind) continue;
    known = true;
    module.runtime = runtime;
  }
  if (!known) {
    fields.refuse(
        "kind", "unknown runtime '" + kind + "'; there are native, wasm, steps, graph and builtin");
    return;
  }
  const auto artifact =
      module.runtime == Runtime::kWasm ? fields.required("artifact") : std::nullopt;
  fields.finish();  // only now: the fields of a runtime we do not know are not worth an error
  if (!artifact) return;
  Fields parts(*artifact, fields.path_of("artifact"), fields.errors());
  const std::string form = parts.text("kind");
  if (!form.empty() && form != "wasm_module") parts.refuse("kind", "expected 'wasm_module'");
  module.artifact = parts.optional_hash("hash");
  parts.finish();
}

}  // namespace

ModuleDef read_module(Fields& fields) {
  ModuleDef module{fields.name("name"), {}, {}};
  if (const auto runtime = fields.required("runtime")) {
    Fields parts(*runtime, fields.path_of("runtime"), fields.errors());
    read_runtime(parts, module);
  }
  return module;
}

void write(ObjectWriter& out, const ModuleDef& module) {
  out.text("name", module.name);
  ObjectWriter runtime;
  runtime.text("kind", word_for(module.runtime));
  if (module.runtime == Runtime::kWasm) {
    ObjectWriter artifact;
    artifact.text("kind", "wasm_module");
    artifact.optional_hash("hash", module.artifact);
    runtime.object("artifact", artifact);
  }
  out.object("runtime", runtime);
}

}  // namespace holdfast::defs
