// SPDX-License-Identifier: Apache-2.0
// GET /v1/instances: lists of instances, from the index behind the world.
#include <algorithm>
#include <array>
#include <utility>

#include "gateway/documents.h"
#include "gateway/handlers.h"

namespace holdfast::gateway {
namespace {

constexpr std::uint64_t kMostInstances = 1000;
constexpr std::uint64_t kMostNumber = std::uint64_t{1} << 62;
constexpr std::array<std::string_view, 6> kStatuses{"running", "waiting",   "completed",
                                                    "failed",  "cancelled", "deleted"};

void put_listed(codec::Buffer& out, const ListedInstance& instance) {
  const bool has_error = !instance.error_code.empty();
  codec::write_map_head(out, has_error ? 10 : 9);
  put(out, "workflow", instance.workflow);
  put_value(out, "key", instance.key);
  put(out, "status", instance.status);
  put_flag(out, "paused", instance.is_paused);
  put_number(out, "first_record", instance.first_record);
  put_number(out, "first_ns", instance.first_ns);
  put_number(out, "last_record", instance.last_record);
  put_number(out, "last_ns", instance.last_ns);
  put_number(out, "steps", instance.steps);
  if (!has_error) return;
  codec::write_text(out, "error");
  codec::write_map_head(out, 2);
  put(out, "code", instance.error_code);
  put(out, "message", instance.error_message);
}

void answer_with(Exchange& exchange, const Result<InstanceList>& list) {
  if (!list) return exchange.refuse(list.error());
  codec::Buffer& out = exchange.document();
  codec::write_map_head(out, 4);
  codec::write_text(out, "instances");
  codec::write_list_head(out, list->instances.size());
  for (const ListedInstance& instance : list->instances) put_listed(out, instance);
  put_number_or_null(out, "next", list->next);
  put_number(out, "seen", list->seen);
  put_number(out, "lag", list->lag);
  exchange.answer(200);
}

// Nothing: it is answered already.
std::optional<ListOptions> options_of(Exchange& exchange) {
  ListOptions options;
  const auto since = exchange.number_in_query("since", 0, kMostNumber);
  if (!since) return std::nullopt;
  const auto limit = exchange.limit_in_query(options.limit, kMostInstances);
  if (!limit) return std::nullopt;
  const auto after = exchange.number_in_query("after", 0, kMostNumber);
  if (!after) return std::nullopt;
  constexpr std::uint64_t kNotSaid = 2;
  const bool says_paused = !exchange.text_in_query("paused").empty();
  const auto paused = exchange.number_in_query("paused", kNotSaid, 1);
  if (!paused) return std::nullopt;
  options.workflow = exchange.text_in_query("workflow");
  options.status = exchange.text_in_query("status");
  options.words = exchange.text_in_query("words");
  if (says_paused) options.paused = *paused == 1;
  options.since_ns = *since;
  options.after = *after;
  options.limit = *limit;
  if (!options.status.empty() && std::ranges::find(kStatuses, options.status) == kStatuses.end()) {
    exchange.refuse({ProblemCode::kBadTarget, "there is no status '" + options.status + "'"});
    return std::nullopt;
  }
  return options;
}

}  // namespace

void list_instances(Exchange& exchange) {
  auto options = options_of(exchange);
  if (!options) return;
  exchange.service().engine.list_raw(std::move(*options),
                                     exchange.later<InstanceList>(answer_with));
}

}  // namespace holdfast::gateway
