// SPDX-License-Identifier: Apache-2.0
#include "codec/cbor_writer.h"
#include "codec/limits.h"
#include "defs/forms.h"
#include "defs/name.h"
#include "defs/sections.h"

namespace holdfast::defs {
namespace {

constexpr std::string_view kFormatVersion = "2";

constexpr std::size_t kMaxKeyField = 255;

// So a manifest fits a value, also once every hash is filled in: five lists of at most 350 bytes an
// entry, and as many subscriptions of at most 850.
static_assert(kMaxListed * (5 * 350 + 850) < codec::kMaxValueBytes);

bool too_many(const std::vector<View>& elements, const std::string& path, Errors& errors) {
  if (elements.size() <= kMaxListed) return false;
  errors.push_back(base::invalid(path, "more than " + std::to_string(kMaxListed) + " entries"));
  return true;
}

// The order in which definitions are listed says nothing, so they are kept sorted by name.
std::vector<NamedRef> read_refs(const std::vector<View>& elements, const std::string& path,
                                Errors& errors) {
  std::vector<NamedRef> refs;
  if (too_many(elements, path, errors)) return refs;
  std::size_t index = 0;
  for (const View element : elements) {
    const std::string place = path + "[" + std::to_string(index++) + "]";
    Fields fields(element, place, errors);
    NamedRef ref{fields.name("name"), fields.optional_hash("hash")};
    fields.finish();
    if (ref.name.empty()) continue;
    const auto at = place_of(refs, ref.name);
    if (at != refs.end() && at->name == ref.name) {
      errors.push_back(base::invalid(place, "'" + ref.name + "' is there twice"));
    } else {
      refs.insert(at, std::move(ref));
    }
  }
  return refs;
}

Subscription read_subscription(View element, const std::string& path, Errors& errors) {
  Fields fields(element, path, errors);
  Subscription subscription;
  if (element.kind() != codec::ViewKind::kMap) return subscription;
  subscription.event = fields.name("event");
  const auto workflow = fields.optional_name("workflow");
  const auto op = fields.optional_name("op");  // the older word for it
  if (workflow.has_value() == op.has_value()) {
    fields.refuse("workflow", "a subscription names one workflow");
  } else {
    subscription.workflow = workflow ? *workflow : *op;
  }
  subscription.key_field = fields.optional_text("key_field");
  if (subscription.key_field && subscription.key_field->size() > kMaxKeyField)
    fields.refuse("key_field", "longer than " + std::to_string(kMaxKeyField) + " bytes");
  fields.finish();
  return subscription;
}

void write_refs(ObjectWriter& out, std::string_view field, const std::vector<NamedRef>& refs) {
  codec::Buffer& list = out.value(field);
  codec::write_list_head(list, refs.size());
  for (const NamedRef& ref : refs) {
    ObjectWriter object;
    object.text("name", ref.name);
    object.optional_hash("hash", ref.hash);
    object.write(list);
  }
}

}  // namespace

std::vector<Subscription> read_subscriptions(const std::vector<View>& elements,
                                             const std::string& path, Errors& errors) {
  std::vector<Subscription> subscriptions;
  if (too_many(elements, path, errors)) return subscriptions;
  for (const View element : elements) {
    const std::string place = path + "[" + std::to_string(subscriptions.size()) + "]";
    subscriptions.push_back(read_subscription(element, place, errors));
  }
  return subscriptions;
}

void write_subscriptions(codec::Buffer& list, const std::vector<Subscription>& subscriptions) {
  codec::write_list_head(list, subscriptions.size());
  for (const Subscription& subscription : subscriptions) {
    ObjectWriter object;
    object.text("event", subscription.event);
    object.text("workflow", subscription.workflow);
    object.optional_text("key_field", subscription.key_field);
    object.write(list);
  }
}

Manifest read_manifest(Fields& fields) {
  Manifest manifest;
  const std::string version = fields.text("air_version");
  if (!version.empty() && version != kFormatVersion) fields.refuse("air_version", "expected \"2\"");
  const auto refs = [&](std::string_view field, const std::vector<View>& elements) {
    return read_refs(elements, fields.path_of(field), fields.errors());
  };
  manifest.schemas = refs("schemas", fields.list("schemas"));
  manifest.modules = refs("modules", fields.list("modules"));
  manifest.workflows = refs("workflows", fields.list("workflows"));
  manifest.effects = refs("effects", fields.list("effects"));
  manifest.secrets = refs("secrets", fields.optional_list("secrets"));
  if (const auto routing = fields.optional("routing")) {
    Fields parts(*routing, fields.path_of("routing"), fields.errors());
    manifest.subscriptions = read_subscriptions(parts.optional_list("subscriptions"),
                                                parts.path_of("subscriptions"), fields.errors());
    parts.finish();
  }
  return manifest;
}

void write(ObjectWriter& out, const Manifest& manifest) {
  out.text("air_version", kFormatVersion);
  write_refs(out, "schemas", manifest.schemas);
  write_refs(out, "modules", manifest.modules);
  write_refs(out, "workflows", manifest.workflows);
  write_refs(out, "effects", manifest.effects);
  if (!manifest.secrets.empty()) write_refs(out, "secrets", manifest.secrets);
  if (manifest.subscriptions.empty()) return;
  ObjectWriter routing;
  write_subscriptions(routing.value("subscriptions"), manifest.subscriptions);
  out.object("routing", routing);
}

}  // namespace holdfast::defs
