// SPDX-License-Identifier: Apache-2.0
#include "tasks/compile.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "codec/buffer.h"
#include "codec/cbor_writer.h"
#include "tasks/dependency_order.h"
#include "tasks/document.h"
#include "tasks/node_reads.h"
#include "tasks/node_spec.h"
#include "tasks/scene.h"
#include "tasks/schedule_hint.h"
#include "tasks/template_merge.h"

namespace holdfast::tasks {
namespace {

constexpr std::array<std::string_view, 2> kShapeKeys{"stages", "graph"};

// What is known of a node while its document is compiled. Nodes are numbered as in the document.
struct NodeDraft {
  NodeSpec spec;
  Elements elements;
  std::vector<NodeIndex> reads;
};

// The numbers of nodes in the plan: dependencies come first.
struct Numbering {
  std::vector<NodeIndex> order;   // by number in the plan: the number in the document
  std::vector<NodeIndex> number;  // the other way round
  Dependencies dependencies;      // by numbers in the plan
};

class Compiler {
 public:
  Compiler(View value, const CompileOptions& options)
      : value_(value), options_(options), most_tasks_(std::min(options.max_tasks, kMostTasks)) {}

  Compiled run() {
    Compiled compiled;
    if (auto document = read_document(value_, most_tasks_, problems_)) {
      document_ = &*document;
      names_are_unique();
      read_dependencies();
      const std::vector<NodeIndex> cycle = order_by_dependencies(dependencies_).cycle;
      if (!cycle.empty()) refuse_cycle(cycle);
      NodeReads reads(*document, names_, dependencies_, problems_);
      read_specs(reads);
      const ScheduleHint hint = read_schedule_hint(*document, names_, dependencies_, problems_);
      count_tasks();
      if (cycle.empty()) {
        const DependencyOrder order = order_by_dependencies(dependencies_, epochs_of(hint));
        const Numbering numbering = numbered(order.order);
        // A misspelt dependency would be told twice.
        if (!has_bad_dependency_) reads.check_upstream(numbering.number, numbering.dependencies);
        if (problems_.empty()) compiled.plan = make_plan(numbering, hint);
      }
      if (!problems_.empty()) compiled.plan.reset();
    }
    compiled.errors = std::move(problems_).take();
    return compiled;
  }

 private:
  const DocumentNode& node(NodeIndex index) const { return document_->nodes[index]; }
  std::size_t node_count() const { return document_->nodes.size(); }
  std::string place_of(NodeIndex index, const std::string& rest) const {
    return document_->place_of(index) + rest;
  }

  void names_are_unique() {
    for (NodeIndex index = 0; index < node_count(); ++index) {
      const auto other = names_.add(node(index).name, index);
      if (!other) continue;
      problems_.add(place_of(index, ".name"), "duplicate name " + quote(node(index).name) + ": " +
                                                  document_->place_of(*other) + " has it too");
    }
  }

  void read_dependencies() {
    dependencies_.resize(node_count());
    std::uint64_t count = 0;
    for (NodeIndex index = 0; index < node_count(); ++index) {
      std::vector<NodeIndex>& found = dependencies_[index];
      if (const auto& list = node(index).depends_on) {
        std::size_t position = 0;
        for (const View name : list->elements()) read_dependency(name, index, position++, found);
      }
      const bool follows = document_->shape == DocumentShape::kStages && index > 0 &&
                           (!node(index).depends_on || node(index).depends_on->size() == 0);
      if (follows) found.push_back(index - 1);
      std::sort(found.begin(), found.end());
      found.erase(std::unique(found.begin(), found.end()), found.end());
      count += found.size();
    }
    if (count > kMaxDependencies) refuse_many_dependencies();
  }

