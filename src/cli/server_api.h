// SPDX-License-Identifier: Apache-2.0
// ServerApi: the routes of a server (docs/api.md), with its problems as errors.
#pragma once

#include <string>

#include "cli/http_client.h"
#include "cli/world_source.h"

namespace holdfast::cli {

struct ApiAnswer {
  long status = 0;
  Document document;
};

class ServerApi {
 public:
  static base::Result<ServerApi> at(const Where& where);

  base::Result<Document> get(const std::string& path) const;
  base::Result<std::string> get_text(const std::string& path) const;  // of what is no document

  // `body`: JSON. A server that waits is waited for.
  base::Result<ApiAnswer> post(const std::string& path, std::string body,
                               std::chrono::milliseconds waits = {}) const;

  // {"next_record"}
  base::Result<Document> take_snapshot() const;

  const HttpClient& client() const noexcept { return client_; }

 private:
  explicit ServerApi(HttpClient client) : client_(std::move(client)) {}

  HttpClient client_;
};

// What a server has refused.
base::Error problem_in(const HttpAnswer& answer, const std::string& path);

// A text as JSON.
std::string json_text(std::string_view text);

// "demo/Order@1", escaped as it stands in a path.
std::string path_part(std::string_view workflow);

// "/v1/instances/demo/Order@1/o-1"
std::string path_of(const InstanceId& id);

}  // namespace holdfast::cli
