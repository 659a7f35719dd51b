// SPDX-License-Identifier: Apache-2.0
// Machine: one walk of the normaliser over one value, pulling items from a JSON or CBOR reader and
// writing canonical bytes. The stack of open containers is explicit, so depth is a number and not
// a risk. Scalars are written by codec/scalars.h, closing containers is codec/canonical_order.h,
// the words of errors are in codec/complaint.h.
#pragma once

#include <string>

#include "base/error.h"
#include "codec/canonical_order.h"
#include "codec/cbor_writer.h"
#include "codec/complaint.h"
#include "codec/scalars.h"
#include "codec/skip.h"
#include "codec/workspace.h"

namespace holdfast::codec {

template <class Reader>
class Machine {
 public:
  Machine(Workspace& work, const Schema& schema, Reader& reader)
      : work_(work), schema_(schema), reader_(reader) {}

  // Walks one whole value. False: `error()` says why.
  bool run() {
    const Schema::Node* node = &schema_.root();
    Item item;
    Cursor cursor;
    for (;;) {
      if (!reader_.value(item, cursor)) return unreadable();
      ++work_.items;
      if (!begin(node, item, cursor)) return false;
      for (;;) {
        if (work_.out.size() > kMaxValueBytes || work_.items > kMaxItems) return too_large();
        if (work_.depth == 0) return reader_.finish() || unreadable();
        const Step step = advance(work_.frames[work_.depth - 1], node);
        if (step == Step::kFailed) return false;
        if (step == Step::kValue) break;
        --work_.depth;
      }
    }
  }

  base::Error error() && { return {code_, std::move(where_), std::move(message_)}; }

 private:
  enum class Step : std::uint8_t { kValue, kClosed, kFailed };

  // Takes the item that begins a value: writes a scalar, or opens a frame.
  [[gnu::always_inline]] bool begin(const Schema::Node* node, const Item& item,
                                    const Cursor& cursor) {
    if (node->kind == TypeKind::kOption) {
      if (item.kind == ItemKind::kNull) return write_null(work_.out), true;
      node = &schema_.node(node->inner);
    }
    switch (node->kind) {
      case TypeKind::kRecord:
        if (item.kind != ItemKind::kMap) return mismatch(*node, item);
        return open_record(*node, cursor);
      case TypeKind::kVariant:
        if (item.kind != ItemKind::kMap) return mismatch(*node, item);
        return open_variant(*node, cursor);
      case TypeKind::kList:
        if (item.kind != ItemKind::kList) return mismatch(*node, item);
        return open_list(*node, cursor);
      case TypeKind::kSet:
        if (item.kind != ItemKind::kList) return mismatch(*node, item);
        return open(Shape::kSet, *node, cursor);
      case TypeKind::kMap:
        if (item.kind != ItemKind::kMap) return mismatch(*node, item);
        return open(Shape::kMap, *node, cursor);
      case TypeKind::kAny:
        if (item.kind == ItemKind::kList) return open_list(*node, cursor);
        if (item.kind == ItemKind::kMap) return open(Shape::kMap, *node, cursor);
        break;
      case TypeKind::kItem:
        if (item.kind == ItemKind::kList) return open_list(*node, cursor);
        if (item.kind == ItemKind::kMap)
          return open(Reader::kKeysAreTexts ? Shape::kMap : Shape::kItemMap, *node, cursor);
        if (item.kind == ItemKind::kTag) return open_tag(*node, item, cursor);
        break;
      case TypeKind::kText:
        if (item.kind == ItemKind::kText) return write_text(work_.out, item.text), true;
        break;
      case TypeKind::kBytes:
        if (item.kind == ItemKind::kMap) return bytes_in_map(*node, cursor);
        break;
      case TypeKind::kUnit:
        if (item.kind == ItemKind::kMap) return unit_as_map(cursor);
        break;
      default: break;
    }
    const char* refusal = nullptr;
    if (write_scalar(work_.out, node->kind, item, refusal)) return true;
    return refusal == nullptr ? mismatch(*node, item) : refused(refusal);
  }

