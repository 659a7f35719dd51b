// SPDX-License-Identifier: Apache-2.0
// Any text may be a bundle, in JSON or in YAML. If it loads, each definition printed as JSON and
// read again is the same definition, and all of them printed make the same bundle.
#include "base/check.h"
#include "base/sha256.h"
#include "bundle/yaml.h"
#include "codec/json_writer.h"
#include "defs/builtin.h"
#include "defs/load.h"

namespace {

using namespace holdfast;

defs::Bundle load(std::string json) {
  static const defs::Catalogue builtin = defs::builtin_catalogue();
  return defs::load({{"f", std::move(json)}}, &builtin);
}

void append(std::string& list, const defs::Entry& entry) {
  CHECK(base::sha256(entry.canonical) == entry.hash);
  list += (list.empty() ? "[" : ",") + codec::to_json(codec::View::of(entry.canonical));
}

void check(const defs::Bundle& bundle) {
  std::string printed;
  for (const auto& [name, entry] : bundle.catalogue.entries()) append(printed, entry);
  if (bundle.manifest) append(printed, *bundle.manifest);
  if (printed.empty()) return;
  const defs::Bundle again = load(printed + "]");
  CHECK(again.errors.empty());
  CHECK(again.catalogue.entries().size() == bundle.catalogue.entries().size());
  for (const auto& [name, entry] : bundle.catalogue.entries())
    CHECK(again.catalogue.find_entry(name)->hash == entry.hash);
  CHECK(again.manifest.has_value() == bundle.manifest.has_value());
  if (bundle.manifest) CHECK(again.manifest->hash == bundle.manifest->hash);
}

}  // namespace

// The first byte picks the language: an odd one is YAML.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string text(base::as_text({data + 1, size - 1}));
  if (data[0] % 2 == 1) {
    auto json = bundle::yaml_to_json(text);
    if (!json) return 0;
    text = std::move(*json);
  }
  const defs::Bundle bundle = load(std::move(text));
  if (bundle.errors.empty()) check(bundle);
  return 0;
}
