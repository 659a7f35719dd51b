// SPDX-License-Identifier: Apache-2.0
#include "tasks/policy.h"

#include <array>

#include "tasks/amounts.h"
#include "tasks/close_word.h"
#include "tasks/limits.h"
#include "tasks/names.h"

namespace holdfast::tasks {
namespace {

constexpr std::array<std::string_view, 2> kConcurrencyKeys{"key", "limit"};
constexpr std::array<std::string_view, 3> kEffectsWords{"none", "idempotent", "external"};

class PolicyReader {
 public:
  PolicyReader(View spec, Scene& scene) : spec_(spec), scene_(scene) {}

  Policy read() {
    Policy policy;
    policy.priority = static_cast<std::int32_t>(
        number("priority", -kMaxPriority, kMaxPriority, "from -1000000 to 1000000").value_or(0));
    policy.concurrency = read_concurrency();
    policy.max_attempts = read_max_attempts();
    policy.timeout_ns = read_duration("timeout");
    policy.queue_timeout_ns = read_duration("queueTimeout");
    policy.effects = read_effects();
    policy.replayable = scene_.boolean(spec_, "replayable", root_).value_or(false);
    policy.preemptible = scene_.boolean(spec_, "preemptible", root_).value_or(false);
    return policy;
  }

 private:
  std::optional<std::int64_t> number(std::string_view key, std::int64_t least, std::int64_t most,
                                     const char* range) {
    const auto value = member(spec_, key);
    if (!value) return std::nullopt;
    const auto given = value->integer();
    if (given && *given >= least && *given <= most) return given;
    scene_.refuse(root_.key(key), std::string("expected a whole number ") + range);
    return std::nullopt;
  }

  std::optional<std::uint32_t> read_max_attempts() {
    const auto given =
        number("maxAttempts", -1, kMaxAttempts, "from 1 to 1000000, or -1 for no limit");
    if (given == -1) return std::nullopt;
    if (given == 0)
      scene_.refuse(root_.key("maxAttempts"), "with 0 attempts the task can never run");
    return static_cast<std::uint32_t>(given.value_or(kDefaultMaxAttempts));
  }

  std::uint64_t read_duration(std::string_view key) {
    const auto value = member(spec_, key);
    if (!value) return 0;
    const auto nanoseconds = duration_ns_of(*value);
    if (!nanoseconds)
      scene_.refuse(root_.key(key), "expected a duration up to 366 days, such as 90s or 1h30m");
    return nanoseconds.value_or(0);
  }

  Effects read_effects() {
    const auto word = scene_.literal_text(spec_, "effects", root_);
    if (!word) return Effects::kIdempotent;
    for (std::size_t i = 0; i < kEffectsWords.size(); ++i) {
      if (kEffectsWords[i] == *word) return static_cast<Effects>(i);
    }
    scene_.refuse(root_.key("effects"), "expected none, idempotent or external, got " +
                                            quote(*word) + did_you_mean(*word, kEffectsWords));
    return Effects::kIdempotent;
  }

  std::optional<Concurrency> read_concurrency() {
    const auto map = member(spec_, "concurrency");
    const Trail where = root_.key("concurrency");
    if (!map || !scene_.expect_map(*map, where)) return std::nullopt;
    scene_.expect_keys(*map, where, kConcurrencyKeys);
    Concurrency concurrency;
    const auto key = member(*map, "key");
    if (!key) return scene_.refuse(where, "the key 'key' is missing"), std::nullopt;
    auto text = scene_.as_literal_text(*key, where.key("key"));
    const auto limit = member(*map, "limit");
    if (!limit) return scene_.refuse(where, "the key 'limit' is missing"), std::nullopt;
    const auto most = limit->integer();
    if (!most || *most < 1 || *most > kMaxConcurrency)
      return scene_.refuse(where.key("limit"), "expected a whole number from 1 to 1000000"),
             std::nullopt;
    if (!text) return std::nullopt;
    return Concurrency{std::move(*text), static_cast<std::uint32_t>(*most)};
  }

  View spec_;
  Scene& scene_;
  Trail root_{""};
};

}  // namespace

Policy read_policy(View spec, Scene& scene) { return PolicyReader(spec, scene).read(); }

}  // namespace holdfast::tasks