  // Goes on in an open container after its opening or after one of its values.
  [[gnu::always_inline]] Step advance(Frame& frame, const Schema::Node*& node) {
    switch (frame.shape) {
      case Shape::kList: return advance_list(frame, node);
      case Shape::kSet: return advance_set(frame, node);
      case Shape::kMap: return advance_map(frame, node);
      case Shape::kItemMap: return advance_item_map(frame, node);
      case Shape::kRecord: return advance_record(frame, node);
      case Shape::kVariant: return advance_variant(frame, node);
      case Shape::kTag:
        node = frame.node;
        return reader_.more(frame.cursor) == More::kYes ? Step::kValue : Step::kClosed;
    }
    return Step::kFailed;
  }

  // --- lists, sets, tags

  Frame* push(Shape shape, const Schema::Node& node, const Cursor& cursor) {
    if (work_.depth == kMaxDepth) {
      reader_.too_deep();
      unreadable();
      return nullptr;
    }
    Frame& frame = work_.frames[work_.depth++];
    frame = Frame{};
    frame.node = &node;
    frame.cursor = cursor;
    frame.shape = shape;
    frame.head = work_.position();
    return &frame;
  }

  // A container whose number of entries is known when it closes: one byte is left for its head.
  bool open(Shape shape, const Schema::Node& node, const Cursor& cursor) {
    Frame* frame = push(shape, node, cursor);
    if (frame == nullptr) return false;
    frame->first = static_cast<std::uint32_t>(work_.entries.size());
    work_.out.push(0);
    return true;
  }

  bool open_list(const Schema::Node& node, const Cursor& cursor) {
    if (cursor.left == Cursor::kOpenEnd) return open(Shape::kList, node, cursor);
    Frame* frame = push(Shape::kList, node, cursor);
    if (frame == nullptr) return false;
    frame->counted = true;
    write_list_head(work_.out, cursor.left);
    return true;
  }

  bool open_tag(const Schema::Node& node, const Item& item, const Cursor& cursor) {
    if (push(Shape::kTag, node, cursor) == nullptr) return false;
    write_head(work_.out, Major::kTag, item.number);
    return true;
  }

  // The type of what a list, set or map holds; `any` and `item` hold themselves.
  const Schema::Node* inner_of(const Frame& frame) const noexcept {
    const TypeKind kind = frame.node->kind;
    return kind == TypeKind::kAny || kind == TypeKind::kItem ? frame.node
                                                             : &schema_.node(frame.node->inner);
  }

  [[gnu::always_inline]] Step advance_list(Frame& frame, const Schema::Node*& node) {
    const More more = reader_.more(frame.cursor);
    if (more == More::kError) return unreadable(), Step::kFailed;
    if (more == More::kNo) return close_list(work_, frame), Step::kClosed;
    ++frame.count;
    node = inner_of(frame);
    return Step::kValue;
  }

  // Ends the entry that has just been read, and sees whether it came in order.
  void end_entry(Frame& frame, bool key_only) {
    if (frame.count == 0) return;
    Entry& entry = work_.entries.back();
    entry.end = work_.position();
    if (key_only) entry.key_end = entry.end;
    if (frame.count == 1 || !frame.in_order) return;
    const Entry& before = work_.entries[work_.entries.size() - 2];
    frame.in_order = compare_keys(work_.out, before, entry) < 0;
  }

  void begin_entry(Frame& frame) {
    ++frame.count;
    work_.entries.push_back({work_.position(), work_.position(), work_.position()});
  }

  [[gnu::always_inline]] Step advance_set(Frame& frame, const Schema::Node*& node) {
    end_entry(frame, true);
    const More more = reader_.more(frame.cursor);
    if (more == More::kError) return unreadable(), Step::kFailed;
    if (more == More::kNo) return close_set(work_, frame), Step::kClosed;
    begin_entry(frame);
    node = inner_of(frame);
    return Step::kValue;
  }

  // --- maps

