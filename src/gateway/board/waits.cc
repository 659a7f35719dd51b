// SPDX-License-Identifier: Apache-2.0
// GET /v1/waits: what instances wait for, counted. The newest instances that wait are looked at, up
// to a limit; how many were not is part of the answer, so that the counts add up.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "gateway/board/why_many.h"
#include "gateway/documents.h"
#include "gateway/handlers.h"
#include "gateway/sift_place.h"

namespace holdfast::gateway {
namespace {

constexpr std::uint64_t kMostExplained = 2000;
constexpr std::size_t kListedAtOnce = 200;
constexpr std::size_t kExamples = 3;
constexpr std::size_t kMostWaitGroups = 100;

struct WaitGroup {
  std::uint64_t count = 0;
  std::uint64_t oldest_ns = ~std::uint64_t{0};
  std::string sentence;
  std::vector<Engine::RawName> examples;
};

struct Counting {
  ListOptions list;
  std::uint64_t most = 0;
  std::uint64_t waiting = 0;  // as the counters have it
  std::uint64_t seen = 0;
  std::uint64_t looked_at = 0;
  std::uint64_t moved_on = 0;
  bool is_whole = false;  // every instance that waits was looked at
  std::map<std::tuple<std::string, WaitKind>, WaitGroup> groups = {};
  std::shared_ptr<SiftPlace> place = {};
};

void add(Counting& counting, const ListedInstance& row, const Bytes& document) {
  ++counting.looked_at;
  const codec::View why = codec::View::of(document);
  const auto reason = document.empty() ? std::nullopt : main_reason(why);
  if (!reason) {
    ++counting.moved_on;
    return;
  }
  std::tuple key{row.workflow, wait_kind(*reason)};
  // More kinds of reasons than anybody reads are counted together.
  if (counting.groups.size() == kMostWaitGroups && !counting.groups.contains(key))
    key = {"", WaitKind{"other", ""}};
  WaitGroup& group = counting.groups[key];
  ++group.count;
  if (group.examples.size() < kExamples) group.examples.push_back({row.workflow, row.key});
  if (row.last_ns >= group.oldest_ns) return;
  group.oldest_ns = row.last_ns;
  group.sentence = why.find("sentence")->text().value_or("");
}

void put_group(codec::Buffer& out, const std::tuple<std::string, WaitKind>& key,
               const WaitGroup& group) {
  const auto& [workflow, kind] = key;
  codec::write_map_head(out, 7);
  put(out, "workflow", workflow);
  put(out, "kind", kind.kind);
  put(out, "subject", kind.subject);
  put_number(out, "count", group.count);
  put_number(out, "oldest_ns", group.oldest_ns);
  put(out, "sentence", group.sentence);
  codec::write_text(out, "examples");
  codec::write_list_head(out, group.examples.size());
  for (const Engine::RawName& name : group.examples) {
    codec::write_map_head(out, 2);
    put(out, "workflow", name.workflow);
    put_value(out, "key", name.key);
  }
}

void answer_waits(Exchange& exchange, Counting& counting) {
  counting.place->give_back();
  // Those that the counters had and the list did not have any more.
  const std::uint64_t waiting = std::max(counting.waiting, counting.looked_at);
  std::uint64_t not_examined = waiting - counting.looked_at;
  if (counting.is_whole) counting.moved_on += std::exchange(not_examined, 0);
  using Entry = decltype(counting.groups)::const_iterator;
  std::vector<Entry> sorted;
  for (Entry at = counting.groups.begin(); at != counting.groups.end(); ++at) sorted.push_back(at);
  std::ranges::stable_sort(sorted, std::less(),
                           [](const Entry& at) { return at->second.oldest_ns; });
  codec::Buffer& out = exchange.document();
  codec::write_map_head(out, 5);
  put_number(out, "waiting", waiting);
  put_number(out, "moved_on", counting.moved_on);
  put_number(out, "not_examined", not_examined);
  codec::write_text(out, "groups");
  codec::write_list_head(out, sorted.size());
  for (const Entry& at : sorted) put_group(out, at->first, at->second);
  put_number(out, "seen", counting.seen);
  exchange.answer(200);
}

void count_next(Exchange& exchange, const std::shared_ptr<Counting>& counting);

void take_rows(Exchange& exchange, const std::shared_ptr<Counting>& counting, InstanceList list) {
  if (counting->seen == 0) {
    for (const InstanceCount& each : list.counts) {
      const bool counts =
          counting->list.workflow.empty() || counting->list.workflow == each.workflow;
      if (counts && each.status == "waiting") counting->waiting += each.count;
    }
    counting->seen = list.seen;
  }
  counting->list.counts = false;
  counting->list.after = list.next;
  counting->is_whole = list.next == 0;
  std::vector<Engine::RawName> names;
  for (const ListedInstance& row : list.instances) names.push_back({row.workflow, row.key});
  explain_many(exchange, std::move(names),
               [counting, rows = std::move(list.instances)](Exchange& self,
                                                            const std::vector<Bytes>& documents) {
                 for (std::size_t i = 0; i < rows.size(); ++i)
                   add(*counting, rows[i], documents[i]);
                 count_next(self, counting);
               });
}

void count_next(Exchange& exchange, const std::shared_ptr<Counting>& counting) {
  if (counting->is_whole || counting->looked_at >= counting->most)
    return answer_waits(exchange, *counting);
  ListOptions options = counting->list;
  options.limit = std::min<std::uint64_t>(kListedAtOnce, counting->most - counting->looked_at);
  exchange.service().engine.list_raw(
      std::move(options),
      exchange.later<InstanceList>([counting](Exchange& self, Result<InstanceList> list) {
        if (!list) return self.refuse(list.error(), ProblemCode::kHistory);
        take_rows(self, counting, std::move(*list));
      }));
}

}  // namespace

void get_waits(Exchange& exchange) {
  const auto most = exchange.limit_in_query(kMostExplained, kMostExplained);
  if (!most) return;
  auto counting = std::make_shared<Counting>();
  counting->place = SiftPlace::take(exchange);
  if (!counting->place) return;
  counting->most = *most;
  counting->list.status = "waiting";
  counting->list.workflow = exchange.text_in_query("workflow");
  counting->list.counts = true;
  count_next(exchange, counting);
}

}  // namespace holdfast::gateway
