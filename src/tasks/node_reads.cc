// SPDX-License-Identifier: Apache-2.0
#include "tasks/node_reads.h"

#include <algorithm>
#include <utility>

#include "tasks/limits.h"
#include "tasks/reference.h"
#include "tasks/spec_references.h"

namespace holdfast::tasks {

// Looks at the references of one node.
class ReadsOfNode : public ReferenceVisitor {
 public:
  ReadsOfNode(NodeReads& all, NodeIndex node, bool has_elements, const Scene& scene)
      : all_(all), node_(node), has_elements_(has_elements), scene_(scene) {}

  // References in elements stand outside of the spec.
  void look_at_element(View element, const Trail& where) {
    in_element_ = true;
    visit_references(element, where, *this);
  }

  void found(const Reference& reference, const Trail& where) override {
    if (reference.node == kElementNode) return found_element(reference, where);
    const auto used = all_.names_.find(reference.node);
    if (!used) return refuse_unknown(reference, where);
    if (*used == node_) return refuse(where, "the node " + quote(reference.node) + " reads itself");
    check_index(*used, reference, where);
    const std::uint64_t reader = std::uint64_t{node_} + 1;
    if (std::exchange(all_.last_reader_[*used], reader) == reader) return;
    if (reads_.size() == kMaxInputs)
      return refuse(where, "a task reads at most " + std::to_string(kMaxInputs) + " nodes");
    reads_.push_back(*used);
    const auto& direct = all_.dependencies_[node_];
    if (!std::binary_search(direct.begin(), direct.end(), *used))
      all_.far_reads_.push_back({node_, *used, place(where)});
  }

  void malformed(std::string problem, const Trail& where) override {
    refuse(where, std::move(problem));
  }

  std::vector<NodeIndex> take() { return std::move(reads_); }

 private:
  std::string place(const Trail& where) const {
    return in_element_ ? where.text() : scene_.place(where);
  }
  void refuse(const Trail& where, std::string message) {
    all_.problems_.add(place(where), std::move(message));
  }

  void refuse_unknown(const Reference& reference, const Trail& where) {
    std::string message = "there is no node " + quote(reference.node);
    if (!all_.problems_.is_full()) message += all_.document_.close_name(reference.node);
    refuse(where, message + " (in " + reference.text() + "; write '$${' for a literal '${')");
  }

  // ${foreach.item}, ${foreach.item.path}, ${foreach.index}.
  void found_element(const Reference& reference, const Trail& where) {
    if (!has_elements_) return refuse(where, reference.text() + ": the node has no foreach");
    if (in_element_)
      return refuse(where, reference.text() + ": an element of a foreach cannot refer to itself");
    PathSteps steps(reference.path);
    const auto first = steps.next();
    const bool is_item = first && first->key == "item" && !first->is_bracketed;
    const bool is_index = first && first->key == "index" && !first->is_bracketed && !steps.next();
    if (!is_item && !is_index)
      refuse(where, reference.text() + ": write ${foreach.item} or ${foreach.index}");
  }

  // An index into the results of a foreach must be that of an element.
  void check_index(NodeIndex used, const Reference& reference, const Trail& where) {
    const auto& elements = all_.document_.nodes[used].foreach;
    const auto first = PathSteps(reference.path).next();
    const auto index = first ? first->index() : std::nullopt;
    if (!elements || !index || *index < elements->size()) return;
    refuse(where, reference.text() + ": the foreach of " + quote(reference.node) + " has " +
                      std::to_string(elements->size()) + " elements, and none at " +
                      std::to_string(*index));
  }

  NodeReads& all_;
  NodeIndex node_;
  bool has_elements_;
  const Scene& scene_;
  bool in_element_ = false;
  std::vector<NodeIndex> reads_;
};

std::vector<NodeIndex> NodeReads::of(NodeIndex node, const NodeSpec& spec, const Elements& elements,
                                     const Scene& scene) {
  ReadsOfNode reads(*this, node, elements.has_value(), scene);
  const Trail root("");
  if (spec.condition) {
    const Trail where = root.key("condition");
    reads.found({spec.condition->node, spec.condition->field}, where.key("node"));
  }
  if (!spec.spec.empty()) visit_references(View::of(spec.spec), root, reads);
  if (elements) {
    const std::string place = document_.place_of(node) + ".foreach";
    const Trail list(place);
    std::size_t position = 0;
    for (const base::Bytes& element : *elements)
      reads.look_at_element(View::of(element), list.at(position++));
  }
  return reads.take();
}

void NodeReads::check_upstream(const std::vector<NodeIndex>& number, const Dependencies& ordered) {
  if (far_reads_.empty()) return;
  std::vector<UpstreamQuery> queries;
  queries.reserve(far_reads_.size());
  for (const FarRead& read : far_reads_) queries.push_back({number[read.user], number[read.used]});
  for (const std::size_t failed : find_not_upstream(ordered, queries)) {
    const FarRead& read = far_reads_[failed];
    problems_.add(read.where, "the node " + quote(document_.nodes[read.used].name) +
                                  " is not upstream of " + quote(document_.nodes[read.user].name) +
                                  ": add it to dependsOn");
  }
}

}  // namespace holdfast::tasks
