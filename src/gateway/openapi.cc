// SPDX-License-Identifier: Apache-2.0
#include "gateway/openapi.h"

#include <algorithm>

#include "codec/json_writer.h"
#include "gateway/handlers.h"
#include "gateway/problem.h"
#include "gateway/route_schemas.h"

namespace holdfast::gateway {
namespace {

constexpr std::string_view kProblemSchema =
    R"({"type":"object","required":["type","title","status","code","detail"],"properties":{)"
    R"("type":{"type":"string"},"title":{"type":"string"},"status":{"type":"integer"},)"
    R"("code":{"enum":[)";

std::string quoted(std::string_view text) {
  codec::Buffer out;
  codec::write_string_json(out, text);
  return std::string(base::as_text(out.view()));
}

// A schema that is written over several lines in the table. Integers are up to 64 bits wide
// everywhere, which those who make clients from this document must know.
std::string one_line(std::string_view json) {
  std::string text(json);
  std::erase(text, '\n');
  for (const std::string_view integer :
       {R"("type":"integer")", R"("type":["integer","null"])", R"("type":["integer","boolean"])"}) {
    constexpr std::string_view kFormat = R"(,"format":"int64")";
    for (std::size_t at = text.find(integer); at != std::string::npos;
         at = text.find(integer, at + 1))
      text.insert(at + integer.size(), kFormat);
  }
  return text;
}

// The schema itself, or where it stands under its name.
std::string reference_to(std::string_view schema) {
  if (const NamedSchema* const named = find_named(schema))
    return R"({"$ref":"#/components/schemas/)" + std::string(named->name) + R"("})";
  return one_line(schema);
}

std::string schemas() {
  std::string text;
  for (const NamedSchema& named : named_schemas()) {
    std::string schema = one_line(named.schema);
    if (!named.example.empty()) {
      schema.pop_back();
      schema.append(R"(,"examples":[)").append(named.example).append("]}");
    }
    text.append(text.empty() ? "" : ",").append(quoted(named.name)).append(":").append(schema);
  }
  return text;
}

// What stands for the words of a path in examples.
std::string_view example_of(std::string_view word) {
  if (word == "workflow") return "demo/Order@1";
  if (word == "key") return "o-1";
  if (word == "task" || word == "proposal") return "1";
  if (word == "graph") return "nightly-1";
  if (word == "file") return "icon.svg";
  return "";
}

// The words of a path, in their order.
std::string path_parameters(std::string_view path) {
  std::string text;
  for (std::size_t at = path.find('{'); at != std::string_view::npos; at = path.find('{', at + 1)) {
    const std::string_view word = path.substr(at + 1, path.find('}', at) - at - 1);
    text.append(text.empty() ? "" : ",")
        .append(R"({"name":)")
        .append(quoted(word))
        .append(R"(,"in":"path","required":true,"schema":{"type":"string"})");
    if (const std::string_view example = example_of(word); !example.empty())
      text.append(R"(,"example":)").append(quoted(example));
    text += "}";
  }
  return text;
}

std::string parameters_of(const Route& route) {
  std::string text = path_parameters(route.path);
  for (const QueryParameter& parameter : route.query) {
    text.append(text.empty() ? "" : ",")
        .append(R"({"name":)")
        .append(quoted(parameter.name))
        .append(R"(,"in":"query","description":)")
        .append(quoted(parameter.summary))
        .append(parameter.is_text ? R"(,"schema":{"type":"string"}})"
                                  : R"(,"schema":{"type":"integer","format":"int64"}})");
  }
  if (route.streams != Streams::kNever) {
    text.append(text.empty() ? "" : ",")
        .append(R"({"name":"Last-Event-ID","in":"header","description":"of the last event that )"
                R"(was seen","schema":{"type":"string"}})");
  }
  if (route.takes == Takes::kEvent || route.path.ends_with("/start")) {
    text.append(text.empty() ? "" : ",")
        .append(R"({"name":"Idempotency-Key","in":"header","description":"the id of the event",)"
                R"("schema":{"type":"string"}},)")
        .append(
            R"({"name":"traceparent","in":"header","description":"the trace that it is part of",)"
            R"("schema":{"type":"string"}})");
  }
  return text;
}

std::string content(std::initializer_list<std::string_view> types, std::string_view schema) {
  std::string text = R"("content":{)";
  for (const std::string_view type : types) {
    text.append(text.ends_with('{') ? "" : ",")
        .append(quoted(type))
        .append(R"(:{"schema":)")
        .append(reference_to(schema))
        .append("}");
  }
  return text + "}";
}

std::string body_of(const Route& route) {
  if (route.takes == Takes::kNothing) return "";
  const bool is_needed = route.body.find("\"required\"") != std::string_view::npos;
  std::string text = R"(,"requestBody":{"required":)";
  text += is_needed ? "true," : "false,";
  text += content({"application/json", "application/cbor"}, route.body);
  if (route.takes == Takes::kEvent) {
    text.pop_back();
    text += R"(,"application/cloudevents+json":{"schema":{"type":"object"}}})";
  }
  return text + "}";
}

