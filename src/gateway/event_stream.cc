// SPDX-License-Identifier: Apache-2.0
#include "gateway/event_stream.h"

#include "codec/json_writer.h"
#include "codec/view.h"
#include "gateway/append.h"
#include "gateway/documents.h"

namespace holdfast::gateway {
namespace {

// JSON has no line breaks but those between its parts, and here there are none.
void write_data(codec::Buffer& out, std::string_view name, base::ByteView value) {
  if (!name.empty()) {
    append(out, "event: ");
    append(out, name);
    append(out, "\n");
  }
  append(out, "data: ");
  codec::write_json(out, codec::View::of(value));
  append(out, "\n\n");
}

}  // namespace

void write_event(codec::Buffer& out, std::string_view life, std::uint64_t id, std::string_view name,
                 base::ByteView value) {
  append(out, "id: ");
  append(out, life);
  append(out, id);
  append(out, "\n");
  write_data(out, name, value);
}

void write_id(codec::Buffer& out, std::string_view life, std::uint64_t id) {
  append(out, "id: ");
  append(out, life);
  append(out, id);
  append(out, "\n\n");
}

void write_truncated(codec::Buffer& out, std::string_view life, std::uint64_t up_to) {
  codec::Buffer value;
  codec::write_map_head(value, 1);
  put_number(value, "up_to", up_to);
  write_event(out, life, up_to, "truncated", value.view());
}

void write_problem_event(codec::Buffer& out, const Problem& problem) {
  codec::Buffer value;
  write_document(value, problem);
  write_data(out, "problem", value.view());
}

void write_comment(codec::Buffer& out, std::string_view text) {
  append(out, ": ");
  append(out, text);
  append(out, "\n\n");
}

}  // namespace holdfast::gateway
