// SPDX-License-Identifier: Apache-2.0
#include "steps/results_codec.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "codec/conforms.h"
#include "codec/normaliser.h"
#include "codec/view.h"
#include "kernel/limits.h"
#include "steps/scanner.h"

namespace holdfast::steps {
namespace {

// What one body may do. More of it belongs into several steps.
constexpr std::size_t kMaxDone = 16'384;

// A failure explains itself in a page.
constexpr std::size_t kMaxTextBytes = kernel::kMaxReasonBytes;

enum class Kind : std::uint8_t {
  kReturned,
  kReturnedList,
  kFailed,
  kAddCollected,
  kDeleteCollected,
  kAddWaiter,
  kSent,
  kStreamed,
  kStoreEdit,
  kCancelStep,
  kCancelRun,
  kRunChild,
  kSawCollected,
};

base::Result<base::ByteView> canonical(const codec::Schema& form, const std::string& where,
                                       base::ByteView value, Arena& arena) {
  if (codec::surely_conforms(form, value)) return value;
  codec::Normaliser normaliser;
  auto made = normaliser.part_from_cbor(form, value);
  if (!made) return std::move(made).error().within(where);
  return arena.keep(*made);
}

template <class T>
std::size_t count_of(const std::vector<Did>& all) {
  return static_cast<std::size_t>(std::count_if(
      all.begin(), all.end(), [](const Did& did) { return std::holds_alternative<T>(did); }));
}

class ResultsReader {
 public:
  ResultsReader(base::ByteView bytes, const Graph& graph, Arena& arena)
      : in_(bytes), graph_(graph), arena_(arena) {}

  base::Result<std::vector<Did>> read() {
    std::vector<Did> all;
    std::size_t count = in_.list();
    in_.require(count <= kMaxDone);
    for (; count != 0 && in_.good() && !refused_; --count) all.push_back(did());
    if (refused_) return std::move(*refused_);
    if (!in_.done()) return base::invalid("results", "they are not of the form of results");
    if (count_of<Returned>(all) + count_of<ReturnedList>(all) > 1)
      return base::invalid("results", "a body returns once");
    if (count_of<AddWaiter>(all) > 1 || count_of<Failed>(all) > 1)
      return base::invalid("results", "a body waits or fails once");
    return all;
  }

 private:
  Did did() {
    const std::size_t parts = in_.list();
    const Kind kind = in_.choice(Kind::kSawCollected);
    if (!in_.good()) return Returned{};
    switch (kind) {
      case Kind::kReturned: {
        in_.require(parts == 1 || parts == 3);
        return parts == 1 ? Returned{} : Returned{event()};
      }
      case Kind::kReturnedList: return in_.require(parts == 2), ReturnedList{events()};
      case Kind::kFailed: {
        in_.require(parts == 5 || parts == 6);
        const Failed did = failed();
        if (parts == 6) in_.require(in_.boolean() && did.is_judged);
        return did;
      }
      case Kind::kAddCollected: {
        in_.require(parts == 4);
        AddCollected added{name(), {}};
        added.event = event();
        return added;
      }
      case Kind::kDeleteCollected: return in_.require(parts == 2), DeleteCollected{name()};
      case Kind::kAddWaiter: return in_.require(parts == 6), waiter();
      case Kind::kSent: {
        in_.require(parts == 4);
        Sent sent{event(), std::nullopt};
        if (const std::string_view target = in_.text(); !target.empty()) sent.target = step(target);
        return sent;
      }
      case Kind::kStreamed: return in_.require(parts == 3), Streamed{event()};
      case Kind::kStoreEdit: return in_.require(parts == 4), store_edit();
      case Kind::kCancelStep: {
        in_.require(parts == 2 || parts == 3);
        const StepIndex cancelled = step(in_.text());
        return CancelStep{cancelled, parts == 3 && in_.boolean()};
      }
      case Kind::kCancelRun: return in_.require(parts == 2), CancelRun{text()};
      case Kind::kRunChild: return in_.require(parts == 7), child();
      case Kind::kSawCollected: return in_.require(parts == 2), SawCollected{name()};
    }
    return Returned{};
  }

  void refuse(std::string where, std::string message) {
    if (!refused_) refused_ = base::invalid(std::move(where), std::move(message));
  }

  // A short text that is kept.
  std::string_view name() {
    const std::string_view text = in_.text();
    in_.require(text.size() <= kernel::kMaxReferenceBytes);
    return text;
  }
  // One that explains.
  std::string_view text() {
    const std::string_view text = in_.text();
    in_.require(text.size() <= kMaxTextBytes);
    return text;
  }

