// SPDX-License-Identifier: Apache-2.0
// The JSON form of each kind of definition: reading it, and writing it as CBOR in any order.
#pragma once

#include "codec/buffer.h"
#include "defs/definition.h"
#include "defs/fields.h"

namespace holdfast::defs {

SchemaDef read_schema(Fields& fields);
ModuleDef read_module(Fields& fields);
WorkflowDef read_workflow(Fields& fields);
EffectDef read_effect(Fields& fields);
SecretDef read_secret(Fields& fields);
Manifest read_manifest(Fields& fields);

// Collects the fields of one object and writes them with the right head.
class ObjectWriter {
 public:
  void text(std::string_view field, std::string_view value);
  void optional_text(std::string_view field, const std::optional<std::string>& value);
  void optional_nat(std::string_view field, const std::optional<std::uint64_t>& value);
  void optional_hash(std::string_view field, const std::optional<base::Hash>& value);
  void texts(std::string_view field, const std::vector<std::string>& values);
  // The value of the field is what the caller writes next into the buffer.
  codec::Buffer& value(std::string_view field);
  void object(std::string_view field, const ObjectWriter& value) {
    value.write(this->value(field));
  }

  void write(codec::Buffer& out) const;

 private:
  std::uint64_t count_ = 0;
  codec::Buffer body_;
};

void write(ObjectWriter& out, const SchemaDef& schema);
void write(ObjectWriter& out, const ModuleDef& module);
void write(ObjectWriter& out, const WorkflowDef& workflow);
void write(ObjectWriter& out, const EffectDef& effect);
void write(ObjectWriter& out, const SecretDef& secret);
void write(ObjectWriter& out, const Manifest& manifest);

std::vector<Subscription> read_subscriptions(const std::vector<View>& elements,
                                             const std::string& path, Errors& errors);
void write_subscriptions(codec::Buffer& list, const std::vector<Subscription>& subscriptions);

Impl read_impl(View object, const std::string& path, Errors& errors);
ObjectWriter impl_object(const Impl& impl);

}  // namespace holdfast::defs
