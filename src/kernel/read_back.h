// SPDX-License-Identifier: Apache-2.0
// ReadBack: whether what comes back from blobs can be used with the program that runs. That the
// hash of a blob is right says that somebody wrote it, not that this world did; machines and the
// kernel look into values without checking them again.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/error.h"
#include "codec/normaliser.h"
#include "kernel/cell.h"
#include "kernel/program.h"

namespace holdfast::kernel {

class Intent;

inline base::Error corrupt(std::string_view what) {
  return {base::ErrorCode::kCorrupt, std::string(what)};
}

class ReadBack {
 public:
  // Which must outlive this, or be followed by another.
  void use(const Program& program) { program_ = &program; }

  // The cell has all but what is in blobs.
  bool fits(const Cell& cell);
  bool state_fits(const Cell& cell, base::ByteView state);
  bool outcome_fits(base::ByteView outcome);
  bool mail_fits(std::uint32_t workflow, const Mail& mail);  // its value too, if it is there
  bool fits(const Intent& intent);

 private:
  bool is_canonical(const codec::Schema& schema, base::ByteView value);
  bool value_fits(const codec::Schema& schema, const Mail& mail);
  bool key_fits(std::uint32_t workflow, base::ByteView key);

  const Program* program_ = nullptr;
  codec::Normaliser normaliser_;
};

}  // namespace holdfast::kernel
