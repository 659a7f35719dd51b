// SPDX-License-Identifier: Apache-2.0
// NodeReads: which nodes each node reads, by the references in its spec, in the elements of its
// foreach and in its condition; and whether all of them are upstream. Nodes are numbered as in the
// document.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "tasks/dependency_order.h"
#include "tasks/document.h"
#include "tasks/node_spec.h"

namespace holdfast::tasks {

using Elements = std::optional<std::vector<base::Bytes>>;

class NodeReads {
 public:
  // All of them must outlive it.
  NodeReads(const Document& document, const NameTable& names, const Dependencies& dependencies,
            Problems& problems)
      : document_(document),
        names_(names),
        dependencies_(dependencies),
        problems_(problems),
        last_reader_(document.nodes.size()) {}

  // The nodes that a node reads, each once. `scene` is that of its spec.
  std::vector<NodeIndex> of(NodeIndex node, const NodeSpec& spec, const Elements& elements,
                            const Scene& scene);

  // When all nodes have been looked at: refuses what is read and not upstream. `number` gives each
  // node its place in an order in which dependencies come first; `ordered` has the dependencies by
  // those places.
  void check_upstream(const std::vector<NodeIndex>& number, const Dependencies& ordered);

 private:
  friend class ReadsOfNode;

  // That a node reads another one which it does not depend on directly, and where it says so.
  struct FarRead {
    NodeIndex user;
    NodeIndex used;
    std::string where;
  };

  const Document& document_;
  const NameTable& names_;
  const Dependencies& dependencies_;
  Problems& problems_;
  std::vector<std::uint64_t> last_reader_;  // of each node: the node that read it last, plus 1
  std::vector<FarRead> far_reads_;
};

}  // namespace holdfast::tasks
