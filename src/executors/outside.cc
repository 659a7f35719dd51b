// SPDX-License-Identifier: Apache-2.0
#include "executors/outside.h"

#include <charconv>

namespace holdfast::executors {

std::string Outside::Place::to_text() const {
  return std::to_string(opened_ns) + ":" + intent.to_text();
}

std::optional<Outside::Place> Outside::Place::parse(std::string_view text) {
  Place place;
  const char* const end = text.data() + text.size();
  const auto [colon, error] = std::from_chars(text.data(), end, place.opened_ns);
  if (error != std::errc() || colon == end || *colon != ':') return std::nullopt;
  const auto intent = base::Hash::parse({colon + 1, static_cast<std::size_t>(end - colon - 1)});
  if (!intent) return std::nullopt;
  place.intent = *intent;
  return place;
}

void Outside::start(const kernel::OpenIntent& open, Reports&) {
  const std::lock_guard lock(mutex_);
  const auto places = places_.try_emplace(open.effect->name).first;
  if (known_.try_emplace(open.intent, places, open.opened_ns).second)
    places->second.insert({open.opened_ns, open.intent});
}

// The names stay: there are as many as there are definitions.
void Outside::stop(const base::Hash& intent) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(intent);
  if (found == known_.end()) return;
  const auto& [places, opened_ns] = found->second;
  places->second.erase({opened_ns, intent});
  known_.erase(found);
}

std::vector<Outside::Place> Outside::open(std::string_view effect, const Place& after,
                                          std::size_t most) const {
  std::vector<Place> found;
  const std::lock_guard lock(mutex_);
  const auto places = places_.find(effect);
  if (places == places_.end()) return found;
  for (auto place = places->second.upper_bound(after);
       place != places->second.end() && found.size() < most; ++place)
    found.push_back(*place);
  return found;
}

}  // namespace holdfast::executors
