// SPDX-License-Identifier: Apache-2.0
#include "defs/load.h"

#include <utility>

#include "base/check.h"
#include "codec/cbor_writer.h"
#include "codec/limits.h"
#include "codec/normaliser.h"
#include "defs/check.h"
#include "defs/name.h"
#include "defs/sections.h"

namespace holdfast::defs {
namespace {

using codec::View;

class Loader {
 public:
  Loader(const Catalogue* below, Reserved reserved)
      : bundle_(below), below_(below), reserved_(reserved) {}

  Bundle run(const std::vector<Document>& documents) {
    for (const Document& document : documents) read(document);
    return finish();
  }

  Bundle run(View definitions, const std::string& place) {
    read(definitions, place);
    return finish();
  }

 private:
  Bundle finish() {
    check_definitions(bundle_.catalogue, bundle_.errors);
    if (bundle_.manifest) {
      std::string place = bundle_.manifest->place;
      Manifest manifest = std::get<Manifest>(std::move(bundle_.manifest->definition));
      check_manifest(manifest, place, bundle_.catalogue, bundle_.errors);
      bundle_.manifest = make_entry(std::move(manifest), std::move(place));
    }
    return std::move(bundle_);
  }

  void read(const Document& document) {
    auto value = normaliser_.from_json(any_, document.json);
    if (!value) return bundle_.errors.push_back(std::move(value).error().within(document.file));
    read(View::of(*value), document.file + ": $");
  }

  void read(View root, const std::string& place) {
    if (root.kind() != codec::ViewKind::kList) return definition(root, place);
    if (root.size() == 0) refuse(place, "there is no definition in it");
    std::size_t index = 0;
    for (const View element : root.elements()) {
      definition(element, place + "[" + std::to_string(index++) + "]");
    }
  }

  void definition(View object, const std::string& place) {
    auto parsed = parse_definition(object, place, bundle_.errors);
    if (!parsed) return;
    if (count_++ >= kMaxDefinitions) {
      if (count_ == kMaxDefinitions + 1) {
        refuse(place, "more than " + std::to_string(kMaxDefinitions) + " definitions");
      }
      return;
    }
    if (std::holds_alternative<Manifest>(*parsed)) return manifest(std::move(*parsed), place);
    const std::string name(name_of(*parsed));
    if (is_reserved(name) && reserved_ == Reserved::kRefused) {
      return refuse(place + ".name",
                    "'" + name + "' is reserved: names under sys/ belong to the system");
    }
    const Entry* before = below_ == nullptr ? nullptr : below_->find_entry(name);
    if (before == nullptr) before = bundle_.catalogue.add(make_entry(std::move(*parsed), place));
    if (before != nullptr)
      refuse(place, "'" + name + "' is defined twice, first at " + before->place);
  }

  void manifest(Definition parsed, const std::string& place) {
    if (bundle_.manifest)
      return refuse(place, "a second manifest; the first is at " + bundle_.manifest->place);
    // Its hash is known once the hashes that it lists are.
    bundle_.manifest = Entry{std::move(parsed), {}, {}, place};
  }

  void refuse(const std::string& place, std::string message) {
    bundle_.errors.push_back(base::invalid(place, std::move(message)));
  }

  Bundle bundle_;
  const Catalogue* below_;
  Reserved reserved_;
  codec::Schema any_ = codec::Schema::any();
  codec::Normaliser normaliser_;
  std::size_t count_ = 0;
};

}  // namespace

Bundle load(const std::vector<Document>& documents, const Catalogue* below, Reserved reserved) {
  return Loader(below, reserved).run(documents);
}

Bundle load(View definitions, const std::string& place, const Catalogue* below) {
  return Loader(below, Reserved::kRefused).run(definitions, place);
}

base::Result<base::Bytes> closure_of(const Bundle& bundle) {
  if (!bundle.manifest) return base::invalid("", "there is no manifest");
  std::vector<const Entry*> listed;
  for (const Section& section : kSections) {
    for (const NamedRef& ref : std::get<Manifest>(bundle.manifest->definition).*section.refs) {
      if (is_reserved(ref.name)) continue;
      listed.push_back(bundle.catalogue.find_entry(ref.name));
      CHECK(listed.back() != nullptr);
    }
  }
  listed.push_back(&*bundle.manifest);
  codec::Buffer out;
  out.append(codec::kSelfDescribe, sizeof codec::kSelfDescribe);
  codec::write_list_head(out, listed.size());
  for (const Entry* entry : listed) {
    out.append(base::ByteView(entry->canonical).subspan(sizeof codec::kSelfDescribe));
  }
  if (out.size() > codec::kMaxValueBytes)
    return base::Error(base::ErrorCode::kTooLarge, "the definitions are more than 16 MiB");
  return out.to_bytes();
}

}  // namespace holdfast::defs
