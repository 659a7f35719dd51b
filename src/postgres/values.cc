// SPDX-License-Identifier: Apache-2.0
#include "postgres/values.h"

#include <algorithm>

#include "codec/json_writer.h"
#include "codec/key_word.h"
#include "codec/view.h"
#include "defs/system_names.h"
#include "gateway/step_documents.h"
#include "postgres/flow_events.h"

namespace holdfast::postgres {

base::Result<bool> Values::refresh() {
  const std::uint64_t now = engine_.definitions_version();
  if (definitions_ && now == version_) return false;
  definitions_.emplace(TRY(gateway::Definitions::load(engine_.definitions())));
  version_ = now;
  return true;
}

std::string Values::catalogue(bool has_flows) {
  codec::Buffer document;
  gateway::put_workflows(document, *definitions_);
  const std::string json = codec::to_json(codec::View::of(document.view()));
  return (has_flows ? R"({"flows":true,)" : R"({"flows":false,)") + json.substr(1);
}

base::Result<Bytes> Values::event_of(const Request& request) {
  if (is_flow(request)) return flow_event(normaliser_, request);
  const codec::Schema* schema = definitions_->schema(request.event);
  if (schema == nullptr) {
    return base::Error(base::ErrorCode::kNotFound,
                       "the world has no event '" + request.event + "'");
  }
  const base::ByteView value = TRY(normaliser_.part_from_json(*schema, request.body));
  return Bytes(value.begin(), value.end());
}

base::Result<Bytes> Values::key_of(const std::string& workflow,
                                   const std::optional<std::string>& key) {
  if (workflow == defs::kFlowWorkflow) return flow_key(key.value_or(std::string()));
  return definitions_->key_of(workflow, key ? codec::word_of_key(*key) : "-");
}

base::Result<Bytes> Values::key_of_start(const Request& request, const Bytes& event) {
  Bytes key = TRY(key_of(request.workflow, request.key));
  if (is_flow(request)) return key;
  const defs::Manifest* manifest = definitions_->manifest();
  if (manifest == nullptr) return key;
  for (const defs::Subscription& route : manifest->subscriptions) {
    if (route.workflow != request.workflow || route.event != request.event || !route.key_field)
      continue;
    const auto routed = gateway::Definitions::key_in(event, *route.key_field);
    if (!routed || std::ranges::equal(*routed, key)) return key;
    return base::invalid("$." + *route.key_field, "is not the key of the request");
  }
  return key;
}

}  // namespace holdfast::postgres
