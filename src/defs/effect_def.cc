// SPDX-License-Identifier: Apache-2.0
#include "defs/forms.h"

namespace holdfast::defs {
namespace {

Executor read_executor(View object, const std::string& path, Errors& errors) {
  Fields fields(object, path, errors);
  Executor executor{fields.text("kind"), {}};
  if (executor.kind == "worker") executor.queue = fields.text("queue");
  fields.finish();
  return executor;
}

}  // namespace

EffectDef read_effect(Fields& fields) {
  EffectDef effect;
  effect.name = fields.name("name");
  effect.params = fields.name("params");
  effect.receipt = fields.name("receipt");
  effect.timeout_ns = fields.optional_nat("timeout_ns");
  const auto impl = fields.optional("impl");
  const auto executor = fields.optional("executor");
  if (impl.has_value() == executor.has_value()) {
    fields.refuse("executor", "an effect has either an 'executor' or an 'impl'");
  } else if (impl) {
    effect.performer = read_impl(*impl, fields.path_of("impl"), fields.errors());
  } else {
    effect.performer = read_executor(*executor, fields.path_of("executor"), fields.errors());
  }
  return effect;
}

void write(ObjectWriter& out, const EffectDef& effect) {
  out.text("name", effect.name);
  out.text("params", effect.params);
  out.text("receipt", effect.receipt);
  out.optional_nat("timeout_ns", effect.timeout_ns);
  if (const auto* impl = std::get_if<Impl>(&effect.performer)) {
    out.object("impl", impl_object(*impl));
  } else if (const auto* executor = std::get_if<Executor>(&effect.performer)) {
    ObjectWriter object;
    object.text("kind", executor->kind);
    if (executor->kind == "worker") object.text("queue", executor->queue);
    out.object("executor", object);
  }
}

}  // namespace holdfast::defs