  void read_dependency(View value, NodeIndex index, std::size_t position,
                       std::vector<NodeIndex>& found) {
    const auto refuse = [&](std::string message) {
      has_bad_dependency_ = true;
      problems_.add(place_of(index, ".dependsOn[" + std::to_string(position) + "]"),
                    std::move(message));
    };
    const auto name = value.text();
    if (!name) return refuse("expected the name of a node, got " + std::string(kind_name(value)));
    const auto dependency = names_.find(*name);
    if (!dependency)
      return refuse("there is no node " + quote(*name) +
                    (problems_.is_full() ? "" : document_->close_name(*name)));
    if (*dependency == index) return refuse("the node " + quote(*name) + " depends on itself");
    if (document_->shape == DocumentShape::kStages && *dependency > index)
      return refuse("the stage " + quote(*name) +
                    " comes later: a stage can depend only on stages before it");
    found.push_back(*dependency);
  }

  void refuse_cycle(const std::vector<NodeIndex>& cycle) {
    constexpr std::size_t kShown = 10;
    std::string way;
    for (std::size_t i = 0; i < std::min(cycle.size(), kShown); ++i)
      way += node(cycle[i]).name + " -> ";
    if (cycle.size() > kShown)
      way += "... (" + std::to_string(cycle.size() - kShown) + " more) -> ";
    way += node(cycle.front()).name;
    problems_.add(place_of(cycle.front(), ".dependsOn"), "the dependencies form a cycle: " + way);
  }

  void refuse_many_dependencies() {
    problems_.add_too_large("spec", "there are more than " + std::to_string(kMaxDependencies) +
                                        " dependencies between tasks");
  }

  void read_specs(NodeReads& reads) {
    drafts_.resize(node_count());
    codec::Buffer shared;  // the template
    if (document_->shape == DocumentShape::kTask) {
      codec::write_map_head(shared, 0);
    } else {
      write_without(shared, document_->spec, kShapeKeys);
    }
    const View below = View::of(shared.view());
    for (NodeIndex index = 0; index < node_count(); ++index) {
      read_spec(index, below, reads);
      if (specs_bytes_ > kMaxSpecsBytes) {
        problems_.add_too_large("spec", "the specs of all tasks have more than " +
                                            std::to_string(kMaxSpecsBytes) +
                                            " bytes after the template is merged");
        return;
      }
    }
  }

  void read_spec(NodeIndex index, View below, NodeReads& reads) {
    NodeDraft& draft = drafts_[index];
    const auto own = node(index).spec;
    codec::Buffer merged;
    if (own) write_merged(merged, below, *own);
    const View spec = own ? View::of(merged.view()) : below;
    const bool is_alone = document_->shape == DocumentShape::kTask;
    Scene scene(problems_, {own, is_alone ? "spec" : place_of(index, ".spec")}, {below, "spec"});
    if (depth_of(spec) > kMaxSpecDepth)
      return scene.refuse_too_large(
          Trail(""), "the spec is nested deeper than " + std::to_string(kMaxSpecDepth));
    draft.spec = read_node_spec(spec, options_.task_types, scene);
    check_concurrency(draft.spec.policy, scene);
    read_elements(index, draft);
    draft.reads = reads.of(index, draft.spec, draft.elements, scene);
    const std::size_t tasks = draft.elements ? draft.elements->size() : 1;
    specs_bytes_ += draft.spec.spec.size() * tasks;
  }

  // Two limits for one key would leave it open which of them holds.
  void check_concurrency(const Policy& policy, Scene& scene) {
    if (!policy.concurrency) return;
    const auto& [key, limit] = *policy.concurrency;
    const auto [at, is_new] = limits_.emplace(key, limit);
    if (is_new || at->second == limit) return;
    const Trail root("");
    const Trail where = root.key("concurrency");
    scene.refuse(where.key("limit"), "another task gives the key " + quote(key) + " the limit " +
                                         std::to_string(at->second));
  }

