// SPDX-License-Identifier: Apache-2.0
// Checks that look across definitions: names that lead nowhere or to the wrong kind, types that
// contain themselves, event types that cannot be routed, manifests that do not hold together.
// Each error names the file and the place of the definition that is wrong.
#pragma once

#include "defs/catalogue.h"

namespace holdfast::defs {

void check_definitions(const Catalogue& catalogue, codec::Errors& errors);

// The part of it that is about schemas; more is checked where every reference is known to be good.
void check_types(const Catalogue& catalogue, bool references_good, codec::Errors& errors);

// Also fills in the hash of every definition that the manifest lists.
void check_manifest(Manifest& manifest, const std::string& place, const Catalogue& catalogue,
                    codec::Errors& errors);

// Subscriptions: that the event fits the workflow, and that its key can be found.
void check_routing(const Manifest& manifest, const std::string& place, const Catalogue& catalogue,
                   codec::Errors& errors);

}  // namespace holdfast::defs
