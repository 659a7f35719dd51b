// SPDX-License-Identifier: Apache-2.0
#include "cli/render.h"

#include <map>
#include <utility>

#include "cli/output.h"
#include "codec/json_writer.h"
#include "codec/printable.h"
#include "gateway/wait_reasons.h"

namespace holdfast::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string time_in(codec::View map, std::string_view name) {
  const std::uint64_t time_ns = number_in(map, name);
  return time_ns == 0 ? "" : gateway::time_text(time_ns);
}

// Long hashes, for a table: enough of it to find the rest.
std::string short_hash(const std::string& hash) {
  constexpr std::size_t kLength = std::string_view("sha256:").size() + 12;
  return hash.size() > kLength ? hash.substr(0, kLength) : hash;
}

// Of an effect, for a table: the beginning of what JSON has whole.
std::string identity_text(const std::string& intent) {
  constexpr std::string_view kPrefix = "sha256:";
  constexpr std::size_t kDigits = 12;
  return intent.substr(intent.starts_with(kPrefix) ? kPrefix.size() : 0, kDigits);
}

// The effects that the records of a table open, by their identities. What an earlier record has
// opened has only its identity there.
using Effects = std::map<std::string, std::string>;

Effects effects_in(const std::vector<codec::View>& records) {
  Effects effects;
  for (const codec::View record : records)
    for (const codec::View instance : list_in(record, "instances"))
      for (const codec::View opened : list_in(instance, "opened"))
        effects[text_in(opened, "intent")] = text_in(opened, "effect");
  return effects;
}

// "demo/charge@1 (3f9a12c0d1e2)"
std::string effect_text(const Effects& effects, const std::string& intent) {
  const auto found = effects.find(intent);
  return (found == effects.end() ? "" : found->second + " ") + "(" + identity_text(intent) + ")";
}

std::string decision_text(codec::View tick) {
  std::string text = flag_in(tick, "approve") ? " approved" : " rejected";
  if (!text_in(tick, "by").empty()) text += " by " + text_in(tick, "by");
  return text;
}

std::string failure_text(codec::View failure) {
  const std::string message = text_in(failure, "message");
  return text_in(failure, "code") + (message.empty() ? "" : ": " + message);
}

// In a table one long text would make all rows long. JSON has it whole.
constexpr std::size_t kMostTextInTable = 100;

// `effect`: the name of its effect; empty: it has none. `most`: the bytes that are shown of a
// message.
std::string tick_text(codec::View tick, const std::string& effect, std::size_t most) {
  const std::string kind = text_in(tick, "kind");
  std::string text = kind;
  const auto failure = tick.find("failure");
  for (const std::string_view name : {"schema", "status", "control"}) {
    std::string value = text_in(tick, name);
    // A body of a step that failed has reported in good order.
    if (failure && value == "ok") value = "failed";
    if (!value.empty()) text += " " + value;
  }
  if (!effect.empty()) text += " " + effect;
  if (failure) text += ": " + codec::printable(failure_text(*failure), most);
  // What the body published before may come again.
  if (text_in(tick, "frame") == "began_again") text += " began_again";
  const std::uint64_t proposal = number_in(tick, "proposal");
  if (proposal != 0) text += " of proposal " + std::to_string(proposal);
  if (tick.find("approve")) {
    text += decision_text(tick);
  } else if (!text_in(tick, "by").empty()) {
    text += " by " + text_in(tick, "by");
  }
  for (const std::string_view name : {"reason", "description"}) {
    const std::string value = text_in(tick, name);
    if (!value.empty()) text += ": " + codec::printable(value, most);
  }
  const std::string id = text_in(tick, "id");
  if (!id.empty()) text += " (id " + id + ")";
  return text;
}

// For a table, with the effect that a receipt, or a sign of life, is of.
std::string tick_text(codec::View tick, const Effects& effects) {
  const std::string intent = text_in(tick, "intent");
  return tick_text(tick, intent.empty() ? "" : effect_text(effects, intent), kMostTextInTable);
}

