// SPDX-License-Identifier: Apache-2.0
#include "gateway/openapi.h"

#include <algorithm>

#include "codec/json_writer.h"
#include "gateway/handlers.h"
#include "gateway/problem.h"

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

// JSON that is written over several lines in the table.
std::string one_line(std::string_view json) {
  std::string text(json);
  std::erase(text, '\n');
  return text;
}

// The words of a path, in their order.
std::string path_parameters(std::string_view path) {
  std::string text;
  for (std::size_t at = path.find('{'); at != std::string_view::npos; at = path.find('{', at + 1)) {
    const std::string_view word = path.substr(at + 1, path.find('}', at) - at - 1);
    text.append(text.empty() ? "" : ",")
        .append(R"({"name":)")
        .append(quoted(word))
        .append(R"(,"in":"path","required":true,"schema":{"type":"string"}})");
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
                                  : R"(,"schema":{"type":"integer"}})");
  }
  if (route.streams != Streams::kNever) {
    text.append(text.empty() ? "" : ",")
        .append(R"({"name":"Last-Event-ID","in":"header","description":"of the last event that )"
                R"(was seen","schema":{"type":"integer"}})");
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
        .append(one_line(schema))
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
  std::string text = R"({"openapi":"3.1.0","info":{"title":"Holdfast","version":"1"},)"
                     R"("security":[{"token":[]}],"paths":{)";
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
          R"("application/problem+json":{"schema":)";
  text += kProblemSchema;
  separator = "";
  for (const ProblemKind& kind : problem_kinds()) {
    text.append(separator).append(quoted(kind.name));
    separator = ",";
  }
  return text + R"(]},"detail":{"type":"string"},"path":{"type":"string"},)"
                R"("blocking":{"type":"array","items":{"type":"object"}}}}}}}}}})";
}

void get_openapi(Exchange& exchange) {
  static const std::string document = openapi_of(routes());
  exchange.answer_text(200, "application/json", document);
}

}  // namespace holdfast::gateway
