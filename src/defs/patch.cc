// SPDX-License-Identifier: Apache-2.0
#include "defs/patch.h"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/sha256.h"
#include "codec/cbor_writer.h"
#include "codec/normaliser.h"
#include "defs/forms.h"
#include "defs/sections.h"

namespace holdfast::defs {
namespace {

// The canonical bytes of a value that was written in any order.
base::Result<base::Bytes> canonical(const codec::Buffer& loose) {
  codec::Normaliser normaliser;
  const base::ByteView made =
      TRY(normaliser.from_cbor(codec::Schema::any(), loose.view(), codec::Strictness::kLenient));
  return base::Bytes(made.begin(), made.end());
}

class Patcher {
 public:
  Patcher(const Bundle& base, const Catalogue* below)
      : base_(base), below_(below), manifest_(std::get<Manifest>(base.manifest->definition)) {
    for (const auto& [name, entry] : base.catalogue.entries()) definitions_.emplace(name, &entry);
  }

  Bundle run(View patch) {
    Fields fields(patch, "$", errors_);
    if (fields.optional_text("version").value_or("2") != "2")
      fields.refuse("version", "expected \"2\"");
    expect(fields, "base_manifest_hash", base_.manifest->hash, "the manifest");
    const std::vector<View> operations = fields.list("patches");
    if (patch.kind() == codec::ViewKind::kMap && operations.empty())
      fields.refuse("patches", "there is nothing to do");
    std::size_t index = 0;
    for (const View operation : operations)
      perform(operation, fields.path_of("patches") + "[" + std::to_string(index++) + "]");
    fields.finish();
    return errors_.empty() ? load_result() : refused();
  }

 private:
  using Operation = void (Patcher::*)(Fields&);
  struct Named {
    std::string_view name;
    Operation operation;
  };
  static constexpr std::array<Named, 5> operations() {
    return {{{"add_def", &Patcher::add_def},
             {"replace_def", &Patcher::replace_def},
             {"remove_def", &Patcher::remove_def},
             {"set_manifest_refs", &Patcher::set_manifest_refs},
             {"set_routing_subscriptions", &Patcher::set_routing_subscriptions}}};
  }

  void perform(View operation, const std::string& path) {
    Fields fields(operation, path, errors_);
    std::size_t found = 0;
    for (const Named& known : operations()) {
      const auto body = fields.optional(known.name);
      if (!body) continue;
      ++found;
      Fields parts(*body, fields.path_of(known.name), errors_);
      if (body->kind() == codec::ViewKind::kMap) (this->*known.operation)(parts);
      parts.finish();
    }
    if (found != 1 && operation.kind() == codec::ViewKind::kMap)
      errors_.push_back(base::invalid(path, "expected one operation"));
    fields.finish();
  }

  void add_def(Fields& fields) {
    const Section* section = read_kind(fields);
    auto made = read_definition(fields, "node", section);
    if (!made) return;
    const std::string name(name_of(made->definition));
    if (definitions_.contains(name))
      return fields.refuse("node", "'" + name + "' is there already");
    put(*section, name, std::move(*made));
  }

  void replace_def(Fields& fields) {
    const Section* section = read_kind(fields);
    const std::string name = fields.name("name");
    auto made = read_definition(fields, "new_node", section);
    if (!expect_definition(fields, section, name) || !made) return;
    if (name_of(made->definition) != name)
      return fields.refuse("new_node", "its name is another one");
    put(*section, name, std::move(*made));
  }

  void remove_def(Fields& fields) {
    const Section* section = read_kind(fields);
    const std::string name = fields.name("name");
    if (!expect_definition(fields, section, name)) return;
    definitions_.erase(name);
    unlist(*section, name);
  }

  void set_manifest_refs(Fields& fields) {
    std::size_t index = 0;
    for (const View element : fields.optional_list("add")) {
      Fields ref(element, fields.path_of("add") + "[" + std::to_string(index++) + "]", errors_);
      const Section* section = read_kind(ref);
      NamedRef made{ref.name("name"), ref.optional_hash("hash")};
      ref.finish();
      if (section != nullptr) list(*section, std::move(made));
    }
    index = 0;
    for (const View element : fields.optional_list("remove")) {
      Fields ref(element, fields.path_of("remove") + "[" + std::to_string(index++) + "]", errors_);
      const Section* section = read_kind(ref);
      const std::string name = ref.name("name");
      ref.finish();
      if (section != nullptr && !unlist(*section, name))
        ref.refuse("name", "the manifest does not list '" + name + "'");
    }
  }

