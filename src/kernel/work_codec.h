// SPDX-License-Identifier: Apache-2.0
// Work inside the entry of an open intent (docs/formats/snapshot.md).
#pragma once

#include <memory>

#include "codec/buffer.h"
#include "codec/view.h"
#include "kernel/work.h"

namespace holdfast::kernel {

void write_work(codec::Buffer& out, const Work& work);

// Null: it is not well formed.
std::shared_ptr<const Work> read_work(codec::View view);

}  // namespace holdfast::kernel
