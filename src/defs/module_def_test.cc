// SPDX-License-Identifier: Apache-2.0
#include "defs/testing.h"

namespace holdfast::defs {
namespace {

using testing::form_errors;
using testing::Lines;
using testing::Refusal;

std::string module(std::string_view runtime) {
  return R"({"$kind":"defmodule","name":"a/m@1","runtime":)" + std::string(runtime) + "}";
}

TEST(ModuleDef, each_runtime_has_its_form) {
  for (const char* runtime : {
           R"({"kind":"native"})",
           R"({"kind":"steps"})",
           R"({"kind":"graph"})",
           R"({"kind":"builtin"})",
           R"({"kind":"wasm","artifact":{"kind":"wasm_module"}})",
           R"({"kind":"wasm","artifact":{"kind":"wasm_module","hash":null}})",
           R"({"kind":"wasm","artifact":{"kind":"wasm_module",
             "hash":"sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}})",
       }) {
    EXPECT_EQ(form_errors(module(runtime)), Lines()) << runtime;
  }
}

TEST(ModuleDef, other_forms_are_refused) {
  const Refusal cases[] = {
      {R"("native")", {"$.runtime: expected an object"}},
      {"null", {"$: the field 'runtime' is missing"}},
      {"{}", {"$.runtime: the field 'kind' is missing"}},
      {R"({"kind":""})", {"$.runtime.kind: expected a text that is not empty"}},
      {R"({"kind":"Native"})",
       {"$.runtime.kind: unknown runtime 'Native'; there are native, wasm, steps, graph and "
        "builtin"}},
      {R"({"kind":"python","python":"3.12","artifact":{"kind":"python_bundle","root_hash":"x"}})",
       {"$.runtime.kind: unknown runtime 'python'; there are native, wasm, steps, graph and "
        "builtin"}},
      {R"({"kind":"native","artifact":{"kind":"wasm_module"}})",
       {"$.runtime: unknown field \"artifact\""}},
      {R"({"kind":"wasm"})", {"$.runtime: the field 'artifact' is missing"}},
      {R"({"kind":"wasm","artifact":"x"})", {"$.runtime.artifact: expected an object"}},
      {R"({"kind":"wasm","artifact":{}})", {"$.runtime.artifact: the field 'kind' is missing"}},
      {R"({"kind":"wasm","artifact":{"kind":"elf","hash":"SHA256:00","x":1}})",
       {"$.runtime.artifact.kind: expected 'wasm_module'",
        "$.runtime.artifact.hash: expected a hash: sha256: and 64 lower-case hexadecimal digits",
        "$.runtime.artifact: unknown field \"x\""}},
  };
  for (const auto& [runtime, errors] : cases) {
    EXPECT_EQ(form_errors(module(runtime)), errors) << runtime;
  }
}

}  // namespace
}  // namespace holdfast::defs
