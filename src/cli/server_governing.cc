// SPDX-License-Identifier: Apache-2.0
// Governing a world behind a server.
#include <utility>

#include "cli/governing.h"
#include "cli/server_api.h"
#include "codec/json_writer.h"
#include "holdfast/governance.h"

namespace holdfast::cli {
namespace {

std::string json_of(const base::Bytes& value) { return codec::to_json(codec::View::of(value)); }

// What a server gives a trial at most.
const std::chrono::milliseconds kTrialTime = TrialOptions{}.time;

class ServerGoverning : public Governing {
 public:
  explicit ServerGoverning(ServerApi api) : api_(std::move(api)) {}

  base::Result<Document> apply(const base::Bytes& closure, ApplyOptions options) override {
    const std::string check = options.mode == ApplyMode::kCheck ? "1" : "0";
    return post("/v1/manifest?check=" + check + "&strict=" + (options.strict ? "1" : "0") +
                    "&pin=" + (options.pin ? "1" : "0"),
                "{\"definitions\":" + json_of(closure) + "}");
  }

  base::Result<Document> rehearse(const base::Bytes& closure, Rehearsing how) override {
    const auto flag = [](bool is_set) { return is_set ? "1" : "0"; };
    ApiAnswer answer =
        TRY(api_.post(std::string("/v1/manifest?rehearse=1&strict=") + flag(how.strict) +
                          "&pin=" + flag(how.pin) + "&migrate=" + flag(how.migrate),
                      "{\"definitions\":" + json_of(closure) + "}", RehearseOptions{}.time));
    return std::move(answer.document);
  }

  base::Result<Document> propose(const Wish& wish) override {
    return post("/v1/proposals", std::string(wish.is_patch ? "{\"patch\":" : "{\"definitions\":") +
                                     json_of(wish.document) +
                                     ",\"description\":" + json_text(wish.description) + "}");
  }

  base::Result<Document> try_proposal(std::uint64_t proposal, const Stretch& stretch) override {
    std::string body;
    const auto add = [&body](const char* name, std::uint64_t number) {
      if (number == 0) return;
      body += std::string(body.empty() ? "" : ",") + "\"" + name + "\":" + std::to_string(number);
    };
    add("from", stretch.from);
    add("to", stretch.to);
    add("records", stretch.records);
    ApiAnswer answer =
        TRY(api_.post(path_of_proposal(proposal, "shadow"), "{" + body + "}", kTrialTime));
    return std::move(answer.document);
  }

  base::Result<Document> decide(const Decision& decision) override {
    std::string body = "{\"reason\":" + json_text(decision.reason);
    if (!decision.by.empty()) body += ",\"by\":" + json_text(decision.by);
    return post(path_of_proposal(decision.proposal, decision.approve ? "approve" : "reject"),
                body + "}");
  }

  base::Result<Document> apply_proposal(std::uint64_t proposal) override {
    return post(path_of_proposal(proposal, "apply"), "{}");
  }

 private:
  static std::string path_of_proposal(std::uint64_t proposal, const char* what) {
    return "/v1/proposals/" + std::to_string(proposal) + "/" + what;
  }

  base::Result<Document> post(const std::string& path, std::string body) {
    ApiAnswer answer = TRY(api_.post(path, std::move(body)));
    return std::move(answer.document);
  }

  ServerApi api_;
};

}  // namespace

base::Result<std::unique_ptr<Governing>> server_governing(const Where& where) {
  ServerApi api = TRY(ServerApi::at(where));
  return std::unique_ptr<Governing>(std::make_unique<ServerGoverning>(std::move(api)));
}

}  // namespace holdfast::cli
