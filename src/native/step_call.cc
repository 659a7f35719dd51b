// SPDX-License-Identifier: Apache-2.0
// docs/formats/steps.md has the forms that are read and written here.
#include "holdfast/detail/step_call.h"

#include <algorithm>
#include <utility>

#include "base/sha256.h"
#include "codec/buffer.h"
#include "codec/cbor_writer.h"
#include "codec/normaliser.h"
#include "kernel/text.h"
#include "steps/machine.h"

namespace holdfast::detail {
namespace {

constexpr std::size_t kMaxCodeBytes = 255;

// Whole characters of it.
std::string beginning(std::string text, std::size_t most) {
  std::size_t size = std::min(text.size(), most);
  while (size != 0 && size < text.size() && (text[size] & 0xC0) == 0x80) --size;
  text.resize(size);
  return text;
}

// A list of exactly so many.
bool list_of(Reader& in, std::uint64_t count) {
  std::uint64_t found = 0;
  return in.list(found) && found == count;
}

void write_event(Writer& out, std::string_view schema, ByteSpan value) {
  out.text(schema);
  out.bytes(value);
}

bool read_end(Reader& in, ChildEnd& end) {
  std::uint64_t fate = 0;
  if (!in.nat(fate) || fate > static_cast<std::uint64_t>(ChildEnd::Fate::kCancelled)) return false;
  end.fate = static_cast<ChildEnd::Fate>(fate);
  return in.bytes(end.result) && in.text(end.code) && in.text(end.message);
}

std::uint64_t nanoseconds(Duration duration) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, duration.count()));
}

Duration to_duration(std::uint64_t ns) {
  constexpr auto kMost = static_cast<std::uint64_t>(Duration::max().count());
  return Duration(static_cast<std::int64_t>(std::min(ns, kMost)));
}

}  // namespace

Bytes encoded(const std::function<void(Writer&)>& write) {
  codec::Buffer out;
  {
    Writer writer(out);
    write(writer);
  }
  return out.to_bytes();
}

std::string step_effect(std::string_view workflow, std::string_view step) {
  return steps::effect_name(workflow, step);
}

StepCall::StepCall(Reader params, const StepRoutes* routes)
    : routes_(routes), results_(std::make_unique<codec::Buffer>()) {
  good_ = read(params);
}
StepCall::~StepCall() = default;

// A sys/StepRun@1: its keys stand in canonical order.
bool StepCall::read(Reader& in) {
  std::uint64_t count = 0;
  std::string_view name;
  std::uint64_t number = 0;
  ByteSpan work;
  if (!in.map(count) || count != 6) return false;
  if (!in.text(name) || name != "run" || !in.nat(number)) return false;
  if (!in.text(name) || name != "slot" || !in.nat(number)) return false;
  if (!in.text(name) || name != "step" || !in.text(step_)) return false;
  if (!in.text(name) || name != "work" || !in.bytes(work)) return false;
  if (!in.text(name) || name != "event" || !in.text(schema_)) return false;
  if (!in.text(name) || name != "failures" || !in.nat(failures_)) return false;
  return read_work(Reader(work));
}

bool StepCall::read_work(Reader in) {
  std::uint64_t parts = 0;
  std::uint64_t all = 0;
  if (!in.list(all) || (all != 10 && all != 11) || !in.bytes(key_) || !in.boolean(is_list_) ||
      !in.bytes(value_) || !in.nat(item_) || !in.nat(first_ns_) || !in.nat(now_ns_) ||
      !in.list(parts))
    return false;
  if (parts == 2) {
    std::string_view code;
    std::string_view message;
    if (!in.text(code) || !in.text(message)) return false;
    is_judging_ = has_failed_ = true;
    code_ = code;
    message_ = message;
  }
  std::uint64_t buffers = 0;
  if ((parts != 0 && parts != 2) || !in.list(buffers)) return false;
  for (; buffers != 0; --buffers) {
    Collected& collected = buffers_.emplace_back();
    std::uint64_t events = 0;
    std::string_view name;
    if (!list_of(in, 2) || !in.text(name) || !in.list(events)) return false;
    collected.name = name;
    for (; events != 0; --events) {
      SchemaValue& event = collected.events.emplace_back();
      if (!list_of(in, 2) || !in.text(event.schema) || !in.bytes(event.value)) return false;
    }
  }
  return read_waits(in) && read_store(in) && (all == 10 || read_last_error(in));
}

