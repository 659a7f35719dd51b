// SPDX-License-Identifier: Apache-2.0
// InstanceImage: an instance that has not ended as one value: its state, the effects that it has
// open and the mail that waits for it. It is taken of a world of the past, stands in the tick that
// reopens the instance (ReopenInstance), and holds all that the tick needs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "codec/buffer.h"
#include "kernel/mail.h"

namespace holdfast::kernel {

struct InstanceImage {
  struct Effect {
    std::string name;
    base::Bytes params;
    std::string issuer_ref;
  };

  std::optional<base::Bytes> state;  // nothing: it had not taken a step
  std::vector<base::Bytes> parts;    // of the state, in order
  std::vector<Effect> effects;       // open, in the order of their opening
  std::vector<Mail> mail;            // with its values
  base::Bytes trace;                 // of the event that began it; empty: none

  // The message of a step that was about to be taken. For those who look; it is not written.
  std::optional<Mail> taken = {};
};

// [1, state or null, parts, effects, mail, trace], with the self-describe tag.
void write_image(codec::Buffer& out, const InstanceImage& image);

// Nothing: the bytes are none, or larger than one may be.
std::optional<InstanceImage> read_image(base::ByteView bytes);

}  // namespace holdfast::kernel