std::string answer_of(const Route& route) {
  if (route.streams == Streams::kAlways)
    return content({"text/event-stream"}, R"({"type":"string"})");
  if (!route.type.empty()) return content({route.type}, R"({"type":"string"})");
  if (route.answer.empty()) return content({"text/plain"}, R"({"type":"string"})");
  std::string text = content({"application/json", "application/cbor"}, route.answer);
  if (route.draws) {
    text.pop_back();
    for (const std::string_view type : {"text/vnd.mermaid", "text/vnd.graphviz", "image/svg+xml"})
      text += "," + quoted(type) + R"(:{"schema":{"type":"string"}})";
    text += "}";
  }
  if (route.streams == Streams::kNever) return text;
  text.pop_back();
  return text + R"(,"text/event-stream":{"schema":{"type":"string"}}})";
}

// The statuses of problems that a client must be ready for.
std::vector<unsigned> refusals_of(const Route& route) {
  std::vector<unsigned> statuses{400};
  if (route.role != Role::kAnybody) statuses.insert(statuses.end(), {401, 403});
  // An event that no instance takes is `unhandled`; a cursor of another life `stale_cursor`.
  if (route.path.find('{') != std::string_view::npos || route.takes == Takes::kEvent)
    statuses.push_back(404);
  if (route.method == Method::kPost || route.streams != Streams::kNever) statuses.push_back(409);
  if (route.takes != Takes::kNothing) statuses.insert(statuses.end(), {413, 415, 422});
  if (route.role != Role::kAnybody) statuses.insert(statuses.end(), {429, 503});
  return statuses;
}

std::string answers_of(const Route& route) {
  const std::string answer = answer_of(route);
  std::string text = R"("200":{"description":"done",)" + answer + "}";
  for (std::string_view rest = route.statuses; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find('|'));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    text.append(",")
        .append(quoted(one.substr(0, 3)))
        .append(R"(:{"description":)")
        .append(quoted(one.substr(4)))
        .append(",")
        .append(answer)
        .append("}");
  }
  for (const unsigned status : refusals_of(route))
    text.append(",")
        .append(quoted(std::to_string(status)))
        .append(R"(:{"$ref":"#/components/responses/Problem"})");
  return text + R"(,"default":{"$ref":"#/components/responses/Problem"})";
}

std::string operation(const Route& route) {
  std::string method(name_of(route.method));
  for (char& c : method) c = static_cast<char>(c + 32);
  std::string text = quoted(method) + R"(:{"operationId":)" + quoted(route.name) +
                     R"(,"summary":)" + quoted(route.summary) + R"(,"x-role":)" +
                     quoted(name_of(route.role));
  if (route.role == Role::kAnybody) text += R"(,"security":[])";
  text += R"(,"parameters":[)" + parameters_of(route) + "]" + body_of(route);
  return text + R"(,"responses":{)" + answers_of(route) + "}}";
}

}  // namespace

std::string openapi_of(std::span<const Route> routes) {
  std::string text = R"({"openapi":"3.1.0","info":{"title":"Holdfast","version":"1","summary":)"
                     R"("The HTTP interface of a Holdfast server","license":{"name":"Apache 2.0",)"
                     R"("identifier":"Apache-2.0"}},"servers":[{"url":"/","description":)"
                     R"("this server"}],"security":[{"token":[]}],"paths":{)";
  std::string_view separator;
  for (std::size_t i = 0; i < routes.size(); ++i) {
    const auto same = [&](const Route& route) { return route.path == routes[i].path; };
    if (std::ranges::any_of(routes.first(i), same)) continue;
    text.append(separator).append(quoted(routes[i].path)).append(":{");
    std::string_view between;
    for (const Route& route : routes) {
      if (!same(route)) continue;
      text.append(between).append(operation(route));
      between = ",";
    }
    text += "}";
    separator = ",";
  }
  text += R"(},"components":{"securitySchemes":{"token":{"type":"http","scheme":"bearer"}},)"
          R"("responses":{"Problem":{"description":"refused","content":{)"
          R"("application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem"}}}}},)"
          R"("schemas":{)";
  text += schemas();
  text += R"(,"Problem":)";
  text += kProblemSchema;
  separator = "";
  for (const ProblemKind& kind : problem_kinds()) {
    text.append(separator).append(quoted(kind.name));
    separator = ",";
  }
  return text + R"(]},"detail":{"type":"string"},"path":{"type":"string"},)"
                R"("blocking":{"type":"array","items":{"type":"object"}}}}}}})";
}

void get_openapi(Exchange& exchange) {
  static const std::string document = openapi_of(routes());
  exchange.answer_text(200, "application/json", document);
}

}  // namespace holdfast::gateway
