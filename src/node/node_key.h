// SPDX-License-Identifier: Apache-2.0
// The key that a world's node signs with: keys/node in its folder, for its owner alone. The folder
// keys may be a link to where those who may write the world cannot read.
#pragma once

#include <memory>

#include "executors/signing.h"
#include "store/world_folder.h"

namespace holdfast::node {

// Made when there is none. kCorrupt: the file holds something else.
base::Result<std::unique_ptr<executors::SigningKey>> node_key(store::WorldFolder& world);

}  // namespace holdfast::node