bool StepCall::read_last_error(Reader& in) {
  std::uint64_t parts = 0;
  if (!in.list(parts) || (parts != 0 && parts != 2)) return false;
  if (parts == 0) return true;
  std::string_view code;
  std::string_view message;
  if (!in.text(code) || !in.text(message)) return false;
  last_error_.emplace(code, message);
  return true;
}

bool StepCall::read_waits(Reader& in) {
  std::uint64_t count = 0;
  if (!in.list(count)) return false;
  for (; count != 0; --count) {
    Waited& waited = waits_.emplace_back();
    std::uint64_t parts = 0;
    if (!in.list(parts) || (parts != 1 && parts != 3 && parts != 5) || !in.text(waited.id))
      return false;
    if (parts == 1) continue;
    if (parts == 5) {
      if (!read_end(in, waited.child.emplace())) return false;
      continue;
    }
    SchemaValue& answer = waited.answer.emplace();
    if (!in.text(answer.schema) || !in.bytes(answer.value)) return false;
  }
  return true;
}

bool StepCall::read_store(Reader& in) {
  std::uint64_t count = 0;
  if (!in.list(count)) return false;
  for (; count != 0; --count) {
    std::string_view key;
    ByteSpan value;
    if (!list_of(in, 2) || !in.text(key) || !in.bytes(value)) return false;
    store_.push_back({std::string(key), Bytes(value.begin(), value.end())});
  }
  return true;
}

std::vector<SchemaValue> StepCall::buffer(std::string_view name) const {
  for (const Collected& collected : buffers_) {
    if (collected.name == name) return collected.events;
  }
  return {};
}

const StepCall::Waited* StepCall::find_wait(std::string_view id) const {
  const auto found = std::find_if(waits_.begin(), waits_.end(),
                                  [&](const Waited& waited) { return waited.id == id; });
  return found == waits_.end() ? nullptr : &*found;
}

std::string StepCall::misfit(const Waited& waited, std::optional<std::string_view> schema) {
  const auto name = [](std::optional<std::string_view> one) {
    return one ? "'" + std::string(*one) + "'" : std::string("the end of a child");
  };
  std::optional<std::string_view> found;
  if (waited.answer) found = waited.answer->schema;
  if ((!waited.answer && !waited.child) || found == schema) return {};
  return "the wait '" + std::string(waited.id) + "' is for " + name(schema) + ", and was for " +
         name(found) + " when it began: a body must do the same each time up to its waits";
}

std::optional<ByteSpan> StepCall::stored(std::string_view key) const {
  for (const Stored& entry : store_) {
    if (entry.key == key && !entry.value.empty()) return ByteSpan(entry.value);
  }
  return std::nullopt;
}

std::string StepCall::wait_id(const std::string& wanted) {
  const std::uint64_t count = ++waits_asked_[wanted];
  return wanted.empty() || count > 1 ? wanted + "#" + std::to_string(count) : wanted;
}

void StepCall::add(const std::function<void(Writer&)>& write) {
  Writer out(*results_);
  write(out);
  ++count_;
}

