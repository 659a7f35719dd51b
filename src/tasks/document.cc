// SPDX-License-Identifier: Apache-2.0
#include "tasks/document.h"

#include <algorithm>
#include <array>

#include "tasks/close_word.h"
#include "tasks/limits.h"
#include "tasks/names.h"
#include "tasks/scene.h"

namespace holdfast::tasks {
namespace {

constexpr std::array<std::string_view, 4> kRootKeys{"apiVersion", "kind", "metadata", "spec"};
constexpr std::array<std::string_view, 3> kMetadataKeys{"name", "owner", "annotations"};
constexpr std::array<std::string_view, 5> kNodeKeys{"name", "id", "dependsOn", "foreach", "spec"};
constexpr std::array<std::string_view, 1> kGraphKeys{"nodes"};
constexpr std::array<std::string_view, 2> kVersions{"holdfast/v1", "flowmesh/v1"};

class DocumentReader {
 public:
  DocumentReader(View root, std::size_t most_nodes, Problems& problems)
      : root_(root), most_nodes_(most_nodes), scene_(problems) {}

  std::optional<Document> read() {
    if (!scene_.expect_map(root_, top_)) return std::nullopt;
    scene_.expect_keys(root_, top_, kRootKeys);
    read_version();
    std::string kind = required_text(root_, "kind", top_);
    const auto spec = required(root_, "spec", top_);
    const Trail spec_at = top_.key("spec");
    if (!spec || !scene_.expect_map(*spec, spec_at)) return std::nullopt;
    Document document{DocumentShape::kTask, {}, {}, std::move(kind), {}, {}, *spec, {}};
    if (const auto metadata = required(root_, "metadata", top_))
      read_metadata(*metadata, top_.key("metadata"), document);
    if (!read_shape(*spec, spec_at, document)) return std::nullopt;
    return document;
  }

 private:
  std::optional<View> required(View map, std::string_view key, const Trail& where) {
    const auto value = member(map, key);
    if (!value) scene_.refuse(where.key(key), "the key '" + std::string(key) + "' is missing");
    return value;
  }

  std::string required_text(View map, std::string_view key, const Trail& where) {
    const auto value = required(map, key, where);
    if (!value) return {};
    return scene_.as_literal_text(*value, where.key(key)).value_or("");
  }

  void read_version() {
    const std::string version = required_text(root_, "apiVersion", top_);
    if (version.empty() ||
        std::find(kVersions.begin(), kVersions.end(), version) != kVersions.end())
      return;
    scene_.refuse(top_.key("apiVersion"),
                  "expected holdfast/v1 or flowmesh/v1, got " + quote(version));
  }

  void read_metadata(View map, const Trail& where, Document& document) {
    if (!scene_.expect_map(map, where)) return;
    scene_.expect_keys(map, where, kMetadataKeys);
    document.name = required_text(map, "name", where);
    document.owner = scene_.literal_text(map, "owner", where).value_or("");
    document.annotations = member(map, "annotations");
    if (!document.annotations) return;
    const Trail inside = where.key("annotations");
    if (!scene_.expect_map(*document.annotations, inside)) return document.annotations.reset();
    if (document.annotations->encoded().size() > kMaxAnnotationsBytes)
      hint_is_large(inside, document);
    document.schedule_hint = member(*document.annotations, "schedule_hint");
  }

  // The hint grows with the graph, so it is not counted.
  void hint_is_large(const Trail& where, const Document& document) {
    std::size_t bytes = 0;
    for (const auto& [key, value] : document.annotations->entries()) {
      if (key.text() != "schedule_hint") bytes += value.encoded().size() + key.encoded().size();
    }
    if (bytes > kMaxAnnotationsBytes)
      scene_.refuse_too_large(where, "the annotations have more than " +
                                         std::to_string(kMaxAnnotationsBytes) + " bytes");
  }

