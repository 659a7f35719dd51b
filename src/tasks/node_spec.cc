// SPDX-License-Identifier: Apache-2.0
#include "tasks/node_spec.h"

#include <algorithm>

#include "codec/buffer.h"
#include "tasks/close_word.h"
#include "tasks/limits.h"
#include "tasks/names.h"
#include "tasks/template_merge.h"

namespace holdfast::tasks {
namespace {

std::string allowed_types(const std::vector<std::string>& types) {
  std::string text = "allowed: ";
  for (const std::string& type : types) text += (&type == &types.front() ? "" : ", ") + type;
  return text;
}

std::string read_type(View merged, const std::optional<std::vector<std::string>>& types,
                      Scene& scene) {
  const Trail root("");
  const Trail where = root.key("taskType");
  const auto value = member(merged, "taskType");
  if (!value) {
    scene.refuse(where,
                 "the key 'taskType' is missing" + (types ? "; " + allowed_types(*types) : ""));
    return {};
  }
  const auto type = value->text();
  if (!type) {
    scene.refuse(where, "expected a text, got " + std::string(kind_name(*value)));
    return {};
  }
  if (const auto problem = label_problem(*type)) {
    scene.refuse(where, *problem);
  } else if (types && std::find(types->begin(), types->end(), *type) == types->end()) {
    const std::string guess = did_you_mean(*type, *types);
    scene.refuse(where, "unknown task type " + quote(*type) + guess + (guess.empty() ? "; " : " ") +
                            allowed_types(*types));
  }
  return std::string(*type);
}

// Beside `spec` these mean something; inside it they would be ignored, and the node would run too
// early or once only.
void refuse_misplaced_keys(View merged, Scene& scene) {
  const Trail root("");
  for (const std::string_view key : {"dependsOn", "foreach"}) {
    if (merged.find(key))
      scene.refuse(root.key(key),
                   "'" + std::string(key) + "' belongs to the node, beside its 'spec'");
  }
}

}  // namespace

NodeSpec read_node_spec(View merged, const std::optional<std::vector<std::string>>& types,
                        Scene& scene) {
  NodeSpec spec;
  spec.type = read_type(merged, types, scene);
  spec.resources = read_resources(merged, scene);
  spec.policy = read_policy(merged, scene);
  spec.condition = read_condition(merged, scene);
  refuse_misplaced_keys(merged, scene);
  codec::Buffer rest;
  write_without(rest, merged, kDispatcherKeys);
  if (rest.size() > kMaxSpecBytes) {
    scene.refuse_too_large(Trail(""), "the spec has " + std::to_string(rest.size()) +
                                          " bytes; at most " + std::to_string(kMaxSpecBytes) +
                                          " are allowed");
    return spec;
  }
  spec.spec = rest.to_bytes();
  return spec;
}

}  // namespace holdfast::tasks