// `failed` is the effect whose body has failed, though its receipt was good.
std::string changes_text(codec::View instance, const Effects& effects, const std::string& failed) {
  std::string text;
  const auto add = [&](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
  for (const codec::View opened : list_in(instance, "opened"))
    add("opened " + effect_text(effects, text_in(opened, "intent")));
  for (const codec::View settled : list_in(instance, "settled"))
    add("settled " + effect_text(effects, text_in(settled, "intent")) + " " +
        (text_in(settled, "intent") == failed ? "failed" : text_in(settled, "status")));
  return text;
}

std::string state_text(codec::View instance) {
  const auto outcome = instance.find("outcome");
  if (outcome && !outcome->is_null()) return shown(outcome, 60);
  return shown(instance.find("state"), 60);
}

std::string failed_attempt_text(codec::View past) {
  const std::uint64_t item = number_in(past, "item");
  return printable("step " + text_in(past, "step") +
                   (item == 0 ? "" : ", item " + std::to_string(item)) + ", attempt " +
                   std::to_string(number_in(past, "attempt")) + ", " + time_in(past, "at_ns") +
                   ": " + failure_text(past));
}

}  // namespace

void print_json(codec::View document) {
  print_line(codec::printable_json(codec::to_json(document, codec::JsonStyle::kIndented)));
}

ExitCode print_either(const Where& where, codec::View document, void (*print)(codec::View)) {
  where.json ? print_json(document) : print(document);
  return ExitCode::kDone;
}

std::string text_in(codec::View map, std::string_view name) {
  const auto member = map.find(name);
  return std::string(member ? member->text().value_or("") : "");
}

std::uint64_t number_in(codec::View map, std::string_view name) {
  const auto member = map.find(name);
  return member ? member->nat().value_or(0) : 0;
}

bool flag_in(codec::View map, std::string_view name) {
  const auto member = map.find(name);
  return member && member->boolean().value_or(false);
}

std::vector<codec::View> list_in(codec::View map, std::string_view name) {
  std::vector<codec::View> views;
  const auto member = map.find(name);
  if (!member) return views;
  for (const codec::View element : member->elements()) views.push_back(element);
  return views;
}

