// SPDX-License-Identifier: Apache-2.0
#include "tasks/render.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "codec/cbor_reader.h"
#include "codec/cbor_writer.h"
#include "codec/skip.h"
#include "tasks/names.h"
#include "tasks/reference.h"
#include "tasks/template_merge.h"
#include "tasks/trail.h"

namespace holdfast::tasks {
namespace {

using codec::View;

base::Error too_large(std::string message) {
  return {base::ErrorCode::kTooLarge, std::move(message)};
}

// Finds the values of references.
class Resolver {
 public:
  Resolver(const TaskDefinition& task, const Outcomes& outcomes, std::size_t most)
      : task_(task), outcomes_(outcomes), most_(most) {}

  // {"index": n, "item": ...}, what ${foreach...} leads into. Its item is rendered already.
  void set_element(base::Bytes element) { element_ = std::move(element); }

  // The value is in `scratch` or in an outcome.
  base::Result<View> resolve(const Reference& reference, codec::Buffer& scratch) const {
    if (reference.node == kElementNode) {
      if (element_.empty()) return missing("the task has no element");
      return follow(View::of(element_), reference.path);
    }
    const auto input = std::find_if(task_.inputs.begin(), task_.inputs.end(),
                                    [&](const Input& each) { return each.node == reference.node; });
    if (input == task_.inputs.end()) return missing("the task does not read this node");
    if (!input->is_foreach) return resolve_in(input->tasks.first, reference.path, scratch);
    PathSteps steps(reference.path);
    const auto first = steps.next();
    if (const auto index = first ? first->index() : std::nullopt) {
      if (*index >= input->tasks.count)
        return missing("the foreach has " + std::to_string(input->tasks.count) +
                       " elements, and none at " + std::to_string(*index));
      return resolve_in(input->tasks.first + static_cast<TaskIndex>(*index), steps.rest(), scratch);
    }
    return resolve_all(*input, reference.path, scratch);
  }

 private:
  static base::Error missing(std::string message) {
    return {base::ErrorCode::kNotFound, std::move(message)};
  }

  base::Result<View> resolve_in(TaskIndex task, std::string_view path,
                                codec::Buffer& scratch) const {
    const auto outcome = outcomes_.find(task);
    if (!outcome) {
      return base::Error(base::ErrorCode::kUnavailable,
                         "task " + std::to_string(task) + " has no result yet");
    }
    if (path == kTaskIdStep) {
      const std::size_t begin = scratch.size();
      codec::write_text(scratch, outcome->task_id);
      return View::of(scratch.view(begin, scratch.size()));
    }
    return follow(outcome->result, path);
  }

  base::Result<View> resolve_all(const Input& input, std::string_view path,
                                 codec::Buffer& scratch) const {
    codec::Buffer list;
    codec::write_list_head(list, input.tasks.count);
    codec::Buffer one;
    for (std::uint32_t i = 0; i < input.tasks.count; ++i) {
      one.clear();
      auto value = resolve_in(input.tasks.first + i, path, one);
      if (!value) {
        return base::Error(value.error().code(), "in " + input.node + "[" + std::to_string(i) +
                                                     "]: " + value.error().message());
      }
      list.append(value->encoded());
      if (list.size() > most_)
        return too_large("the list has more than " + std::to_string(most_) + " bytes");
    }
    scratch = std::move(list);
    return View::of(scratch.view());
  }

  const TaskDefinition& task_;
  const Outcomes& outcomes_;
  std::size_t most_;
  base::Bytes element_;
};

// Writes a value with its references resolved. Every byte is read once; recursive, at most
// kMaxSpecDepth deep.
class Renderer {
 public:
  Renderer(base::ByteView bytes, const Resolver& resolver, std::size_t most)
      : bytes_(bytes),
        reader_(bytes, codec::Strictness::kLenient),
        resolver_(resolver),
        most_(most) {}

  // `depth`: containers around the value.
  base::Result<void> write(const Trail& where, std::size_t depth) {
    const codec::CborReader::Mark begin = reader_.mark();
    codec::Item item;
    codec::Cursor cursor;
    CHECK(reader_.value(item, cursor));
    if (item.kind == codec::ItemKind::kText)
      return write_text_value(*view_at(begin).text(), where, depth);
    if (item.kind == codec::ItemKind::kList) {
      codec::write_list_head(out_, cursor.left);
      for (std::size_t index = 0; reader_.more(cursor) == codec::More::kYes; ++index)
        TRY(write(where.at(index), depth + 1));
      return {};
    }
    if (item.kind == codec::ItemKind::kMap) return write_map(view_at(begin), cursor, where, depth);
    out_.append(begin.at, static_cast<std::size_t>(reader_.mark().at - begin.at));
    return check_size(where);
  }

  base::Bytes take() { return out_.to_bytes(); }

 private:
  View view_at(codec::CborReader::Mark mark) const {
    return View::of({mark.at, bytes_.data() + bytes_.size()});
  }