  StepIndex step(std::string_view name) {
    const auto found = graph_.step_named(name);
    if (!found && in_.good()) refuse("results", "there is no step '" + shown(name) + "'");
    return found.value_or(0);
  }

  TypeIndex type(std::string_view schema) {
    const auto found = graph_.type_named(schema);
    if (!found && in_.good())
      refuse("results", "no event of the workflow is a '" + shown(schema) + "'");
    return found.value_or(0);
  }

  static std::string shown(std::string_view name) {
    return name.size() <= 255 ? std::string(name) : "?";
  }

  // Two items: its schema and its value.
  Event event() {
    const TypeIndex index = type(in_.text());
    const base::ByteView value = in_.bytes();
    if (!in_.good() || refused_) return {};
    auto event = read_event(index, value, graph_, arena_);
    if (event) return *event;
    refused_ = std::move(event).error();
    return {};
  }
  std::vector<Event> events() {
    std::vector<Event> all;
    std::size_t count = in_.list();
    in_.require(count <= kMaxDone);
    for (; count != 0 && in_.good() && !refused_; --count) {
      in_.list(2);
      all.push_back(event());
    }
    return all;
  }

  Failed failed() {
    Failed failed;
    failed.failure.code = name();
    in_.require(!failed.failure.code.empty());
    failed.failure.message = text();
    failed.is_judged = in_.boolean();
    const std::size_t delays = in_.list();
    in_.require(delays <= 1);
    if (delays == 1) failed.retry_ns = in_.nat();
    return failed;
  }

  AddWaiter waiter() {
    AddWaiter added;
    added.id = name();
    added.type = type(in_.text());
    std::size_t count = in_.list();
    for (; count != 0 && in_.good() && !refused_; --count) {
      in_.list(2);
      Requirement& wanted = added.requirements.emplace_back();
      wanted.field = name();
      wanted.value = any(in_.bytes());
    }
    added.timeout_ns = in_.nat();
    const std::size_t asked = in_.list();
    in_.require(asked == 0 || asked == 2);
    if (asked == 2) added.asks = event();
    return added;
  }

  AddWaiter child() {
    AddWaiter added;
    added.id = name();
    StartChild& start = added.child.emplace();
    start.workflow = name();
    const std::vector<std::string>& all = graph_.children();
    if (in_.good() && std::find(all.begin(), all.end(), start.workflow) == all.end())
      refuse("results",
             "'" + shown(start.workflow) + "' is not among the children of the workflow");
    const base::ByteView key = in_.bytes();
    in_.require(key.size() <= kernel::kMaxKeyBytes);
    start.key = key.empty() ? key : any(key);
    start.schema = name();
    start.value = any(in_.bytes());
    added.timeout_ns = in_.nat();
    return added;
  }

  StoreEdit store_edit() {
    StoreEdit edit;
    edit.key = name();
    const base::ByteView value = in_.bytes();
    edit.value = value.empty() ? value : any(value);
    edit.is_transactional = in_.boolean();
    return edit;
  }

  base::ByteView any(base::ByteView value) {
    if (!in_.good() || refused_) return {};
    auto made = canonical(codec::Schema::item(), "results", value, arena_);
    if (made) return *made;
    refused_ = std::move(made).error();
    return {};
  }

  Scanner in_;
  const Graph& graph_;
  Arena& arena_;
  std::optional<base::Error> refused_;
};

}  // namespace

base::Result<Event> read_event(TypeIndex type, base::ByteView value, const Graph& graph,
                               Arena& arena) {
  Event event{type, false, {}};
  event.value = TRY(canonical(graph.type(type).form, graph.type(type).schema, value, arena));
  return event;
}

base::Result<std::vector<Did>> read_results(base::ByteView bytes, const Graph& graph,
                                            Arena& arena) {
  return ResultsReader(bytes, graph, arena).read();
}

std::optional<Failure> failure_in(base::ByteView results) {
  codec::Normaliser normaliser;
  if (results.empty()) return std::nullopt;
  const auto item = normaliser.part_from_cbor(codec::Schema::item(), results);
  if (!item || !base::equal(*item, results)) return std::nullopt;  // not canonical
  for (const codec::View one : codec::View::of(results).elements()) {
    std::vector<codec::View> parts;
    for (const codec::View part : one.elements()) parts.push_back(part);
    if (parts.size() != 5 || parts[0].nat() != 2U) continue;
    const auto code = parts[1].text();
    const auto message = parts[2].text();
    if (code && message && parts[3].boolean()) return Failure{*code, *message};
  }
  return std::nullopt;
}

}  // namespace holdfast::steps
