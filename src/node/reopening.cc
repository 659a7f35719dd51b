// SPDX-License-Identifier: Apache-2.0
#include "node/reopening.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "codec/view.h"
#include "kernel/record_view.h"
#include "steps/machine.h"

namespace holdfast::node {
namespace {

using store::RecordNumber;

// Records of one instance that are looked at: its last end may be far behind its last record, and
// the step that is looked for behind that.
constexpr std::size_t kMostLookedAt = 100'000;

base::Error no_moment(std::string why) { return {base::ErrorCode::kConflict, std::move(why)}; }

base::Error not_after(RecordNumber record, const std::string& why) {
  return {base::ErrorCode::kConflict, "after record " + std::to_string(record), why};
}

// A record, and what it says last of the instance.
struct Seen {
  base::Bytes bytes;
  kernel::RecordView view;
  kernel::InstanceView instance;

  bool has_ended() const {
    return instance.status == "failed" || instance.status == "cancelled" ||
           instance.status == "completed";
  }
};

class Search {
 public:
  Search(const PastSource& source, const kernel::MachineSource& machines, std::string_view workflow,
         base::ByteView key, const PastLimits& limits)
      : source_(source), machines_(machines), workflow_(workflow), key_(key), limits_(limits) {}

  base::Result<Reopening> find(RecordNumber last, const ReopenPoint& point) {
    if (point.record != 0) return at_record(point.record);
    const RecordNumber end = TRY(find_end(last));
    if (!point.step.empty()) return at_record(TRY(find_step(end, point.step)));
    return before_failure(end);
  }

 private:
  base::Result<Seen> see(RecordNumber number) {
    if (limits_.goes_on) TRY(limits_.goes_on());
    if (++looked_at_ > kMostLookedAt)
      return base::Error(base::ErrorCode::kTooLarge, "the instance has too many records");
    Seen seen{TRY(record_in(source_, number)), {}, {}};
    seen.view = TRY(kernel::read_record(seen.bytes));
    const auto found =
        std::ranges::find_if(seen.view.instances.rbegin(), seen.view.instances.rend(),
                             [this](const kernel::InstanceView& each) {
                               return each.workflow == workflow_ && base::equal(each.key, key_);
                             });
    if (found == seen.view.instances.rend())
      return base::Error(base::ErrorCode::kCorrupt, "record " + std::to_string(number),
                         "does not name the instance, though a later record says so");
    seen.instance = *found;
    return seen;
  }

  // The record that ended it; later ones only told of mail that it ignored.
  base::Result<RecordNumber> find_end(RecordNumber last) {
    RecordNumber end = last;
    Seen seen = TRY(see(end));
    if (!seen.has_ended()) return no_moment("the instance has not ended");
    while (seen.instance.outcome.empty() && seen.instance.previous != 0) {
      const RecordNumber previous = seen.instance.previous;
      seen = TRY(see(previous));
      if (!seen.has_ended()) break;
      end = previous;
    }
    return end;
  }

  base::Result<RecordNumber> find_step(RecordNumber end, const std::string& step) {
    const std::string effect = steps::effect_name(workflow_, step);
    for (RecordNumber number = end; number != 0;) {
      const Seen seen = TRY(see(number));
      for (const kernel::OpenedView& opened : seen.instance.opened) {
        if (opened.effect == effect || opened.effect == step) return number;
      }
      number = seen.instance.previous;
    }
    return no_moment("the instance has never begun '" + step + "'");
  }

  base::Result<Reopening> at_record(RecordNumber record) {
    const auto past = TRY(PastWorld::at(source_, machines_, record, limits_));
    auto image = TRY(past->world().image(workflow_, key_));
    if (!image) return not_after(record, "the instance was not there, or had ended");
    return Reopening{std::move(*image), record};
  }

