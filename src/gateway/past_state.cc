// SPDX-License-Identifier: Apache-2.0
#include "gateway/past_state.h"

#include "gateway/documents.h"

namespace holdfast::gateway {

Result<Done> PastReader::use(const Bytes& definitions) {
  if (definitions_ && definitions_->closure() == definitions) return Done{};
  auto loaded = Definitions::load(definitions);
  if (!loaded) return Error{ErrorCode::kCorrupt, loaded.error().to_string()};
  definitions_.emplace(std::move(*loaded));
  return Done{};
}

Result<PastReader::Found> PastReader::read(PastMoment& moment) {
  const std::string place = "record " + std::to_string(moment.record()) + ": ";
  if (const auto used = use(moment.definitions()); !used)
    return Error{used.error().code, place + used.error().message};
  const auto keys = definitions_->keys_of(workflow_, key_);
  if (!keys) {
    const bool is_no_key = keys.error().code() == base::ErrorCode::kNotFound;
    return Error{is_no_key ? ErrorCode::kNotFound : ErrorCode::kCorrupt,
                 place + keys.error().to_string()};
  }
  for (const Bytes& key : *keys) {
    auto found = read(moment, key);
    if (found || found.error().code != ErrorCode::kNotFound) return found;
  }
  return Error{ErrorCode::kNotFound, place + "there is no " + workflow_ + "/" + key_};
}

Result<PastReader::Found> PastReader::read(PastMoment& moment, const Bytes& key) {
  if (const auto used = use(moment.definitions()); !used) {
    return Error{used.error().code,
                 "record " + std::to_string(moment.record()) + ": " + used.error().message};
  }
  auto found = moment.read(workflow_, key);
  if (!found) return found.error();
  return Found{std::move(*found), definitions_->graph_of(workflow_)};
}

void put_state_of(codec::Buffer& out, const RawInstance& instance, std::uint64_t at,
                  const steps::Graph* graph) {
  codec::write_map_head(out, at == 0 ? 3 : 4);
  if (at != 0) put_number(out, "at", at);
  put_number(out, "record", instance.last_record);
  put(out, "status", name_of(instance.status));
  put_state(out, "state", instance.state, graph);
}

}  // namespace holdfast::gateway