  base::Result<void> check_size(const Trail& where) const {
    if (out_.size() <= most_) return {};
    return base::Error(
        base::ErrorCode::kTooLarge, where.text(),
        "with its references resolved the spec has more than " + std::to_string(most_) + " bytes");
  }

  base::Result<View> resolve(const Reference& reference, const Trail& where) {
    scratch_.clear();
    auto value = resolver_.resolve(reference, scratch_);
    if (value) return value;
    return base::Error(value.error().code(), where.text(),
                       reference.text() + ": " + value.error().message());
  }

  base::Result<void> write_resolved(const Reference& reference, const Trail& where,
                                    std::size_t depth) {
    const View value = TRY(resolve(reference, where));
    if (depth + depth_of(value) > codec::kMaxDepth) {
      return base::Error(base::ErrorCode::kTooLarge, where.text(),
                         reference.text() + ": the value is nested too deep to stand here");
    }
    out_.append(value.encoded());
    return check_size(where);
  }

  base::Result<void> write_text_value(std::string_view text, const Trail& where,
                                      std::size_t depth) {
    if (const auto reference = lone_reference(text))
      return write_resolved(*reference, where, depth);
    std::string made;
    TextParts parts(text);
    for (;;) {
      const TextParts::Part part = parts.next();
      if (part.kind == TextParts::Kind::kEnd) break;
      if (part.kind == TextParts::Kind::kProblem) return base::invalid(where.text(), part.problem);
      if (part.kind == TextParts::Kind::kReference) {
        made += text_of(TRY(resolve(part.reference, where)));
      } else {
        made += part.literal;
      }
      if (made.size() > most_) {
        return base::Error(base::ErrorCode::kTooLarge, where.text(),
                           "with its references resolved the text has more than " +
                               std::to_string(most_) + " bytes");
      }
    }
    codec::write_text(out_, made);
    return check_size(where);
  }

  base::Result<void> write_map(View map, codec::Cursor cursor, const Trail& where,
                               std::size_t depth) {
    if (const auto reference = reference_in_map(map)) {
      const std::size_t size = map.encoded().size();  // two short texts
      reader_.rewind({map.encoded().data() + size});
      return write_resolved(*reference, where, depth);
    }
    codec::write_map_head(out_, cursor.left);
    while (reader_.more(cursor) == codec::More::kYes) {
      const codec::CborReader::Mark begin = reader_.mark();
      const View key = view_at(begin);
      codec::Item item;
      CHECK(reader_.key(item));
      out_.append(begin.at, static_cast<std::size_t>(reader_.mark().at - begin.at));
      TRY(write(where.key(key.text().value_or("")), depth + 1));
    }
    return {};
  }

  base::ByteView bytes_;
  codec::CborReader reader_;
  const Resolver& resolver_;
  std::size_t most_;
  codec::Buffer out_;
  codec::Buffer scratch_;
};

base::Result<base::Bytes> rendered(base::ByteView value, const Resolver& resolver, std::size_t most,
                                   std::string_view root) {
  Renderer renderer(value, resolver, most);
  TRY(renderer.write(Trail(root), 0));
  return renderer.take();
}

// The resolver of a task, with its element rendered.
base::Result<Resolver> resolver_for(const TaskDefinition& task, const Outcomes& outcomes,
                                    std::size_t most) {
  Resolver resolver(task, outcomes, most);
  if (!task.element) return resolver;
  const base::Bytes item = TRY(rendered(task.element->item, resolver, most, "foreach.item"));
  codec::Buffer element;
  codec::write_map_head(element, 2);
  codec::write_text(element, "item");
  element.append(item);
  codec::write_text(element, "index");
  codec::write_nat(element, task.element->index);
  resolver.set_element(element.to_bytes());
  return resolver;
}

}  // namespace

base::Result<base::Bytes> render(const TaskDefinition& task, const Outcomes& outcomes,
                                 std::size_t most) {
  const Resolver resolver = TRY(resolver_for(task, outcomes, most));
  return rendered(task.spec, resolver, most, "");
}

base::Result<bool> condition_holds(const TaskDefinition& task, const Outcomes& outcomes) {
  if (!task.condition) return true;
  const Resolver resolver = TRY(resolver_for(task, outcomes, kMaxRenderedBytes));
  codec::Buffer scratch;
  const auto value = resolver.resolve({task.condition->node, task.condition->field}, scratch);
  if (value) return text_of(*value) == task.condition->equals;
  if (value.error().code() == base::ErrorCode::kNotFound) return false;
  return base::Error(value.error().code(), "condition", value.error().message());
}

base::Bytes skipped_result() {
  codec::Buffer out;
  codec::write_map_head(out, 1);
  codec::write_text(out, "metadata");
  codec::write_map_head(out, 1);
  codec::write_text(out, "skipped");
  codec::write_bool(out, true);
  return out.to_bytes();
}

}  // namespace holdfast::tasks
