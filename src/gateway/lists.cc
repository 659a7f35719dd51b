// SPDX-License-Identifier: Apache-2.0
// GET /v1/instances: lists of instances, from the index behind the world.
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <utility>

#include "codec/view.h"
#include "gateway/board/why_many.h"
#include "gateway/comma_list.h"
#include "gateway/documents.h"
#include "gateway/field_match.h"
#include "gateway/handlers.h"
#include "gateway/sift_place.h"

namespace holdfast::gateway {
namespace {

constexpr std::uint64_t kMostInstances = 1000;
constexpr std::size_t kMostSifted = 200;  // instances whose values are looked at for one part
constexpr std::size_t kReadAtOnce = 16;
constexpr std::size_t kMuchAtOnce = std::size_t{1} << 20;  // bytes; then the rest is read later
constexpr std::uint64_t kMostSince = std::uint64_t{1} << 62;
constexpr std::array<std::string_view, 6> kInstanceStatuses{"running", "waiting",   "completed",
                                                            "failed",  "cancelled", "deleted"};

// `why`: what put_why wrote; empty: nothing.
void put_listed(codec::Buffer& out, const ListedInstance& instance, const Bytes& why) {
  const bool has_error = !instance.error_code.empty();
  codec::write_map_head(out, 11u + (has_error ? 1u : 0u) + (why.empty() ? 0u : 1u));
  put(out, "workflow", instance.workflow);
  put_value(out, "key", instance.key);
  put(out, "status", instance.status);
  put_flag(out, "paused", instance.is_paused);
  put_number(out, "first_record", instance.first_record);
  put_number(out, "first_ns", instance.first_ns);
  put_number(out, "last_record", instance.last_record);
  put_number(out, "last_ns", instance.last_ns);
  put_number(out, "ended_record", instance.ended_record);
  put_number(out, "ended_ns", instance.ended_ns);
  put_number(out, "steps", instance.steps);
  if (!why.empty()) put_value(out, "why", why);
  if (!has_error) return;
  codec::write_text(out, "error");
  codec::write_map_head(out, 2);
  put(out, "code", instance.error_code);
  put(out, "message", instance.error_message);
}

// How many there are, where the counters know: they go by workflow and status. Instances that were
// deleted do not count.
std::optional<std::uint64_t> total_of(Exchange& exchange, const InstanceList& list) {
  for (const char* name : {"paused", "since", "until", "key", "code", "words", "where", "reason"})
    if (!exchange.text_in_query(name).empty()) return std::nullopt;
  const std::string& workflow = exchange.text_in_query("workflow");
  const auto statuses = words_in(exchange.text_in_query("status"));
  std::uint64_t total = 0;
  for (const InstanceCount& each : list.counts) {
    if (!workflow.empty() && each.workflow != workflow) continue;
    if (statuses.empty() || std::ranges::find(statuses, each.status) != statuses.end())
      total += each.count;
  }
  return total;
}

void put_list(Exchange& exchange, const InstanceList& list, const std::vector<Bytes>& reasons) {
  codec::Buffer& out = exchange.document();
  codec::write_map_head(out, 5);
  codec::write_text(out, "instances");
  codec::write_list_head(out, list.instances.size());
  for (std::size_t i = 0; i < list.instances.size(); ++i)
    put_listed(out, list.instances[i], reasons.empty() ? Bytes() : reasons[i]);
  put_number_or_null(out, "next", list.next);
  codec::write_text(out, "total");
  if (const auto total = total_of(exchange, list))
    codec::write_nat(out, *total);
  else
    codec::write_null(out);
  put_number(out, "seen", list.seen);
  put_number(out, "lag", list.lag);
  exchange.answer(200);
}

// With ?why=1 also why each instance that has not ended waits, up to so many in one part.
constexpr std::uint64_t kMostWithReasons = 200;

// Explains the instances of a list that have not ended; the others have an empty document.
void explain_list(Exchange& exchange, InstanceList list,
                  std::function<void(Exchange&, InstanceList, std::vector<Bytes> reasons)> then) {
  std::vector<Engine::RawName> names;
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < list.instances.size(); ++i) {
    const ListedInstance& row = list.instances[i];
    if (row.status != "waiting" && row.status != "running") continue;
    names.push_back({row.workflow, row.key});
    rows.push_back(i);
  }
  explain_many(exchange, std::move(names),
               [list = std::move(list), rows = std::move(rows), then = std::move(then)](
                   Exchange& self, std::vector<Bytes> documents) mutable {
                 std::vector<Bytes> reasons(list.instances.size());
                 for (std::size_t i = 0; i < rows.size(); ++i)
                   reasons[rows[i]] = std::move(documents[i]);
                 then(self, std::move(list), std::move(reasons));
               });
}

void answer_with_list(Exchange& exchange, Result<InstanceList> list) {
  if (!list) return exchange.refuse(list.error(), ProblemCode::kHistory);
  if (exchange.text_in_query("why") != "1") return put_list(exchange, *list, {});
  auto place = SiftPlace::take(exchange);
  if (!place) return;
  explain_list(
      exchange, std::move(*list),
      [place](Exchange& self, const InstanceList& explained, const std::vector<Bytes>& reasons) {
        place->give_back();
        put_list(self, explained, reasons);
      });
}

// Only those that wait for this: a kind of reason, or a kind, a space and its subject, as
// GET /v1/waits names them.
bool waits_for(const Bytes& document, std::string_view wanted) {
  if (document.empty()) return false;
  const auto reason = main_reason(codec::View::of(document));
  if (!reason) return false;
  const WaitKind kind = wait_kind(*reason);
  return wanted == kind.kind || wanted == kind.kind + " " + kind.subject;
}

void answer_waiting_for(Exchange& exchange, const std::shared_ptr<SiftPlace>& place,
                        std::size_t wanted, InstanceList list) {
  explain_list(exchange, std::move(list),
               [place, wanted](Exchange& self, InstanceList explained, std::vector<Bytes> reasons) {
                 const std::string& reason = self.text_in_query("reason");
                 const bool shows = self.text_in_query("why") == "1";
                 std::vector<ListedInstance> kept;
                 std::vector<Bytes> shown;
                 for (std::size_t i = 0; i < explained.instances.size(); ++i) {
                   if (!waits_for(reasons[i], reason)) continue;
                   if (kept.size() == wanted) {
                     explained.next = kept.back().place;
                     break;
                   }
                   kept.push_back(std::move(explained.instances[i]));
                   if (shows) shown.push_back(std::move(reasons[i]));
                 }
                 explained.instances = std::move(kept);
                 place->give_back();
                 put_list(self, explained, shown);
               });
}

// A list of which only those are wanted whose values match. They are read in the world, some at a
// time, so that others have their turn in between, until there are as many as are wanted.
struct Sifting {
  std::shared_ptr<SiftPlace> place;
  FieldMatch match;
  std::size_t wanted;
  InstanceList list;
  std::size_t looked_at = 0;
  std::vector<ListedInstance> kept = {};
};

// What was looked at beyond the last that is wanted is looked at again for the next part.
void answer_sifted(Exchange& exchange, Sifting& sifting) {
  std::vector<ListedInstance>& all = sifting.list.instances;
  if (sifting.kept.size() > sifting.wanted) sifting.kept.resize(sifting.wanted);
  const std::uint64_t last = all.empty() ? 0 : all.back().place;
  if (sifting.kept.size() == sifting.wanted && sifting.kept.back().place != last)
    sifting.list.next = sifting.kept.back().place;
  all = std::move(sifting.kept);
  sifting.place->give_back();  // who has the answer may ask again at once
  answer_with_list(exchange, std::move(sifting.list));
}

void sift(Exchange& exchange, const std::shared_ptr<Sifting>& sifting) {
  std::vector<ListedInstance>& all = sifting->list.instances;
  if (sifting->looked_at == all.size() || sifting->kept.size() >= sifting->wanted)
    return answer_sifted(exchange, *sifting);
  const std::size_t begin = sifting->looked_at;
  std::vector<Engine::RawName> names;
  for (std::size_t i = begin; i < std::min(all.size(), begin + kReadAtOnce); ++i)
    names.push_back({all[i].workflow, all[i].key});
  exchange.service().engine.query_raw(
      std::move(names),
      exchange.later<Engine::RawInstances>(
          [sifting, begin](Exchange& self, const Result<Engine::RawInstances>& found) {
            if (!found) return self.refuse(found.error());
            sifting->looked_at = begin + found->size();
            for (std::size_t i = 0; i < found->size(); ++i) {
              const Result<RawInstance>& one = (*found)[i];
              if (!one && one.error().code == ErrorCode::kNotFound) continue;  // it is gone
              if (!one) return self.refuse(one.error());
              ListedInstance& row = sifting->list.instances[begin + i];
              codec::Buffer document;
              put_instance(document, row.workflow, row.key, *one,
                           self.service().definitions.graph_of(row.workflow));
              if (sifting->match.holds(codec::View::of(document.view())))
                sifting->kept.push_back(std::move(row));
            }
            sift(self, sifting);
          }),
      kMuchAtOnce);
}

// Nothing: it is answered already.
std::optional<ListOptions> options_of(Exchange& exchange) {
  ListOptions options;
  const auto since = exchange.number_in_query("since", 0, kMostSince);
  if (!since) return std::nullopt;
  const auto until = exchange.number_in_query("until", 0, kMostSince);
  if (!until) return std::nullopt;
  const auto why = exchange.number_in_query("why", 0, 1);
  if (!why) return std::nullopt;
  const auto limit =
      exchange.limit_in_query(options.limit, *why == 1 ? kMostWithReasons : kMostInstances);
  if (!limit) return std::nullopt;
  const auto after = exchange.number_in_query("after", 0, kMostSince);
  if (!after) return std::nullopt;
  constexpr std::uint64_t kNotSaid = 2;
  const bool says_paused = !exchange.text_in_query("paused").empty();
  const auto paused = exchange.number_in_query("paused", kNotSaid, 1);
  if (!paused) return std::nullopt;
  options.workflow = exchange.text_in_query("workflow");
  options.status = exchange.text_in_query("status");
  options.words = exchange.text_in_query("words");
  options.key = exchange.text_in_query("key");
  options.code = exchange.text_in_query("code");
  if (says_paused) options.paused = *paused == 1;
  options.since_ns = *since;
  options.until_ns = *until;
  options.after = *after;
  options.limit = *limit;
  options.counts = true;
  for (const std::string& status : words_in(options.status)) {
    if (std::ranges::find(kInstanceStatuses, status) != kInstanceStatuses.end()) continue;
    exchange.refuse({ProblemCode::kBadTarget, "there is no status '" + status + "'"});
    return std::nullopt;
  }
  return options;
}

}  // namespace

