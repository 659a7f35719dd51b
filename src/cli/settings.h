// SPDX-License-Identifier: Apache-2.0
// Settings: what a command goes by where no flag says it: the environment, then the file
// holdfast.yaml in the present folder. A key of the file that nobody knows is an error, and so is a
// variable that begins as ours do (cli/variables.h).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace holdfast::cli {

// How the file writes it. Everywhere else it is a text, a list one with commas.
enum class SettingKind : unsigned char { kText, kSecret, kList, kNumber, kFlag };

// Whether it is for everybody, or for those who serve a world.
enum class SettingOf : unsigned char { kCommand, kServer };

struct SettingName {
  std::string_view key;       // in the file, and the flag behind --
  std::string_view variable;  // of the environment
  std::string_view what;
  SettingKind kind = SettingKind::kText;
  SettingOf of = SettingOf::kCommand;
};

inline constexpr auto kSettings = std::to_array<SettingName>({
    {"world", "HOLDFAST_WORLD", "the folder of a world"},
    {"server", "HOLDFAST_SERVER", "address of a server"},
    {"token", "HOLDFAST_TOKEN", "what a server knows us by", SettingKind::kSecret},
    {"authorities", "HOLDFAST_AUTHORITIES", "PEM file with the certificate authorities to trust"},
    {"client-certificate", "HOLDFAST_CLIENT_CERTIFICATE",
     "a PEM file, with its chain: what a server with client-authorities knows us by"},
    {"client-key", "HOLDFAST_CLIENT_KEY", "a PEM file: the key of the client-certificate"},
    {"listen", "HOLDFAST_LISTEN",
     "ADDRESS:PORT (default 127.0.0.1:7411); addresses other than loopback need tokens",
     SettingKind::kText, SettingOf::kServer},
    {"tls-certificate", "HOLDFAST_TLS_CERTIFICATE", "PEM file with certificate and chain",
     SettingKind::kText, SettingOf::kServer},
    {"tls-key", "HOLDFAST_TLS_KEY", "a PEM file", SettingKind::kText, SettingOf::kServer},
    {"client-authorities", "HOLDFAST_CLIENT_AUTHORITIES",
     "PEM file with authorities; only clients with a certificate from them may connect",
     SettingKind::kText, SettingOf::kServer},
    {"http-hosts", "HOLDFAST_HTTP_HOSTS",
     "hosts that sys/http.request may reach: HOST[:PORT][/private], separated by commas",
     SettingKind::kList, SettingOf::kServer},
    {"programs", "HOLDFAST_PROGRAMS",
     "programs that sys/process.run may run: absolute paths, separated by commas",
     SettingKind::kList, SettingOf::kServer},
    {"program-variables", "HOLDFAST_PROGRAM_VARIABLES",
     "variables that sys/process.run may set for a program, separated by commas",
     SettingKind::kList, SettingOf::kServer},
    {"secret-folder", "HOLDFAST_SECRET_FOLDER", "folder with secrets that definitions may name",
     SettingKind::kText, SettingOf::kServer},
    {"secret-variables", "HOLDFAST_SECRET_VARIABLES",
     "environment variables that definitions may name as secrets, separated by commas",
     SettingKind::kList, SettingOf::kServer},
    {"retention", "HOLDFAST_RETENTION",
     "how long ended instances are kept, such as 7d, 12h, 30m or 90s; 0 keeps them for ever",
     SettingKind::kNumber, SettingOf::kServer},
    {"graph-retention", "HOLDFAST_GRAPH_RETENTION",
     "how long an ended task graph and its tasks are kept; 0 keeps them for ever",
     SettingKind::kNumber, SettingOf::kServer},
    {"snapshot-every", "HOLDFAST_SNAPSHOT_EVERY",
     "least number of records between two snapshots; 0 takes none", SettingKind::kNumber,
     SettingOf::kServer},
    {"replay-bound", "HOLDFAST_REPLAY_BOUND",
     "how long a restart may take to replay records, such as 5s; snapshots keep it below that",
     SettingKind::kNumber, SettingOf::kServer},
    {"backup-folder", "HOLDFAST_BACKUP_FOLDER", "folder for backups requested through the server",
     SettingKind::kText, SettingOf::kServer},
    {"placement", "HOLDFAST_PLACEMENT",
     "which worker gets a task that several could run: best_fit or first_fit", SettingKind::kText,
     SettingOf::kServer},
    {"worker-ttl", "HOLDFAST_WORKER_TTL",
     "a worker that sends nothing for this long gets no new work, as 30s", SettingKind::kNumber,
     SettingOf::kServer},
    {"worker-grace", "HOLDFAST_WORKER_GRACE",
     "after this long more it is lost, and its tasks go to other workers", SettingKind::kNumber,
     SettingOf::kServer},
    {"rehydration-grace", "HOLDFAST_REHYDRATION_GRACE",
     "how long workers that hold tasks may be silent after a restart of the server",
     SettingKind::kNumber, SettingOf::kServer},
    {"no-worker-grace", "HOLDFAST_NO_WORKER_GRACE",
     "when a task fails that no worker fits, or that all that fit have failed",
     SettingKind::kNumber, SettingOf::kServer},
    {"handler-threads", "HOLDFAST_HANDLER_THREADS", "number of threads that run handlers",
     SettingKind::kNumber, SettingOf::kServer},
    {"hot-cells", "HOLDFAST_HOT_CELLS",
     "number of instances of each workflow that stay in memory while nothing happens to them",
     SettingKind::kNumber, SettingOf::kServer},
    {"history", "HOLDFAST_HISTORY",
     "true or false; without history there are no lists, streams or retention", SettingKind::kFlag,
     SettingOf::kServer},
    {"log-format", "HOLDFAST_LOG_FORMAT", "how the log on standard error is written: text or json",
     SettingKind::kText, SettingOf::kServer},
    {"log-level", "HOLDFAST_LOG_LEVEL",
     "the least level that is logged: debug, info, warning or error", SettingKind::kText,
     SettingOf::kServer},
    {"access-log", "HOLDFAST_ACCESS_LOG", "true or false: log every request, not only refused ones",
     SettingKind::kFlag, SettingOf::kServer},
    {"postgres", "HOLDFAST_POSTGRES",
     "connection string of a database with the schema of holdfast pg install", SettingKind::kSecret,
     SettingOf::kServer},
    {"postgres-exec", "HOLDFAST_POSTGRES_EXEC",
     "connection string of the executor role: runs the SQL of flows that were composed in SQL",
     SettingKind::kSecret, SettingOf::kServer},
    {"postgres-sweep", "HOLDFAST_POSTGRES_SWEEP",
     "time between two sweeps of the database in milliseconds (default 5000)", SettingKind::kNumber,
     SettingOf::kServer},
    {"postgres-poll", "HOLDFAST_POSTGRES_POLL",
     "poll the database every N milliseconds instead of LISTEN, for use with a pooler; 0 uses "
     "LISTEN",
     SettingKind::kNumber, SettingOf::kServer},
    {"postgres-keep", "HOLDFAST_POSTGRES_KEEP",
     "number of ended instances that stay in the database (default 1000000); 0 keeps all that the "
     "retention leaves",
     SettingKind::kNumber, SettingOf::kServer},
});

inline constexpr const char* kSettingsFile = "holdfast.yaml";

struct Setting {
  const SettingName* name = nullptr;
  std::string value;
  std::string from;  // "--world", "HOLDFAST_WORLD", "holdfast.yaml"

  // The place of an error in it.
  std::string place() const;
};

class Settings {
 public:
  // kInvalid: the file cannot be read, or it or the environment has a key that is not known.
  // `secrets`: what a flag has said of secret-variables; `also`: those that a program names itself.
  static base::Result<Settings> load(std::string_view secrets = {},
                                     const std::vector<std::string>& also = {});

  // Null: nobody has said it.
  const Setting* find(std::string_view key) const;
  const std::vector<Setting>& all() const noexcept { return found_; }

  // A flag was given: it goes before everything else.
  void give(std::string_view key, const std::string& value);

 private:
  std::vector<Setting> found_;  // one for each key that has a value
};

}  // namespace holdfast::cli
