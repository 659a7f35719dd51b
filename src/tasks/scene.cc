// SPDX-License-Identifier: Apache-2.0
#include "tasks/scene.h"

#include <algorithm>

#include "tasks/close_word.h"
#include "tasks/limits.h"
#include "tasks/names.h"

namespace holdfast::tasks {

std::string Scene::place(const Trail& where) const {
  const auto has_it = [&](const Part& part) { return part.value && where.leads_into(*part.value); };
  return where.text_from(!has_it(own_) && has_it(below_) ? below_.root : own_.root);
}

bool Scene::expect_map(View value, const Trail& where) {
  if (value.kind() == ViewKind::kMap) return true;
  refuse(where, "expected a mapping, got " + std::string(kind_name(value)));
  return false;
}

void Scene::expect_keys(View map, const Trail& where, std::span<const std::string_view> known) {
  for (const auto& [key, value] : map.entries()) {
    const std::string_view word = key.text().value_or("");
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    std::string message = "unknown key " + quote(word);
    if (!problems_.is_full()) {
      const std::string guess = did_you_mean(word, known);
      if (guess.empty()) {
        message += "; allowed:";
        for (const std::string_view each : known)
          message += (each == known.front() ? " " : ", ") + std::string(each);
      }
      message += guess;
    }
    refuse(where.key(word), std::move(message));
  }
}

std::optional<std::string> Scene::as_literal_text(View value, const Trail& where) {
  const auto text = value.text();
  if (!text || text->empty()) {
    refuse(where,
           text ? "the text is empty" : "expected a text, got " + std::string(kind_name(value)));
    return std::nullopt;
  }
  if (text->size() > kMaxShortTextBytes) {
    refuse_too_large(where,
                     "the text has more than " + std::to_string(kMaxShortTextBytes) + " bytes");
    return std::nullopt;
  }
  if (text->find("${") != std::string_view::npos) {
    refuse(where, quote(*text) + ": references are not resolved here");
    return std::nullopt;
  }
  return std::string(*text);
}

std::optional<std::string> Scene::literal_text(View map, std::string_view key, const Trail& where) {
  const auto value = member(map, key);
  if (!value) return std::nullopt;
  return as_literal_text(*value, where.key(key));
}

std::optional<bool> Scene::boolean(View map, std::string_view key, const Trail& where) {
  const auto value = member(map, key);
  if (!value) return std::nullopt;
  const auto flag = value->boolean();
  if (!flag)
    refuse(where.key(key), "expected true or false, got " + std::string(kind_name(*value)));
  return flag;
}

std::optional<View> member(View map, std::string_view key) {
  const auto value = map.find(key);
  if (!value || value->is_null()) return std::nullopt;
  return value;
}

std::string_view kind_name(View value) {
  switch (value.kind()) {
    case ViewKind::kNull: return "null";
    case ViewKind::kBool: return "a boolean";
    case ViewKind::kInt:
    case ViewKind::kFloat: return "a number";
    case ViewKind::kBytes: return "bytes";
    case ViewKind::kText: return "a text";
    case ViewKind::kList: return "a list";
    case ViewKind::kMap: return "a mapping";
    case ViewKind::kOther: break;
  }
  return "something else";
}

}  // namespace holdfast::tasks
