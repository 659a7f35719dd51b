// SPDX-License-Identifier: Apache-2.0
#include "steps/turn.h"

#include <algorithm>
#include <charconv>

#include "codec/view.h"
#include "kernel/text.h"
#include "steps/results_codec.h"
#include "steps/scanner.h"

namespace holdfast::steps {
namespace {

// What an effect was opened for stands in its reference: a letter and a number.
std::optional<std::uint64_t> number_behind(char letter, std::string_view ref) {
  if (ref.empty() || ref.front() != letter) return std::nullopt;
  std::uint64_t number = 0;
  const char* const end = ref.data() + ref.size();
  const auto read = std::from_chars(ref.data() + 1, end, number);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

constexpr std::size_t kMaxCodeBytes = 255;

// The kinds of frames of a body (executors/progress.h); what comes under others may be only a sign
// of life.
constexpr std::string_view kBeganAgainFrame = "began_again";
constexpr std::string_view kPiecesFrame = "pieces";

// Then a result will come, however long nothing else does.
bool is_any_running(const State& state) {
  return std::any_of(state.steps.begin(), state.steps.end(),
                     [](const StepState& step) { return !step.running.empty(); });
}

// A sys/EffectError@1, cut to what is kept of a failure.
Failure failure_of(base::ByteView error, Arena& arena) {
  const codec::View view = codec::View::of(error);
  const auto text = [&](std::string_view field) {
    const auto found = view.find(field);
    return arena.keep(kernel::shown(found ? found->text().value_or("") : ""));
  };
  const std::string_view code = text("code");
  const bool is_good = !code.empty() && code.size() <= kMaxCodeBytes;
  return {is_good ? code : "effect.failed", text("message")};
}

}  // namespace

Turn::Turn(const StepsMachine& machine, const kernel::StepInput& input, kernel::StepOutput& output,
           Broker& broker)
    : machine_(machine),
      graph_(machine.graph()),
      input_(input),
      output_(output),
      state_(broker.state),
      outbox_(broker.outbox),
      now_ns_(input.context.logical_ns()),
      old_entries_(broker.outbox.entries.size()),
      can_hold_(input.can_hold && is_any_running(broker.state)),
      entries_(graph_, broker.state.arena, broker.outbox.entries),
      reduction_(graph_, broker.state, broker.outbox.ending, entries_) {
  reduction_.now_ns = now_ns_;
}

void Turn::take(const kernel::Mail& mail) {
  switch (mail.kind) {
    case kernel::MailKind::kEvent: return take_event(mail);
    case kernel::MailKind::kReceipt:
    case kernel::MailKind::kRejected: return take_answer(mail);
    case kernel::MailKind::kProgress: return take_progress(mail);
  }
}

void Turn::take_event(const kernel::Mail& mail) {
  const auto type = graph_.type_named(mail.schema);
  if (!type) return fail_run("steps.unknown_event", "the workflow has no such event");
  is_removed_ = !reduction_.take_event(*type, mail.value, !input_.state);
}

void Turn::take_answer(const kernel::Mail& mail) {
  const std::string_view ref = mail.origin.issuer_ref;
  if (const auto run = number_behind('r', ref)) return take_result(*run, mail);
  if (const auto due_ns = number_behind('a', ref)) return take_alarm(*due_ns);
  if (const auto number = number_behind('w', ref)) return take_child(*number, mail);
  if (ref == "c") outbox_.is_continuing = false;
}

void Turn::take_result(std::uint64_t run, const kernel::Mail& mail) {
  if (outbox_.open_runs != 0) --outbox_.open_runs;
  if (outbox_.ending) return;
  if (mail.kind == kernel::MailKind::kRejected)
    return reduction_.take_lost(run, mail.fault(), mail.note);
  if (mail.status != kernel::ReceiptStatus::kOk) {
    const Failure failure = failure_of(mail.value, state_.arena);
    return reduction_.take_lost(run, failure.code, failure.message);
  }
  const auto results = codec::View::of(mail.value).find("results");
  reduction_.take_results(run,
                          results ? results->bytes().value_or(base::ByteView()) : base::ByteView());
}

void Turn::take_child(std::uint64_t number, const kernel::Mail& mail) {
  if (outbox_.open_runs != 0) --outbox_.open_runs;
  if (outbox_.ending) return;
  ChildEnd end;
  if (mail.kind == kernel::MailKind::kRejected) {
    end = {ChildFate::kFailed, {}, {mail.fault(), mail.note}};
  } else if (mail.status == kernel::ReceiptStatus::kOk) {
    const auto result = codec::View::of(mail.value).find("result");
    end.result = result ? result->bytes().value_or(base::ByteView()) : base::ByteView();
  } else {
    const bool is_cancelled = mail.status == kernel::ReceiptStatus::kCancelled;
    end = {is_cancelled ? ChildFate::kCancelled : ChildFate::kFailed,
           {},
           failure_of(mail.value, state_.arena)};
  }
  reduction_.take(ChildEnded{number, end});
}

void Turn::take_alarm(std::uint64_t due_ns) {
  const auto set = std::find(outbox_.alarms.begin(), outbox_.alarms.end(), due_ns);
  if (set != outbox_.alarms.end()) outbox_.alarms.erase(set);
  reduction_.take_due(std::max(now_ns_, due_ns));
}

// [schema, value], as a body puts it out while it is running, or a list of these; by later rules
// also that the body began again.
void Turn::take_progress(const kernel::Mail& mail) {
  const auto run = number_behind('r', mail.origin.issuer_ref);
  if (outbox_.ending || !run || !state_.is_running_now(*run)) return;
  if (mail.note == kBeganAgainFrame) {
    if (graph_.has(Rules::kTellsAttempts)) reduction_.take(BeganAgain{*run});
    return;
  }
  tells_bad_pieces_ = mail.note == kPiecesFrame && graph_.has(Rules::kTellsRepeats);
  const codec::View payload = codec::View::of(mail.value);
  if (payload.kind() != codec::ViewKind::kList) return refuse_piece(*run, "it is no list");
  const auto pieces = payload.elements();
  if (pieces.begin() == pieces.end()) return;
  if ((*pieces.begin()).text()) return publish(*run, mail.value);
  for (const codec::View piece : pieces) publish(*run, piece.encoded());
}

// A piece that cannot be read becomes an entry: readers of the stream see that one is missing.
void Turn::publish(std::uint64_t run, base::ByteView piece) {
  Scanner in(piece);
  in.list(2);
  const std::string_view schema = in.text();
  const base::ByteView value = in.bytes();
  if (!in.done()) return refuse_piece(run, "it is not a schema and a value");
  const auto type = graph_.type_named(schema);
  if (!type) return refuse_piece(run, "the workflow does not name '" + kernel::shown(schema) + "'");
  const auto event = read_event(*type, value, graph_, state_.arena);
  if (!event) return refuse_piece(run, event.error().to_string());
  reduction_.take(Publish{*event, run});
}

void Turn::refuse_piece(std::uint64_t run, const std::string& why) {
  if (!tells_bad_pieces_) return;
  reduction_.take(Publish{
      std::nullopt, run, {"step.bad_piece", state_.arena.keep("a piece was left out: " + why)}});
}

}  // namespace holdfast::steps
