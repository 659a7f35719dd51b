// SPDX-License-Identifier: Apache-2.0
#include "tasks/condition.h"

#include <array>

#include "tasks/limits.h"
#include "tasks/reference.h"

namespace holdfast::tasks {
namespace {

constexpr std::array<std::string_view, 3> kConditionKeys{"node", "field", "equals"};

}  // namespace

std::optional<Condition> read_condition(View spec, Scene& scene) {
  const Trail root("");
  const Trail where = root.key("condition");
  const auto map = member(spec, "condition");
  if (!map || !scene.expect_map(*map, where)) return std::nullopt;
  scene.expect_keys(*map, where, kConditionKeys);
  bool is_whole = true;
  for (const std::string_view key : kConditionKeys) {
    // `equals: null` compares with null, so it counts as given.
    if (key == "equals" ? map->find(key).has_value() : member(*map, key).has_value()) continue;
    scene.refuse(where, "the key '" + std::string(key) + "' is missing");
    is_whole = false;
  }
  if (!is_whole) return std::nullopt;
  auto node = scene.literal_text(*map, "node", where);
  auto field = scene.literal_text(*map, "field", where);
  if (field) {
    if (const auto problem = path_problem(*field)) {
      scene.refuse(where.key("field"), *problem);
      field.reset();
    }
  }
  const View equals = *map->find("equals");
  const Trail equals_at = where.key("equals");
  if (equals.kind() == ViewKind::kList || equals.kind() == ViewKind::kMap) {
    scene.refuse(equals_at, "expected a text, a number, true, false or null, got " +
                                std::string(kind_name(equals)));
    return std::nullopt;
  }
  const std::string text = text_of(equals);
  if (text.size() > kMaxShortTextBytes) {
    scene.refuse_too_large(
        equals_at, "the text has more than " + std::to_string(kMaxShortTextBytes) + " bytes");
    return std::nullopt;
  }
  if (text.find("${") != std::string::npos) {
    scene.refuse(equals_at, "references are not resolved here");
    return std::nullopt;
  }
  if (!node || !field) return std::nullopt;
  return Condition{std::move(*node), std::move(*field), text};
}

}  // namespace holdfast::tasks
