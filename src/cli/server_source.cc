// SPDX-License-Identifier: Apache-2.0
// A world behind a server.
#include <algorithm>
#include <utility>

#include "cli/progress.h"
#include "cli/server_api.h"
#include "gateway/documents.h"

namespace holdfast::cli {
namespace {

constexpr std::uint64_t kRowsPerPage = 1000;
constexpr std::size_t kMostPages = 100;

class ServerSource : public WorldSource {
 public:
  explicit ServerSource(ServerApi api) : api_(std::move(api)) {}

  base::Result<Document> instances(const ListQuery& query) override {
    const bool is_sifted = !query.where.empty() || query.since_ns != 0 || !query.key.empty();
    return !is_sifted && query.limit <= kRowsPerPage ? page(query) : gathered(query, is_sifted);
  }

  base::Result<Document> page(const ListQuery& query) {
    std::string path = "/v1/instances?limit=" + std::to_string(query.limit);
    if (!query.workflow.empty()) path += "&workflow=" + escaped(query.workflow);
    if (!query.status.empty()) path += "&status=" + escaped(query.status);
    if (!query.key.empty()) path += "&key=" + escaped(query.key);
    if (!query.after.empty()) path += "&after=" + escaped(query.after);
    if (query.since_ns != 0) path += "&since=" + std::to_string(query.since_ns);
    if (!query.where.empty()) path += "&where=" + escaped(query.where);
    return api_.get(path);
  }

  // Several parts. A server looks at some instances for one: there may be none among them, and more
  // behind.
  base::Result<Document> gathered(ListQuery query, bool is_sifted) {
    std::vector<base::Bytes> rows;
    std::uint64_t next = 0;
    std::uint64_t lag = 0;
    Progress progress("instances found", 0);
    const std::uint64_t most = query.limit;
    const std::size_t most_parts = is_sifted ? kMostPages : most / kRowsPerPage + 1;
    for (std::size_t part = 0; part < most_parts && rows.size() < most; ++part) {
      query.limit = std::min<std::uint64_t>(most - rows.size(), kRowsPerPage);
      const Document document = TRY(page(query));
      const auto found = document.view().find("instances");
      if (!found) return base::Error(base::ErrorCode::kIo, "/v1/instances", "has no instances");
      for (const codec::View row : found->elements()) {
        const base::ByteView bytes = row.encoded();
        rows.emplace_back(bytes.begin(), bytes.end());
      }
      const auto after = document.view().find("next");
      next = after ? after->nat().value_or(0) : 0;
      const auto behind = document.view().find("lag");
      lag = std::max(lag, behind ? behind->nat().value_or(0) : 0);
      progress.at(rows.size());
      if (next == 0) break;
      query.after = std::to_string(next);
    }
    codec::Buffer out;
    codec::write_map_head(out, 3);
    codec::write_text(out, "instances");
    codec::write_list_head(out, rows.size());
    for (const base::Bytes& row : rows) out.append(row);
    gateway::put_number_or_null(out, "next", next);
    gateway::put_number(out, "lag", lag);
    return Document::ours(out);
  }

  base::Result<Document> instance(const InstanceId& id) override { return api_.get(path_of(id)); }

  base::Result<Document> state(const InstanceId& id, std::uint64_t at) override {
    return api_.get(path_of(id) + "/state" + (at == 0 ? "" : "?at=" + std::to_string(at)));
  }

  base::Result<Document> timeline(const InstanceId& id, std::uint64_t from,
                                  std::uint64_t limit) override {
    return api_.get(path_of(id) + "/timeline?limit=" + std::to_string(limit) +
                    (from == 0 ? "" : "&from=" + std::to_string(from)));
  }

  base::Result<Document> timeline_with_states(const InstanceId& id, std::uint64_t from,
                                              std::uint64_t limit) override {
    return api_.get(path_of(id) + "/timeline?states=1&limit=" + std::to_string(limit) +
                    (from == 0 ? "" : "&from=" + std::to_string(from)));
  }

  base::Result<Document> why(const InstanceId& id) override {
    return api_.get(path_of(id) + "/why");
  }

  base::Result<Document> journal(std::uint64_t from, std::uint64_t limit) override {
    return api_.get("/v1/journal?limit=" + std::to_string(limit) +
                    (from == 0 ? "" : "&from=" + std::to_string(from)));
  }

  base::Result<Document> manifest() override { return api_.get("/v1/manifest"); }
  base::Result<Document> proposals() override { return api_.get("/v1/proposals"); }

  base::Result<Document> workflows() override { return api_.get("/v1/workflows"); }
  base::Result<Document> graph(const GraphOf& of) override { return api_.get(graph_path(of)); }
  base::Result<std::string> picture(const GraphOf& of, const std::string& format) override {
    return api_.get_text(graph_path(of) + "?format=" + format);
  }

  base::Result<std::vector<InstanceId>> beginning_with(std::string_view prefix,
                                                       std::size_t most) override {
    ListQuery query;
    query.limit = kRowsPerPage;
    // With the whole name of a workflow in front, the others need not be looked at.
    const std::size_t slash = prefix.find('/');
    const std::size_t second =
        slash == std::string_view::npos ? slash : prefix.find('/', slash + 1);
    if (second != std::string_view::npos) query.workflow = prefix.substr(0, second);
    std::vector<InstanceId> found;
    for (std::size_t page = 0; page < kMostPages; ++page) {
      const Document document = TRY(instances(query));
      const auto rows = document.view().find("instances");
      if (!rows) return base::Error(base::ErrorCode::kIo, "/v1/instances", "has no instances");
      for (const codec::View row : rows->elements()) {
        const auto workflow = row.find("workflow");
        InstanceId id{std::string(workflow ? workflow->text().value_or("") : ""),
                      key_word(row.find("key"))};
        if (id.text().starts_with(prefix)) found.push_back(std::move(id));
        if (found.size() == most) return found;
      }
      const auto next = document.view().find("next");
      if (!next || next->is_null() || next->nat() == 0U) return found;
      query.after = key_word(next);
    }
    return base::Error(base::ErrorCode::kTooLarge, std::string(prefix),
                       "there are too many instances to look through: write the whole name");
  }

 private:
  static std::string graph_path(const GraphOf& of) {
    return (of.key ? path_of(InstanceId{of.workflow, *of.key})
                   : "/v1/workflows/" + path_part(of.workflow)) +
           "/graph";
  }

  ServerApi api_;
};

}  // namespace

base::Result<std::unique_ptr<WorldSource>> server_source(const Where& where) {
  ServerApi api = TRY(ServerApi::at(where));
  return std::unique_ptr<WorldSource>(std::make_unique<ServerSource>(std::move(api)));
}

}  // namespace holdfast::cli
