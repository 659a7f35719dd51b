// SPDX-License-Identifier: Apache-2.0
// Backups of the world: /v1/backups. The engine makes them, on a thread of its own, below the one
// folder that the operator has named.
#include <utility>

#include "gateway/body.h"
#include "gateway/documents.h"
#include "gateway/handlers.h"

namespace holdfast::gateway {
namespace {

std::string_view name_of(BackupInfo::Status status) noexcept {
  switch (status) {
    case BackupInfo::Status::kRunning: return "running";
    case BackupInfo::Status::kFinished: return "finished";
    case BackupInfo::Status::kFailed: return "failed";
    case BackupInfo::Status::kUnfinished: break;
  }
  return "unfinished";
}

void put_backup(codec::Buffer& out, const BackupInfo& backup) {
  const bool is_running = backup.status == BackupInfo::Status::kRunning;
  const bool has_failed = backup.status == BackupInfo::Status::kFailed;
  codec::write_map_head(out, 7u + 2u * is_running + has_failed);
  put(out, "name", backup.name);
  put(out, "status", name_of(backup.status));
  put_number(out, "number", backup.number);
  put_number(out, "time_ns", backup.time_ns);
  put_number(out, "first_record", backup.first_record);
  put_number(out, "last_record", backup.last_record);
  put_number(out, "bytes", backup.bytes);
  if (is_running) {
    put_number(out, "done_bytes", backup.done_bytes);
    put_number(out, "total_bytes", backup.total_bytes);
  }
  if (has_failed) put(out, "error", backup.error);
}

}  // namespace

void make_backup(Exchange& exchange) {
  const auto body = read_body(exchange, {"name"});
  if (!body) return;
  const auto name = text_in(exchange, *body, "name");
  if (!name) return;
  const auto begun = exchange.service().engine.backup(*name, {}, [](const Result<BackupInfo>&) {});
  if (!begun) {
    if (begun.error().code == ErrorCode::kInvalid)
      return refuse_body(exchange, base::invalid("$.name", begun.error().message));
    return exchange.refuse(begun.error());
  }
  BackupInfo info{.name = *name, .status = BackupInfo::Status::kRunning};
  put_backup(exchange.document(), info);
  exchange.answer(202);
}

void list_backups(Exchange& exchange) {
  Engine& engine = exchange.service().engine;
  exchange.read_files([&engine] { return engine.list_backups(); },
                      [](Exchange& self, const Result<std::vector<BackupInfo>>& backups) {
                        if (!backups) return self.refuse(backups.error());
                        codec::Buffer& out = self.document();
                        codec::write_map_head(out, 1);
                        codec::write_text(out, "backups");
                        codec::write_list_head(out, backups->size());
                        for (const BackupInfo& backup : *backups) put_backup(out, backup);
                        self.answer(200);
                      });
}

}  // namespace holdfast::gateway
