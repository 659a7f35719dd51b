// SPDX-License-Identifier: Apache-2.0
// Ed25519 signatures (RFC 8032), by OpenSSL. A key pair is made from a secret seed of 32 bytes.
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes.h"

namespace holdfast::base {

using Ed25519Seed = std::array<std::uint8_t, 32>;
using Ed25519Key = std::array<std::uint8_t, 32>;  // public
using Ed25519Signature = std::array<std::uint8_t, 64>;

Ed25519Key ed25519_public_key(const Ed25519Seed& seed);
Ed25519Signature ed25519_sign(const Ed25519Seed& seed, ByteView message);

// False for anything that is not a signature by that key, also if sizes are wrong.
bool ed25519_verify(ByteView key, ByteView message, ByteView signature);

}  // namespace holdfast::base
