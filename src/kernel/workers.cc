// SPDX-License-Identifier: Apache-2.0
#include "kernel/workers.h"

#include <array>
#include <utility>
#include <vector>

#include "base/check.h"
#include "codec/cbor_writer.h"
#include "kernel/chunks.h"
#include "kernel/limits.h"
#include "kernel/list_reader.h"
#include "kernel/text.h"
#include "kernel/work.h"

namespace holdfast::kernel {
namespace {

constexpr std::array<std::string_view, 4> kModes{"active", "draining", "lost", "left"};
constexpr std::array<std::string_view, 5> kReasons{"lost", "drain", "denied", "yield", "refused"};

std::pair<std::string, std::string> place_of(const Worker& worker) {
  return {worker.node, worker.name};
}

}  // namespace

std::string_view name_of(WorkerMode mode) noexcept {
  return kModes[static_cast<std::size_t>(mode)];
}

std::string_view name_of(ReturnReason reason) noexcept {
  return kReasons[static_cast<std::size_t>(reason)];
}

const Worker* Workers::find(std::string_view id) const {
  const auto found = all_.find(id);
  return found == all_.end() ? nullptr : &found->second;
}

void Workers::note_gone(const std::string& id, const Worker& worker) {
  if (worker.is_gone()) gone_.emplace(worker.changed_at, id);
}

// For one more description. Nobody is forgotten unless that makes room enough.
bool Workers::make_room(std::string_view id, std::size_t description_bytes) {
  const auto known = all_.find(id);
  std::size_t count = all_.size() + (known == all_.end() ? 1 : 0);
  std::size_t bytes = description_bytes_ + description_bytes;
  if (known != all_.end()) bytes -= known->second.description.size();
  std::vector<Gone> forgotten;
  for (auto at = gone_.begin(); count > kMaxWorkers || bytes > kMaxDescriptionBytes; ++at) {
    if (at == gone_.end()) return false;
    if (at->second == id) continue;
    --count;
    bytes -= all_.find(at->second)->second.description.size();
    forgotten.push_back(*at);
  }
  for (const Gone& gone : forgotten) {
    const auto worker = all_.find(gone.second);
    description_bytes_ -= worker->second.description.size();
    all_.erase(worker);
    gone_.erase(gone);
  }
  return true;
}

bool Workers::put(std::string_view id, Worker worker) {
  if (!make_room(id, worker.description.size())) return false;
  const auto [place, is_new] = all_.try_emplace(std::string(id));
  Worker& known = place->second;
  if (!is_new) {
    gone_.erase({known.changed_at, place->first});
    description_bytes_ -= known.description.size();
  }
  worker.leases = std::move(known.leases);
  known = std::move(worker);
  description_bytes_ += known.description.size();
  note_gone(place->first, known);
  return true;
}

void Workers::change(std::string_view id, const Change& change) {
  const auto found = all_.find(id);
  CHECK(found != all_.end());
  Worker& worker = found->second;
  gone_.erase({worker.changed_at, found->first});
  worker.mode = change.mode;
  worker.reason = change.reason;
  worker.by = change.by;
  worker.changed_ns = change.time_ns;
  worker.changed_at = change.record;
  note_gone(found->first, worker);
}

void Workers::hold(std::string_view id, std::uint64_t dispatch, const base::Hash& intent) {
  const auto found = all_.find(id);
  CHECK(found != all_.end());
  if (!found->second.leases.emplace(dispatch, intent).second) return;
  ++leases_;
}

bool Workers::release(std::string_view id, std::uint64_t dispatch) {
  const auto found = all_.find(id);
  if (found == all_.end() || found->second.leases.erase(dispatch) == 0) return false;
  --leases_;
  note_gone(found->first, found->second);
  return true;
}

bool Workers::is_cordoned(const Worker& worker) const {
  return !cordons_.empty() && cordons_.contains(place_of(worker));
}

bool Workers::cordon(const Worker& worker) {
  if (cordons_.size() >= kMaxWorkers && !is_cordoned(worker)) return false;
  cordons_.insert(place_of(worker));
  return true;
}

void Workers::uncordon(const Worker& worker) { cordons_.erase(place_of(worker)); }

base::Result<void> Workers::write_chunks(codec::Buffer& out, Blobs& blobs) const {
  ChunkWriter workers(blobs);
  for (const auto& [id, worker] : all_) {
    codec::Buffer& entry = workers.entry();
    codec::write_list_head(entry, 12);
    codec::write_text(entry, id);
    codec::write_text(entry, worker.node);
    codec::write_text(entry, worker.name);
    codec::write_bytes(entry, worker.secret.bytes);
    codec::write_bytes(entry, worker.description);
    codec::write_nat(entry, static_cast<std::uint64_t>(worker.mode));
    codec::write_text(entry, worker.reason);
    codec::write_text(entry, worker.by);
    codec::write_nat(entry, worker.enrolled_ns);
    codec::write_nat(entry, worker.changed_ns);
    codec::write_nat(entry, worker.changed_at);
    codec::write_list_head(entry, 2 * worker.leases.size());
    for (const auto& [dispatch, intent] : worker.leases) {
      codec::write_nat(entry, dispatch);
      codec::write_bytes(entry, intent.bytes);
    }
    TRY(workers.entry_done());
  }
  TRY(workers.finish(out));
  ChunkWriter cordons(blobs);
  for (const auto& [node, name] : cordons_) {
    codec::write_list_head(cordons.entry(), 2);
    codec::write_text(cordons.entry(), node);
    codec::write_text(cordons.entry(), name);
    TRY(cordons.entry_done());
  }
  return cordons.finish(out);
}

bool Workers::read_worker(codec::View entry) {
  ListReader list(entry);
  Worker worker;
  const std::string_view id = list.text();
  worker.node = list.text();
  worker.name = list.text();
  worker.secret = list.hash();
  const base::ByteView description = list.bytes();
  worker.description.assign(description.begin(), description.end());
  worker.mode = list.choice(WorkerMode::kLeft);
  worker.reason = list.text();
  worker.by = list.text();
  worker.enrolled_ns = list.nat();
  worker.changed_ns = list.nat();
  worker.changed_at = list.nat();
  ListReader leases(list.next());
  while (leases.good() && !leases.at_end()) {
    const std::uint64_t dispatch = leases.nat();
    leases.require(worker.leases.emplace(dispatch, leases.hash()).second && dispatch != 0);
  }
  const bool good = list.done() && leases.done() && !id.empty() && !all_.contains(id) &&
                    id.size() <= kMaxWorkerNameBytes && all_.size() < kMaxWorkers &&
                    worker.leases.size() <= kMaxLeasesPerWorker;
  if (!good) return false;
  leases_ += worker.leases.size();
  description_bytes_ += worker.description.size();
  note_gone(std::string(id), worker);
  all_.emplace(id, std::move(worker));
  return true;
}

bool Workers::read_cordon(codec::View entry) {
  ListReader list(entry);
  std::string node(list.text());
  std::string name(list.text());
  return list.done() && cordons_.size() < kMaxWorkers &&
         cordons_.emplace(std::move(node), std::move(name)).second;
}

}  // namespace holdfast::kernel
