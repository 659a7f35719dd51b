// SPDX-License-Identifier: Apache-2.0
#include "defs/load.h"

#include <utility>

#include "codec/normaliser.h"
#include "defs/check.h"
#include "defs/name.h"

namespace holdfast::defs {
namespace {

using codec::View;

class Loader {
 public:
  Loader(const Catalogue* below, Reserved reserved)
      : bundle_(below), below_(below), reserved_(reserved) {}

  Bundle run(const std::vector<Document>& documents) {
    for (const Document& document : documents) read(document);
    check_definitions(bundle_.catalogue, bundle_.errors);
    if (bundle_.manifest) {
      std::string place = bundle_.manifest->place;
      Manifest manifest = std::get<Manifest>(std::move(bundle_.manifest->definition));
      check_manifest(manifest, place, bundle_.catalogue, bundle_.errors);
      bundle_.manifest = make_entry(std::move(manifest), std::move(place));
    }
    return std::move(bundle_);
  }

 private:
  void read(const Document& document) {
    auto value = normaliser_.from_json(any_, document.json);
    if (!value) return bundle_.errors.push_back(std::move(value).error().within(document.file));
    const View root = View::of(*value);
    if (root.kind() != codec::ViewKind::kList) return definition(root, document.file + ": $");
    if (root.size() == 0) refuse(document.file + ": $", "there is no definition in it");
    std::size_t index = 0;
    for (const View element : root.elements()) {
      definition(element, document.file + ": $[" + std::to_string(index++) + "]");
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

}  // namespace holdfast::defs