std::string StepCall::wrong_send(std::string_view schema, std::string_view step) const {
  if (routes_ == nullptr) return {};
  const std::string event = "'" + std::string(schema) + "'";
  if (std::string unknown = wrong_put(schema); !unknown.empty()) return unknown;
  if (schema == routes_->stop)
    return event + " ends the run: it is returned by a step, and not sent";
  if (step.empty()) return {};
  const auto target = std::find_if(routes_->steps.begin(), routes_->steps.end(),
                                   [&](const StepRoutes::Step& one) { return one.name == step; });
  const std::string name = "'" + kernel::shown(step) + "'";
  if (target == routes_->steps.end()) return "there is no step " + name;
  const bool is_taken =
      std::find(target->takes.begin(), target->takes.end(), schema) != target->takes.end();
  return is_taken ? std::string() : "step " + name + " does not take " + event;
}

std::string StepCall::wrong_put(std::string_view schema) const {
  if (routes_ == nullptr) return {};
  if (std::find(routes_->types.begin(), routes_->types.end(), schema) != routes_->types.end())
    return {};
  return "the workflow does not name '" + std::string(schema) +
         "': name it in Events, Asks, Publishes or Sends, or return it from a step";
}

std::string StepCall::wrong_value(std::string_view schema, ByteSpan value) {
  codec::Normaliser normaliser;
  const auto read = normaliser.part_from_cbor(codec::Schema::item(), value);
  if (read) return {};
  return "'" + std::string(schema) + "' cannot be shown: " + read.error().to_string();
}

std::string StepCall::wrong_wait(std::string_view schema) const {
  if (std::string unknown = wrong_put(schema); !unknown.empty()) return unknown;
  if (routes_ == nullptr || schema != routes_->stop) return {};
  return "'" + std::string(schema) + "' ends the run: nobody sends it";
}

// A body that lets its wait pass does nothing else.
bool StepCall::is_caught() {
  if (is_waiting_)
    fail("step.wait_caught", "the wait '" + waits_for_ +
                                 "' was caught by the body: what is thrown there is no error, and "
                                 "must pass");
  return is_waiting_;
}

bool StepCall::begin_wait(std::string_view id) {
  if (is_caught()) return false;
  is_waiting_ = true;
  waits_for_ = id;
  return true;
}

void StepCall::return_nothing() {
  if (is_caught()) return;
  add([](Writer& out) {
    out.list(1);
    out.nat(0);
  });
}
void StepCall::return_event(std::string_view schema, const Bytes& value) {
  if (is_caught()) return;
  add([&](Writer& out) {
    out.list(3);
    out.nat(0);
    write_event(out, schema, value);
  });
}
void StepCall::return_list(const std::vector<std::pair<std::string_view, Bytes>>& events) {
  if (is_caught()) return;
  add([&](Writer& out) {
    out.list(2);
    out.nat(1);
    out.list(events.size());
    for (const auto& [schema, value] : events) {
      out.list(2);
      write_event(out, schema, value);
    }
  });
}
StepCall::Collected& StepCall::collected(std::string_view name) {
  for (Collected& one : buffers_) {
    if (one.name == name) return one;
  }
  return buffers_.emplace_back(Collected{std::string(name), {}});
}