  Step advance_map(Frame& frame, const Schema::Node*& node) {
    end_entry(frame, false);
    frame.in_value = false;
    const More more = reader_.more(frame.cursor);
    if (more == More::kError) return unreadable(), Step::kFailed;
    if (more == More::kNo) return finish_map(frame);
    Item key;
    if (!reader_.key(key)) return unreadable(), Step::kFailed;
    const std::uint32_t begin = work_.position();
    const TypeKind key_type =
        frame.node->kind == TypeKind::kMap ? frame.node->key : TypeKind::kText;
    const char* refusal = nullptr;
    if (!write_key(work_.out, key_type, key, refusal)) {
      return bad_key(key_type, key, refusal), Step::kFailed;
    }
    ++work_.items;
    ++frame.count;
    frame.in_value = true;
    work_.entries.push_back({begin, work_.position(), work_.position()});
    node = inner_of(frame);
    return Step::kValue;
  }

  // A map of foreign CBOR: its keys are items like any other.
  Step advance_item_map(Frame& frame, const Schema::Node*& node) {
    node = frame.node;
    if (frame.awaits_value) {
      frame.awaits_value = false;
      work_.entries.back().key_end = work_.position();
      return Step::kValue;
    }
    end_entry(frame, false);
    const More more = reader_.more(frame.cursor);
    if (more == More::kError) return unreadable(), Step::kFailed;
    if (more == More::kNo) return finish_map(frame);
    begin_entry(frame);
    frame.awaits_value = true;
    return Step::kValue;
  }

  Step finish_map(Frame& frame) {
    const auto twice = close_map(work_, frame);
    if (!twice) return Step::kClosed;
    frame.count = *twice + 1;  // so that the path ends in the key
    frame.in_value = true;
    fail(base::ErrorCode::kInvalid, "the key is there twice");
    return Step::kFailed;
  }

  // --- records

  bool open_record(const Schema::Node& node, const Cursor& cursor) {
    Frame* frame = push(Shape::kRecord, node, cursor);
    if (frame == nullptr) return false;
    frame->first = static_cast<std::uint32_t>(work_.slots.size());
    work_.slots.resize(work_.slots.size() + node.member_count);
    write_map_head(work_.out, node.member_count);
    work_.items += node.member_count;  // the keys; every one of them will be written
    return true;
  }

  [[gnu::always_inline]] Step advance_record(Frame& frame, const Schema::Node*& node) {
    if (frame.current != Frame::kNone)
      work_.slots[frame.first + frame.current].end = work_.position();
    const std::uint32_t before = frame.current;
    frame.current = Frame::kNone;
    const More more = reader_.more(frame.cursor);
    if (more == More::kError) return unreadable(), Step::kFailed;
    if (more == More::kNo) {
      work_.items += frame.node->member_count - frame.count;  // null for what is absent
      const auto absent = close_record(work_, schema_, frame);
      if (!absent) return Step::kClosed;
      return missing(schema_.member(*frame.node, *absent)), Step::kFailed;
    }
    Item key;
    if (!reader_.key(key)) return unreadable(), Step::kFailed;
    if (key.kind != ItemKind::kText) return unknown_field(key), Step::kFailed;
    const auto index = schema_.find_member(*frame.node, key.text);
    if (!index) return unknown_field(key), Step::kFailed;
    const Schema::Member& field = schema_.member(*frame.node, *index);
    frame.current = *index;
    Slot& slot = work_.slots[frame.first + *index];
    if (slot.begin != 0) return field_twice(), Step::kFailed;
    ++frame.count;
    frame.in_order &= before == Frame::kNone || before < *index;
    slot.begin = work_.position();
    work_.out.append(field.prefix);
    node = &schema_.node(field.node);
    return Step::kValue;
  }

  // --- variants

