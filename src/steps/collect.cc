// SPDX-License-Identifier: Apache-2.0
// What a step puts aside until it has enough, and the store of the run. Bodies see both as they
// were when they began; one that decided by something that has changed since is run again, and
// what it did is dropped.
#include <algorithm>

#include "steps/work.h"

namespace holdfast::steps {
namespace {

// Where one of that name is, or would be.
template <class All, class Name>
auto place(All& all, std::string_view wanted, Name name) {
  return std::lower_bound(
      all.begin(), all.end(), wanted,
      [name](const auto& one, std::string_view text) { return one.*name < text; });
}

bool has_changed(const StepState& step, std::string_view name, std::uint64_t seen) {
  const auto found = place(step.buffers, name, &Buffer::name);
  return found != step.buffers.end() && found->name == name && found->changed > seen;
}

bool has_changed(const State& state, std::string_view key, std::uint64_t seen) {
  const auto found = place(state.store, key, &StoreEntry::key);
  return found != state.store.end() && found->key == key && found->changed > seen;
}

}  // namespace

bool is_stale(const Work& work, const StepState& step, const Running& running,
              const StepResult& result) {
  return std::any_of(result.did.begin(), result.did.end(), [&](const Did& did) {
    if (const auto* added = std::get_if<AddCollected>(&did))
      return has_changed(step, added->buffer, running.seen);
    if (const auto* deleted = std::get_if<DeleteCollected>(&did))
      return has_changed(step, deleted->buffer, running.seen);
    if (const auto* saw = std::get_if<SawCollected>(&did))
      return has_changed(step, saw->buffer, running.seen);
    if (const auto* edit = std::get_if<StoreEdit>(&did))
      return edit->is_transactional && has_changed(work.state, edit->key, running.seen);
    return false;
  });
}

void add_collected(Work& work, StepState& step, const AddCollected& added) {
  auto at = place(step.buffers, added.buffer, &Buffer::name);
  if (at == step.buffers.end() || at->name != added.buffer)
    at = step.buffers.insert(at, Buffer{.name = added.buffer, .events = {}});
  at->changed = ++work.state.last_change;
  at->events.push_back(added.event);
}

void delete_collected(Work& work, StepState& step, const DeleteCollected& deleted) {
  const auto at = place(step.buffers, deleted.buffer, &Buffer::name);
  if (at == step.buffers.end() || at->name != deleted.buffer) return;
  at->changed = ++work.state.last_change;
  at->events.clear();
}

void edit_store(Work& work, const StoreEdit& edit) {
  auto at = place(work.state.store, edit.key, &StoreEntry::key);
  if (at == work.state.store.end() || at->key != edit.key) {
    if (edit.value.empty()) return;
    at = work.state.store.insert(at, StoreEntry{.key = edit.key, .value = {}});
  }
  at->changed = ++work.state.last_change;
  at->value = edit.value;
}

}  // namespace holdfast::steps
