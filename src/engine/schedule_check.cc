// SPDX-License-Identifier: Apache-2.0
#include "engine/schedule_check.h"

#include <algorithm>
#include <utility>

#include "codec/normaliser.h"
#include "defs/builtin.h"
#include "defs/load.h"
#include "defs/name.h"
#include "engine/zones.h"

namespace holdfast::engine {
namespace {

using codec::View;

// Some due time, to try a start with.
constexpr std::uint64_t kExampleDueNs = 1'800'000'000ULL * schedules::kSecondNs;

std::uint64_t ns_of_time(Time time) {
  const auto count = time.time_since_epoch().count();
  return count > 0 ? static_cast<std::uint64_t>(count) : 0;
}
std::uint64_t ns_of_span(std::chrono::nanoseconds span) {
  return span.count() > 0 ? static_cast<std::uint64_t>(span.count()) : 0;
}
Time time_at(std::uint64_t ns) {
  return Time(Duration(static_cast<std::int64_t>(std::min<std::uint64_t>(ns, INT64_MAX))));
}
std::chrono::nanoseconds span_of(std::uint64_t ns) {
  return std::chrono::nanoseconds(
      static_cast<std::int64_t>(std::min<std::uint64_t>(ns, INT64_MAX)));
}

std::optional<View> find_path(View value, std::string_view path) {
  if (path.starts_with("$value.")) path.remove_prefix(7);
  while (!path.empty()) {
    const std::size_t dot = path.find('.');
    const auto found = value.find(path.substr(0, dot));
    if (!found) return std::nullopt;
    value = *found;
    if (dot == std::string_view::npos) break;
    path.remove_prefix(dot + 1);
  }
  return value;
}

// The definitions of the world, and what a start is held against.
class StartCheck {
 public:
  explicit StartCheck(const Bytes& definitions)
      : definitions_(definitions), bundle_(&defs::builtin_catalogue()) {}

  base::Result<void> load() {
    if (definitions_.empty())
      return base::Error(base::ErrorCode::kConflict, "the world has no definitions yet");
    bundle_ = defs::load(View::of(definitions_), "$", &defs::builtin_catalogue());
    if (!bundle_.errors.empty())
      return base::Error(base::ErrorCode::kCorrupt, bundle_.errors.begin()->to_string());
    return {};
  }

  base::Result<void> take_workflow(const std::string& name) {
    workflow_ = defs::is_reserved(name) ? nullptr : bundle_.catalogue.get<defs::WorkflowDef>(name);
    if (workflow_ == nullptr)
      return base::Error(base::ErrorCode::kNotFound, "workflow",
                         "there is no workflow '" + name + "'");
    if (!workflow_->key_schema)
      return base::invalid("workflow",
                           "'" + name + "' has no key, so it cannot be started more than once");
    return {};
  }

  // The subscription of the workflow to this event, or to the first one.
  const defs::Subscription* subscription(std::string_view event) const {
    const auto* manifest =
        bundle_.manifest ? std::get_if<defs::Manifest>(&bundle_.manifest->definition) : nullptr;
    if (manifest == nullptr) return nullptr;
    for (const defs::Subscription& each : manifest->subscriptions) {
      if (each.workflow == workflow_->name && (event.empty() || each.event == event)) return &each;
    }
    return nullptr;
  }

  base::Result<codec::Schema> schema(const std::string& name, const char* place) const {
    const codec::Type* type = bundle_.catalogue.find(name);
    if (type == nullptr)
      return base::Error(base::ErrorCode::kNotFound, place, "there is no schema '" + name + "'");
    codec::Errors errors;
    auto compiled = codec::Schema::compile(*type, bundle_.catalogue, name, errors);
    if (!compiled) return base::Error(base::ErrorCode::kCorrupt, errors.begin()->to_string());
    return std::move(*compiled);
  }

  base::Result<Bytes> value_of(const ScheduleSpec& given, const std::string& event) {
    const codec::Schema type = TRY(schema(event, "event"));
    auto made = given.value.empty() ? normaliser_.from_json(type, given.input)
                                    : normaliser_.part_from_cbor(type, given.value);
    if (!made) return std::move(made).error().within("input");
    const base::ByteView part = View::of(*made).encoded();
    return Bytes(part.begin(), part.end());
  }

