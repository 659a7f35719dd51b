// SPDX-License-Identifier: Apache-2.0
#include "steps/graph_codec.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "codec/cbor_writer.h"
#include "defs/fields.h"

namespace holdfast::steps {
namespace {

constexpr std::array<std::string_view, 6> kRoles{"plain", "start",   "stop",
                                                 "asks",  "answers", "step_failed"};

// Keys in canonical order: shorter first, then bytewise.
class GraphWriter {
 public:
  GraphWriter(codec::Buffer& out, const Graph& graph) : out_(out), graph_(graph) {}

  void write() {
    const bool has_rules = graph_.rules() != Rules::kFirst;
    codec::write_map_head(out_, 3U + (graph_.children().empty() ? 0 : 1) + (has_rules ? 1 : 0));
    // The first two had a flag between them.
    if (graph_.rules() > Rules::kKeepsEarly)
      number("rules", static_cast<std::uint64_t>(graph_.rules()));
    codec::write_text(out_, "steps");
    codec::write_list_head(out_, graph_.steps().size());
    for (const StepDef& step : graph_.steps()) write(step);
    codec::write_text(out_, "types");
    codec::write_list_head(out_, graph_.types().size());
    for (const EventType& type : graph_.types()) write(type);
    if (!graph_.children().empty()) texts("children", graph_.children());
    number("timeout_ns", graph_.timeout_ns());
    if (graph_.rules() == Rules::kKeepsEarly) yes("keeps_early");
  }

 private:
  void write(const EventType& type) {
    codec::write_map_head(out_, type.is_sent ? 3 : 2);
    text("role", name_of(type.role));
    if (type.is_sent) yes("sent");
    text("schema", type.schema);
  }

  void write(const StepDef& step) {
    codec::write_map_head(
        out_, 5U + (step.join ? 1 : 0) + (step.slots.empty() ? 0 : 1) + (step.is_handler ? 1 : 0));
    if (step.join) {
      codec::write_text(out_, "join");
      codec::write_map_head(out_, 2);
      number("take", step.join->take);
      text("type", graph_.type(step.join->type).schema);
    }
    text("name", step.name);
    if (!step.slots.empty()) types("slots", step.slots);
    types("accepts", step.accepts);
    if (step.is_handler) {
      codec::write_text(out_, "handler");
      codec::write_map_head(out_, 2);
      texts("steps", step.handles);
      number("max_recoveries", step.max_recoveries);
    }
    types("returns", step.returns);
    number("workers", step.workers);
    types("returns_list", step.returns_list);
  }

  void yes(std::string_view name) {
    codec::write_text(out_, name);
    codec::write_bool(out_, true);
  }
  void text(std::string_view name, std::string_view value) {
    codec::write_text(out_, name);
    codec::write_text(out_, value);
  }
  void number(std::string_view name, std::uint64_t value) {
    codec::write_text(out_, name);
    codec::write_nat(out_, value);
  }
  void texts(std::string_view name, const std::vector<std::string>& all) {
    codec::write_text(out_, name);
    codec::write_list_head(out_, all.size());
    for (const std::string& one : all) codec::write_text(out_, one);
  }
  void types(std::string_view name, const std::vector<TypeIndex>& indices) {
    codec::write_text(out_, name);
    codec::write_list_head(out_, indices.size());
    for (const TypeIndex type : indices) codec::write_text(out_, graph_.type(type).schema);
  }

  codec::Buffer& out_;
  const Graph& graph_;
};

class GraphReader {
 public:
  explicit GraphReader(codec::Errors& errors) : errors_(errors) {}

  void read(codec::View map, const std::string& path) {
    defs::Fields fields(map, path, errors_);
    const auto types = fields.list("types");
    const auto steps = fields.list("steps");
    timeout_ns_ = fields.optional_nat("timeout_ns").value_or(0);
    children_ = texts(fields.optional_list("children"));
    rules_ = rules_in(fields);
    fields.finish();
    if (types.size() > kMaxTypes) fields.refuse("types", "there are too many");
    if (steps.size() > kMaxSteps) fields.refuse("steps", "there are too many");
    if (!errors_.empty()) return;
    for (std::size_t i = 0; i < types.size(); ++i) read_type(types[i], at(fields, "types", i));
    for (std::size_t i = 0; i < steps.size(); ++i) read_step(steps[i], at(fields, "steps", i));
  }

  Graph graph() && {
    return {std::move(types_), std::move(steps_), timeout_ns_, std::move(children_), rules_};
  }

 private:
  static std::string at(const defs::Fields& fields, std::string_view list, std::size_t index) {
    return fields.path_of(list) + "[" + std::to_string(index) + "]";
  }

