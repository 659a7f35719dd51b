// SPDX-License-Identifier: Apache-2.0
// Patch: a manifest told by how it differs from another one. Each operation names what it expects
// to find by its hash, so that a patch made against something else is refused instead of doing
// half of what was meant.
//
//   {"base_manifest_hash": HASH, "patches": [
//     {"add_def": {"kind": KIND, "node": DEFINITION}},
//     {"replace_def": {"kind": KIND, "name": NAME, "new_node": DEFINITION, "pre_hash": HASH}},
//     {"remove_def": {"kind": KIND, "name": NAME, "pre_hash": HASH}},
//     {"set_manifest_refs": {"add": [{"kind", "name", "hash"}], "remove": [{"kind", "name"}]}},
//     {"set_routing_subscriptions": {"pre_hash": HASH, "subscriptions": [...]}}]}
//
// The operations are done in order. What add_def and replace_def bring is also listed in the
// manifest, what remove_def takes away is not any more; set_manifest_refs is for the rest, such as
// the system's own definitions.
#pragma once

#include "defs/load.h"

namespace holdfast::defs {

// The hash that set_routing_subscriptions expects: of the list as a canonical value.
base::Hash hash_of(const std::vector<Subscription>& subscriptions);

// The patched bundle, checked as a whole like any other. `base` is a bundle without errors that
// has a manifest.
Bundle apply_patch(const Bundle& base, codec::View patch, const Catalogue* below);

}  // namespace holdfast::defs
