// SPDX-License-Identifier: Apache-2.0
#include "cursors/task_events.h"

#include <charconv>

#include "codec/buffer.h"
#include "codec/cbor_writer.h"
#include "defs/system_names.h"
#include "tasks/messages.h"

namespace holdfast::cursors {
namespace {

using codec::View;

std::string text_at(View map, std::string_view name) {
  const auto value = map.find(name);
  return std::string(value ? value->text().value_or("") : "");
}

std::uint64_t nat_at(View map, std::string_view name) {
  const auto value = map.find(name);
  return value ? value->nat().value_or(0) : 0;
}

std::string_view state_text(tasks::TaskState state) {
  switch (state) {
    case tasks::TaskState::kDone: return "DONE";
    case tasks::TaskState::kFailed: return "FAILED";
    case tasks::TaskState::kCancelled: return "CANCELLED";
    default: break;
  }
  return "PENDING";
}

class Events {
 public:
  explicit Events(View record)
      : record_(nat_at(record, "record")), time_ns_(nat_at(record, "time_ns")) {}

  // The fields of `write` follow id, time and type.
  template <class Write>
  void add(std::string_view type, std::uint64_t fields, Write write) {
    const EventId id{record_, static_cast<std::uint32_t>(events_.size())};
    codec::Buffer out;
    codec::write_map_head(out, 3 + fields);
    text(out, "id", id.to_text());
    number(out, "time_ns", time_ns_);
    text(out, "type", type);
    write(out);
    events_.push_back({id, out.to_bytes()});
  }

  static void text(codec::Buffer& out, std::string_view name, std::string_view value) {
    codec::write_text(out, name);
    codec::write_text(out, value);
  }
  static void number(codec::Buffer& out, std::string_view name, std::uint64_t value) {
    codec::write_text(out, name);
    codec::write_nat(out, value);
  }

  std::vector<TaskEvent> take() { return std::move(events_); }

 private:
  std::uint64_t record_;
  std::uint64_t time_ns_;
  std::vector<TaskEvent> events_;
};

// Leases name the intent; `task.queued` has said whose it is.
void add_tick(View tick, Events& events) {
  const std::string kind = text_at(tick, "kind");
  const bool is_return = kind == "returned";
  if (kind != "leased" && !is_return) return;
  const std::string worker = text_at(tick, "worker");
  const auto leases = tick.find("leases");
  if (!leases || leases->kind() != codec::ViewKind::kList) return;
  for (const View lease : leases->elements()) {
    events.add(is_return ? "task.returned" : "task.leased", is_return ? 4 : 3,
               [&](codec::Buffer& out) {
                 Events::text(out, "intent", text_at(lease, "intent"));
                 Events::text(out, "worker", worker);
                 Events::number(out, "dispatch", nat_at(lease, "dispatch"));
                 if (is_return) Events::text(out, "reason", text_at(lease, "reason"));
               });
  }
}

void add_task(View instance, const tasks::TaskName& name, Events& events) {
  const auto opened = instance.find("opened");
  if (!opened) return;
  for (const View effect : opened->elements()) {
    if (text_at(effect, "effect") != defs::kTaskRun) continue;
    const auto params = effect.find("params");
    if (!params) continue;
    events.add("task.queued", 6, [&](codec::Buffer& out) {
      Events::text(out, "graph", name.graph);
      Events::number(out, "task", name.number);
      Events::text(out, "name", text_at(*params, "name"));
      Events::text(out, "task_type", text_at(*params, "type"));
      Events::number(out, "attempt", nat_at(*params, "attempt"));
      Events::text(out, "intent", text_at(effect, "intent"));
    });
  }
}

void add_graph(View instance, std::string_view graph, Events& events) {
  if (nat_at(instance, "previous") != 0) return;
  events.add("graph.submitted", 1, [&](codec::Buffer& out) { Events::text(out, "graph", graph); });
}

void add_graph_end(View instance, std::string_view graph, Events& events) {
  const std::string status = text_at(instance, "status");
  std::string_view ended;
  if (status == "completed") ended = "DONE";
  if (status == "failed") ended = "FAILED";
  if (status == "cancelled") ended = "CANCELLED";
  if (ended.empty()) return;
  events.add("graph.ended", 2, [&](codec::Buffer& out) {
    Events::text(out, "graph", graph);
    Events::text(out, "status", ended);
  });
}

void add_emitted(View emitted, Events& events) {
  if (text_at(emitted, "schema") != tasks::kGraphTaskEnded) return;
  const auto value = emitted.find("value");
  if (!value) return;
  const tasks::TaskEndedMessage ended = tasks::read_task_ended(value->encoded());
  if (ended.kind != tasks::TaskKind::kRun) return;
  events.add("task.ended", 4u + (ended.error ? 1u : 0u), [&](codec::Buffer& out) {
    Events::text(out, "graph", text_at(*value, "key"));
    Events::number(out, "task", ended.number);
    Events::text(out, "status", state_text(ended.state));
    codec::write_text(out, "skipped");
    codec::write_bool(out, ended.is_skipped);
    if (ended.error) Events::text(out, "error", *ended.error);
  });
}

}  // namespace

std::string EventId::to_text() const {
  return std::to_string(record) + "." + std::to_string(index);
}

std::optional<EventId> EventId::parse(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  EventId id;
  const char* const middle = text.data() + dot;
  const char* const end = text.data() + text.size();
  const auto record = std::from_chars(text.data(), middle, id.record);
  const auto index = std::from_chars(middle + 1, end, id.index);
  if (record.ec != std::errc() || record.ptr != middle || index.ec != std::errc() ||
      index.ptr != end)
    return std::nullopt;
  return id;
}

// In the order of cause and effect: what ended lets others be queued, and the graph ends last.
std::vector<TaskEvent> events_of(View record) {
  Events events(record);
  const auto each_of = [&](std::string_view workflow, auto add) {
    const auto instances = record.find("instances");
    if (!instances) return;
    for (const View instance : instances->elements())
      if (text_at(instance, "workflow") == workflow) add(instance, text_at(instance, "key"));
  };
  if (const auto tick = record.find("tick")) add_tick(*tick, events);
  each_of(defs::kGraphWorkflow,
          [&](View instance, const std::string& graph) { add_graph(instance, graph, events); });
  if (const auto emitted = record.find("emitted"))
    for (const View each : emitted->elements()) add_emitted(each, events);
  each_of(defs::kTaskWorkflow, [&](View instance, const std::string& key) {
    if (const auto name = tasks::parse_task_key(key)) add_task(instance, *name, events);
  });
  each_of(defs::kGraphWorkflow,
          [&](View instance, const std::string& graph) { add_graph_end(instance, graph, events); });
  return events.take();
}

}  // namespace holdfast::cursors
