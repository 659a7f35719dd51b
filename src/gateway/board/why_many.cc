// SPDX-License-Identifier: Apache-2.0
#include "gateway/board/why_many.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "defs/system_names.h"
#include "gateway/documents.h"
#include "gateway/wait_reasons.h"
#include "holdfast/graphs.h"
#include "steps/reasons.h"

namespace holdfast::gateway {
namespace {

constexpr std::size_t kExplainedAtOnce = 16;
constexpr std::size_t kReadForReasons = std::size_t{1} << 20;  // bytes of states at once
constexpr std::size_t kReasonsOfOne = 8;                       // steps of one run that are listed

using Reasons = std::vector<WaitReason>;

struct Explaining {
  std::vector<Engine::RawName> names;
  Explained then;
  std::vector<Bytes> documents = {};
  std::size_t at = 0;    // the first name that was not read
  std::size_t open = 0;  // questions about names before it
};

void explain_next(Exchange& exchange, const std::shared_ptr<Explaining>& explaining);

void settle_one(Exchange& exchange, const std::shared_ptr<Explaining>& explaining) {
  if (--explaining->open == 0) explain_next(exchange, explaining);
}

bool is_gone(const Error& error) { return error.code == ErrorCode::kNotFound; }

void ask_world(Exchange& exchange, const std::shared_ptr<Explaining>& explaining, std::size_t index,
               std::vector<steps::Reason> of_steps) {
  const Engine::RawName& name = explaining->names[index];
  exchange.service().engine.why_raw(
      name.workflow, name.key,
      exchange.later<Reasons>([explaining, index, of_steps = std::move(of_steps)](
                                  Exchange& self, const Result<Reasons>& reasons) {
        if (!reasons && !is_gone(reasons.error())) return self.refuse(reasons.error());
        if (reasons && !reasons->empty()) {
          codec::Buffer out;
          put_why(out, {}, *reasons, of_steps, self.service().desk);
          explaining->documents[index] = out.to_bytes();
        }
        settle_one(self, explaining);
      }));
}

// A task waits for other tasks until it is ready.
void ask_task(Exchange& exchange, const std::shared_ptr<Explaining>& explaining,
              std::size_t index) {
  const Bytes& key = explaining->names[index].key;
  Graphs(exchange.service().engine)
      .waits(std::string(codec::View::of(key).text().value_or("")),
             exchange.later<TaskWaits>(
                 [explaining, index](Exchange& self, const Result<TaskWaits>& waits) {
                   if (!waits && !is_gone(waits.error())) return self.refuse(waits.error());
                   if (waits && waits->count == 0 && waits->is_sealed)
                     return ask_world(self, explaining, index, {});
                   if (waits) {
                     codec::Buffer out;
                     put_why(out, *waits);
                     explaining->documents[index] = out.to_bytes();
                   }
                   settle_one(self, explaining);
                 }));
}

void take_states(Exchange& exchange, const std::shared_ptr<Explaining>& explaining,
                 const Engine::RawInstances& found) {
  const std::size_t begin = explaining->at;
  explaining->at += found.size();
  explaining->open = 1;  // until all were asked
  Definitions& definitions = exchange.service().definitions;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Result<RawInstance>& one = found[i];
    if (!one && !is_gone(one.error())) return exchange.refuse(one.error());
    const std::string& workflow = explaining->names[begin + i].workflow;
    if (!one || has_ended(*one) || definitions.workflow(workflow) == nullptr) continue;
    ++explaining->open;
    if (workflow == defs::kTaskWorkflow) {
      ask_task(exchange, explaining, begin + i);
      continue;
    }
    std::vector<steps::Reason> of_steps;
    if (const steps::Graph* graph = definitions.graph_of(workflow))
      of_steps = steps::reasons_of(*graph, one->state, kReasonsOfOne);
    ask_world(exchange, explaining, begin + i, std::move(of_steps));
  }
  settle_one(exchange, explaining);
}

void explain_next(Exchange& exchange, const std::shared_ptr<Explaining>& explaining) {
  const std::size_t begin = explaining->at;
  if (begin == explaining->names.size())
    return explaining->then(exchange, std::move(explaining->documents));
  const std::size_t end = std::min(explaining->names.size(), begin + kExplainedAtOnce);
  std::vector<Engine::RawName> names(explaining->names.begin() + static_cast<std::ptrdiff_t>(begin),
                                     explaining->names.begin() + static_cast<std::ptrdiff_t>(end));
  exchange.service().engine.query_raw(
      std::move(names),
      exchange.later<Engine::RawInstances>(
          [explaining](Exchange& self, const Result<Engine::RawInstances>& found) {
            if (!found) return self.refuse(found.error());
            take_states(self, explaining, *found);
          }),
      kReadForReasons);
}

std::string text_of(codec::View map, std::string_view field) {
  const auto found = map.find(field);
  return std::string(found ? found->text().value_or("") : "");
}

// As put_why orders its sentence: a pause first, then what steps wait for, then what is under way,
// and deadlines last.
int urgency_of(codec::View reason) {
  const std::string kind = text_of(reason, "kind");
  if (kind == "paused" || kind == "room") return 0;
  if (kind == "wait" || kind == "retry" || kind == "event") return 1;
  if (kind == "queued") return 3;
  if (kind == "timeout") return 5;
  return reason.find("due_ns") ? 4 : 2;
}

}  // namespace

void explain_many(Exchange& exchange, std::vector<Engine::RawName> names, Explained then) {
  auto explaining = std::make_shared<Explaining>(Explaining{std::move(names), std::move(then)});
  explaining->documents.resize(explaining->names.size());
  explain_next(exchange, explaining);
}

std::optional<codec::View> main_reason(codec::View why) {
  std::optional<codec::View> found;
  const auto reasons = why.find("reasons");
  if (!reasons) return found;
  for (const codec::View reason : reasons->elements())
    if (!found || urgency_of(reason) < urgency_of(*found)) found = reason;
  return found;
}

WaitKind wait_kind(codec::View reason) {
  WaitKind made{text_of(reason, "kind"), ""};
  if (made.kind == "receipt") {
    if (reason.find("due_ns")) made.kind = "timer";
    if (reason.find("child")) made.kind = "child";
    made.subject = text_of(reason, "effect");
    // Of what workers perform: whether one has it, and if not, why.
    if (const auto placement = reason.find("placement")) made.kind = text_of(*placement, "kind");
    if (const auto lease = reason.find("lease"); lease && !lease->is_null()) made.kind = "running";
  } else if (made.kind == "wait" || made.kind == "queued" || made.kind == "retry") {
    made.subject = text_of(reason, "step");
    if (const std::string schema = text_of(reason, "schema"); !schema.empty())
      made.subject += " ← " + schema;
  } else if (const auto schemas = reason.find("schemas")) {
    for (const codec::View schema : schemas->elements())
      made.subject += (made.subject.empty() ? "" : ", ") + std::string(schema.text().value_or(""));
  }
  return made;
}

}  // namespace holdfast::gateway