void list_instances(Exchange& exchange) {
  auto options = options_of(exchange);
  if (!options) return;
  const std::string& where = exchange.text_in_query("where");
  if (!exchange.text_in_query("reason").empty()) {
    if (!where.empty())
      return exchange.refuse({ProblemCode::kBadTarget, "reason and where cannot be combined"});
    if (options->status.empty()) options->status = "waiting,running";
    auto place = SiftPlace::take(exchange);
    if (!place) return;
    const std::size_t wanted = options->limit;
    options->limit = kMostSifted;
    return exchange.service().engine.list_raw(
        std::move(*options),
        exchange.later<InstanceList>([place, wanted](Exchange& self, Result<InstanceList> list) {
          if (!list) return self.refuse(list.error(), ProblemCode::kHistory);
          answer_waiting_for(self, place, wanted, std::move(*list));
        }));
  }
  if (where.empty()) {
    return exchange.service().engine.list_raw(std::move(*options),
                                              exchange.later<InstanceList>(answer_with_list));
  }
  auto match = FieldMatch::parse(where);
  if (!match) return exchange.refuse({ProblemCode::kBadTarget, match.error().to_string()});
  auto place = SiftPlace::take(exchange);
  if (!place) return;
  const std::size_t wanted = options->limit;
  options->limit = kMostSifted;
  exchange.service().engine.list_raw(
      std::move(*options),
      exchange.later<InstanceList>([place = std::move(place), match = std::move(*match), wanted](
                                       Exchange& self, Result<InstanceList> list) {
        if (!list) return self.refuse(list.error(), ProblemCode::kHistory);
        sift(self, std::make_shared<Sifting>(Sifting{place, match, wanted, std::move(*list)}));
      }));
}

}  // namespace holdfast::gateway
