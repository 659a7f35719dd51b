// SPDX-License-Identifier: Apache-2.0
// A record as a document for people and programs: everything that is in it, under names.
#pragma once

#include <string>

#include "codec/buffer.h"
#include "kernel/record_view.h"

namespace holdfast::node {

// CBOR for codec::to_json.
void write_document(codec::Buffer& out, const kernel::RecordView& record);

}  // namespace holdfast::node
