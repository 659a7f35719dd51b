// SPDX-License-Identifier: Apache-2.0
#include "page/files.h"

namespace holdfast::page {

const File* find(std::string_view name) noexcept {
  for (const File& file : files())
    if (file.name == name) return &file;
  return nullptr;
}

}  // namespace holdfast::page