  base::Result<void> try_start(const schedules::Spec& spec, const std::string& name) {
    const schedules::Start start = schedules::start_of(spec, name, kExampleDueNs);
    const codec::Schema key_type = TRY(schema(*workflow_->key_schema, "key"));
    if (!normaliser_.part_from_cbor(key_type, schedules::key_of(start.key)))
      return base::invalid(
          "key", "the keys of '" + spec.workflow + "' are not texts like '" + start.key + "'");
    const codec::Schema type = TRY(schema(spec.event, "event"));
    if (auto made = normaliser_.part_from_cbor(type, start.value); !made)
      return std::move(made).error().within("input");
    const auto* route = subscription(spec.event);
    if (route == nullptr || !route->key_field) return {};
    const auto found = find_path(View::of(start.value), *route->key_field);
    if (found && found->text() != start.key)
      return base::invalid(
          "input", "'" + *route->key_field + "' is the key of the instance: write {key} there");
    return {};
  }

 private:
  const Bytes& definitions_;
  defs::Bundle bundle_;
  const defs::WorkflowDef* workflow_ = nullptr;
  codec::Normaliser normaliser_;
};

}  // namespace

base::Result<schedules::Rule> checked_rule(env::Disk& disk, const ScheduleSpec& given) {
  schedules::Rule rule;
  rule.cron = given.cron;
  rule.zone = given.zone.empty() ? "UTC" : given.zone;
  rule.every_ns = ns_of_span(given.every);
  rule.at_ns = ns_of_time(given.at);
  rule.from_ns = ns_of_time(given.from);
  rule.until_ns = ns_of_time(given.until);
  TRY(schedules::check(rule));
  TRY(load_zone(disk, rule.zone));
  return rule;
}

base::Result<schedules::Spec> checked_spec(env::Disk& disk, const Bytes& definitions,
                                           const ScheduleSpec& given) {
  if (const auto problem = schedules::name_problem(given.name))
    return base::invalid("name", *problem);
  schedules::Spec spec;
  spec.rule = TRY(checked_rule(disk, given));
  StartCheck start(definitions);
  TRY(start.load());
  TRY(start.take_workflow(given.workflow));
  spec.workflow = given.workflow;
  spec.event = given.event;
  const defs::Subscription* route = start.subscription(given.event);
  if (spec.event.empty()) {
    if (route == nullptr)
      return base::invalid("event", "'" + given.workflow + "' subscribes to no event: name one");
    spec.event = route->event;
  }
  spec.value = TRY(start.value_of(given, spec.event));
  spec.key = given.key;
  if (spec.key.empty()) {
    // An input that says what the key is need not say it twice.
    const auto in_value = route != nullptr && route->key_field
                              ? find_path(View::of(spec.value), *route->key_field)
                              : std::nullopt;
    const std::string_view text = in_value ? in_value->text().value_or("") : "";
    spec.key =
        text.find("{due}") != std::string_view::npos ? std::string(text) : schedules::Spec().key;
  }
  spec.overlap = static_cast<schedules::Overlap>(given.overlap);
  spec.catch_up = static_cast<schedules::CatchUp>(given.catch_up);
  spec.window_ns = ns_of_span(given.catch_up_window);
  spec.jitter_ns = ns_of_span(given.jitter);
  TRY(schedules::check(spec));
  TRY(start.try_start(spec, given.name));
  return spec;
}

ScheduleSpec spec_outside(const std::string& name, const schedules::Spec& spec) {
  ScheduleSpec made;
  made.name = name;
  made.cron = spec.rule.cron;
  made.zone = spec.rule.zone;
  made.every = span_of(spec.rule.every_ns);
  made.at = time_at(spec.rule.at_ns);
  made.from = time_at(spec.rule.from_ns);
  made.until = time_at(spec.rule.until_ns);
  made.workflow = spec.workflow;
  made.event = spec.event;
  made.input.clear();
  made.value = spec.value;
  made.key = spec.key;
  made.overlap = static_cast<ScheduleOverlap>(spec.overlap);
  made.catch_up = static_cast<ScheduleCatchUp>(spec.catch_up);
  made.catch_up_window = span_of(spec.window_ns);
  made.jitter = span_of(spec.jitter_ns);
  return made;
}

}  // namespace holdfast::engine
