// SPDX-License-Identifier: Apache-2.0
#include "cli/render.h"

#include <utility>

#include "cli/output.h"
#include "codec/json_writer.h"
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

std::string tick_text(codec::View tick) {
  std::string text = text_in(tick, "kind");
  for (const std::string_view name : {"schema", "status", "control"}) {
    const std::string value = text_in(tick, name);
    if (!value.empty()) text += " " + value;
  }
  const std::string id = text_in(tick, "id");
  if (!id.empty()) text += " (id " + id + ")";
  return text;
}

std::string changes_text(codec::View instance) {
  std::string text;
  for (const codec::View opened : list_in(instance, "opened"))
    text += (text.empty() ? "" : ", ") + std::string("opened ") + text_in(opened, "effect");
  for (const codec::View settled : list_in(instance, "settled"))
    text += (text.empty() ? "" : ", ") + std::string("settled ") + text_in(settled, "status");
  return text;
}

std::string state_text(codec::View instance) {
  const auto outcome = instance.find("outcome");
  if (outcome && !outcome->is_null()) return shown(outcome, 60);
  return shown(instance.find("state"), 60);
}

}  // namespace

void print_json(codec::View document) {
  print_line(codec::to_json(document, codec::JsonStyle::kIndented));
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

void print_instances(codec::View document) {
  Rows rows{{"INSTANCE", "STATUS", "RECORD", "TIME"}};
  for (const codec::View row : list_in(document, "instances")) {
    rows.push_back({printable(id_in(row).text()), status_in(row),
                    std::to_string(number_in(row, "last_record")), time_in(row, "last_ns")});
  }
  print_table(rows);
}

void print_instance(codec::View document) {
  Rows rows{{"instance", printable(id_in(document).text())},
            {"status", status_in(document)},
            {"record", std::to_string(number_in(document, "record"))},
            {"state", shown(document.find("state"), 1000)}};
  for (const char* name : {"result", "error"}) {
    const auto value = document.find(name);
    if (value) rows.push_back({name, shown(value, 1000)});
  }
  print_table(rows);
}

std::string record_line(codec::View record) {
  const auto tick = record.find("tick");
  std::string line = std::to_string(number_in(record, "record")) + "  " +
                     time_in(record, "time_ns") + "  " + (tick ? printable(tick_text(*tick)) : "");
  for (const codec::View instance : list_in(record, "instances"))
    line += "  " + printable(id_in(instance).text()) + " " + status_in(instance);
  return line;
}

void print_records(const std::vector<codec::View>& records) {
  Rows rows{{"RECORD", "TIME", "WHAT CAME", "INSTANCE", "STATUS", "CHANGES", "STATE"}};
  for (const codec::View record : records) {
    const auto tick = record.find("tick");
    std::vector<std::string> row{std::to_string(number_in(record, "record")),
                                 time_in(record, "time_ns"),
                                 tick ? printable(tick_text(*tick)) : ""};
    const std::vector<codec::View> instances = list_in(record, "instances");
    if (instances.empty()) rows.push_back(row);
    for (const codec::View instance : instances) {
      row.resize(3);
      row.push_back(printable(id_in(instance).text()));
      row.push_back(status_in(instance));
      row.push_back(printable(changes_text(instance)));
      row.push_back(state_text(instance));
      rows.push_back(row);
    }
  }
  print_table(rows);
}

void print_why(codec::View document) {
  print_line(printable(text_in(document, "sentence")));
  const std::vector<codec::View> reasons = list_in(document, "reasons");
  if (reasons.size() < 2) return;
  Rows rows{{"WAITS FOR", "EFFECT", "BY", "SINCE", "DUE"}};
  for (const codec::View reason : reasons) {
    rows.push_back({text_in(reason, "kind"), printable(text_in(reason, "effect")),
                    text_in(reason, "executor"), time_in(reason, "since_ns"),
                    time_in(reason, "due_ns")});
  }
  print_table(rows);
}

void print_definitions(codec::View document) {
  Rows rows{{"NAME", "KIND"}};
  for (const codec::View definition : list_in(document, "definitions"))
    rows.push_back({printable(text_in(definition, "name")), text_in(definition, "$kind")});
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

void print_shadow(codec::View report) {
  const auto number = [&](std::string_view name) {
    return std::to_string(number_in(report, name));
  };
  print_table({{"records", number("from") + " to " + number("to")},
               {"fed", number("fed") + " ticks, of which " + number("refused") + " were refused"},
               {"effects", number("answered") + " answered from recorded receipts, " +
                               number("unwanted") + " receipts that nobody waited for"},
               {"opened", number("effects") + " effects of instances more or less often"},
               {"instances", number("instances") + " compared, " + number("different") +
                                 " came out differently"}});
  if (!text_in(report, "stopped").empty())
    print_line("stopped    " + printable(text_in(report, "stopped")));
  for (const codec::View each : list_in(report, "refusals"))
    print_line("refused    " + printable(each.text().value_or("")));
  for (const codec::View each : list_in(report, "effect_differences"))
    print_line("opened     " + printable(each.text().value_or("")));
  const auto side = [](codec::View difference, std::string_view name) {
    const auto of = difference.find(name);
    if (!of || of->is_null()) return std::string("is not there");
    const auto outcome = of->find("outcome");
    const bool has_ended = outcome && !outcome->is_null();
    return text_in(*of, "status") + " " + shown(has_ended ? outcome : of->find("state"), 200);
  };
  for (const codec::View difference : list_in(report, "differences")) {
    print_line(printable(id_in(difference).text()));
    print_line("  present  " + side(difference, "present"));
    print_line("  tried    " + side(difference, "tried"));
  }
}

}  // namespace holdfast::cli
