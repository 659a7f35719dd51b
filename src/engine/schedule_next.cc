// SPDX-License-Identifier: Apache-2.0
#include "engine/schedule_next.h"

#include <utility>

#include "codec/buffer.h"
#include "defs/system_names.h"
#include "engine/zones.h"
#include "executors/functions.h"
#include "schedules/rule.h"

namespace holdfast::engine {
namespace {

executors::Receipt find_due_times(env::Disk& disk, const kernel::OpenIntent& intent) {
  const auto asked = schedules::read_query(codec::View::of(intent.params));
  if (!asked) return executors::failed("schedule.next", "the rule cannot be read");
  const auto zone = load_zone(disk, asked->rule.zone);
  if (!zone) return executors::failed("schedule.zone", zone.error());
  codec::Buffer out;
  schedules::write_due_times(out, schedules::due_times(asked->rule, *zone, asked->query));
  return executors::succeeded(out);
}

}  // namespace

std::unique_ptr<executors::Executor> schedule_next_executor(env::Disk& disk) {
  std::map<std::string, executors::Function, std::less<>> functions;
  functions.emplace(defs::kScheduleNext,
                    [&disk](const kernel::OpenIntent& intent, const executors::StopFlag&,
                            executors::Progress&) { return find_due_times(disk, intent); });
  return std::make_unique<executors::Functions>(std::move(functions),
                                                executors::FunctionOptions{.threads = 1});
}

}  // namespace holdfast::engine
