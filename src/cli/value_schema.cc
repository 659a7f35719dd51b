// SPDX-License-Identifier: Apache-2.0
#include "cli/value_schema.h"

#include <utility>

#include "bundle/source.h"
#include "codec/normaliser.h"
#include "defs/builtin.h"

namespace holdfast::cli {
namespace {

std::optional<codec::Schema> by_name(const std::string& name, const defs::Catalogue& catalogue,
                                     codec::Errors& errors) {
  const codec::Type* type = catalogue.find(name);
  if (type == nullptr) {
    errors.push_back(
        base::Error(base::ErrorCode::kNotFound, "there is no schema named '" + name + "'"));
    return std::nullopt;
  }
  return codec::Schema::compile(*type, catalogue, name, errors);
}

std::optional<codec::Schema> from_expression(const std::string& file,
                                             const defs::Catalogue& catalogue,
                                             codec::Errors& errors) {
  auto json = bundle::read_as_json(file);
  if (!json) return errors.push_back(std::move(json).error().within(file)), std::nullopt;
  codec::Normaliser normaliser;
  auto expression = normaliser.from_json(codec::Schema::any(), *json);
  if (!expression)
    return errors.push_back(std::move(expression).error().within(file)), std::nullopt;
  const auto type = codec::parse_type(codec::View::of(*expression), file + ": $", errors);
  if (!type) return std::nullopt;
  return codec::Schema::compile(*type, catalogue, file + ": $", errors);
}

}  // namespace

std::optional<codec::Schema> find_schema(const SchemaChoice& choice, codec::Errors& errors) {
  const defs::Catalogue& builtin = defs::builtin_catalogue();
  if (choice.schema.empty()) return from_expression(choice.type, builtin, errors);
  if (choice.type.empty()) return by_name(choice.schema, builtin, errors);
  defs::Bundle bundle = bundle::load_bundle(choice.type, &builtin);
  if (!bundle.errors.empty()) {
    errors = std::move(bundle.errors);
    return std::nullopt;
  }
  return by_name(choice.schema, bundle.catalogue, errors);
}

}  // namespace holdfast::cli