  void read_elements(NodeIndex index, NodeDraft& draft) {
    const auto& list = node(index).foreach;
    if (!list) return;
    const std::string place = place_of(index, ".foreach");
    if (list->size() > most_tasks_) return refuse_many_tasks(place);
    draft.elements.emplace();
    draft.elements->reserve(list->size());
    std::size_t position = 0;
    for (const View element : list->elements()) {
      const base::ByteView bytes = element.encoded();
      const auto at = [&] { return place + "[" + std::to_string(position) + "]"; };
      if (bytes.size() > kMaxElementBytes)
        problems_.add_too_large(
            at(), "the element has more than " + std::to_string(kMaxElementBytes) + " bytes");
      if (depth_of(element) > kMaxSpecDepth)
        problems_.add_too_large(
            at(), "the element is nested deeper than " + std::to_string(kMaxSpecDepth));
      draft.elements->emplace_back(bytes.begin(), bytes.end());
      specs_bytes_ += bytes.size();
      ++position;
    }
  }

  void refuse_many_tasks(std::string where) {
    problems_.add_too_large(std::move(where), "a graph has at most " + std::to_string(most_tasks_) +
                                                  " tasks, one for each element of a foreach");
  }

  void count_tasks() {
    const auto size_of = [&](NodeIndex index) -> std::uint64_t {
      const auto& elements = drafts_[index].elements;
      return elements ? elements->size() : 1;
    };
    std::uint64_t tasks = 0;
    std::uint64_t dependencies = 0;
    for (NodeIndex index = 0; index < node_count(); ++index) {
      tasks += size_of(index);
      dependencies += size_of(index) * dependencies_[index].size();
      if (drafts_[index].elements) dependencies += size_of(index);
    }
    if (tasks > most_tasks_) refuse_many_tasks("spec");
    if (dependencies > kMaxDependencies) refuse_many_dependencies();
    dependency_count_ = dependencies;
  }

  // Epochs stand together. Their order never contradicts dependencies, or the hint is refused.
  static std::vector<std::uint32_t> epochs_of(const ScheduleHint& hint) {
    std::vector<std::uint32_t> epochs;
    if (hint.epoch_count == 0) return epochs;
    epochs.reserve(hint.nodes.size());
    for (const NodeSchedule& node : hint.nodes) epochs.push_back(node.epoch.value_or(0));
    return epochs;
  }

  // A gate before the first task of an epoch; the ranges around it are filled in at the end.
  static void add_gate(Plan& plan, std::uint32_t epoch) {
    plan.gates.push_back({plan.total_count, epoch, {}, {}});
    ++plan.total_count;
  }

  static void close_gates(Plan& plan) {
    for (std::size_t i = 0; i < plan.gates.size(); ++i) {
      PlanGate& gate = plan.gates[i];
      const TaskIndex begin = i == 0 ? 0 : plan.gates[i - 1].task + 1;
      const TaskIndex end = i + 1 < plan.gates.size() ? plan.gates[i + 1].task : plan.total_count;
      gate.before = {begin, gate.task - begin};
      gate.after = {gate.task + 1, end - gate.task - 1};
    }
  }

  Numbering numbered(const std::vector<NodeIndex>& order) const {
    Numbering made{order, std::vector<NodeIndex>(order.size()), Dependencies(order.size())};
    for (NodeIndex i = 0; i < order.size(); ++i) made.number[order[i]] = i;
    for (NodeIndex i = 0; i < order.size(); ++i) {
      for (const NodeIndex dependency : dependencies_[order[i]])
        made.dependencies[i].push_back(made.number[dependency]);
      std::sort(made.dependencies[i].begin(), made.dependencies[i].end());
    }
    return made;
  }