  bool read_shape(View spec, const Trail& where, Document& document) {
    const auto stages = spec.find("stages");
    const auto graph = spec.find("graph");
    if (stages && graph)
      return scene_.refuse(where, "'stages' and 'graph' exclude each other"), false;
    if (stages) {
      document.shape = DocumentShape::kStages;
      return read_nodes(*stages, where.key("stages"), "stage", document);
    }
    if (graph) {
      document.shape = DocumentShape::kGraph;
      const Trail inside = where.key("graph");
      if (!scene_.expect_map(*graph, inside)) return false;
      scene_.expect_keys(*graph, inside, kGraphKeys);
      const auto nodes = required(*graph, "nodes", inside);
      return nodes && read_nodes(*nodes, inside.key("nodes"), "node", document);
    }
    document.nodes.push_back({"task", spec, std::nullopt, std::nullopt});
    return true;
  }

  bool read_nodes(View list, const Trail& where, std::string_view kind, Document& document) {
    if (list.kind() != ViewKind::kList)
      return scene_.refuse(where, "expected a list, got " + std::string(kind_name(list))), false;
    if (list.size() == 0) return scene_.refuse(where, "the list is empty"), false;
    if (list.size() > most_nodes_) {
      scene_.refuse_too_large(where, "there are " + std::to_string(list.size()) +
                                         " of them; a graph has at most " +
                                         std::to_string(most_nodes_) + " tasks");
      return false;
    }
    document.nodes.reserve(list.size());
    std::size_t index = 0;
    for (const View node : list.elements()) {
      document.nodes.push_back(read_node(node, where.at(index), kind, index));
      ++index;
    }
    return true;
  }

  DocumentNode read_node(View map, const Trail& where, std::string_view kind, std::size_t index) {
    DocumentNode node{default_name(kind, index), {}, {}, {}};
    if (!scene_.expect_map(map, where)) return node;
    scene_.expect_keys(map, where, kNodeKeys);
    read_name(map, where, node);
    node.spec = member(map, "spec");
    if (node.spec && !scene_.expect_map(*node.spec, where.key("spec"))) node.spec.reset();
    node.depends_on = list_in(map, "dependsOn", where);
    node.foreach = list_in(map, "foreach", where);
    if (node.foreach && node.foreach->size() == 0) {
      scene_.refuse(where.key("foreach"), "the list is empty: foreach needs at least one element");
      node.foreach.reset();
    }
    return node;
  }

  void read_name(View map, const Trail& where, DocumentNode& node) {
    const auto name = member(map, "name");
    const auto id = member(map, "id");
    if (name && id && name->text() != id->text())
      return scene_.refuse(where.key("id"), "'name' and 'id' differ: give one of them");
    const auto given = name ? name : id;
    if (!given) return;
    const Trail at = where.key(name ? "name" : "id");
    const auto text = given->text();
    if (!text)
      return scene_.refuse(at, "expected a text, got " + std::string(kind_name(*given)) +
                                   "; quote it if it is meant as a name");
    if (const auto problem = name_problem(*text)) return scene_.refuse(at, *problem);
    node.name = *text;
  }

  std::optional<View> list_in(View map, std::string_view key, const Trail& where) {
    auto value = member(map, key);
    if (value && value->kind() != ViewKind::kList) {
      scene_.refuse(where.key(key), "expected a list, got " + std::string(kind_name(*value)));
      value.reset();
    }
    return value;
  }

  View root_;
  std::size_t most_nodes_;
  Scene scene_;
  Trail top_{""};
};

}  // namespace

std::string Document::place_of(std::size_t node) const {
  switch (shape) {
    case DocumentShape::kTask: break;
    case DocumentShape::kStages: return "spec.stages[" + std::to_string(node) + "]";
    case DocumentShape::kGraph: return "spec.graph.nodes[" + std::to_string(node) + "]";
  }
  return "";
}

std::string Document::close_name(std::string_view word) const {
  CloseWord close(word);
  for (const DocumentNode& node : nodes) close.consider(node.name);
  return close.question();
}

std::optional<Document> read_document(View value, std::size_t most_nodes, Problems& problems) {
  return DocumentReader(value, most_nodes, problems).read();
}

}  // namespace holdfast::tasks