  // A variant is {"$tag": arm, "$value": value}, in either order, or {arm: value}. The arm must be
  // known before its value is read, so a value that comes first is passed over and read again.
  bool open_variant(const Schema::Node& node, const Cursor& cursor) {
    Frame* frame = push(Shape::kVariant, node, cursor);
    if (frame == nullptr) return false;
    Item key;
    const More more = reader_.more(frame->cursor);
    if (more == More::kError) return unreadable();
    if (more == More::kNo)
      return fail(base::ErrorCode::kInvalid, "expected a variant, got an empty map");
    if (!reader_.key(key)) return unreadable();
    if (key.kind != ItemKind::kText)
      return fail(base::ErrorCode::kInvalid, "expected a variant, got a map with other keys");
    if (key.text == "$tag") return open_tagged(*frame);
    if (key.text == "$value") return open_value_first(*frame);
    frame->sugar = true;
    return choose_arm(*frame, key.text);
  }

  bool open_tagged(Frame& frame) {
    if (!read_tag(frame)) return false;
    Item key;
    const More more = reader_.more(frame.cursor);
    if (more == More::kError) return unreadable();
    if (more == More::kNo) return value_absent(frame);
    if (!reader_.key(key)) return unreadable();
    if (key.kind != ItemKind::kText || key.text != "$value") return unexpected_key(frame, key);
    return true;
  }

  bool open_value_first(Frame& frame) {
    const auto value = reader_.mark();
    if (!skip_value(reader_)) return unreadable();
    Item key;
    const More more = reader_.more(frame.cursor);
    if (more == More::kError) return unreadable();
    if (more == More::kNo)
      return fail(base::ErrorCode::kInvalid, "a variant has a $value but no $tag");
    if (!reader_.key(key)) return unreadable();
    if (key.kind != ItemKind::kText || key.text != "$tag") return unexpected_key(frame, key);
    if (!read_tag(frame)) return false;
    const More after = reader_.more(frame.cursor);
    if (after == More::kError) return unreadable();
    if (after == More::kYes) return reader_.key(key) ? unexpected_key(frame, key) : unreadable();
    resume_[work_.depth - 1] = reader_.mark();
    frame.value_came_first = true;
    reader_.rewind(value);
    return true;
  }

  bool read_tag(Frame& frame) {
    Item tag;
    Cursor unused;
    if (!reader_.value(tag, unused)) return unreadable();
    if (tag.kind != ItemKind::kText)
      return fail(base::ErrorCode::kInvalid, "expected a text as $tag, got " + describe(tag));
    return choose_arm(frame, tag.text);
  }

  bool choose_arm(Frame& frame, std::string_view name) {
    const auto arm = schema_.find_member(*frame.node, name);
    if (!arm) return fail(base::ErrorCode::kInvalid, "the variant has no arm " + quoted(name));
    frame.current = *arm;
    const Schema::Member& chosen = schema_.member(*frame.node, *arm);
    work_.out.append(chosen.prefix);
    work_.items += chosen.unit ? 2 : 3;  // $tag, the arm's name, $value
    return true;
  }

  // Only a $tag was there, and the map is closed.
  bool value_absent(Frame& frame) {
    const Schema::Member& arm = schema_.member(*frame.node, frame.current);
    if (!arm.unit && !arm.optional)
      return fail(base::ErrorCode::kInvalid, "the arm '" + arm.name + "' needs a $value");
    if (arm.optional) {
      write_null(work_.out);
      ++work_.items;
    }
    --work_.depth;
    return true;
  }

  Step advance_variant(Frame& frame, const Schema::Node*& node) {
    const Schema::Member& arm = schema_.member(*frame.node, frame.current);
    if (frame.count++ == 0) {  // 1 while the value is being read, for the path
      node = &schema_.node(arm.node);
      if (!arm.unit) return Step::kValue;
      if (!read_unit()) return Step::kFailed;
      ++frame.count;
    }
    if (frame.value_came_first) {
      reader_.rewind(resume_[work_.depth - 1]);
      return Step::kClosed;
    }
    const More more = reader_.more(frame.cursor);
    if (more == More::kError) return unreadable(), Step::kFailed;
    if (more == More::kNo) return Step::kClosed;
    Item key;
    if (!reader_.key(key)) return unreadable(), Step::kFailed;
    return unexpected_key(frame, key), Step::kFailed;
  }