  Plan make_plan(const Numbering& numbering, const ScheduleHint& hint) {
    const auto& [order, number, dependencies] = numbering;
    Dependencies dependents = reversed(dependencies);
    Plan plan;
    plan.name = document_->name;
    plan.owner = document_->owner;
    plan.kind = document_->kind;
    plan.annotations = annotations();
    plan.dependency_count = dependency_count_;
    plan.epoch_count = hint.epoch_count;
    plan.is_ordered = hint.is_ordered;
    plan.nodes.reserve(order.size());
    for (NodeIndex i = 0; i < order.size(); ++i) {
      NodeDraft& draft = drafts_[order[i]];
      PlanNode& made = plan.nodes.emplace_back();
      made.name = node(order[i]).name;
      made.type = std::move(draft.spec.type);
      made.spec = std::move(draft.spec.spec);
      made.resources = std::move(draft.spec.resources);
      made.policy = std::move(draft.spec.policy);
      made.condition = std::move(draft.spec.condition);
      made.elements = std::move(draft.elements);
      made.dependencies = dependencies[i];
      made.dependents = std::move(dependents[i]);
      made.inputs = sorted_inputs(draft.reads, number);
      const NodeSchedule& schedule = hint.nodes[order[i]];
      made.epoch = schedule.epoch;
      if (made.epoch && *made.epoch > plan.gates.size()) add_gate(plan, *made.epoch);
      made.position = schedule.position;
      made.workers = schedule.workers;
      made.first_task = plan.total_count;
      plan.run_count += made.tasks().count;
      plan.total_count = made.last_task() + 1;
    }
    close_gates(plan);
    for (NodeIndex i = 0; i < order.size(); ++i) check_size(plan, i, order[i]);
    return plan;
  }

  std::vector<NodeIndex> sorted_inputs(std::vector<NodeIndex>& reads,
                                       const std::vector<NodeIndex>& number) const {
    std::sort(reads.begin(), reads.end(),
              [&](NodeIndex a, NodeIndex b) { return node(a).name < node(b).name; });
    std::vector<NodeIndex> inputs;
    inputs.reserve(reads.size());
    for (const NodeIndex read : reads) inputs.push_back(number[read]);
    return inputs;
  }

  base::Bytes annotations() const {
    constexpr std::array<std::string_view, 1> kTakenOut{"schedule_hint"};
    codec::Buffer out;
    if (document_->annotations) {
      write_without(out, *document_->annotations, kTakenOut);
    } else {
      codec::write_map_head(out, 0);
    }
    return out.to_bytes();
  }

  // The definition of a task must fit a part of a graph. What can be long in it has been bounded
  // but for the tasks before and after it, and what it reads.
  void check_size(const Plan& plan, NodeIndex made, NodeIndex index) {
    constexpr std::size_t kRangeBytes = 10;
    constexpr std::size_t kInputBytes = kMaxNameBytes + 20;
    constexpr std::size_t kRestBytes = 128 * kKiB;  // names, labels, workers, condition, element
    static_assert(kMaxElementBytes + (2 * kMaxLabels + kMaxSelectedWorkers) * kMaxShortTextBytes <
                  kRestBytes);
    const PlanNode& node = plan.nodes[made];
    const std::size_t ranges =
        plan.dependents_of(node.last_task()).size() + plan.dependencies_of(node.first_task).size();
    const std::size_t bytes =
        node.spec.size() + ranges * kRangeBytes + node.inputs.size() * kInputBytes + kRestBytes;
    if (bytes > kMaxTaskBytes)
      problems_.add_too_large(place_of(index, ""),
                              "the node has too many dependencies or dependents: its definition "
                              "could pass " +
                                  std::to_string(kMaxTaskBytes) + " bytes");
  }

  View value_;
  const CompileOptions& options_;
  std::size_t most_tasks_;
  Problems problems_;
  Document* document_ = nullptr;
  NameTable names_;
  Dependencies dependencies_;
  bool has_bad_dependency_ = false;
  std::vector<NodeDraft> drafts_;
  std::map<std::string, std::uint32_t, std::less<>> limits_;  // of concurrency, by key
  std::size_t specs_bytes_ = 0;
  std::uint64_t dependency_count_ = 0;
};

}  // namespace

Compiled compile(View document, const CompileOptions& options) {
  return Compiler(document, options).run();
}

}  // namespace holdfast::tasks
