// SPDX-License-Identifier: Apache-2.0
#include "defs/definition.h"

#include <array>

#include "base/check.h"
#include "codec/normaliser.h"
#include "defs/forms.h"

namespace holdfast::defs {
namespace {

// In the order of the alternatives of Definition.
constexpr std::array<std::string_view, 6> kKinds{"defschema", "defmodule", "defworkflow",
                                                 "defeffect", "defsecret", "manifest"};

std::optional<Definition> read(std::string_view kind, Fields& fields) {
  if (kind == "defschema") return read_schema(fields);
  if (kind == "defmodule") return read_module(fields);
  if (kind == "defworkflow") return read_workflow(fields);
  if (kind == "defeffect") return read_effect(fields);
  if (kind == "defsecret") return read_secret(fields);
  if (kind == "manifest") return read_manifest(fields);
  return std::nullopt;
}

}  // namespace

std::string_view kind_of(const Definition& definition) noexcept {
  return kKinds[definition.index()];
}

std::string_view name_of(const Definition& definition) noexcept {
  return std::visit(
      [](const auto& value) -> std::string_view {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Manifest>) {
          return "manifest";
        } else {
          return value.name;
        }
      },
      definition);
}

std::optional<Definition> parse_definition(View object, const std::string& path, Errors& errors) {
  const std::size_t errors_before = errors.reported();
  Fields fields(object, path, errors);
  if (errors.reported() != errors_before) return std::nullopt;
  const auto kind = fields.optional("$kind");
  if (!kind)
    return errors.push_back(base::invalid(path, "not a definition: it has no $kind")), std::nullopt;
  auto definition = read(kind->text().value_or(""), fields);
  if (!definition) {
    fields.refuse("$kind",
                  "unknown kind; there are defschema, defmodule, defworkflow, defeffect, defsecret "
                  "and manifest");
    return std::nullopt;
  }
  fields.finish();
  if (errors.reported() != errors_before) return std::nullopt;
  return definition;
}

base::Bytes encode(const Definition& definition) {
  ObjectWriter object;
  object.text("$kind", kind_of(definition));
  std::visit([&](const auto& value) { write(object, value); }, definition);
  codec::Buffer loose;
  object.write(loose);
  // What a definition may hold fits the limits of a value, since it was read from one.
  codec::Normaliser normaliser;
  const auto canonical =
      normaliser.from_cbor(codec::Schema::any(), loose.view(), codec::Strictness::kLenient);
  CHECK(canonical.has_value());
  return {canonical->begin(), canonical->end()};
}

}  // namespace holdfast::defs