std::string shown(const std::optional<codec::View>& value, std::size_t most) {
  if (!value || value->is_null()) return "";
  std::string text = printable(codec::to_json(*value));
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

InstanceId id_in(codec::View row) { return {text_in(row, "workflow"), key_word(row.find("key"))}; }

std::string status_in(codec::View instance) {
  return text_in(instance, "status") + (flag_in(instance, "paused") ? ", paused" : "");
}

bool is_over(std::string_view status) {
  return status == "completed" || status == "failed" || status == "cancelled" ||
         status == "deleted" || status == "unhandled";
}

void print_instances(codec::View document) {
  Rows rows{{"INSTANCE", "STATUS", "RECORD", "TIME"}};
  for (const codec::View row : list_in(document, "instances")) {
    rows.push_back({printable(id_in(row).text()), status_in(row),
                    std::to_string(number_in(row, "last_record")), time_in(row, "last_ns")});
  }
  print_table(rows);
}

void print_instance(codec::View document, const std::string& reason, bool with_code) {
  Rows rows{{"instance", printable(id_in(document).text())},
            {"status", status_in(document)},
            {"record", std::to_string(number_in(document, "record"))},
            {"state", shown(document.find("state"), 1000)}};
  if (const std::string hash = text_in(document, "workflow_hash"); with_code && !hash.empty()) {
    rows.push_back({"hash", hash});
    rows.push_back(
        {"module", text_in(document, "module") + " " + text_in(document, "module_hash")});
  }
  for (const char* name : {"result", "error"}) {
    const auto value = document.find(name);
    if (value && !value->is_null()) rows.push_back({name, shown(value, 1000)});
  }
  if (!reason.empty()) rows.push_back({"reason", printable(reason)});
  if (const auto state = document.find("state")) {
    for (const codec::View past : list_in(*state, "failures"))
      rows.push_back({"failed attempt", failed_attempt_text(past)});
  }
  print_table(rows);
}

std::string record_line(codec::View record) {
  const auto tick = record.find("tick");
  std::string line = std::to_string(number_in(record, "record")) + "  " +
                     time_in(record, "time_ns") + "  " +
                     (tick ? printable(tick_text(*tick, "", std::string::npos)) : "");
  for (const codec::View instance : list_in(record, "instances"))
    line += "  " + printable(id_in(instance).text()) + " " + status_in(instance);
  return line;
}

void print_records(const std::vector<codec::View>& records) {
  const Effects effects = effects_in(records);
  Rows rows{{"RECORD", "TIME", "WHAT CAME", "INSTANCE", "STATUS", "CHANGES", "STATE"}};
  for (const codec::View record : records) {
    const auto tick = record.find("tick");
    std::vector<std::string> row{std::to_string(number_in(record, "record")),
                                 time_in(record, "time_ns"),
                                 tick ? printable(tick_text(*tick, effects)) : ""};
    const bool is_failed = tick && tick->find("failure") && text_in(*tick, "status") == "ok";
    const std::string failed = is_failed ? text_in(*tick, "intent") : "";
    const std::vector<codec::View> instances = list_in(record, "instances");
    if (instances.empty()) rows.push_back(row);
    for (const codec::View instance : instances) {
      row.resize(3);
      row.push_back(printable(id_in(instance).text()));
      row.push_back(status_in(instance));
      row.push_back(printable(changes_text(instance, effects, failed)));
      row.push_back(state_text(instance));
      rows.push_back(row);
    }
  }
  print_table(rows);
}

void print_why(codec::View document) {
  print_line(printable(text_in(document, "sentence")));
  if (const auto version = document.find("version"))
    print_line(printable(text_in(*version, "sentence")));
  for (const codec::View past : list_in(document, "failed_attempts"))
    print_line("Failed: " + failed_attempt_text(past));
  const std::vector<codec::View> reasons = list_in(document, "reasons");
  if (reasons.size() < 2) return;
  Rows rows{{"WAITS FOR", "EFFECT", "BY", "SINCE", "DUE"}};
  for (const codec::View reason : reasons) {
    // Of a run of steps: the step, and the event.
    const std::string step = text_in(reason, "step");
    const std::string what =
        step.empty() ? text_in(reason, "effect") : step + ": " + text_in(reason, "schema");
    rows.push_back({text_in(reason, "kind"), printable(what), text_in(reason, "executor"),
                    time_in(reason, "since_ns"), time_in(reason, "due_ns")});
  }
  print_table(rows);
}

void print_definitions(codec::View document) {
  Rows rows{{"NAME", "KIND"}};
  for (const codec::View definition : list_in(document, "definitions"))
    rows.push_back({printable(text_in(definition, "name")), text_in(definition, "$kind")});
  print_table(rows);
}

void print_workflows(codec::View document) {
  Rows rows{{"WORKFLOW", "KIND", "KEY", "EVENTS"}};
  for (const codec::View workflow : list_in(document, "workflows")) {
    std::string events;
    for (const codec::View event : list_in(workflow, "events"))
      events += (events.empty() ? "" : ", ") + text_in(event, "schema");
    rows.push_back({printable(text_in(workflow, "workflow")), text_in(workflow, "kind"),
                    printable(text_in(workflow, "key")), printable(events)});
  }
  print_table(rows);
}

void print_proposals(codec::View document) {
  Rows rows{{"PROPOSAL", "STAGE", "MANIFEST", "BY", "DESCRIPTION"}};
  for (const codec::View proposal : list_in(document, "proposals")) {
    rows.push_back({std::to_string(number_in(proposal, "proposal")), text_in(proposal, "stage"),
                    short_hash(text_in(proposal, "manifest")), printable(text_in(proposal, "by")),
                    printable(text_in(proposal, "description"))});
  }
  print_table(rows);
}

}  // namespace holdfast::cli
