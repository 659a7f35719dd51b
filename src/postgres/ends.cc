// SPDX-License-Identifier: Apache-2.0
#include "postgres/ends.h"

#include <utility>

#include "codec/json_writer.h"
#include "codec/view.h"
#include "postgres/answers.h"

namespace holdfast::postgres {
namespace {

constexpr std::size_t kMostAtOnce = 256;
constexpr std::size_t kMostBytesAtOnce = std::size_t{8} << 20;

Value json_of(const Bytes& value) {
  if (value.empty()) return std::nullopt;
  return codec::to_json(codec::View::of(value));
}

Ends::Ended ended_as(const std::string& id, const Result<RawInstance>& found) {
  if (!found) {
    // It was forgotten, or the world was restored from a backup that does not have it.
    return {
        id, "failed", std::nullopt,
        R"({"code":"instance.lost","message":"the engine does not have this instance any more"})"};
  }
  switch (found->status) {
    case InstanceStatus::kCompleted: return {id, "completed", json_of(found->outcome), {}};
    case InstanceStatus::kFailed: return {id, "failed", {}, json_of(found->outcome)};
    default: return {id, "cancelled", {}, json_of(found->outcome)};
  }
}

bool has_ended(const Result<RawInstance>& found) {
  if (!found) return found.error().code == ErrorCode::kNotFound;
  return found->status >= InstanceStatus::kCompleted;
}

std::vector<Result<RawInstance>> ask(Engine& engine, std::vector<Engine::RawName> names) {
  Answers<Engine::RawInstances> answers;
  engine.query_raw(std::move(names), answers.next(), kMostBytesAtOnce);
  auto told = answers.wait();
  if (!told[0]) return {};  // the engine ends, or is too busy: asked again later
  return std::move(*told[0]);
}

}  // namespace

Ends::Ends(Engine& engine, std::shared_ptr<Patience> patience)
    : engine_(engine), patience_(std::move(patience)) {}

Ends::~Ends() {
  for (const auto& [id, watched] : watched_) engine_.stop_waiting(watched.wait);
}

void Ends::watch(Started started) {
  if (watched_.contains(started.id)) return;
  if (watched_.size() >= kMostWatched) return note_unwatched();
  const std::string id = started.id;
  auto& watched = watched_.emplace(id, Watched{std::move(started), {}}).first->second;
  watched.wait =
      engine_.wait_raw(watched.instance.workflow, watched.instance.key,
                       [told = told_, patience = patience_, id](const Result<RawInstance>& ended) {
                         {
                           const std::lock_guard lock(told->mutex);
                           (ended ? told->ended : told->refused).push_back(id);
                         }
                         patience->wake();
                       });
}

void Ends::look_at(std::vector<Started> some) {
  std::vector<Engine::RawName> names;
  for (const Started& each : some) names.push_back({each.workflow, each.key});
  const auto found = ask(engine_, std::move(names));
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (has_ended(found[i])) {
      if (ended_.size() < kMostWatched) ended_.emplace(some[i].id, std::move(some[i]));
    } else if (found[i]) {
      watch(std::move(some[i]));
    }
  }
  if (found.size() < some.size()) note_unwatched();
}

std::vector<Ends::Ended> Ends::some_ended() {
  {
    const std::lock_guard lock(told_->mutex);
    for (const std::string& id : told_->ended) {
      const auto watched = watched_.find(id);
      if (watched == watched_.end()) continue;
      ended_.emplace(id, std::move(watched->second.instance));
      watched_.erase(watched);
    }
    told_->ended.clear();
    for (const std::string& id : told_->refused) watched_.erase(id);
    if (!told_->refused.empty()) note_unwatched();
    told_->refused.clear();
  }
  std::vector<std::string> ids;
  std::vector<Engine::RawName> names;
  for (const auto& [id, instance] : ended_) {
    if (names.size() == kMostAtOnce) break;
    ids.push_back(id);
    names.push_back({instance.workflow, instance.key});
  }
  std::vector<Ended> ended;
  if (names.empty()) return ended;
  const auto found = ask(engine_, std::move(names));
  for (std::size_t i = 0; i < found.size(); ++i)
    if (has_ended(found[i])) ended.push_back(ended_as(ids[i], found[i]));
  return ended;
}

void Ends::forget(const std::vector<Ended>& written) {
  for (const Ended& each : written) ended_.erase(each.id);
}

}  // namespace holdfast::postgres
