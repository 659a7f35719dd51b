// SPDX-License-Identifier: Apache-2.0
// Reads the params of an effect. The kernel has checked them against the effect's own schema, but
// which effect has which executor is the manifest's business: here they may still lack what the
// executor needs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/view.h"
#include "executors/secrets.h"
#include "kernel/outcome.h"

namespace holdfast::executors {

inline constexpr std::uint64_t kMillisecond = 1'000'000;  // in nanoseconds

class Params {
 public:
  explicit Params(base::ByteView params) : map_(codec::View::of(params)) {}

  // Null counts as absent.
  std::optional<codec::View> find(std::string_view field) const;

  base::Result<std::string_view> text(std::string_view field) const;
  base::Result<std::optional<std::string_view>> optional_text(std::string_view field) const;
  base::Result<std::optional<std::uint64_t>> optional_nat(std::string_view field) const;

 private:
  codec::View map_;
};

// A text, or bytes, as it stands there, or as sys/TextOrSecretRef@1 or sys/BytesOrSecretRef@1. The
// secrets that were used are kept in `used`, and what comes back lives as long as they do.
base::Result<std::string_view> revealed(codec::View value, std::string_view field,
                                        const SecretSource* secrets, std::vector<Secret>& used);

// How long an effect may take from when it was opened: `timeout_ns` of its params, else of its
// definition; nothing: neither says. Params that are wrong are found out when it is performed.
std::optional<std::uint64_t> asked_time_limit_ns(const kernel::OpenIntent& intent);

// How long it may take from when it is begun: the same, else what the executor allows, and never
// longer than that.
std::uint64_t time_limit_ns(const kernel::OpenIntent& intent, std::optional<std::uint64_t> asked_ns,
                            std::uint64_t most_ns);

}  // namespace holdfast::executors
