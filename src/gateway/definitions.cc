// SPDX-License-Identifier: Apache-2.0
#include "gateway/definitions.h"

#include <algorithm>

#include "base/check.h"
#include "codec/json_writer.h"
#include "codec/key_word.h"
#include "codec/normaliser.h"
#include "codec/view.h"
#include "defs/builtin.h"
#include "steps/graph_codec.h"

namespace holdfast::gateway {

base::Result<Definitions> Definitions::load(const base::Bytes& closure) {
  Definitions made;
  made.closure_ = std::make_unique<base::Bytes>(closure);
  made.bundle_ = std::make_unique<defs::Bundle>(&defs::builtin_catalogue());
  if (closure.empty()) return made;
  *made.bundle_ = defs::load(codec::View::of(*made.closure_), "$", &defs::builtin_catalogue());
  if (!made.bundle_->errors.empty()) {
    return base::Error(base::ErrorCode::kCorrupt, "the definitions of the world",
                       made.bundle_->errors.begin()->to_string());
  }
  return made;
}

const defs::Manifest* Definitions::manifest() const noexcept {
  if (!bundle_->manifest) return nullptr;
  return std::get_if<defs::Manifest>(&bundle_->manifest->definition);
}

const codec::Schema* Definitions::schema(std::string_view name) {
  const auto known = schemas_.find(name);
  if (known != schemas_.end()) return known->second ? &*known->second : nullptr;
  // What is not there is not remembered: clients choose names.
  const codec::Type* type = bundle_->catalogue.find(name);
  if (type == nullptr) return nullptr;
  codec::Errors errors;
  auto compiled = codec::Schema::compile(*type, bundle_->catalogue, std::string(name), errors);
  const auto& kept = schemas_.emplace(name, std::move(compiled)).first->second;
  return kept ? &*kept : nullptr;
}

const defs::WorkflowDef* Definitions::workflow(std::string_view name) const {
  return bundle_->catalogue.get<defs::WorkflowDef>(name);
}

const defs::EffectDef* Definitions::effect(std::string_view name) const {
  return bundle_->catalogue.get<defs::EffectDef>(name);
}

const defs::ModuleDef* Definitions::module(std::string_view name) const {
  return bundle_->catalogue.get<defs::ModuleDef>(name);
}

const steps::Graph* Definitions::graph_of(std::string_view workflow) {
  const auto known = graphs_.find(workflow);
  if (known != graphs_.end()) return known->second ? &*known->second : nullptr;
  const defs::WorkflowDef* definition = this->workflow(workflow);
  if (definition == nullptr) return nullptr;  // clients choose names
  std::optional<steps::Graph> graph;
  if (definition->graph) {
    auto read = steps::read_graph(codec::View::of(*definition->graph), definition->name);
    if (read) graph.emplace(std::move(*read));
  }
  const auto& kept = graphs_.emplace(workflow, std::move(graph)).first->second;
  return kept ? &*kept : nullptr;
}

const defs::Subscription* Definitions::first_event_of(std::string_view workflow) const {
  const defs::Manifest* known = manifest();
  if (known == nullptr) return nullptr;
  const auto found =
      std::ranges::find(known->subscriptions, workflow, &defs::Subscription::workflow);
  return found == known->subscriptions.end() ? nullptr : &*found;
}

const defs::Subscription* Definitions::only_route_of(std::string_view event) const {
  const defs::Manifest* known = manifest();
  const defs::Subscription* only = nullptr;
  if (known == nullptr) return nullptr;
  for (const defs::Subscription& subscription : known->subscriptions) {
    if (subscription.event != event) continue;
    if (only != nullptr) return nullptr;
    only = &subscription;
  }
  return only;
}

std::optional<base::ByteView> Definitions::key_in(base::ByteView value, std::string_view field) {
  std::optional<codec::View> at = codec::View::of(value);
  for (std::size_t begin = 0; at && begin <= field.size();) {
    const std::size_t dot = std::min(field.find('.', begin), field.size());
    at = at->find(field.substr(begin, dot - begin));
    begin = dot + 1;
  }
  if (!at) return std::nullopt;
  return at->encoded();
}

base::Result<base::Bytes> Definitions::key_of(std::string_view workflow, std::string_view text) {
  const defs::WorkflowDef* known = this->workflow(workflow);
  if (known == nullptr) {
    return base::Error(base::ErrorCode::kNotFound,
                       "the manifest has no workflow '" + std::string(workflow) + "'");
  }
  if (!known->key_schema) {
    if (text == "-") return base::Bytes();
    return base::Error(base::ErrorCode::kNotFound,
                       "'" + known->name + "' has no key: its instance is written '-'");
  }
  const codec::Schema* schema = this->schema(*known->key_schema);
  if (schema == nullptr)
    return base::Error(base::ErrorCode::kCorrupt, known->name, "its key has no schema");
  auto key = key_by(*schema, text);
  if (!key) {
    return base::Error(base::ErrorCode::kNotFound, "'" + std::string(text) + "' is no key of '" +
                                                       known->name + "': " + key.error().message());
  }
  return key;
}

base::Result<base::Bytes> Definitions::key_by(const codec::Schema& schema, std::string_view text) {
  codec::Buffer& json = key_json_;
  json.clear();
  const codec::TypeKind kind = schema.root().kind;
  if (kind == codec::TypeKind::kInt || kind == codec::TypeKind::kNat) {
    json.append(text.data(), text.size());
  } else {
    codec::write_string_json(json, codec::text_of_key(text));
  }
  const base::ByteView key = TRY(normaliser_.part_from_json(schema, base::as_text(json.view())));
  return base::Bytes(key.begin(), key.end());
}

base::Result<std::vector<base::Bytes>> Definitions::keys_of(std::string_view workflow,
                                                            std::string_view text) {
  std::vector<base::Bytes> keys;
  if (this->workflow(workflow) != nullptr) {
    keys.push_back(TRY(key_of(workflow, text)));
    return keys;
  }
  if (text == "-") keys.emplace_back();
  // Types of which one has values that another has, too, need not be tried twice.
  for (const codec::TypeKind kind :
       {codec::TypeKind::kText, codec::TypeKind::kInt, codec::TypeKind::kNat,
        codec::TypeKind::kUuid, codec::TypeKind::kHash}) {
    codec::Type type;
    type.kind = kind;
    codec::Errors errors;
    const auto schema = codec::Schema::compile(type, bundle_->catalogue, "key", errors);
    CHECK(schema);
    auto key = key_by(*schema, text);
    if (key && std::ranges::find(keys, *key) == keys.end()) keys.push_back(std::move(*key));
  }
  return keys;
}

}  // namespace holdfast::gateway
