// SPDX-License-Identifier: Apache-2.0
#include "gateway/envelope.h"

#include <algorithm>
#include <array>

#include "codec/json_reader.h"
#include "codec/view.h"

namespace holdfast::gateway {
namespace {

using codec::Cursor;
using codec::Item;
using codec::ItemKind;
using codec::More;

bool opens(ItemKind kind) {
  return kind == ItemKind::kList || kind == ItemKind::kMap || kind == ItemKind::kTag;
}

template <class Reader>
base::Error problem_of(const Reader& reader) {
  return {reader.problem_code(), "$", reader.problem()};
}

// Passes over one value, whatever it is.
template <class Reader>
bool skip(Reader& reader) {
  std::array<Cursor, codec::kMaxDepth> open;
  std::size_t depth = 0;
  Item item;
  do {
    Cursor cursor;
    if (!reader.value(item, cursor)) return false;
    if (opens(item.kind)) {
      if (depth + 1 == open.size()) return reader.too_deep();
      open[depth++] = cursor;
    }
    for (;;) {
      if (depth == 0) return true;
      const More more = reader.more(open[depth - 1]);
      if (more == More::kError) return false;
      if (more == More::kYes) break;
      --depth;
    }
    if (open[depth - 1].map && !reader.key(item)) return false;
  } while (true);
}

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}
std::string_view between(const std::uint8_t* begin, const std::uint8_t* end) {
  return base::as_text({begin, static_cast<std::size_t>(end - begin)});
}

std::string path_of(std::string_view name) { return "$." + std::string(name); }

}  // namespace

base::Result<base::ByteView> normalise(codec::Normaliser& normaliser, const codec::Schema& schema,
                                       const Written& written) {
  if (written.form == Form::kJson) return normaliser.part_from_json(schema, written.text);
  return normaliser.part_from_cbor(schema, base::as_bytes(written.text));
}

template <class Reader>
base::Result<void> Envelope::read_with(Reader& reader) {
  Item item;
  Cursor cursor;
  if (!reader.value(item, cursor)) return problem_of(reader);
  if (item.kind != ItemKind::kMap)
    return base::invalid("$", "expected a map, not " + std::string(name_of(item.kind)));
  for (;;) {
    const More more = reader.more(cursor);
    if (more == More::kNo) break;
    if (more == More::kError || !reader.key(item)) return problem_of(reader);
    if (item.kind != ItemKind::kText) return base::invalid("$", "a name must be a text");
    Member member{std::string(item.text), {}};
    if (find(member.name)) return base::invalid(path_of(member.name), "it is there twice");
    if (members_.size() == kMaxMembers) return base::invalid("$", "too many members");
    const auto begin = reader.mark();
    if (!skip(reader)) return problem_of(reader);
    member.text = between(begin.at, reader.mark().at);
    members_.push_back(std::move(member));
  }
  if (!reader.finish()) return problem_of(reader);
  return {};
}

base::Result<Envelope> Envelope::read(Form form, std::string_view body) {
  Envelope envelope;
  envelope.form_ = form;
  if (body.empty()) return envelope;
  if (form == Form::kJson) {
    codec::JsonReader reader(body);
    TRY(envelope.read_with(reader));
  } else {
    codec::CborReader reader(base::as_bytes(body), codec::Strictness::kLenient);
    reader.self_describe();
    TRY(envelope.read_with(reader));
  }
  return envelope;
}

base::Result<void> Envelope::check_members(std::initializer_list<std::string_view> names) const {
  for (const Member& member : members_) {
    if (std::ranges::find(names, std::string_view(member.name)) == names.end())
      return base::invalid(path_of(member.name), "there is no such member");
  }
  return {};
}

std::optional<Written> Envelope::find(std::string_view name) const {
  for (const Member& member : members_)
    if (member.name == name) return Written{form_, member.text};
  return std::nullopt;
}

base::Result<std::optional<std::string>> Envelope::text(std::string_view name) const {
  const auto written = find(name);
  if (!written) return std::optional<std::string>();
  codec::Normaliser normaliser;
  auto value = normalise(normaliser, codec::Schema::any(), *written);
  if (!value) return base::invalid(path_of(name), value.error().message());
  const codec::View view = codec::View::of(*value);
  if (view.is_null()) return std::optional<std::string>();
  const auto text = view.text();
  if (!text) return base::invalid(path_of(name), "expected a text");
  return std::optional<std::string>(*text);
}

base::Result<std::string> Envelope::needed_text(std::string_view name) const {
  auto found = TRY(text(name));
  if (!found) return base::invalid(path_of(name), "it is missing");
  return std::move(*found);
}

base::Result<std::uint64_t> Envelope::wait_ms(std::string_view name, std::uint64_t most) const {
  const auto written = find(name);
  if (!written) return std::uint64_t{0};
  codec::Normaliser normaliser;
  const auto value = normalise(normaliser, codec::Schema::any(), *written);
  if (!value) return base::invalid(path_of(name), value.error().message());
  const codec::View view = codec::View::of(*value);
  if (view.is_null()) return std::uint64_t{0};
  if (const auto flag = view.boolean()) return *flag ? most : std::uint64_t{0};
  const auto wait = view.nat();
  if (!wait) return base::invalid(path_of(name), "expected milliseconds, or true");
  if (*wait > most)
    return base::invalid(path_of(name), "at most " + std::to_string(most) + " milliseconds");
  return *wait;
}

}  // namespace holdfast::gateway
