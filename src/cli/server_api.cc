// SPDX-License-Identifier: Apache-2.0
#include "cli/server_api.h"

#include "cli/output.h"
#include "cli/render.h"
#include "codec/json_writer.h"
#include "codec/printable.h"

namespace holdfast::cli {
namespace {

base::ErrorCode code_of(long status) {
  switch (status) {
    case 404: return base::ErrorCode::kNotFound;
    case 409: return base::ErrorCode::kConflict;
    case 413: return base::ErrorCode::kTooLarge;
    case 408:
    case 429:
    case 503:
    case 507: return base::ErrorCode::kUnavailable;
    default: break;
  }
  return status < 500 ? base::ErrorCode::kInvalid : base::ErrorCode::kIo;
}

base::Result<Document> document_of(const HttpAnswer& answer, const std::string& path) {
  auto document = answer.type.starts_with("application/cbor")
                      ? Document::of_cbor(base::as_bytes(answer.body))
                      : Document::of_json(answer.body);
  if (!document) {
    return base::Error(base::ErrorCode::kIo, path,
                       "what the server answers cannot be read: " + document.error().to_string());
  }
  return document;
}

// Who is in the way, as offline: ": shop/Order@1/o-1, shop/Order@1/o-2 and others".
std::string blockers_in(codec::View problem) {
  constexpr std::size_t kMostNamed = 5;
  const std::vector<codec::View> blocking = list_in(problem, "blocking");
  std::string text;
  for (std::size_t i = 0; i < blocking.size() && i < kMostNamed; ++i)
    text += (i == 0 ? ": " : ", ") + id_in(blocking[i]).text();
  return text + (blocking.size() > kMostNamed ? " and others" : "");
}

}  // namespace

std::string json_text(std::string_view text) {
  codec::Buffer out;
  codec::write_string_json(out, text);
  return std::string(base::as_text(out.view()));
}

base::Error problem_in(const HttpAnswer& answer, const std::string& path) {
  const std::string status = std::to_string(answer.status);
  const auto document = answer.type.starts_with("application/cbor")
                            ? Document::of_cbor(base::as_bytes(answer.body))
                            : Document::of_json(answer.body);
  if (!document) return {code_of(answer.status), path, "the server answers " + status};
  const codec::View problem = document->view();
  std::string message =
      text_in(problem, "detail").empty() ? text_in(problem, "title") : text_in(problem, "detail");
  if (message.empty()) message = "the server answers " + status;
  message += blockers_in(problem);
  if (!text_in(problem, "code").empty()) message += " (" + text_in(problem, "code") + ")";
  base::Error error(code_of(answer.status), text_in(problem, "path"), std::move(message));
  keep_problem(error, codec::printable_json(codec::to_json(problem)));
  return error;
}

std::string path_part(std::string_view workflow) {
  const std::size_t slash = workflow.find('/');
  return slash == std::string::npos
             ? escaped(workflow)
             : escaped(workflow.substr(0, slash)) + "/" + escaped(workflow.substr(slash + 1));
}

std::string path_of(const InstanceId& id) {
  return "/v1/instances/" + path_part(id.workflow) + "/" + escaped(id.key);
}

base::Result<ServerApi> ServerApi::at(const Where& where) {
  return ServerApi(TRY(HttpClient::to(
      where.server, where.token, {where.authorities, where.client_certificate, where.client_key})));
}

base::Result<Document> ServerApi::get(const std::string& path) const {
  HttpRequest request;
  request.path = path;
  const HttpAnswer answer = TRY(client_.ask(request));
  if (answer.status != 200) return problem_in(answer, path);
  return document_of(answer, path);
}

base::Result<std::string> ServerApi::get_text(const std::string& path) const {
  HttpRequest request;
  request.path = path;
  request.accept = "*/*";
  HttpAnswer answer = TRY(client_.ask(request));
  if (answer.status != 200) return problem_in(answer, path);
  return std::move(answer.body);
}

base::Result<Document> ServerApi::take_snapshot() const {
  HttpRequest request;
  request.method = "POST";
  request.path = "/v1/snapshots";
  const HttpAnswer answer = TRY(client_.ask(request));
  if (answer.status != 200) return problem_in(answer, request.path);
  return document_of(answer, request.path);
}

base::Result<ApiAnswer> ServerApi::post(const std::string& path, std::string body,
                                        std::chrono::milliseconds waits) const {
  HttpRequest request;
  request.method = "POST";
  request.path = path;
  request.body = std::move(body);
  request.patience += waits;
  const HttpAnswer answer = TRY(client_.ask(request));
  if (answer.status < 200 || answer.status > 299) return problem_in(answer, path);
  Document document = TRY(document_of(answer, path));
  return ApiAnswer{answer.status, std::move(document)};
}

}  // namespace holdfast::cli
