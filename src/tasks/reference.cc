// SPDX-License-Identifier: Apache-2.0
#include "tasks/reference.h"

#include <algorithm>

#include "codec/json_writer.h"
#include "tasks/limits.h"
#include "tasks/names.h"
#include "tasks/scene.h"

namespace holdfast::tasks {
namespace {

constexpr std::string_view kOpening = "${";
constexpr std::string_view kEscaped = "$${";
constexpr std::string_view kSlotOpening = "{{";
constexpr std::string_view kSlotClosing = "}}";

bool is_whole_number(std::string_view text) noexcept {
  constexpr std::size_t kMostDigits = 9;
  return !text.empty() && text.size() <= kMostDigits && (text.size() == 1 || text[0] != '0') &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_key_text(std::string_view key) noexcept {
  return !key.empty() && key.find_first_of("[]{}$ \t\r\n") == std::string_view::npos;
}

base::Error missing(std::string message) {
  return {base::ErrorCode::kNotFound, std::move(message)};
}

}  // namespace

std::string Reference::text() const {
  std::string text = "${" + std::string(node);
  if (!path.empty()) text += (path.front() == '[' ? "" : ".") + std::string(path);
  return text + "}";
}

std::optional<std::uint64_t> PathStep::index() const noexcept {
  if (!is_whole_number(key)) return std::nullopt;
  std::uint64_t number = 0;
  for (const char c : key) number = number * 10 + static_cast<std::uint64_t>(c - '0');
  return number;
}

std::optional<PathStep> PathSteps::next() noexcept {
  if (left_.empty()) return std::nullopt;
  PathStep step;
  if (left_.front() == '[') {
    const std::size_t end = std::min(left_.find(']'), left_.size());
    step = {left_.substr(1, end - 1), true};
    left_.remove_prefix(std::min(end + 1, left_.size()));
  } else {
    const std::size_t end = std::min(left_.find_first_of(".["), left_.size());
    step = {left_.substr(0, end), false};
    left_.remove_prefix(end);
  }
  if (!left_.empty() && left_.front() == '.') left_.remove_prefix(1);
  return step;
}

std::optional<std::string> path_problem(std::string_view path) {
  if (path.size() > kMaxReferenceBytes)
    return "the path has more than " + std::to_string(kMaxReferenceBytes) + " bytes";
  if (path.empty()) return "the path is empty";
  if (path.back() == '.') return "the path ends with a dot";
  std::size_t count = 0;
  for (std::size_t at = 0; at < path.size(); ++count) {
    if (path[at] == '[') {
      const std::size_t end = path.find(']', at);
      if (end == std::string_view::npos) return "'[' without a closing ']'";
      if (!is_whole_number(path.substr(at + 1, end - at - 1)))
        return "a list step is a whole number, got " + quote(path.substr(at, end - at + 1));
      at = end + 1;
      if (at < path.size() && path[at] != '.' && path[at] != '[')
        return "expected '.' or '[' after " + quote(path.substr(0, at));
    } else {
      const std::size_t end = std::min(path.find_first_of(".[", at), path.size());
      const std::string_view key = path.substr(at, end - at);
      if (key.empty()) return "the path has an empty step";
      if (!is_key_text(key)) return quote(key) + " cannot be a step of a path";
      at = end;
    }
    if (at < path.size() && path[at] == '.') {
      ++at;
      if (path[at] == '[') return "the path has an empty step";
    }
  }
  if (count > kMaxPathSteps)
    return "the path has more than " + std::to_string(kMaxPathSteps) + " steps";
  return std::nullopt;
}

base::Result<Reference> parse_reference(std::string_view inside) {
  const std::size_t end = std::min(inside.find_first_of(".["), inside.size());
  Reference reference{inside.substr(0, end), inside.substr(end)};
  if (reference.node != kElementNode) {
    if (const auto problem = name_problem(reference.node)) return base::invalid("", *problem);
  }
  if (reference.path.empty()) return reference;
  if (reference.path.front() == '.') {
    reference.path.remove_prefix(1);
    if (reference.path.empty()) return base::invalid("", "the path is empty");
    if (reference.path.front() == '[') return base::invalid("", "the path has an empty step");
  }
  if (const auto problem = path_problem(reference.path)) return base::invalid("", *problem);
  return reference;
}

std::optional<Reference> reference_in_map(codec::View value) {
  if (value.kind() != codec::ViewKind::kMap || value.size() != 2) return std::nullopt;
  // In canonical order `node` comes first; looking at it costs nothing, however large the rest is.
  const auto entries = value.entries();
  auto at = entries.begin();
  const auto [node_key, node] = *at;
  if (node_key.text() != "node" || !node.text()) return std::nullopt;
  ++at;
  const auto [path_key, path] = *at;
  if (path_key.text() != "path" || !path.text()) return std::nullopt;
  return Reference{*node.text(), *path.text()};
}

TextParts::Part TextParts::next() {
  const std::size_t begin = at_;
  while (at_ < text_.size()) {
    const std::string_view here = text_.substr(at_);
    if (has_slots_ && here.starts_with(kSlotOpening)) {
      const std::size_t end = text_.find(kSlotClosing, at_ + kSlotOpening.size());
      has_slots_ = end != std::string_view::npos;
      at_ = has_slots_ ? end + kSlotClosing.size() : at_ + kSlotOpening.size();
    } else if (here.starts_with(kEscaped) || here.starts_with(kOpening)) {
      if (at_ > begin) break;
      if (here.starts_with(kOpening)) return reference_here();
      at_ += kEscaped.size();
      return {Kind::kLiteral, here.substr(1, kOpening.size()), {}, {}};
    } else {
      ++at_;
    }
  }
  if (at_ == begin) return {};
  return {Kind::kLiteral, text_.substr(begin, at_ - begin), {}, {}};
}

TextParts::Part TextParts::reference_here() {
  const std::string_view behind = text_.substr(at_ + kOpening.size());
  const std::size_t end = behind.substr(0, kMaxReferenceBytes + 1).find('}');
  const auto problem = [&](std::string what) {
    at_ = text_.size();
    return Part{Kind::kProblem, {}, {}, std::move(what)};
  };
  if (end == std::string_view::npos) {
    return problem("'${' without a closing '}'" +
                   std::string(behind.size() > kMaxReferenceBytes
                                   ? " within " + std::to_string(kMaxReferenceBytes) + " bytes"
                                   : "") +
                   "; write '$${' for a literal '${'");
  }
  const std::string_view inside = behind.substr(0, end);
  auto reference = parse_reference(inside);
  if (!reference) {
    return problem("'${" + quote(inside).substr(1, quote(inside).size() - 2) +
                   "}': " + reference.error().message() + "; write '$${' for a literal '${'");
  }
  at_ += kOpening.size() + end + 1;
  return {Kind::kReference, {}, *reference, {}};
}

std::optional<Reference> lone_reference(std::string_view text) {
  if (!text.starts_with(kOpening) || !text.ends_with('}')) return std::nullopt;
  TextParts parts(text);
  TextParts::Part first = parts.next();
  if (first.kind != TextParts::Kind::kReference) return std::nullopt;
  if (parts.next().kind != TextParts::Kind::kEnd) return std::nullopt;
  return first.reference;
}

base::Result<codec::View> follow(codec::View result, std::string_view path) {
  PathSteps steps(path);
  while (const auto step = steps.next()) {
    if (result.kind() == codec::ViewKind::kList) {
      const auto index = step->index();
      if (!index)
        return missing("a list has no " + quote(step->key) + ": its steps are whole numbers");
      const auto element = element_at(result, *index);
      if (!element)
        return missing("the list has " + std::to_string(result.size()) + " elements, and none at " +
                       std::to_string(*index));
      result = *element;
    } else if (result.kind() == codec::ViewKind::kMap && !step->is_bracketed) {
      const auto value = result.find(step->key);
      if (!value) return missing("there is no " + quote(step->key));
      result = *value;
    } else {
      return missing(std::string(kind_name(result)) + " has no " +
                     (step->is_bracketed ? "[" + std::string(step->key) + "]" : quote(step->key)));
    }
  }
  return result;
}

std::string text_of(codec::View value) {
  if (const auto text = value.text()) return std::string(*text);
  return codec::to_json(value);
}

}  // namespace holdfast::tasks
