// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "defs/forms.h"

namespace holdfast::defs {

WorkflowDef read_workflow(Fields& fields) {
  WorkflowDef workflow;
  workflow.name = fields.name("name");
  workflow.state = fields.name("state");
  workflow.event = fields.name("event");
  workflow.context = fields.optional_name("context");
  workflow.annotations = fields.optional_name("annotations");
  workflow.key_schema = fields.optional_name("key_schema");
  const std::string effects = fields.path_of("effects_emitted");
  std::set<std::string> emitted;
  std::size_t index = 0;
  for (const View element : fields.list("effects_emitted")) {
    const std::string path = effects + "[" + std::to_string(index++) + "]";
    std::string effect = read_name(element, path, fields.errors());
    if (effect.empty()) continue;
    if (!emitted.insert(effect).second)
      fields.errors().push_back(base::invalid(path, "'" + effect + "' is there twice"));
  }
  workflow.effects_emitted.assign(emitted.begin(), emitted.end());
  // Replay decides what happened here, so every workflow is deterministic; the word is accepted
  // because others write it.
  const auto determinism = fields.optional("determinism");
  if (determinism && determinism->text() != "strict")
    fields.refuse("determinism", "only 'strict' is supported");
  if (const auto impl = fields.required("impl")) {
    workflow.impl = read_impl(*impl, fields.path_of("impl"), fields.errors());
  }
  if (const auto graph = fields.optional("graph")) {
    if (graph->kind() == codec::ViewKind::kMap) {
      const base::ByteView bytes = graph->encoded();
      workflow.graph.emplace(bytes.begin(), bytes.end());
    } else {
      fields.refuse("graph", "expected an object");
    }
  }
  return workflow;
}

void write(ObjectWriter& out, const WorkflowDef& workflow) {
  out.text("name", workflow.name);
  out.text("state", workflow.state);
  out.text("event", workflow.event);
  out.optional_text("context", workflow.context);
  out.optional_text("annotations", workflow.annotations);
  out.optional_text("key_schema", workflow.key_schema);
  out.texts("effects_emitted", workflow.effects_emitted);
  out.object("impl", impl_object(workflow.impl));
  if (workflow.graph) out.value("graph").append(*workflow.graph);
}

}  // namespace holdfast::defs
