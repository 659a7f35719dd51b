// SPDX-License-Identifier: Apache-2.0
#include "gateway/event_body.h"

#include <utility>

#include "base/base64.h"
#include "gateway/media.h"

namespace holdfast::gateway {
namespace {

using Read = std::variant<EventBody, Problem>;

Problem bad(const base::Error& error) { return problem_of(error, "$", ProblemCode::kBadBody); }
Problem bad(std::string path, std::string detail) {
  return {ProblemCode::kBadBody, std::move(detail), std::move(path)};
}

base::Result<EventBody> read_document(Form form, const Request& request, std::uint64_t most_ms,
                                      std::optional<std::string>& id) {
  const Envelope envelope = TRY(Envelope::read(form, request.body));
  TRY(envelope.check_members({"schema", "value", "id", "wait"}));
  EventBody event;
  event.schema = TRY(envelope.needed_text("schema"));
  id = TRY(envelope.text("id"));
  event.wait_ms = TRY(envelope.wait_ms("wait", most_ms));
  const auto value = envelope.find("value");
  if (!value) return base::invalid("$.value", "it is missing");
  event.value = *value;
  event.place = "$.value";
  return event;
}

// What tells CloudEvents apart is where they come from and their id there.
std::string cloud_id(std::string_view source, std::string_view id) {
  return std::string(source) + " " + std::string(id);
}

base::Result<EventBody> read_cloud_event(const Request& request, std::optional<std::string>& id) {
  const Envelope envelope = TRY(Envelope::read(Form::kJson, request.body));
  if (TRY(envelope.needed_text("specversion")) != "1.0")
    return base::invalid("$.specversion", "only 1.0 is known");
  EventBody event;
  event.schema = TRY(envelope.needed_text("type"));
  const std::string source = TRY(envelope.needed_text("source"));
  const std::string number = TRY(envelope.needed_text("id"));
  if (source.empty()) return base::invalid("$.source", "it is empty");
  if (number.empty()) return base::invalid("$.id", "it is empty");
  id = cloud_id(source, number);
  const auto type = TRY(envelope.text("datacontenttype"));
  const auto encoded = TRY(envelope.text("data_base64"));
  const auto data = envelope.find("data");
  if (data && encoded) return base::invalid("$.data_base64", "there is data, too");
  if (data) {
    if (type && *type != "application/json")
      return base::invalid("$.datacontenttype", "data must be application/json");
    event.value = *data;
    event.place = "$.data";
    return event;
  }
  if (!encoded) return base::invalid("$.data", "it is missing");
  auto decoded = base::from_base64(*encoded);
  if (!decoded) return base::invalid("$.data_base64", decoded.error().message());
  if (!type || (*type != "application/cbor" && *type != "application/json"))
    return base::invalid("$.datacontenttype", "must be application/cbor or application/json");
  event.decoded = std::move(*decoded);
  event.value = {*type == "application/cbor" ? Form::kCbor : Form::kJson,
                 base::as_text(event.decoded)};
  event.place = "$.data_base64";
  return event;
}

Read read_binary_cloud_event(Form form, const Request& request) {
  if (request.field(Field::kCeSpecVersion) != "1.0")
    return Problem{ProblemCode::kBadBody, "ce-specversion: only 1.0 is known"};
  EventBody event;
  for (const Field field : {Field::kCeId, Field::kCeSource, Field::kCeType}) {
    if (request.field(field).empty())
      return Problem{ProblemCode::kBadBody, "ce-id, ce-source and ce-type are needed"};
  }
  event.schema = request.field(Field::kCeType);
  if (auto problem =
          take_id(request, cloud_id(request.field(Field::kCeSource), request.field(Field::kCeId)),
                  event.id))
    return std::move(*problem);
  event.value = {form, request.body};
  return event;
}

}  // namespace

std::optional<Problem> take_id(const Request& request, std::optional<std::string> given,
                               std::string& id) {
  id = request.field(Field::kIdempotencyKey);
  // Whoever says an id counts on it: an empty one is a mistake, and not none.
  if (id.empty() && request.has_field(Field::kIdempotencyKey))
    return Problem{ProblemCode::kBadBody, "the Idempotency-Key is empty"};
  if (!given) return std::nullopt;
  if (given->empty()) return bad("$.id", "it is empty");
  if (!id.empty() && id != *given) return bad("$.id", "the Idempotency-Key says something else");
  id = std::move(*given);
  return std::nullopt;
}

Read read_event(const Request& request, std::uint64_t most_wait_ms) {
  const Media media = media_of(request);
  if (media == Media::kOther) {
    return Problem{ProblemCode::kMediaType,
                   "application/json, application/cbor or application/cloudevents+json"};
  }
  const Form form = media == Media::kCbor ? Form::kCbor : Form::kJson;
  if (media != Media::kCloudEventJson && request.has_field(Field::kCeSpecVersion))
    return read_binary_cloud_event(form, request);
  std::optional<std::string> id;
  auto event = media == Media::kCloudEventJson ? read_cloud_event(request, id)
                                               : read_document(form, request, most_wait_ms, id);
  if (!event) return bad(event.error());
  if (auto problem = take_id(request, std::move(id), event->id)) return std::move(*problem);
  return std::move(*event);
}

}  // namespace holdfast::gateway