  void set_routing_subscriptions(Fields& fields) {
    expect(fields, "pre_hash", hash_of(manifest_.subscriptions), "the list");
    manifest_.subscriptions =
        read_subscriptions(fields.list("subscriptions"), fields.path_of("subscriptions"), errors_);
  }

  const Section* read_kind(Fields& fields) {
    const std::string kind = fields.text("kind");
    const Section* section = section_of(kind);
    if (section == nullptr && !kind.empty()) fields.refuse("kind", "there is no such kind");
    return section;
  }

  std::optional<Entry> read_definition(Fields& fields, std::string_view field,
                                       const Section* section) {
    const auto node = fields.required(field);
    if (!node || section == nullptr) return std::nullopt;
    auto parsed = parse_definition(*node, fields.path_of(field), errors_);
    if (!parsed) return std::nullopt;
    if (kind_of(*parsed) != section->kind)
      return fields.refuse(field, "it is a " + std::string(kind_of(*parsed))), std::nullopt;
    return make_entry(std::move(*parsed), fields.path_of(field));
  }

  // That the definition to be changed is the one that the patch was made against.
  bool expect_definition(Fields& fields, const Section* section, const std::string& name) {
    const auto found = definitions_.find(name);
    if (found == definitions_.end()) {
      fields.optional("pre_hash");
      fields.refuse("name", "there is no definition '" + name + "'");
      return false;
    }
    if (section != nullptr && kind_of(found->second->definition) != section->kind) {
      fields.refuse("kind",
                    "'" + name + "' is a " + std::string(kind_of(found->second->definition)));
      return false;
    }
    return expect(fields, "pre_hash", found->second->hash, "'" + name + "'") && section != nullptr;
  }

  bool expect(Fields& fields, std::string_view field, const base::Hash& present,
              const std::string& what) {
    const auto given = fields.optional_hash(field);
    if (given == present) return true;
    fields.refuse(field, what + " has the hash " + present.to_text());
    return false;
  }

  void put(const Section& section, const std::string& name, Entry made) {
    list(section, {name, made.hash});
    made_.push_back(std::make_unique<Entry>(std::move(made)));
    definitions_[name] = made_.back().get();
  }

  void list(const Section& section, NamedRef ref) {
    auto& refs = manifest_.*section.refs;
    const auto at = place_of(refs, ref.name);
    if (at != refs.end() && at->name == ref.name) {
      *at = std::move(ref);
    } else {
      refs.insert(at, std::move(ref));
    }
  }

  bool unlist(const Section& section, const std::string& name) {
    auto& refs = manifest_.*section.refs;
    if (!lists(refs, name)) return false;
    refs.erase(place_of(refs, name));
    return true;
  }

  Bundle load_result() {
    const Entry manifest = make_entry(manifest_, "manifest");
    codec::Buffer loose;
    codec::write_list_head(loose, definitions_.size() + 1);
    const auto append = [&](const Entry& entry) {
      loose.append(base::ByteView(entry.canonical).subspan(sizeof codec::kSelfDescribe));
    };
    for (const auto& [name, entry] : definitions_) append(*entry);
    append(manifest);
    auto value = canonical(loose);
    if (!value) {
      errors_.push_back(std::move(value).error());
      return refused();
    }
    return load(View::of(*value), "the patched manifest: $", below_);
  }

  Bundle refused() {
    Bundle bundle(below_);
    bundle.errors = std::move(errors_);
    return bundle;
  }

  const Bundle& base_;
  const Catalogue* below_;
  Manifest manifest_;
  std::map<std::string, const Entry*> definitions_;
  std::vector<std::unique_ptr<Entry>> made_;
  Errors errors_;
};

}  // namespace

base::Hash hash_of(const std::vector<Subscription>& subscriptions) {
  codec::Buffer loose;
  write_subscriptions(loose, subscriptions);
  const auto bytes = canonical(loose);
  CHECK(bytes.has_value());  // they were read from a value
  return base::sha256(*bytes);
}

Bundle apply_patch(const Bundle& base, View patch, const Catalogue* below) {
  return Patcher(base, below).run(patch);
}

}  // namespace holdfast::defs
