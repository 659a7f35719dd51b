// SPDX-License-Identifier: Apache-2.0
// One run, drawn into the picture of its workflow.
#include <algorithm>

#include "codec/time_text.h"
#include "steps/picture.h"

namespace holdfast::steps {
namespace {

using Tone = Picture::Tone;

std::string times(std::uint64_t count) { return "×" + std::to_string(count); }

class Annotator {
 public:
  Annotator(const Graph& graph, const Execution& execution, Picture& picture)
      : graph_(graph), execution_(execution), picture_(picture) {
    for (Picture::Node& node : picture_.nodes) node.tone = Tone::kUnused;
    for (Picture::Edge& edge : picture_.edges) edge.is_unused = true;
  }

  void annotate() {
    for (StepIndex step = 0; step < graph_.steps().size(); ++step) annotate_step(step);
    for (const auto& [type, count] : execution_.came) {
      add(type, count);
      if (graph_.type(type).role != Role::kStart) pass(kOutsideId, event_id(type), count, "");
    }
    pass_all(execution_.taken, "");
    pass_all(execution_.answered, "answers");
    pass_out(execution_.returned, "");
    pass_out(execution_.sent, "sends");
    for (const auto& [way, count] : execution_.put) {
      const bool asks = graph_.type(way.second).role == Role::kInputRequired;
      add(way.second, count);
      pass(step_id(way.first), event_id(way.second), count, asks ? "asks" : "puts");
      if (asks) pass(event_id(way.second), kOutsideId, count, "");
    }
    for (const auto& [way, count] : execution_.handled)
      pass(step_id(way.first), step_id(way.second), count, "fails", true);
    for (const auto& [type, count] : counts_) annotate_event(type, count);
    for (const Picture::Edge& edge : picture_.edges) {
      if (edge.is_unused || (edge.from != kOutsideId && edge.to != kOutsideId)) continue;
      if (Picture::Node* outside = find(kOutsideId)) outside->tone = Tone::kDone;
    }
  }

 private:
  Picture::Node* find(const std::string& id) {
    const auto found = std::find_if(picture_.nodes.begin(), picture_.nodes.end(),
                                    [&](const Picture::Node& node) { return node.id == id; });
    return found == picture_.nodes.end() ? nullptr : &*found;
  }

  // The last few; a box has little room.
  static void add_failures(const StepTally& tally, Picture::Node& node) {
    constexpr std::size_t kMostNotes = 3;
    constexpr std::size_t kMostBytes = 80;
    const std::size_t count = tally.failures.size();
    for (std::size_t i = count - std::min(count, kMostNotes); i < count; ++i) {
      const StepTally::Failure& failure = tally.failures[i];
      std::string text = failure.code + ": " + failure.message;
      std::size_t end = std::min(text.size(), kMostBytes);
      while (end != 0 && end < text.size() && (text[end] & 0xC0) == 0x80) --end;
      if (end < text.size()) text = text.substr(0, end) + "...";
      node.notes.push_back(text);
    }
  }

  void annotate_step(StepIndex step) {
    const StepTally& tally = execution_.steps[step];
    Picture::Node& node = *find(step_id(step));
    node.tone = tone_of(tally);
    if (tally.runs != 0) node.notes.push_back("ran " + times(tally.runs));
    if (tally.failed != 0)
      node.notes.push_back("failed " + times(tally.failed) + ": " + tally.last_code);
    add_failures(tally, node);
    if (tally.running != 0) node.notes.push_back("running now: " + std::to_string(tally.running));
    if (tally.queued != tally.delayed)
      node.notes.push_back("queued: " + std::to_string(tally.queued - tally.delayed));
    if (tally.delayed != 0)
      node.notes.push_back("tried again at " + codec::time_text(tally.delayed_ns));
    for (const StepTally::Wait& wait : tally.waiting) {
      node.notes.push_back("waits for " + wait.awaited(graph_));
      if (wait.deadline_ns != 0)
        node.notes.push_back("until " + codec::time_text(wait.deadline_ns));
    }
    constexpr std::size_t kMostNotes = 8;
    if (node.notes.size() <= kMostNotes) return;
    node.notes.resize(kMostNotes);
    node.notes.back() = "and more";
  }

  static Tone tone_of(const StepTally& tally) {
    if (tally.running != 0) return Tone::kRunning;
    if (!tally.waiting.empty() || tally.queued != 0) return Tone::kWaiting;
    if (tally.given_up != 0) return Tone::kFailed;
    return tally.runs != 0 ? Tone::kDone : Tone::kUnused;
  }

  void annotate_event(TypeIndex type, std::uint64_t count) {
    Picture::Node* node = find(event_id(type));
    if (node == nullptr) return;
    node->tone = Tone::kDone;
    node->notes.push_back(times(count));
  }

  // How many of an event there were, whoever made them.
  void add(TypeIndex type, std::uint64_t count) { counts_[type] += count; }

  void pass_all(const Execution::ByStepAndType& ways, const char* label) {
    for (const auto& [way, count] : ways) {
      if (graph_.type(way.second).role != Role::kStepFailed)
        pass(event_id(way.second), step_id(way.first), count, label);
    }
  }
  void pass_out(const Execution::ByStepAndType& ways, const char* label) {
    for (const auto& [way, count] : ways) {
      add(way.second, count);
      pass(step_id(way.first), event_id(way.second), count, label);
    }
  }

  // Along the arrow that is there, or a new one with this label.
  void pass(const std::string& from, const std::string& to, std::uint64_t count, const char* label,
            bool is_dotted = false) {
    if (find(from) == nullptr || find(to) == nullptr) return;
    auto edge =
        std::find_if(picture_.edges.begin(), picture_.edges.end(), [&](const Picture::Edge& one) {
          return one.from == from && one.to == to && one.is_unused;
        });
    if (edge == picture_.edges.end())
      edge = picture_.edges.insert(edge, {from, to, label, is_dotted, true});
    edge->is_unused = false;
    edge->label += (edge->label.empty() ? "" : " ") + times(count);
  }

  const Graph& graph_;
  const Execution& execution_;
  Picture& picture_;
  std::map<TypeIndex, std::uint64_t> counts_;
};

}  // namespace

Picture picture_of(const Graph& graph, const Execution& execution) {
  Picture picture = picture_of(graph);
  Annotator(graph, execution, picture).annotate();
  std::string status = execution.status;
  if (!execution.error_code.empty()) status += " with " + execution.error_code;
  picture.title.push_back(status + ", records " + std::to_string(execution.first_record) + " to " +
                          std::to_string(execution.last_record));
  if (!execution.is_whole)
    picture.title.emplace_back("what was before these records is not here any more");
  return picture;
}

}  // namespace holdfast::steps
