// SPDX-License-Identifier: Apache-2.0
// Entries of step workflows as C++ values (docs/formats/steps.md). Members stand in canonical
// order: the shorter name first, then bytewise.
#include <algorithm>

#include "holdfast/detail/flow.h"

namespace holdfast::detail {
namespace {

// So much room is made before a list shows that it has so many.
constexpr std::uint64_t kMostReserved = 512;

void put_text(Writer& out, std::string_view name, std::string_view value) {
  out.text(name);
  out.text(value);
}
void put_number(Writer& out, std::string_view name, std::uint64_t value) {
  out.text(name);
  out.nat(value);
}
void put_texts(Writer& out, std::string_view name, const std::vector<std::string>& values) {
  out.text(name);
  out.list(values.size());
  for (const std::string& value : values) out.text(value);
}

std::vector<std::string> types_of(const StepEntry& entry) {
  std::vector<std::string> types;
  const auto add = [&](const std::string& type) {
    if (!type.empty() && std::find(types.begin(), types.end(), type) == types.end())
      types.push_back(type);
  };
  for (const StepEntry::Change& change : entry.changes) {
    add(change.input);
    add(change.output);
  }
  return types;
}

std::uint64_t number_of(const std::vector<std::string>& types, const std::string& type) {
  if (type.empty()) return 0;
  return static_cast<std::uint64_t>(std::find(types.begin(), types.end(), type) - types.begin()) +
         1;
}

// The members of a map, each under a name that is known.
template <class Take>
bool each_member(Reader& in, Take take) {
  std::uint64_t count = 0;
  if (!in.map(count)) return false;
  for (; count != 0; --count) {
    std::string_view name;
    if (!in.text(name) || !take(name)) return false;
  }
  return true;
}

bool read_texts(Reader& in, std::vector<std::string>& values) {
  return Form<std::vector<std::string>>::read(in, values);
}

// Types come as numbers of a table that stands before them.
bool read_change(Reader& in, const std::vector<std::string>& types, StepEntry::Change& change) {
  const auto type = [&](std::string& to) {
    std::uint64_t number = 0;
    if (!in.nat(number) || number > types.size()) return false;
    if (number != 0) to = types[static_cast<std::size_t>(number - 1)];
    return true;
  };
  return each_member(in, [&](std::string_view name) {
    if (name == "item") return in.nat(change.item);
    if (name == "slot") return in.nat(change.slot);
    if (name == "step") return Form<std::string>::read(in, change.step);
    if (name == "state") return Form<std::string>::read(in, change.state);
    if (name == "input") return type(change.input);
    return name == "output" && type(change.output);
  });
}

}  // namespace

void Form<StepEntry>::write(Writer& out, const StepEntry& entry) {
  const std::vector<std::string> types = types_of(entry);
  out.map(13);
  put_text(out, "code", entry.code);
  put_number(out, "item", entry.item);
  put_text(out, "kind", entry.kind);
  put_text(out, "step", entry.step);
  put_texts(out, "steps", entry.steps);
  put_texts(out, "types", types);
  out.text("value");
  out.bytes(entry.value);
  put_number(out, "due_ns", entry.due_ns);
  put_text(out, "schema", entry.schema);
  out.text("changes");
  out.list(entry.changes.size());
  for (const StepEntry::Change& change : entry.changes) {
    out.map(6);
    put_number(out, "item", change.item);
    put_number(out, "slot", change.slot);
    put_text(out, "step", change.step);
    put_number(out, "input", number_of(types, change.input));
    put_text(out, "state", change.state);
    put_number(out, "output", number_of(types, change.output));
  }
  put_text(out, "message", entry.message);
  put_number(out, "attempts", entry.attempts);
  put_number(out, "elapsed_ns", entry.elapsed_ns);
}

bool Form<StepEntry>::read(Reader& in, StepEntry& entry) {
  std::vector<std::string> types;
  const auto changes = [&] {
    std::uint64_t count = 0;
    if (!in.list(count)) return false;
    entry.changes.clear();
    entry.changes.reserve(static_cast<std::size_t>(std::min(count, kMostReserved)));
    for (; count != 0; --count) {
      if (!read_change(in, types, entry.changes.emplace_back())) return false;
    }
    return true;
  };
  return each_member(in, [&](std::string_view name) {
    if (name == "code") return Form<std::string>::read(in, entry.code);
    if (name == "item") return in.nat(entry.item);
    if (name == "kind") return Form<std::string>::read(in, entry.kind);
    if (name == "step") return Form<std::string>::read(in, entry.step);
    if (name == "steps") return read_texts(in, entry.steps);
    if (name == "types") return read_texts(in, types);
    if (name == "value") return Form<Bytes>::read(in, entry.value);
    if (name == "due_ns") return in.nat(entry.due_ns);
    if (name == "schema") return Form<std::string>::read(in, entry.schema);
    if (name == "changes") return changes();
    if (name == "message") return Form<std::string>::read(in, entry.message);
    if (name == "attempts") return in.nat(entry.attempts);
    return name == "elapsed_ns" && in.nat(entry.elapsed_ns);
  });
}

}  // namespace holdfast::detail