  // The value of a unit arm says nothing, and nothing is written for it.
  bool read_unit() {
    Item item;
    Cursor cursor;
    if (!reader_.value(item, cursor)) return unreadable();
    if (item.kind == ItemKind::kNull) return true;
    if (item.kind != ItemKind::kMap)
      return fail(base::ErrorCode::kInvalid, "expected unit (null), got " + describe(item));
    return empty_map(cursor);
  }

  // --- scalars written as maps

  bool empty_map(Cursor cursor) {
    const More more = reader_.more(cursor);
    if (more == More::kError) return unreadable();
    return more == More::kNo || fail(base::ErrorCode::kInvalid, "expected unit (null), got a map");
  }

  bool unit_as_map(const Cursor& cursor) {
    if (!empty_map(cursor)) return false;
    write_null(work_.out);
    return true;
  }

  // {"$bytes": "base64"}
  bool bytes_in_map(const Schema::Node& node, Cursor cursor) {
    Item key;
    Item text;
    Cursor unused;
    const More more = reader_.more(cursor);
    if (more == More::kError) return unreadable();
    if (more == More::kYes && !reader_.key(key)) return unreadable();
    if (more == More::kNo || key.kind != ItemKind::kText || key.text != "$bytes") {
      return fail(base::ErrorCode::kInvalid,
                  "expected bytes, got a map other than {\"$bytes\":\"...\"}");
    }
    if (!reader_.value(text, unused)) return unreadable();
    if (text.kind != ItemKind::kText) return mismatch(node, text);
    const char* refusal = nullptr;
    if (!write_scalar(work_.out, TypeKind::kBytes, text, refusal))
      return fail(base::ErrorCode::kInvalid, refusal);
    const More after = reader_.more(cursor);
    if (after == More::kError) return unreadable();
    return after == More::kNo ||
           fail(base::ErrorCode::kInvalid, "expected bytes, got a map with more than $bytes");
  }

  // --- errors: out of line, so that the walk itself stays small

  [[gnu::cold]] bool missing(const Schema::Member& field) {
    return fail(base::ErrorCode::kInvalid, "the field '" + field.name + "' is missing");
  }
  [[gnu::cold]] bool unknown_field(const Item& key) {
    return fail(base::ErrorCode::kInvalid, not_a_field(key));
  }
  [[gnu::cold]] bool field_twice() {
    return fail(base::ErrorCode::kInvalid, "the field is there twice");
  }
  [[gnu::cold]] bool refused(const char* refusal) {
    return fail(base::ErrorCode::kInvalid, refusal);
  }
  [[gnu::cold]] bool mismatch(const Schema::Node& node, const Item& item) {
    return fail(base::ErrorCode::kInvalid,
                "expected " + expectation(node.kind) + ", got " + describe(item));
  }
  [[gnu::cold]] bool unexpected_key(const Frame& frame, const Item& key) {
    return fail(base::ErrorCode::kInvalid, not_of_a_variant(frame.sugar, key));
  }
  [[gnu::cold]] bool bad_key(TypeKind type, const Item& key, const char* refusal) {
    return fail(base::ErrorCode::kInvalid, not_a_key(type, key, refusal));
  }
  [[gnu::cold]] bool too_large() {
    return fail(base::ErrorCode::kTooLarge, beyond_limits(work_.items));
  }
  [[gnu::cold]] bool unreadable() { return fail(reader_.problem_code(), reader_.problem()); }
  [[gnu::cold]] bool fail(base::ErrorCode code, std::string message) {
    code_ = code;
    where_ = work_.path(schema_);
    message_ = std::move(message);
    return false;
  }

  Workspace& work_;
  const Schema& schema_;
  Reader& reader_;
  std::array<typename Reader::Mark, kMaxDepth> resume_;  // behind variants whose value came first
  base::ErrorCode code_ = base::ErrorCode::kInvalid;
  std::string where_;
  std::string message_;
};

}  // namespace holdfast::codec
