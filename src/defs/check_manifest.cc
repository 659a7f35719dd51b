// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <utility>

#include "defs/check.h"
#include "defs/name.h"
#include "defs/references.h"
#include "defs/sections.h"

namespace holdfast::defs {
namespace {

using codec::Errors;

// The system's own definitions belong to every world; all others must be listed.
bool is_listed(const Manifest& manifest, std::string_view kind, std::string_view name) {
  if (is_reserved(name)) return true;
  const Section* section = section_of(kind);
  return section != nullptr && lists(manifest.*section->refs, name);
}

class ManifestChecker {
 public:
  ManifestChecker(Manifest& manifest, const std::string& place, const Catalogue& catalogue,
                  Errors& errors)
      : manifest_(manifest), place_(place), catalogue_(catalogue), errors_(errors) {}

  void run() {
    for (const Section& section : kSections) {
      for (NamedRef& ref : manifest_.*section.refs) check_ref(section, ref);
    }
  }

 private:
  void check_ref(const Section& section, NamedRef& ref) {
    const std::string path = place_ + "." + std::string(section.field);
    auto problem = reference_problem(catalogue_, section.kind, ref.name);
    if (problem) return refuse(path, std::move(*problem));
    const Entry* entry = catalogue_.find_entry(ref.name);
    if (ref.hash && *ref.hash != entry->hash) {
      refuse(path, "'" + ref.name + "' has the hash " + entry->hash.to_text() + ", not " +
                       ref.hash->to_text());
    }
    ref.hash = entry->hash;
    std::set<std::string_view> reported;  // a definition may use a name many times
    visit_references(entry->definition, [&](const Reference& used) {
      if (is_listed(manifest_, used.kind, used.name) || !reported.insert(used.name).second) return;
      refuse(path, "'" + ref.name + "' uses the " + std::string(used.kind) + " '" +
                       std::string(used.name) + "', which the manifest does not list");
    });
  }

  void refuse(const std::string& path, std::string message) {
    errors_.push_back(base::invalid(path, std::move(message)));
  }

  Manifest& manifest_;
  const std::string& place_;
  const Catalogue& catalogue_;
  Errors& errors_;
};

}  // namespace

void check_manifest(Manifest& manifest, const std::string& place, const Catalogue& catalogue,
                    Errors& errors) {
  ManifestChecker(manifest, place, catalogue, errors).run();
  std::set<std::pair<std::string_view, std::string_view>> routes;
  for (std::size_t i = 0; i < manifest.subscriptions.size(); ++i) {
    const Subscription& subscription = manifest.subscriptions[i];
    const std::string path = place + ".routing.subscriptions[" + std::to_string(i) + "]";
    if (!routes.insert({subscription.event, subscription.workflow}).second) {
      errors.push_back(base::invalid(path, "the same event goes to the same workflow twice"));
    }
    // What is not there at all is reported by check_routing.
    if (catalogue.find_entry(subscription.workflow) != nullptr &&
        !is_listed(manifest, "defworkflow", subscription.workflow)) {
      errors.push_back(base::invalid(path + ".workflow",
                                     "the manifest does not list '" + subscription.workflow + "'"));
    }
    if (catalogue.find_entry(subscription.event) != nullptr &&
        !is_listed(manifest, "defschema", subscription.event)) {
      errors.push_back(base::invalid(path + ".event",
                                     "the manifest does not list '" + subscription.event + "'"));
    }
  }
  check_routing(manifest, place, catalogue, errors);
}

}  // namespace holdfast::defs
