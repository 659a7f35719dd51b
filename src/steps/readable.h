// SPDX-License-Identifier: Apache-2.0
// What people see of a run of a step workflow: its state and the entries of its stream with values
// as values, names as names, and without what does not apply. docs/api.md has the forms.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "codec/buffer.h"
#include "steps/graph.h"

namespace holdfast::steps {

// {"status", "deadline_ns"?, "steps", "fan_outs", "store", ...} of a sys/StepsState@1. False: it is
// not a state of this graph, and nothing is written.
bool write_readable_state(codec::Buffer& out, const Graph& graph, base::ByteView state);

// {"kind", ...} of a sys/StepEntry@2 or @1.
void write_readable_entry(codec::Buffer& out, base::ByteView entry);

// The kinds of entries that a reader wants to see; empty: all of them.
using EntryKinds = std::vector<std::string>;

// Of a list with commas, as in "event,failed".
EntryKinds split_kinds(std::string_view list);

// Why the text is no such list: a kind has no name, or there is none.
std::optional<std::string> refuse_kind_list(std::string_view list);

// Why no entry of a step workflow has one of these kinds; nothing: there are such entries.
std::optional<std::string> refuse_kinds(const EntryKinds& kinds);

// The same as above for entries of these kinds. Of an entry that stands for several only those are
// written that are wanted. False: none is, and nothing is written.
bool write_readable_entry(codec::Buffer& out, base::ByteView entry, const EntryKinds& wanted);

// Whether an entry of another workflow, whose type is its own, is wanted: one that has no text
// `kind` is always shown.
bool is_shown(base::ByteView entry, const EntryKinds& wanted);

// Whether a value has the members of a sys/StepEntry@2.
bool is_newest_entry(base::ByteView entry);

}  // namespace holdfast::steps
