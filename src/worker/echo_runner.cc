// SPDX-License-Identifier: Apache-2.0
#include "worker/echo_runner.h"

#include <cmath>

#include "codec/cbor_writer.h"
#include "codec/view.h"

namespace holdfast::work {
namespace {

constexpr double kLongestDelaySeconds = 366.0 * 24 * 3600;

// Lists inside lists are taken apart; values nest at most 64 deep, so this does too.
void collect_items(codec::View value, std::vector<codec::View>& items) {
  if (value.kind() != codec::ViewKind::kList) return items.push_back(value);
  for (const codec::View each : value.elements()) collect_items(each, items);
}

}  // namespace

base::Result<Echo> read_echo(base::ByteView input) {
  Echo echo;
  std::vector<codec::View> items;
  const codec::View spec = codec::View::of(input);
  const auto data =
      spec.kind() == codec::ViewKind::kMap ? spec.find("data") : std::optional<codec::View>();
  if (data && !data->is_null()) {
    if (data->kind() != codec::ViewKind::kMap) return base::invalid("data", "expected a mapping");
    if (const auto found = data->find("items"); found && !found->is_null()) {
      if (found->kind() != codec::ViewKind::kList)
        return base::invalid("data.items", "expected a list");
      collect_items(*found, items);
    }
    if (const auto delay = data->find("delay_sec"); delay && !delay->is_null()) {
      const auto seconds = delay->real();
      if (!seconds || !std::isfinite(*seconds))
        return base::invalid("data.delay_sec", "expected a number of seconds");
      if (*seconds > kLongestDelaySeconds)
        return base::invalid("data.delay_sec", "expected at most 366 days");
      if (*seconds > 0) echo.delay_ns = static_cast<std::uint64_t>(*seconds * 1e9);
    }
  }
  codec::Buffer out;
  codec::write_map_head(out, 2);
  codec::write_text(out, "count");
  codec::write_nat(out, items.size());
  codec::write_text(out, "items");
  codec::write_list_head(out, items.size());
  for (const codec::View item : items) {
    codec::write_map_head(out, 1);
    codec::write_text(out, "output");
    out.append(item.encoded());
  }
  echo.result = out.to_bytes();
  return echo;
}

void EchoRunner::start(const Task& task, TaskReports& reports) {
  auto echo = read_echo(task.input);
  if (!echo)
    return reports.ended(task.dispatch,
                         Ended::failed("echo.input", echo.error().to_string(), false));
  if (echo->delay_ns == 0) return reports.ended(task.dispatch, Ended::ok(std::move(echo->result)));
  const std::int64_t due = clock_.since_boot_ns() + static_cast<std::int64_t>(echo->delay_ns);
  waiting_[task.dispatch] = {due, std::move(echo->result), false};
  by_time_.emplace(due, task.dispatch);
}

void EchoRunner::stop(const std::string& dispatch, StopReason, Urgency) {
  const auto found = waiting_.find(dispatch);
  if (found == waiting_.end()) return;
  by_time_.erase({found->second.due_ns, dispatch});
  found->second.due_ns = INT64_MIN;
  found->second.is_stopped = true;
  by_time_.emplace(INT64_MIN, dispatch);
}

void EchoRunner::abandon(const std::string& dispatch) {
  const auto found = waiting_.find(dispatch);
  if (found == waiting_.end()) return;
  by_time_.erase({found->second.due_ns, dispatch});
  waiting_.erase(found);
}

std::int64_t EchoRunner::due_ns() const {
  return by_time_.empty() ? INT64_MAX : by_time_.begin()->first;
}

void EchoRunner::go_on(const pollfd*, TaskReports& reports) {
  const std::int64_t now = clock_.since_boot_ns();
  while (!by_time_.empty() && by_time_.begin()->first <= now) {
    const std::string dispatch = by_time_.begin()->second;
    by_time_.erase(by_time_.begin());
    Waiting waiting = std::move(waiting_[dispatch]);
    waiting_.erase(dispatch);
    if (waiting.is_stopped) {
      reports.ended(dispatch, {.status = Status::kCancelled,
                               .error = {"task.stopped", "the task was asked to stop", true}});
    } else {
      reports.ended(dispatch, Ended::ok(std::move(waiting.result)));
    }
  }
}

}  // namespace holdfast::work