  void read_type(codec::View map, const std::string& path) {
    defs::Fields fields(map, path, errors_);
    EventType type;
    type.schema = fields.text("schema");
    const std::string role = fields.text("role");
    const auto known = std::find(kRoles.begin(), kRoles.end(), role);
    if (known == kRoles.end()) {
      if (!role.empty()) fields.refuse("role", "there is no role '" + role + "'");
    } else {
      type.role = static_cast<Role>(known - kRoles.begin());
    }
    type.is_sent = flag(fields, "sent");
    fields.finish();
    if (index_of(type.schema)) fields.refuse("schema", "'" + type.schema + "' is there twice");
    types_.push_back(std::move(type));
  }

  void read_step(codec::View map, const std::string& path) {
    defs::Fields fields(map, path, errors_);
    StepDef step;
    step.name = fields.text("name");
    if (!names_.insert(step.name).second)
      fields.refuse("name", "'" + step.name + "' is there twice");
    step.accepts = read_types(fields, "accepts");
    step.slots = types_in(fields, "slots", fields.optional_list("slots"));
    step.returns = read_types(fields, "returns");
    step.returns_list = read_types(fields, "returns_list");
    step.workers = number(fields, "workers", kDefaultWorkers);
    if (const auto join = fields.optional("join")) {
      defs::Fields parts(*join, fields.path_of("join"), errors_);
      const std::string schema = parts.text("type");
      const auto type = index_of(schema);
      if (!type) parts.refuse("type", "there is no type '" + schema + "'");
      step.join = Join{type.value_or(0), number(parts, "take", 0)};
      parts.finish();
    }
    if (const auto handler = fields.optional("handler")) {
      defs::Fields parts(*handler, fields.path_of("handler"), errors_);
      step.is_handler = true;
      step.max_recoveries = number(parts, "max_recoveries", 1);
      step.handles = texts(parts.list("steps"));
      parts.finish();
    }
    fields.finish();
    steps_.push_back(std::move(step));
  }

  static bool flag(defs::Fields& fields, std::string_view field) {
    const auto found = fields.optional(field);
    if (found && !found->boolean()) fields.refuse(field, "expected true or false");
    return found && found->boolean().value_or(false);
  }
  static Rules rules_in(defs::Fields& fields) {
    const bool keeps_early = flag(fields, "keeps_early");
    const auto number = fields.optional_nat("rules");
    if (!number) return keeps_early ? Rules::kKeepsEarly : Rules::kFirst;
    constexpr auto kNewest = static_cast<std::uint64_t>(kNewestRules);
    if (*number <= static_cast<std::uint64_t>(Rules::kKeepsEarly) || *number > kNewest)
      fields.refuse("rules", "there are no rules " + std::to_string(*number));
    return static_cast<Rules>(std::min(*number, kNewest));
  }
  static std::vector<std::string> texts(const std::vector<codec::View>& list) {
    std::vector<std::string> all;
    for (const codec::View one : list) all.emplace_back(one.text().value_or(""));
    return all;
  }

  std::vector<TypeIndex> read_types(defs::Fields& fields, std::string_view field) {
    return types_in(fields, field, fields.list(field));
  }
  std::vector<TypeIndex> types_in(defs::Fields& fields, std::string_view field,
                                  const std::vector<codec::View>& names) {
    std::vector<TypeIndex> indices;
    for (const codec::View name : names) {
      const auto type = index_of(name.text().value_or(""));
      if (type) {
        indices.push_back(*type);
      } else {
        fields.refuse(field, "there is no type '" + std::string(name.text().value_or("")) + "'");
      }
    }
    return indices;
  }

  static std::uint32_t number(defs::Fields& fields, std::string_view field,
                              std::uint32_t otherwise) {
    const std::uint64_t value = fields.optional_nat(field).value_or(otherwise);
    if (value > UINT32_MAX) fields.refuse(field, "it is too large");
    return static_cast<std::uint32_t>(value);
  }

  std::optional<TypeIndex> index_of(std::string_view schema) const {
    for (TypeIndex type = 0; type < types_.size(); ++type) {
      if (types_[type].schema == schema) return type;
    }
    return std::nullopt;
  }

  codec::Errors& errors_;
  std::vector<EventType> types_;
  std::vector<StepDef> steps_;
  std::set<std::string> names_;
  std::uint64_t timeout_ns_ = 0;
  std::vector<std::string> children_;
  Rules rules_ = Rules::kFirst;
};

}  // namespace

std::string_view name_of(Role role) noexcept { return kRoles[static_cast<std::size_t>(role)]; }

void write_graph(codec::Buffer& out, const Graph& graph) { GraphWriter(out, graph).write(); }

base::Result<Graph> read_graph(codec::View map, const std::string& path) {
  codec::Errors errors;
  GraphReader reader(errors);
  reader.read(map, path);
  if (!errors.empty()) {
    const base::Error& first = *errors.begin();
    return base::Error(first.code(), first.where(), first.message());
  }
  return std::move(reader).graph();
}

}  // namespace holdfast::steps