// Schemas are those of types, which stay.
void StepCall::collect(std::string_view buffer, std::string_view schema, ByteSpan value) {
  collected(buffer).events.push_back({schema, own_.emplace_back(value.begin(), value.end())});
  add([&](Writer& out) {
    out.list(4);
    out.nat(3);
    out.text(buffer);
    write_event(out, schema, value);
  });
}
void StepCall::empty(std::string_view buffer) {
  collected(buffer).events.clear();
  add([&](Writer& out) {
    out.list(2);
    out.nat(4);
    out.text(buffer);
  });
}
void StepCall::saw(std::string_view buffer) {
  add([&](Writer& out) {
    out.list(2);
    out.nat(12);
    out.text(buffer);
  });
}
void StepCall::wait(std::string_view id, std::string_view schema, const std::vector<Wanted>& wanted,
                    Duration timeout,
                    const std::optional<std::pair<std::string_view, Bytes>>& asks) {
  if (!begin_wait(id)) return;
  add([&](Writer& out) {
    out.list(6);
    out.nat(5);
    out.text(id);
    out.text(schema);
    out.list(wanted.size());
    for (const Wanted& one : wanted) {
      out.list(2);
      out.text(one.field);
      out.bytes(one.value);
    }
    out.nat(nanoseconds(timeout));
    out.list(asks ? 2 : 0);
    if (asks) write_event(out, asks->first, asks->second);
  });
}
void StepCall::run_child(std::string_view id, std::string_view workflow, const Bytes& key,
                         std::string_view schema, const Bytes& start, Duration timeout) {
  if (!begin_wait(id)) return;
  add([&](Writer& out) {
    out.list(7);
    out.nat(11);
    out.text(id);
    out.text(workflow);
    out.bytes(key);
    out.text(schema);
    out.bytes(start);
    out.nat(nanoseconds(timeout));
  });
}
void StepCall::send(std::string_view schema, const Bytes& value, std::string_view step) {
  add([&](Writer& out) {
    out.list(4);
    out.nat(6);
    write_event(out, schema, value);
    out.text(step);
  });
}
void StepCall::put(std::string_view schema, const Bytes& value) {
  add([&](Writer& out) {
    out.list(3);
    out.nat(7);
    write_event(out, schema, value);
  });
}
void StepCall::store(std::string_view key, Bytes value, bool is_transactional) {
  add([&](Writer& out) {
    out.list(4);
    out.nat(8);
    out.text(key);
    out.bytes(value);
    out.boolean(is_transactional);
  });
  for (Stored& entry : store_) {
    if (entry.key == key) return void(entry.value = std::move(value));
  }
  store_.push_back({std::string(key), std::move(value)});
}
void StepCall::cancel_step(std::string_view step) {
  add([&](Writer& out) {
    out.list(3);
    out.nat(9);
    out.text(step);
    out.boolean(true);
  });
}
void StepCall::cancel_run(std::string_view reason) {
  add([&](Writer& out) {
    out.list(2);
    out.nat(10);
    out.text(kernel::shown(reason));
  });
}

void StepCall::fail(std::string_view code, std::string_view message) {
  has_failed_ = true;
  code_ = beginning(kernel::shown(code), kMaxCodeBytes);
  if (code_.empty()) code_ = "step.failed";
  message_ = kernel::shown(message);
}

void StepCall::policy_threw(std::string_view what) {
  message_ = kernel::shown(message_ + " (not tried again: the retry policy threw" +
                           (what.empty() ? "" : " " + kernel::shown(what)) + ")");
}

// A run that only judges has not failed itself: its failure was counted before.
void StepCall::judge(const RetryPolicy& policy, Duration took) {
  codec::Buffer seed;
  codec::write_bytes(seed, key_);
  codec::write_text(seed, step_);
  codec::write_nat(seed, item_);
  const std::uint64_t failures = failures_ + (is_judging_ ? 0 : 1);
  codec::write_nat(seed, failures);
  const base::Hash hash = base::sha256(seed.view());
  StepFailure failure{.code = code_, .message = message_, .failures = failures};
  failure.elapsed = to_duration(now_ns_ > first_ns_ ? now_ns_ - first_ns_ : 0) + took;
  failure.seed = codec::load_big_endian(hash.bytes.data(), 8);
  const std::optional<Duration> delay = policy(failure);
  results_->clear();
  count_ = 0;
  add([&](Writer& out) {
    out.list(is_judging_ ? 6 : 5);
    out.nat(2);
    out.text(code_);
    out.text(message_);
    out.boolean(true);
    out.list(delay ? 1 : 0);
    if (delay) out.nat(static_cast<std::uint64_t>(delay->count()));
    if (is_judging_) out.boolean(true);
  });
}

void StepCall::write_receipt(Writer& out) const {
  codec::Buffer results;
  codec::write_list_head(results, count_);
  results.append(results_->view());
  out.map(1);
  out.text("results");
  out.bytes(results.view());
}

}  // namespace holdfast::detail
