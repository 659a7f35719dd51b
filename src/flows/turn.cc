// SPDX-License-Identifier: Apache-2.0
#include "flows/turn.h"

#include <algorithm>
#include <utility>

#include "codec/cbor_writer.h"
#include "flows/machine.h"
#include "flows/outcomes.h"
#include "flows/values.h"

namespace holdfast::flows {
namespace {

using codec::View;

// What begins branches of its own, which do not see each other's names.
bool has_branches(NodeKind kind) {
  return kind == NodeKind::kJoin || kind == NodeKind::kRace || kind == NodeKind::kEach;
}

}  // namespace

void Turn::begin() { work_.push_back(Enter{0, 0, 0, {}}); }

bool Turn::work() {
  while (!is_over_) {
    if (!work_.empty()) {
      const auto next = std::move(work_.front());
      work_.pop_front();
      if (const auto* entered = std::get_if<Enter>(&next)) {
        enter(*entered);
      } else {
        const End& ended = *std::get_if<End>(&next);
        end_now(ended.frame, ended.outcome);
      }
    } else if (!run_.unopened.empty() && effects_ < kEffectsPerTurn) {
      const FrameId id = run_.unopened.front();
      run_.unopened.erase(run_.unopened.begin());
      open(id);
    } else {
      return true;
    }
  }
  return false;
}

void Turn::enter(const Enter& what) {
  // Its parent has ended since.
  if (what.parent != 0 && !run_.frames.contains(what.parent)) return;
  if (run_.frames.size() >= kMaxFrames || run_.next == UINT32_MAX)
    return finish_flow(failed("flow.too_large",
                              "more than " + std::to_string(kMaxFrames) + " nodes are under way"));
  const FrameId id = run_.next++;
  Frame& frame = run_.frames[id];
  frame.parent = what.parent;
  frame.node = what.node;
  frame.branch = what.branch;
  frame.is_scope = what.parent == 0 || has_branches(node_of(run_.frames.at(what.parent)).kind);
  frame.bindings = what.bindings;
  const Node& node = node_of(frame);
  switch (node.kind) {
    case NodeKind::kJoin:
    case NodeKind::kRace:
      for (std::uint32_t i = 0; i < node.children.size(); ++i) enter_child(id, i);
      return;
    case NodeKind::kIfRows: {
      const auto found = find_result(id, node.name);
      if (!found || !is_rowset(*found))
        return end(id,
                   failed("flow.no_rows", "no rows are known as '" + std::string(node.name) + "'"));
      const std::uint32_t arm = found->find("rows")->size() != 0 ? 0 : 1;
      if (arm >= node.children.size()) return end(id, succeeded_with_null());
      return enter_child(id, arm);
    }
    case NodeKind::kLoop: frame.mark = run_.opened; return enter_child(id, 0);
    case NodeKind::kBreak:
      return end(id, {Outcome::Kind::kBroke,
                      node.value.empty() ? null_value()
                                         : base::Bytes(node.value.begin(), node.value.end()),
                      {},
                      {}});
    case NodeKind::kTimeout: run_.unopened.push_back(id); return enter_child(id, 0);
    case NodeKind::kEach: return begin_each(id, frame, node);
    case NodeKind::kSignal: {
      const auto kept = std::find_if(run_.signals.begin(), run_.signals.end(),
                                     [&](const KeptSignal& s) { return s.name == node.name; });
      if (kept != run_.signals.end()) {
        base::Bytes value = signal_value(node.name, kept->data, false);
        run_.signals.erase(kept);
        return end(id, succeeded(std::move(value)));
      }
      if (node.ms != 0) run_.unopened.push_back(id);
      return;
    }
    case NodeKind::kSql:
    case NodeKind::kSleep:
    case NodeKind::kSchedule:
    case NodeKind::kHttp:
    case NodeKind::kTask: run_.unopened.push_back(id); return;
    default: return enter_child(id, 0);
  }
}

void Turn::end_now(FrameId id, Outcome outcome) {
  const auto found = run_.frames.find(id);
  if (found == run_.frames.end()) return;
  const Frame ended = std::move(found->second);
  run_.frames.erase(found);
  if (ended.parent == 0) return finish_flow(outcome);
  const auto parent = run_.frames.find(ended.parent);
  if (parent == run_.frames.end()) return;
  child_ended(ended.parent, parent->second, ended.branch, ended.bindings, std::move(outcome));
}

void Turn::child_ended(FrameId id, Frame& frame, std::uint32_t branch,
                       std::vector<Binding> bindings, Outcome outcome) {
  const Node& node = node_of(frame);
  const bool is_ok = outcome.kind == Outcome::Kind::kOk;
  switch (node.kind) {
    case NodeKind::kSeq:
      if (!is_ok || branch + 1 == node.children.size()) return end(id, std::move(outcome));
      return enter_child(id, branch + 1);
    case NodeKind::kNamed:
      if (is_ok) bind(id, node.name, outcome.value);
      return end(id, std::move(outcome));
    case NodeKind::kJoin:
    case NodeKind::kEach:
      return branch_ended(id, frame, branch, std::move(bindings), std::move(outcome));
    case NodeKind::kRace: return race_ended(id, std::move(bindings), std::move(outcome));
    case NodeKind::kIf: {
      if (branch != 0 || !is_ok) return end(id, std::move(outcome));
      const std::uint32_t arm = is_true(View::of(outcome.value)) ? 1 : 2;
      if (arm >= node.children.size()) return end(id, succeeded_with_null());
      return enter_child(id, arm);
    }
    case NodeKind::kLoop: return loop_child_ended(id, frame, std::move(outcome));
    case NodeKind::kRetry:
      ++frame.count;
      if (outcome.kind != Outcome::Kind::kFailed || frame.count >= node.count)
        return end(id, std::move(outcome));
      run_.unopened.push_back(id);  // the pause
      return;
    case NodeKind::kTimeout: stop_waiting(id); return end(id, std::move(outcome));
    case NodeKind::kOnError:
      if (branch != 0 || outcome.kind != Outcome::Kind::kFailed) return end(id, std::move(outcome));
      bind(id, "error", error_value(outcome));
      return enter_child(id, 1);
    default: return end(id, std::move(outcome));
  }
}

void Turn::branch_ended(FrameId id, Frame& frame, std::uint32_t branch,
                        std::vector<Binding> bindings, Outcome outcome) {
  const Node& node = node_of(frame);
  if (outcome.kind != Outcome::Kind::kOk) frame.phase = 1;  // no further rows are begun
  frame.ended.push_back({branch, std::move(outcome), std::move(bindings)});
  std::size_t expected = node.children.size();
  if (node.kind == NodeKind::kEach) {
    enter_rows(id, frame, node);
    expected = frame.count;
  }
  if (frame.ended.size() < expected) return;
  std::sort(frame.ended.begin(), frame.ended.end(),
            [](const EndedBranch& a, const EndedBranch& b) { return a.branch < b.branch; });
  for (const EndedBranch& each : frame.ended)
    if (each.outcome.kind != Outcome::Kind::kOk) return end(id, each.outcome);
  codec::Buffer list;
  codec::write_list_head(list, frame.ended.size());
  for (EndedBranch& each : frame.ended) {
    list.append(each.outcome.value);
    if (node.kind == NodeKind::kEach) continue;  // one name for all rows would be the last one's
    for (Binding& binding : each.bindings) bind(id, binding.name, std::move(binding.value));
  }
  end(id, succeeded(list.to_bytes()));
}

void Turn::race_ended(FrameId id, std::vector<Binding> bindings, Outcome outcome) {
  kill_below(id);
  if (outcome.kind == Outcome::Kind::kOk)
    for (Binding& binding : bindings) bind(id, binding.name, std::move(binding.value));
  end(id, std::move(outcome));
}

void Turn::loop_child_ended(FrameId id, Frame& frame, Outcome outcome) {
  if (outcome.kind == Outcome::Kind::kBroke) return end(id, succeeded(std::move(outcome.value)));
  if (outcome.kind == Outcome::Kind::kFailed) return end(id, std::move(outcome));
  const Node& node = node_of(frame);
  if (frame.phase == 0) {
    frame.value = std::move(outcome.value);
    if (node.children.size() == 1) return next_round(id, frame);
    frame.phase = 1;
    return enter_child(id, 1);
  }
  if (!is_true(View::of(outcome.value))) return end(id, succeeded(frame.value));
  next_round(id, frame);
}

void Turn::next_round(FrameId id, Frame& frame) {
  frame.phase = 0;
  if (++frame.count >= kMaxRounds)
    return end(id, failed("flow.too_many_rounds",
                          "the loop had " + std::to_string(kMaxRounds) + " rounds"));
  if (frame.mark == run_.opened) return run_.unopened.push_back(id);  // a pause
  frame.mark = run_.opened;
  enter_child(id, 0);
}

void Turn::begin_each(FrameId id, Frame& frame, const Node& node) {
  const auto rows = find_result(id, node.name);
  if (!rows || !is_rowset(*rows))
    return end(id, failed("flow.no_rows", "no rows are known as '" + std::string(node.name) + "'"));
  if (rows->find("rows")->size() > kMaxRowsSubstituted)
    return end(id, failed("flow.too_large", "'" + std::string(node.name) + "' has more than " +
                                                std::to_string(kMaxRowsSubstituted) + " rows"));
  enter_rows(id, frame, node);
  if (frame.count == 0) end(id, succeeded(empty_list()));
}

// As many as may run at once. Each row is bound in the branch that is begun for it.
void Turn::enter_rows(FrameId id, Frame& frame, const Node& node) {
  const auto rowset = find_result(id, node.name);
  if (!rowset || frame.phase != 0) return;
  const std::uint64_t at_once = std::max<std::uint64_t>(node.count, 1);
  std::uint64_t place = 0;
  for (const View row : rowset->find("rows")->elements()) {
    if (place++ < frame.count) continue;
    if (frame.count - frame.ended.size() >= at_once) return;
    work_.push_back(Enter{id,
                          node.children[0],
                          static_cast<std::uint32_t>(frame.count++),
                          {{std::string(node.item), row_of(*rowset, row)}}});
  }
}

void Turn::finish_flow(const Outcome& outcome) {
  is_over_ = true;
  run_.frames.clear();  // an instance that ends gives up everything
  run_.unopened.clear();
  switch (outcome.kind) {
    case Outcome::Kind::kOk: return write_result(output_, run_, outcome.value);
    case Outcome::Kind::kBroke:
      return output_.fail("flow.break_outside_loop", "a break is not inside of a loop");
    case Outcome::Kind::kFailed: return output_.fail(outcome.code, outcome.message);
  }
}

// Those that began below it, whose effects are given up. Frames come after their parents.
void Turn::kill_below(FrameId id) {
  std::vector<FrameId> dead;
  for (const auto& [each, frame] : run_.frames) {
    const bool is_below =
        frame.parent == id || std::binary_search(dead.begin(), dead.end(), frame.parent);
    if (is_below) dead.push_back(each);
  }
  for (const FrameId each : dead) {
    stop_waiting(each);
    run_.frames.erase(each);
  }
}

// What it has opened before, or is still to open.
void Turn::stop_waiting(FrameId id) {
  const auto queued = std::find(run_.unopened.begin(), run_.unopened.end(), id);
  if (queued != run_.unopened.end()) {
    run_.unopened.erase(queued);
  } else if (opens_effects(node_of(run_.frames.at(id)).kind)) {
    output_.stop_effects(std::to_string(id));
  }
}

void Turn::bind(FrameId from, std::string_view name, base::Bytes value) {
  for (FrameId id = from; id != 0;) {
    Frame& frame = run_.frames.at(id);
    if (frame.is_scope || frame.parent == 0) {
      for (Binding& binding : frame.bindings) {
        if (binding.name != name) continue;
        binding.value = std::move(value);
        return;
      }
      frame.bindings.push_back({std::string(name), std::move(value)});
      return;
    }
    id = frame.parent;
  }
}

std::optional<View> Turn::find_result(FrameId from, std::string_view name) const {
  for (FrameId id = from; id != 0;) {
    const Frame& frame = run_.frames.at(id);
    for (const Binding& binding : frame.bindings)
      if (binding.name == name) return View::of(binding.value);
    id = frame.parent;
  }
  return std::nullopt;
}

void Turn::take_signal(std::string_view name, base::ByteView data) {
  bool is_taken = false;
  for (const auto& [id, frame] : run_.frames) {
    const Node& node = node_of(frame);
    if (node.kind != NodeKind::kSignal || frame.phase != 0 || node.name != name) continue;
    if (node.ms != 0) stop_waiting(id);
    end(id, succeeded(signal_value(name, data, false)));
    is_taken = true;
  }
  if (is_taken) return;
  if (run_.signals.size() >= kMaxKeptSignals) run_.signals.erase(run_.signals.begin());
  run_.signals.push_back({std::string(name), base::Bytes(data.begin(), data.end())});
}

}  // namespace holdfast::flows
