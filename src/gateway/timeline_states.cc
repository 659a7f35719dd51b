// SPDX-License-Identifier: Apache-2.0
#include "gateway/timeline_states.h"

#include <algorithm>

#include "codec/cbor_writer.h"
#include "codec/normaliser.h"
#include "codec/schema.h"
#include "codec/view.h"
#include "gateway/documents.h"

namespace holdfast::gateway {
namespace {

std::uint64_t number_of(const codec::View& record) {
  const auto number = record.find("record");
  return number ? number->nat().value_or(0) : 0;
}

bool has_only_hash(const codec::View& instance) {
  const auto hash = instance.find("state_hash");
  return hash && !hash->is_null();
}

// A map as it is, but for the value under one name.
template <class Put>
void put_with(codec::Buffer& out, const codec::View& map, std::string_view name, Put put) {
  codec::write_map_head(out, map.size());
  for (const auto& [key, value] : map.entries()) {
    out.append(key.encoded());
    if (key.text() == name) {
      put(value);
    } else {
      out.append(value.encoded());
    }
  }
}

}  // namespace

bool TimelineStates::is_of(const codec::View& instance) const {
  const auto workflow = instance.find("workflow");
  const auto key = instance.find("key");
  if (!workflow || !key || workflow->text() != workflow_) return false;
  return key_.empty() ? key->is_null() : std::ranges::equal(key->encoded(), key_);
}

std::vector<std::uint64_t> TimelineStates::wanted(const std::vector<Bytes>& records) const {
  std::vector<std::uint64_t> numbers;
  bool lacks_some = false;
  for (auto record = records.rbegin(); record != records.rend(); ++record) {
    const codec::View view = codec::View::of(*record);
    const auto instances = view.find("instances");
    if (!instances) continue;
    numbers.push_back(number_of(view));
    for (const codec::View instance : instances->elements())
      lacks_some |= is_of(instance) && has_only_hash(instance);
  }
  if (!lacks_some) numbers.clear();
  return numbers;
}

Result<Done> TimelineStates::look(PastMoment& moment) {
  const auto found = reader_.read(moment, key_);
  if (!found && found.error().code == ErrorCode::kNotFound) return Done{};
  if (!found) return found.error();
  if (found->instance.state.empty()) return Done{};
  codec::Buffer state;
  put_state_value(state, found->instance.state, found->graph);
  bytes_ += state.size();
  if (bytes_ > kMostBytes) {
    return Error{ErrorCode::kTooLarge, "the states behind these records have more than " +
                                           std::to_string(kMostBytes) +
                                           " bytes: ask for fewer records at once"};
  }
  // In the order of canonical values, as a client of a server has it; what is too deep for one
  // stays.
  codec::Normaliser normaliser;
  const auto ordered = normaliser.part_from_cbor(codec::Schema::item(), state.view());
  states_[moment.record()] = ordered ? Bytes(ordered->begin(), ordered->end()) : state.to_bytes();
  return Done{};
}

std::vector<Bytes> TimelineStates::filled(const std::vector<Bytes>& records) const {
  std::vector<Bytes> all;
  for (const Bytes& record : records) {
    const codec::View view = codec::View::of(record);
    const auto instances = view.find("instances");
    const auto state = states_.find(number_of(view));
    if (!instances || state == states_.end()) {
      all.push_back(record);
      continue;
    }
    // One that was deleted and began again has an entry for each life: the state is of the last.
    std::size_t last = instances->size();
    std::size_t at = 0;
    for (const codec::View instance : instances->elements()) {
      if (is_of(instance)) last = at;
      ++at;
    }
    codec::Buffer out;
    put_with(out, view, "instances", [&](const codec::View& list) {
      codec::write_list_head(out, list.size());
      at = 0;
      for (const codec::View instance : list.elements()) {
        if (at++ != last) {
          out.append(instance.encoded());
        } else {
          put_with(out, instance, "state", [&](const codec::View&) { out.append(state->second); });
        }
      }
    });
    all.push_back(out.to_bytes());
  }
  return all;
}

}  // namespace holdfast::gateway
