// SPDX-License-Identifier: Apache-2.0
// Entries of a run's stream as values: a sys/StepEntry@2 each, in graphs of earlier rules @1.
// Changes of steps that follow each other become one value: a fan-out of a thousand is then one
// entry and not thousands.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "codec/buffer.h"
#include "steps/command.h"
#include "steps/graph.h"
#include "steps/reduction.h"

namespace holdfast::steps {

// A step waits for a slot, has one, or has left it.
struct Change {
  EntryKind kind = EntryKind::kRunning;
  StepIndex step = 0;
  std::uint32_t slot = 0;
  std::uint64_t item = 0;
  std::optional<TypeIndex> input = std::nullopt;
  std::optional<TypeIndex> output = std::nullopt;
};

// Of the entries of a graph.
std::string_view entry_schema(Rules rules);

std::string_view word_for(EntryKind kind);

// The kinds of entries that readers see, each but `several`.
std::vector<std::string_view> entry_kinds();

std::string message_of(const Entry& entry);

// Entries as others see them: changes that follow each other together, under a kind of their own.
class EntryGroups : public EntrySink {
 public:
  void add(const Entry& entry) override { group(entry); }
  void finish();  // nothing comes behind

 protected:
  // Either an entry, or changes.
  virtual void put(std::string_view kind, const Entry& entry, std::span<const Change> changes) = 0;

  void group(const Entry& entry);

 private:
  std::vector<Change> changes_;
};

class EntryWriter : public EntryGroups {
 public:
  EntryWriter(const Graph& graph, Arena& arena, std::vector<base::ByteView>& out)
      : graph_(graph), arena_(arena), out_(out) {}

 protected:
  void put(std::string_view kind, const Entry& entry, std::span<const Change> changes) override;

 private:
  const Graph& graph_;
  Arena& arena_;
  std::vector<base::ByteView>& out_;
  codec::Buffer written_;
};

// What they would weigh in a record, and nothing is written.
class EntryMeter : public EntryGroups {
 public:
  explicit EntryMeter(const Graph& graph) : graph_(graph) {}

  std::size_t bytes() const noexcept { return bytes_; }  // of those that are finished
  void clear() noexcept { bytes_ = 0; }

 protected:
  void put(std::string_view kind, const Entry& entry, std::span<const Change> changes) override;

 private:
  const Graph& graph_;
  std::size_t bytes_ = 0;
};

// One entry that stands for all of these, none of them such a one itself, for a record that has
// room for their bytes and not for so many of them: its kind is `several` and its value their list.
inline constexpr std::string_view kSeveral = "several";
void write_several(codec::Buffer& out, const Graph& graph, std::span<const base::ByteView> entries);

}  // namespace holdfast::steps
