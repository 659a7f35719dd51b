// SPDX-License-Identifier: Apache-2.0
#include "env/system_error.h"

#include <system_error>
#include <utility>

namespace holdfast::env {
namespace {

base::ErrorCode code_of(int number) {
  switch (number) {
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE: return base::ErrorCode::kUnavailable;
    case ENOENT: return base::ErrorCode::kNotFound;
    default: return base::ErrorCode::kIo;
  }
}

}  // namespace

base::Error system_error(std::string where, std::string_view call, int number) {
  base::Error error(code_of(number), std::move(where),
                    std::string(call) + ": " + std::system_category().message(number));
  const bool lacks_descriptors = number == EMFILE || number == ENFILE;
  using Origin = base::Error::Origin;
  return std::move(error).from(lacks_descriptors ? Origin::kDescriptors : Origin::kSystem);
}

}  // namespace holdfast::env
