// SPDX-License-Identifier: Apache-2.0
#include "dispatch/demand.h"

namespace holdfast::dispatch {
namespace {

// With its length before it, so that no two lists of texts read the same.
void add_text(std::string& key, const std::string& text) {
  key.append(std::to_string(text.size())).append(1, ':').append(text);
}

void add_number(std::string& key, std::uint64_t number) {
  key.append(std::to_string(number)).append(1, ',');
}

void add_texts(std::string& key, const std::vector<std::string>& texts) {
  add_number(key, texts.size());
  for (const std::string& text : texts) add_text(key, text);
}

}  // namespace

std::string key_of(const Demand& demand) {
  std::string key;
  add_text(key, demand.queue);
  add_text(key, demand.type);
  const tasks::Resources& resources = demand.resources;
  add_number(key, resources.cpu_milli);
  add_number(key, resources.memory_bytes);
  add_number(key, resources.gpu ? 1 : 0);
  if (resources.gpu) {
    add_text(key, resources.gpu->type);
    add_number(key, resources.gpu->count);
    add_number(key, resources.gpu->memory_bytes);
  }
  add_number(key, resources.labels.size());
  for (const auto& [name, value] : resources.labels) {
    add_text(key, name);
    add_text(key, value);
  }
  add_text(key, resources.recipe);
  add_number(key, resources.estimated_load);
  add_texts(key, demand.selected);
  add_texts(key, demand.avoided);
  return key;
}

}  // namespace holdfast::dispatch
