// SPDX-License-Identifier: Apache-2.0
#include "tasks/schedule_hint.h"

#include <algorithm>
#include <array>

#include "tasks/limits.h"
#include "tasks/scene.h"

namespace holdfast::tasks {
namespace {

constexpr std::string_view kOrder = "node_execution_order";
constexpr std::string_view kOrdered = "node_schedule_in_epoch_order";
constexpr std::string_view kSelected = "selected_worker";
constexpr std::array<std::string_view, 3> kHintKeys{kOrder, kOrdered, kSelected};
constexpr std::array<std::string_view, 2> kSelectedKeys{"global", "selected"};

class HintReader {
 public:
  HintReader(const Document& document, const NameTable& names, const Dependencies& dependencies,
             Problems& problems)
      : document_(document), names_(names), dependencies_(dependencies), scene_(problems) {
    hint_.nodes.resize(document.nodes.size());
  }

  ScheduleHint read(View map) {
    const Trail top("");
    const Trail metadata = top.key("metadata");
    const Trail annotations = metadata.key("annotations");
    const Trail where = annotations.key("schedule_hint");
    if (!scene_.expect_map(map, where)) return std::move(hint_);
    scene_.expect_keys(map, where, kHintKeys);
    const bool ordered = scene_.boolean(map, kOrdered, where).value_or(true);
    if (const auto order = member(map, kOrder)) {
      hint_.is_ordered = ordered;
      if (read_epochs(*order, where.key(kOrder), ordered)) check_against_dependencies(where);
    }
    if (const auto selected = member(map, kSelected))
      read_selected(*selected, where.key(kSelected));
    return std::move(hint_);
  }

 private:
  std::optional<NodeIndex> node_named(View value, const Trail& where) {
    const auto name = value.text();
    if (!name) {
      scene_.refuse(where, "expected the name of a node, got " + std::string(kind_name(value)));
      return std::nullopt;
    }
    return node_named(*name, where);
  }

  std::optional<NodeIndex> node_named(std::string_view name, const Trail& where) {
    const auto node = names_.find(name);
    if (node) return node;
    std::string message = "there is no node " + quote(name);
    if (!scene_.problems().is_full()) message += document_.close_name(name);
    scene_.refuse(where, std::move(message));
    return std::nullopt;
  }

  // Whether every node has its epoch.
  bool read_epochs(View order, const Trail& where, bool ordered) {
    if (order.kind() != ViewKind::kList)
      return scene_.refuse(where, "expected a list, got " + std::string(kind_name(order))), false;
    if (order.size() == 0) return scene_.refuse(where, "the list is empty"), false;
    const bool is_flat = (*order.elements().begin()).kind() != ViewKind::kList;
    if (is_flat) {
      if (!ordered) {
        scene_.refuse(where, "a flat list is one epoch in order, and " + std::string(kOrdered) +
                                 " is false; write a list of lists");
        return false;
      }
      hint_.epoch_count = 1;
      read_epoch(order, where, 0);
    } else {
      for (const View epoch : order.elements()) {
        const Trail at = where.at(hint_.epoch_count);
        if (epoch.kind() != ViewKind::kList) {
          scene_.refuse(at, "expected a list of nodes, got " + std::string(kind_name(epoch)));
        } else if (epoch.size() == 0) {
          scene_.refuse(at, "the epoch is empty");
        } else {
          read_epoch(epoch, at, hint_.epoch_count);
        }
        ++hint_.epoch_count;
      }
    }
    bool all_have_one = true;
    for (std::size_t node = 0; node < hint_.nodes.size(); ++node) {
      if (hint_.nodes[node].epoch) continue;
      scene_.refuse(where, "the node " + quote(document_.nodes[node].name) + " is in no epoch");
      all_have_one = false;
    }
    return all_have_one;
  }

  void read_epoch(View epoch, const Trail& where, std::uint32_t number) {
    std::uint32_t position = 0;
    for (const View name : epoch.elements()) {
      const Trail at = where.at(position);
      if (const auto node = node_named(name, at)) {
        NodeSchedule& schedule = hint_.nodes[*node];
        if (schedule.epoch) {
          scene_.refuse(
              at, "the node " + quote(document_.nodes[*node].name) + " is already in an epoch");
        } else {
          schedule.epoch = number;
          schedule.position = position;
        }
      }
      ++position;
    }
  }

  void check_against_dependencies(const Trail& where) {
    const Trail at = where.key(kOrder);
    for (NodeIndex node = 0; node < dependencies_.size(); ++node) {
      const NodeSchedule& own = hint_.nodes[node];
      for (const NodeIndex dependency : dependencies_[node]) {
        const NodeSchedule& other = hint_.nodes[dependency];
        const bool is_later_epoch = *other.epoch > *own.epoch;
        const bool is_later_place =
            hint_.is_ordered && *other.epoch == *own.epoch && other.position > own.position;
        if (!is_later_epoch && !is_later_place) continue;
        scene_.refuse(at, "the node " + quote(document_.nodes[node].name) + " depends on " +
                              quote(document_.nodes[dependency].name) +
                              (is_later_epoch ? ", which is in a later epoch"
                                              : ", which comes after it in the same epoch"));
      }
    }
  }

  void read_selected(View value, const Trail& where) {
    if (value.kind() != ViewKind::kMap) return select_for_all(value, where);
    scene_.expect_keys(value, where, kSelectedKeys);
    if (const auto global = member(value, "global")) select_for_all(*global, where.key("global"));
    const auto selected = member(value, "selected");
    const Trail inside = where.key("selected");
    if (!selected || !scene_.expect_map(*selected, inside)) return;
    for (const auto& [key, workers] : selected->entries()) {
      const std::string_view name = key.text().value_or("");
      const Trail at = inside.key(name);
      if (const auto node = node_named(name, at))
        hint_.nodes[*node].workers = read_workers(workers, at);
    }
  }

  void select_for_all(View value, const Trail& where) {
    const std::vector<std::string> workers = read_workers(value, where);
    for (NodeSchedule& node : hint_.nodes) node.workers = workers;
  }

  std::vector<std::string> read_workers(View value, const Trail& where) {
    std::vector<std::string> workers;
    const auto add = [&](View name, const Trail& at) {
      const auto text = name.text();
      if (!text)
        return scene_.refuse(at,
                             "expected the name of a worker, got " + std::string(kind_name(name)));
      if (const auto problem = label_problem(*text)) return scene_.refuse(at, *problem);
      if (std::find(workers.begin(), workers.end(), *text) == workers.end())
        workers.emplace_back(*text);
    };
    if (value.kind() != ViewKind::kList) return add(value, where), workers;
    if (value.size() == 0) scene_.refuse(where, "the list is empty: no worker could run the node");
    if (value.size() > kMaxSelectedWorkers) {
      scene_.refuse_too_large(
          where, "there are more than " + std::to_string(kMaxSelectedWorkers) + " workers");
      return workers;
    }
    std::size_t index = 0;
    for (const View name : value.elements()) add(name, where.at(index++));
    return workers;
  }

  const Document& document_;
  const NameTable& names_;
  const Dependencies& dependencies_;
  Scene scene_;
  ScheduleHint hint_;
};

}  // namespace

ScheduleHint read_schedule_hint(const Document& document, const NameTable& names,
                                const Dependencies& dependencies, Problems& problems) {
  HintReader reader(document, names, dependencies, problems);
  if (document.schedule_hint) return reader.read(*document.schedule_hint);
  ScheduleHint none;
  none.nodes.resize(document.nodes.size());
  return none;
}

}  // namespace holdfast::tasks
