// SPDX-License-Identifier: Apache-2.0
#include "registry/signals.h"

#include "codec/cbor_writer.h"
#include "codec/json_writer.h"
#include "registry/not_busy.h"
#include "registry/utc.h"

namespace holdfast::registry {
namespace {

std::string contents(const Site& site, const Workflow& workflow, std::string_view recipe) {
  codec::Buffer out;
  const auto text = [&](const char* name, std::string_view value) {
    codec::write_text(out, name);
    codec::write_text(out, value);
  };
  codec::write_map_head(out, 4);
  text("workflow", workflow.name);
  text("requested_by", workflow.preempt_requested_by);
  text("recipe", recipe);
  text("time", to_utc(site.host.clock.wall_ns()));
  return codec::to_json(codec::View::of(out.view())) + "\n";
}

}  // namespace

base::Result<void> raise_signal(const Site& site, const Workflow& workflow,
                                std::string_view recipe) {
  if (TRY(is_signalled(site, workflow.signal_name))) return {};
  const auto file = TRY(not_busy(
      site.host.disk.open(site.place.signal(workflow.signal_name), env::OpenMode::kCreate)));
  return not_busy(env::write_all(*file, 0, base::as_bytes(contents(site, workflow, recipe))));
}

base::Result<void> remove_signal(const Site& site, const Workflow& workflow) {
  if (workflow.signal_name.empty()) return {};
  auto removed = not_busy(site.host.disk.remove(site.place.signal(workflow.signal_name)));
  if (!removed && removed.error().code() == base::ErrorCode::kNotFound) return {};
  return removed;
}

base::Result<bool> is_signalled(const Site& site, std::string_view signal_name) {
  const auto file =
      not_busy(site.host.disk.open(site.place.signal(signal_name), env::OpenMode::kRead));
  if (file) return true;
  if (file.error().code() == base::ErrorCode::kNotFound) return false;
  return base::Error(file.error().code(), file.error().where(), file.error().message());
}

base::Result<bool> withdraw_signals(const Site& site, State& state, std::string_view swap_id) {
  bool changed = false;
  for (Workflow& workflow : state.workflows) {
    if (workflow.preempt_requested_by != swap_id) continue;
    TRY(remove_signal(site, workflow));
    workflow.preempt_requested_by.clear();
    changed = true;
  }
  return changed;
}

}  // namespace holdfast::registry
