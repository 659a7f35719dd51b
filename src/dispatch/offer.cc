// SPDX-License-Identifier: Apache-2.0
#include "dispatch/offer.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "codec/cbor_writer.h"
#include "dispatch/limits.h"
#include "tasks/limits.h"
#include "tasks/names.h"
#include "tasks/resources.h"

namespace holdfast::dispatch {
namespace {

using base::Error;
using base::invalid;
using codec::View;
using codec::ViewKind;

constexpr std::string_view kAnyType = "*";

std::optional<View> find_member(View map, std::string_view name) {
  const auto found = map.find(name);
  return found && !found->is_null() ? found : std::nullopt;
}

std::string at(std::string_view place, std::size_t index) {
  return std::string(place) + "[" + std::to_string(index) + "]";
}

// A list of texts, sorted. Each once.
base::Result<std::vector<std::string>> read_texts(View list, const std::string& place,
                                                  std::size_t most, bool are_names) {
  if (list.kind() != ViewKind::kList) return invalid(place, "expected a list");
  if (list.size() > most)
    return invalid(place, "has " + std::to_string(list.size()) + " entries; at most " +
                              std::to_string(most) + " are allowed");
  std::vector<std::string> texts;
  for (const View each : list.elements()) {
    const auto text = each.text();
    const std::string where = at(place, texts.size());
    if (!text || text->empty()) return invalid(where, "expected a text");
    if (!are_names && text->size() > kMaxOfferTextBytes)
      return invalid(where, "is longer than " + std::to_string(kMaxOfferTextBytes) + " bytes");
    if (are_names && *text != kAnyType) {
      if (const auto problem = tasks::label_problem(*text)) return invalid(where, *problem);
    }
    texts.emplace_back(*text);
  }
  std::ranges::sort(texts);
  if (const auto twice = std::ranges::adjacent_find(texts); twice != texts.end())
    return invalid(place, "names " + tasks::quote(*twice) + " twice");
  return texts;
}

base::Result<std::uint64_t> read_nat(View map, std::string_view name, const std::string& place,
                                     std::uint64_t least, std::uint64_t most,
                                     std::uint64_t otherwise) {
  const auto value = find_member(map, name);
  if (!value) return otherwise;
  const auto number = value->nat();
  if (number && *number >= least && *number <= most) return *number;
  return invalid(
      place + "." + std::string(name),
      "expected a whole number from " + std::to_string(least) + " to " + std::to_string(most));
}

base::Result<void> read_labels(View map, Offer& offer) {
  if (map.kind() != ViewKind::kMap) return invalid("$.labels", "expected a map");
  if (map.size() > kMaxOfferLabels)
    return invalid("$.labels", "at most " + std::to_string(kMaxOfferLabels) + " are allowed");
  for (const auto& [key, value] : map.entries()) {
    const std::string name(key.text().value_or(""));
    if (const auto problem = tasks::label_problem(name)) return invalid("$.labels", *problem);
    const auto text = value.text();
    if (!text || text->size() > kMaxOfferTextBytes)
      return invalid("$.labels." + name,
                     "expected a text of at most " + std::to_string(kMaxOfferTextBytes) + " bytes");
    offer.labels.emplace_back(name, *text);
  }
  std::ranges::sort(offer.labels);
  return {};
}

base::Result<Device> read_device(View map, const std::string& place) {
  if (map.kind() != ViewKind::kMap) return invalid(place, "expected a map");
  if (!find_member(map, "index")) return invalid(place + ".index", "it is missing");
  Device device;
  device.index =
      static_cast<std::uint32_t>(TRY(read_nat(map, "index", place, 0, kMaxDeviceIndex, 0)));
  if (const auto type = find_member(map, "type")) {
    if (!type->text() || type->text()->size() > kMaxOfferTextBytes)
      return invalid(place + ".type",
                     "expected a text of at most " + std::to_string(kMaxOfferTextBytes) + " bytes");
    device.type = *type->text();
  }
  device.memory_bytes = TRY(read_nat(map, "memory_bytes", place, 0, tasks::kMaxMemoryBytes, 0));
  return device;
}

base::Result<void> read_offered(View map, Offer& offer) {
  const std::string place = "$.resources";
  if (map.kind() != ViewKind::kMap) return invalid(place, "expected a map");
  for (const auto& [key, value] : map.entries()) {
    const auto name = key.text().value_or("");
    if (name != "cpu_milli" && name != "memory_bytes" && name != "gpus")
      return invalid(place, "has no member " + tasks::quote(name));
  }
  offer.cpu_milli = TRY(read_nat(map, "cpu_milli", place, 0, tasks::kMaxCpuMilli, 0));
  offer.memory_bytes = TRY(read_nat(map, "memory_bytes", place, 0, tasks::kMaxMemoryBytes, 0));
  const auto gpus = find_member(map, "gpus");
  if (!gpus) return {};
  if (gpus->kind() != ViewKind::kList) return invalid(place + ".gpus", "expected a list");
  if (gpus->size() > kMaxOfferDevices)
    return invalid(place + ".gpus", "at most " + std::to_string(kMaxOfferDevices) + " are allowed");
  for (const View each : gpus->elements())
    offer.devices.push_back(TRY(read_device(each, at(place + ".gpus", offer.devices.size()))));
  std::ranges::sort(offer.devices, {}, &Device::index);
  const auto twice = std::ranges::adjacent_find(offer.devices, {}, &Device::index);
  if (twice != offer.devices.end())
    return invalid(place + ".gpus", "index " + std::to_string(twice->index) + " stands twice");
  return {};
}

void write_texts(codec::Buffer& out, std::string_view name, const std::vector<std::string>& texts) {
  codec::write_text(out, name);
  codec::write_list_head(out, texts.size());
  for (const std::string& each : texts) codec::write_text(out, each);
}

void write_number(codec::Buffer& out, std::string_view name, std::uint64_t value) {
  codec::write_text(out, name);
  codec::write_nat(out, value);
}

}  // namespace

base::Result<Offer> read_offer(View description) {
  if (description.kind() != ViewKind::kMap) return invalid("$", "expected a map");
  Offer offer;
  if (const auto queues = find_member(description, "queues")) {
    offer.queues = TRY(read_texts(*queues, "$.queues", kMaxQueues, true));
    if (offer.queues.empty()) return invalid("$.queues", "a worker serves one queue at least");
  } else {
    offer.queues = {std::string(tasks::kDefaultQueue)};
  }
  const auto types = find_member(description, "types");
  if (!types) return invalid("$.types", "it is missing");
  offer.types = TRY(read_texts(*types, "$.types", kMaxTypes, true));
  if (offer.types.empty()) return invalid("$.types", "a worker runs one task type at least");
  if (std::ranges::binary_search(offer.types, kAnyType)) {
    if (offer.types.size() != 1) return invalid("$.types", "\"*\" stands alone");
    offer.types.clear();
    offer.has_any_type = true;
  }
  offer.slots =
      static_cast<std::uint32_t>(TRY(read_nat(description, "slots", "$", 1, kMaxSlots, 1)));
  if (const auto labels = find_member(description, "labels")) {
    TRY(read_labels(*labels, offer));
  }
  if (const auto resources = find_member(description, "resources")) {
    TRY(read_offered(*resources, offer));
  }
  if (const auto recipes = find_member(description, "recipes"))
    offer.recipes = TRY(read_texts(*recipes, "$.recipes", kMaxRecipes, false));
  return offer;
}

void write_offer(codec::Buffer& out, const Offer& offer) {
  codec::write_map_head(out, 6);
  write_texts(out, "queues", offer.queues);
  write_texts(out, "types",
              offer.has_any_type ? std::vector<std::string>{std::string(kAnyType)} : offer.types);
  write_number(out, "slots", offer.slots);
  codec::write_text(out, "labels");
  codec::write_map_head(out, offer.labels.size());
  for (const auto& [key, value] : offer.labels) {
    codec::write_text(out, key);
    codec::write_text(out, value);
  }
  codec::write_text(out, "resources");
  codec::write_map_head(out, 3);
  write_number(out, "cpu_milli", offer.cpu_milli);
  write_number(out, "memory_bytes", offer.memory_bytes);
  codec::write_text(out, "gpus");
  codec::write_list_head(out, offer.devices.size());
  for (const Device& device : offer.devices) {
    codec::write_map_head(out, 3);
    write_number(out, "index", device.index);
    codec::write_text(out, "type");
    codec::write_text(out, device.type);
    write_number(out, "memory_bytes", device.memory_bytes);
  }
  write_texts(out, "recipes", offer.recipes);
}

}  // namespace holdfast::dispatch
