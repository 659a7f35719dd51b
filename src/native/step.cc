// SPDX-License-Identifier: Apache-2.0
#include "holdfast/step.h"

#include <string>

#include "codec/buffer.h"
#include "defs/system_names.h"
#include "holdfast/workflow.h"
#include "kernel/halt.h"
#include "kernel/machine.h"
#include "native/uuid.h"

namespace holdfast {
std::uint64_t Step::time_ns() const { return input_.context.time_ns(); }
std::uint64_t Step::record() const { return input_.context.record(); }
Hash Step::entropy() const { return {input_.context.entropy().bytes}; }
Uuid Step::uuid() { return native::derive_uuid(input_.context.entropy(), uuids_++); }
std::string_view Step::workflow() const { return input_.context.workflow(); }
Reader Step::key() const { return Reader(input_.context.key()); }
Bytes Step::declared_context() const {
  codec::Buffer out;
  if (!input_.context.write_context(input_.mail, out)) return {};
  return out.to_bytes();
}

bool Step::has_state() const { return input_.state.has_value(); }
Reader Step::state() const { return Reader(input_.state.value_or(base::ByteView())); }
MessageKind Step::kind() const { return static_cast<MessageKind>(input_.mail.kind); }
std::string_view Step::schema() const { return input_.mail.schema; }
Reader Step::value() const { return Reader(input_.mail.value); }
std::string_view Step::effect() const { return input_.mail.origin.effect; }
Origin Step::origin() const {
  const kernel::Origin& origin = input_.mail.origin;
  return {{origin.intent.bytes}, origin.issuer_ref, origin.opened_at};
}
Status Step::status() const { return static_cast<Status>(input_.mail.status); }
std::uint64_t Step::sequence() const { return input_.mail.sequence; }
std::string_view Step::note() const { return input_.mail.note; }
std::string_view Step::fault() const { return input_.mail.fault(); }

Writer Step::begin_state() {
  output_.begin_state();
  return Writer(output_.bytes());
}

Writer Step::begin_event(std::string_view schema) {
  output_.begin_event(schema);
  return Writer(output_.bytes());
}

Writer Step::begin_entry() {
  output_.begin_annotation();
  return Writer(output_.bytes());
}

Writer Step::begin_effect(std::string_view name, std::string_view idempotency_key,
                          std::string_view ref) {
  output_.begin_effect(name, idempotency_key, ref);
  return Writer(output_.bytes());
}

Writer Step::begin_result() {
  output_.drop_effects();
  output_.begin_result();
  return Writer(output_.bytes());
}

void Step::remove() {
  output_.drop_effects();
  output_.remove();
}

void Step::fail(std::string_view code, std::string_view message) {
  output_.drop_effects();
  output_.fail(std::string(code), std::string(message));
}

bool Step::ended() const { return output_.fate() != kernel::Fate::kGoesOn; }
bool Step::removed() const { return output_.fate() == kernel::Fate::kDeleted; }
void Step::undo() { output_.clear(); }
void Step::give_up() noexcept { output_.give_up(); }
void Step::threw(std::string_view what) {
  output_.threw(std::string(what.substr(0, kernel::kMaxThrownBytes)));
}

// The names are the system's.
static_assert(detail::kReceiptEnvelope == defs::kReceiptEnvelope);
static_assert(detail::kReceiptRejected == defs::kReceiptRejected);
static_assert(detail::kStreamFrame == defs::kStreamFrame);

// The two enums are one, seen from both sides of the seam.
static_assert(static_cast<int>(MessageKind::kReceipt) ==
              static_cast<int>(kernel::MailKind::kReceipt));
static_assert(static_cast<int>(MessageKind::kRejected) ==
              static_cast<int>(kernel::MailKind::kRejected));
static_assert(static_cast<int>(MessageKind::kProgress) ==
              static_cast<int>(kernel::MailKind::kProgress));
static_assert(static_cast<int>(Status::kError) == static_cast<int>(kernel::ReceiptStatus::kError));
static_assert(static_cast<int>(Status::kTimeout) ==
              static_cast<int>(kernel::ReceiptStatus::kTimeout));
static_assert(static_cast<int>(Status::kCancelled) ==
              static_cast<int>(kernel::ReceiptStatus::kCancelled));

bool detail::read_error(Reader in, EffectError& error) {
  // sys/EffectError@1, of which the details are for people.
  static constexpr std::string_view kCode = "code";
  static constexpr std::string_view kDetails = "details";
  static constexpr std::string_view kMessage = "message";
  static constexpr std::string_view kRetryable = "retryable";
  std::uint64_t count = 0;
  return in.map(count) && count == 4 && in.items(kEncodedName<kCode>) &&
         Form<std::string>::read(in, error.code) && in.items(kEncodedName<kDetails>) && in.skip() &&
         in.items(kEncodedName<kMessage>) && Form<std::string>::read(in, error.message) &&
         in.items(kEncodedName<kRetryable>) && in.boolean(error.retryable);
}

}  // namespace holdfast
