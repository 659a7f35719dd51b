// SPDX-License-Identifier: Apache-2.0
// The key that a world's node signs with: keys/node in its folder, for its owner alone. The folder
// keys may be a link to where those who may write the world cannot read.
#pragma once

#include <memory>

#include "executors/signing_key.h"
#include "store/world_folder.h"

namespace holdfast::node {

// kCorrupt: the file holds something else. kNotFound: there is none.
base::Result<std::unique_ptr<executors::SigningKey>> read_node_key(store::WorldFolder& world);

// A new one, durable when this returns.
base::Result<void> make_node_key(store::WorldFolder& world);

}  // namespace holdfast::node
