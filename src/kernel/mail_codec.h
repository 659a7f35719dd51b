// SPDX-License-Identifier: Apache-2.0
// The bytes of mail in the cell index. A few small messages stand inside their cell; a mailbox with
// more is a list of chunks (kernel/chunks.h). Large values are blobs of their own in both, so that
// no leaf of the index comes near what a blob may be.
#pragma once

#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "codec/buffer.h"
#include "codec/view.h"
#include "kernel/blobs.h"
#include "kernel/mailbox.h"

namespace holdfast::kernel {

// How much mail, encoded, stands inside a cell.
inline constexpr std::size_t kInlineMailBytes = std::size_t{16} << 10;

// One message.
void write_mail(codec::Buffer& out, const Mail& mail);
bool read_mail(codec::View view, Mail& mail);  // false: it is none

// Two items: the messages that stand here, and the hashes of the chunks that have the others. Large
// values must have been put away.
base::Result<void> write_mailbox(codec::Buffer& out, const Mailbox& mail, Blobs& blobs);

// What these two say; the chunks are not read yet. False: they are damaged.
bool read_mailbox(codec::View here, codec::View chunked, Mailbox& mail,
                  std::vector<base::Hash>& chunks);

// The messages of a chunk, in order.
base::Result<void> read_mail_chunk(base::ByteView chunk, Mailbox& mail);

}  // namespace holdfast::kernel
