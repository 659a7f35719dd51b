// SPDX-License-Identifier: Apache-2.0
#include "worker/http_runner.h"

#include <algorithm>
#include <utility>

#include "base/sha256.h"
#include "codec/cbor_writer.h"
#include "codec/json_writer.h"
#include "codec/normaliser.h"
#include "codec/utf8.h"
#include "codec/view.h"
#include "executors/http.h"
#include "worker/limits.h"

namespace holdfast::work {
namespace {

// The task's own time limit is kept elsewhere.
constexpr std::uint64_t kLongestRequestNs = std::uint64_t{20} * 24 * 3600 * 1'000'000'000;

std::optional<codec::View> http_member(codec::View input, std::string_view name) {
  if (input.kind() != codec::ViewKind::kMap) return std::nullopt;
  const auto found = input.find(name);
  return found && !found->is_null() ? found : std::nullopt;
}

bool status_may_change(std::int64_t status) {
  return status == 408 || status == 425 || status == 429 || status >= 500;
}

// "application/json", "application/problem+json; charset=utf-8"
bool is_json_type(std::string_view type) {
  type = type.substr(0, type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  return type == "application/json" || type.ends_with("+json");
}

void write_body_text(codec::Buffer& out, std::string_view body) {
  if (codec::is_utf8(body)) return codec::write_text(out, body);
  std::string latin;
  for (const char c : body) codec::append_utf8(latin, static_cast<unsigned char>(c));
  codec::write_text(out, latin);
}

}  // namespace

base::Result<base::Bytes> http_params(base::ByteView bytes) {
  const codec::View input = codec::View::of(bytes);
  const auto url = http_member(input, "url");
  if (!url || !url->text()) return base::invalid("url", "expected the address as text");
  const auto method = http_member(input, "method");
  if (method && !method->text()) return base::invalid("method", "expected text");
  const auto headers = http_member(input, "headers");
  if (headers && headers->kind() != codec::ViewKind::kMap)
    return base::invalid("headers", "expected a mapping of texts");
  const auto body = http_member(input, "body");
  const bool is_json = body && !body->text();
  bool has_type = false;
  codec::Buffer out;
  codec::write_map_head(out, 4);
  codec::write_text(out, "url");
  codec::write_text(out, *url->text());
  codec::write_text(out, "method");
  codec::write_text(out, method ? *method->text() : (body ? "POST" : "GET"));
  codec::write_text(out, "body");
  if (!body) {
    codec::write_null(out);
  } else {
    codec::write_text(out, is_json ? codec::to_json(*body) : std::string(*body->text()));
  }
  codec::write_text(out, "headers");
  codec::Buffer fields;
  std::uint64_t count = 0;
  if (headers) {
    for (const auto [name, value] : headers->entries()) {
      if (!name.text() || !value.text()) return base::invalid("headers", "expected texts");
      std::string lower(*name.text());
      std::ranges::transform(lower, lower.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
      });
      has_type |= lower == "content-type";
      codec::write_text(fields, *name.text());
      codec::write_text(fields, *value.text());
      ++count;
    }
  }
  if (is_json && !has_type) {
    codec::write_text(fields, "Content-Type");
    codec::write_text(fields, "application/json");
    ++count;
  }
  codec::write_map_head(out, count);
  out.append(fields.view());
  codec::Normaliser normaliser;
  const base::ByteView made = TRY(normaliser.part_from_cbor(codec::Schema::any(), out.view()));
  return base::Bytes(made.begin(), made.end());
}

Ended http_ended(base::ByteView receipt, bool takes_any_status) {
  const codec::View answer = codec::View::of(receipt);
  const auto status = answer.find("status");
  const auto headers = answer.find("headers");
  const auto bytes = answer.find("body");
  const std::int64_t number = status ? status->integer().value_or(0) : 0;
  const std::string_view body =
      bytes && bytes->bytes() ? base::as_text(*bytes->bytes()) : std::string_view();
  if (number >= 400 && !takes_any_status) {
    std::string message = "the server answered " + std::to_string(number);
    if (!body.empty()) message += ": " + plain_text(body, 1024);
    return Ended::failed("http.status", std::move(message), status_may_change(number));
  }
  const auto type = headers ? headers->find("content-type") : std::optional<codec::View>();
  std::optional<base::Bytes> json;
  if (type && type->text() && is_json_type(*type->text())) {
    if (auto value = value_of_json(body)) json = std::move(*value);
  }
  codec::Buffer out;
  codec::write_map_head(out, json ? 4 : 3);
  codec::write_text(out, "status");
  codec::write_int(out, number);
  codec::write_text(out, "headers");
  if (headers) {
    out.append(headers->encoded());
  } else {
    codec::write_map_head(out, 0);
  }
  codec::write_text(out, "body");
  write_body_text(out, body);
  if (json) {
    codec::write_text(out, "json");
    out.append(*json);
  }
  codec::Normaliser normaliser;
  const auto made = normaliser.part_from_cbor(codec::Schema::any(), out.view());
  if (!made) return Ended::failed("http.body", made.error().to_string(), false);
  return Ended::ok({made->begin(), made->end()});
}

base::Result<std::unique_ptr<HttpRunner>> HttpRunner::to(
    const std::vector<executors::AllowedHost>& hosts, std::size_t slots, env::Clock& clock) {
  std::unique_ptr<HttpRunner> runner(new HttpRunner(TRY(executors::WakeUp::make())));
  executors::HttpOptions options;
  // A share of one host is half of the places that are left: all slots may be of one host.
  options.queue.at_once = 2 * slots + 2;
  options.queue.waiting = 4 * slots + 16;
  options.hosts = hosts;
  options.response_bytes = kMaxResultBytes;
  options.time_limit_ns = kLongestRequestNs;
  runner->executor_ = TRY(executors::http_executor(options, {clock}));
  return runner;
}

HttpRunner::~HttpRunner() {
  if (executor_) executor_->shut_down();
}

void HttpRunner::start(const Task& task, TaskReports& reports) {
  const auto params = http_params(task.input);
  if (!params)
    return reports.ended(task.dispatch,
                         Ended::failed("http.input", params.error().to_string(), false));
  const auto parsed = base::Hash::parse(task.key);
  const base::Hash intent = parsed ? *parsed : base::sha256(base::as_bytes(task.key));
  const auto any = http_member(codec::View::of(task.input), "any_status");
  runs_[intent] = {task.dispatch, any && any->boolean().value_or(false)};
  const std::shared_ptr<std::uint8_t[]> bytes(new std::uint8_t[params->size()]);
  std::copy(params->begin(), params->end(), bytes.get());
  kernel::OpenIntent open;
  open.intent = intent;
  open.params = {bytes.get(), params->size()};
  open.bytes = bytes;
  executor_->start(open, *this);
}

void HttpRunner::report(const kernel::ReceiptArrived& receipt) {
  const std::lock_guard lock(mutex_);
  heard_.push_back(
      {receipt.intent, receipt.status, {receipt.payload.begin(), receipt.payload.end()}});
  wake_up_.call();
}

void HttpRunner::forget(const std::string& dispatch) {
  for (auto run = runs_.begin(); run != runs_.end(); ++run) {
    if (run->second.dispatch != dispatch) continue;
    executor_->stop(run->first);
    runs_.erase(run);
    return;
  }
}

void HttpRunner::stop(const std::string& dispatch, StopReason, Urgency) {
  forget(dispatch);
  stopped_.push_back(dispatch);
  wake_up_.call();
}

void HttpRunner::abandon(const std::string& dispatch) {
  forget(dispatch);
  std::erase(stopped_, dispatch);
}

void HttpRunner::add_polled(std::vector<pollfd>& polled) {
  polled.push_back({wake_up_.descriptor(), POLLIN, 0});
}

void HttpRunner::go_on(const pollfd* polled, TaskReports& reports) {
  if (polled->revents == 0) return;
  wake_up_.listened();
  std::vector<Heard> heard;
  {
    const std::lock_guard lock(mutex_);
    heard.swap(heard_);
  }
  for (const Heard& each : heard) {
    const auto run = runs_.find(each.intent);
    if (run == runs_.end()) continue;
    const Run known = std::move(run->second);
    runs_.erase(run);
    if (each.status == kernel::ReceiptStatus::kOk) {
      reports.ended(known.dispatch, http_ended(each.payload, known.takes_any_status));
      continue;
    }
    const codec::View error = codec::View::of(each.payload);
    const auto text = [&](std::string_view name) {
      const auto found = error.find(name);
      return std::string(found && found->text() ? *found->text() : "");
    };
    const auto retryable = error.find("retryable");
    reports.ended(known.dispatch, Ended::failed(text("code"), text("message"),
                                                retryable && retryable->boolean().value_or(false)));
  }
  for (const std::string& dispatch : std::exchange(stopped_, {}))
    reports.ended(dispatch, {.status = Status::kCancelled,
                             .error = {"task.stopped", "the request was ended", true}});
}

}  // namespace holdfast::work
