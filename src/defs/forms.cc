// SPDX-License-Identifier: Apache-2.0
#include "defs/forms.h"

#include "codec/cbor_writer.h"

namespace holdfast::defs {

codec::Buffer& ObjectWriter::value(std::string_view field) {
  ++count_;
  codec::write_text(body_, field);
  return body_;
}

void ObjectWriter::text(std::string_view field, std::string_view value) {
  codec::write_text(this->value(field), value);
}

void ObjectWriter::optional_text(std::string_view field, const std::optional<std::string>& value) {
  if (value) text(field, *value);
}

void ObjectWriter::optional_nat(std::string_view field, const std::optional<std::uint64_t>& value) {
  if (value) codec::write_nat(this->value(field), *value);
}

void ObjectWriter::optional_hash(std::string_view field, const std::optional<base::Hash>& value) {
  if (value) text(field, value->to_text());
}

void ObjectWriter::texts(std::string_view field, const std::vector<std::string>& values) {
  codec::Buffer& out = value(field);
  codec::write_list_head(out, values.size());
  for (const std::string& text : values) codec::write_text(out, text);
}

void ObjectWriter::write(codec::Buffer& out) const {
  codec::write_map_head(out, count_);
  out.append(body_.view());
}

Impl read_impl(View object, const std::string& path, Errors& errors) {
  Fields fields(object, path, errors);
  Impl impl{fields.name("module"), fields.text("entrypoint")};
  fields.finish();
  return impl;
}

ObjectWriter impl_object(const Impl& impl) {
  ObjectWriter object;
  object.text("module", impl.module);
  object.text("entrypoint", impl.entrypoint);
  return object;
}

}  // namespace holdfast::defs
