// SPDX-License-Identifier: Apache-2.0
#include "executors/secret.h"

#include <openssl/crypto.h>

#include <algorithm>

namespace holdfast::executors {

Secret::Secret(std::string_view bytes) : bytes_(new char[bytes.size()]), size_(bytes.size()) {
  std::copy(bytes.begin(), bytes.end(), bytes_.get());
}

void Secret::wipe() noexcept {
  if (bytes_ != nullptr) executors::wipe(bytes_.get(), size_);
}

void wipe(void* bytes, std::size_t size) noexcept { OPENSSL_cleanse(bytes, size); }

}  // namespace holdfast::executors