  base::Result<Reopening> before_failure(RecordNumber end) {
    const auto past = TRY(PastWorld::at(source_, machines_, end - 1, limits_));
    kernel::World& world = past->world();
    auto before = TRY(world.image(workflow_, key_));
    const Seen seen = TRY(see(end));
    std::optional<kernel::InstanceImage::Effect> answered;
    if (const auto* receipt = std::get_if<kernel::ReceiptArrived>(&seen.view.tick.input)) {
      const kernel::Intent* const intent = TRY(world.find_intent(receipt->intent));
      if (intent != nullptr) answered = effect_of(world, *intent);
    }
    auto image = TRY(world.replay_watching(seen.bytes, workflow_, key_));
    // It ended without a step: an answer did not fit, or it was cancelled.
    if (!image) image = std::move(before);
    if (!image) return no_moment("the instance has taken no step: start it again instead");
    const auto number = world.program().workflow_named(workflow_);
    const kernel::Machine* const machine =
        number ? world.program().workflow(*number).machine : nullptr;
    has_steps_ = machine != nullptr && machine->family() != nullptr;
    if (image->taken) TRY(take_again(*image, answered));
    return Reopening{std::move(*image), end};
  }

  static kernel::InstanceImage::Effect effect_of(const kernel::World& world,
                                                 const kernel::Intent& intent) {
    return {world.program().effect(intent.effect()).name,
            {intent.params().begin(), intent.params().end()},
            std::string(intent.issuer_ref())};
  }

  // The message of the step that failed it comes again. What failed, and a step of a step workflow,
  // whose answer is the failure, is performed again instead.
  base::Result<void> take_again(kernel::InstanceImage& image,
                                const std::optional<kernel::InstanceImage::Effect>& answered) {
    kernel::Mail mail = std::move(*image.taken);
    image.taken.reset();
    const bool is_answer =
        mail.kind == kernel::MailKind::kReceipt || mail.kind == kernel::MailKind::kRejected;
    const bool has_failed =
        mail.kind == kernel::MailKind::kRejected || mail.status != kernel::ReceiptStatus::kOk;
    if (!is_answer || (!has_failed && !is_step(mail.origin.effect))) {
      image.mail.insert(image.mail.begin(), std::move(mail));
      return {};
    }
    if (answered && answered->issuer_ref == mail.origin.issuer_ref &&
        answered->name == mail.origin.effect) {
      image.effects.push_back(*answered);
      return {};
    }
    const Seen opened = TRY(see(mail.origin.opened_at));
    for (const kernel::OpenedView& each : opened.instance.opened) {
      if (each.intent != mail.origin.intent) continue;
      image.effects.push_back({std::string(each.effect),
                               {each.params.begin(), each.params.end()},
                               mail.origin.issuer_ref});
      return {};
    }
    return base::Error(base::ErrorCode::kCorrupt, "record " + std::to_string(mail.origin.opened_at),
                       "does not open an effect that the instance heard of");
  }

  // The effect that runs a step is named after it: shop/Order.charge@1 of shop/Order@1.
  bool is_step(std::string_view effect) const {
    if (!has_steps_) return false;
    const std::string_view stem = workflow_.substr(0, workflow_.rfind('@'));
    return effect.size() > stem.size() && effect.starts_with(stem) && effect[stem.size()] == '.';
  }

  const PastSource& source_;
  const kernel::MachineSource& machines_;
  const std::string_view workflow_;
  const base::ByteView key_;
  const PastLimits& limits_;
  std::size_t looked_at_ = 0;
  bool has_steps_ = false;  // it is a step workflow
};

}  // namespace

base::Result<Reopening> find_reopening(const PastSource& source,
                                       const kernel::MachineSource& machines,
                                       std::string_view workflow, base::ByteView key,
                                       RecordNumber last, const ReopenPoint& point,
                                       const PastLimits& limits) {
  return Search(source, machines, workflow, key, limits).find(last, point);
}

}  // namespace holdfast::node
