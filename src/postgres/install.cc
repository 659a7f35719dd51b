// SPDX-License-Identifier: Apache-2.0
#include "postgres/install.h"

#include <algorithm>

#include "postgres/schema_script.h"

namespace holdfast::postgres {
namespace {

base::Error conflict(std::string message) {
  return {base::ErrorCode::kConflict, "schema holdfast", std::move(message)};
}

// Two programs that install at the same time take turns. The lock is of this transaction.
constexpr const char* kBegin =
    "BEGIN; SET LOCAL search_path = pg_catalog, pg_temp; "
    "SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('holdfast install', 0))";

// Grants of new objects to every role that may use the schema.
constexpr const char* kGrantAgain =
    "SELECT holdfast.grant_usage(r.rolname, has_function_privilege(r.oid, "
    "'holdfast.send(text, jsonb, uuid)', 'EXECUTE')) FROM pg_namespace n, aclexplode(n.nspacl) a "
    "JOIN pg_roles r ON r.oid = a.grantee WHERE n.nspname = 'holdfast' AND a.privilege_type = "
    "'USAGE' AND a.grantee <> n.nspowner";

base::Result<void> run_scripts(Connection& connection, int after) {
  for (const SchemaScript& script : schema_scripts()) {
    if (script.version <= after) continue;
    if (auto ran = connection.run(std::string(script.text)); !ran)
      return std::move(ran).error().within(script.name);
  }
  const Value version = std::to_string(newest_version());
  if (after == 0)
    TRY(connection.run("INSERT INTO holdfast.installation (version) VALUES ($1)", {version}));
  else
    TRY(connection.run("UPDATE holdfast.installation SET version = $1, upgraded = now()",
                       {version}));
  TRY(connection.run(kGrantAgain));
  return {};
}

base::Result<int> install_in_transaction(Connection& connection) {
  const auto before = TRY(find_installed(connection));
  const int version = before ? before->version : 0;
  if (version > newest_version()) {
    return conflict("its version " + std::to_string(version) + " is newer than " +
                    std::to_string(newest_version()) + ", the newest that this program knows");
  }
  if (version < newest_version()) TRY(run_scripts(connection, version));
  return version;
}

// Commits what went well; otherwise nothing has happened.
template <class T>
base::Result<T> finish(Connection& connection, base::Result<T> done) {
  auto ended = connection.run(done ? "COMMIT" : "ROLLBACK");
  if (!done) return done;
  if (!ended) return std::move(ended).error();
  return done;
}

base::Result<void> uninstall_in_transaction(Connection& connection, bool anyway) {
  const auto found = TRY(find_installed(connection));
  if (!found) return base::Error(base::ErrorCode::kNotFound, "schema holdfast", "is not installed");
  if (!anyway && found->open_requests + found->live_instances != 0) {
    return conflict("has " + std::to_string(found->open_requests) + " open requests and " +
                    std::to_string(found->live_instances) +
                    " running instances; --force removes it with them");
  }
  // With the schemas that roles have their functions in; see holdfast.grant_usage.
  TRY(connection.run(
      "DO $$ DECLARE place name; BEGIN FOR place IN SELECT n.nspname FROM pg_namespace n WHERE "
      "n.nspname ~ '^holdfast_[0-9]+$' AND n.nspowner = (SELECT h.nspowner FROM pg_namespace h "
      "WHERE h.nspname = 'holdfast') LOOP EXECUTE format('DROP SCHEMA %I CASCADE', place); "
      "END LOOP; END $$; DROP SCHEMA holdfast CASCADE"));
  return {};
}

}  // namespace

int newest_version() noexcept { return schema_scripts().back().version; }

base::Result<std::optional<Installed>> find_installed(Connection& connection) {
  const Rows schema = TRY(connection.run(
      "SELECT pg_catalog.pg_get_userbyid(n.nspowner), "
      "pg_catalog.to_regclass('holdfast.installation') IS NOT NULL "
      "FROM pg_catalog.pg_namespace n WHERE n.nspname OPERATOR(pg_catalog.=) 'holdfast'"));
  if (schema.size() == 0) return std::optional<Installed>();
  if (!schema.is_true(0, 1)) return conflict("exists, and was not made by holdfast pg install");
  Installed found;
  found.owner = schema.string(0, 0);
  const Rows state = TRY(
      connection.run("SELECT i.version, i.source, "
                     "(SELECT pg_catalog.count(*) FROM holdfast.inbox r WHERE r.outcome IS NULL), "
                     "(SELECT pg_catalog.count(*) FROM holdfast.instances n WHERE n.ended IS NULL) "
                     "FROM holdfast.installation i"));
  if (state.size() != 1) return conflict("has no version");
  found.version = static_cast<int>(state.number(0, 0));
  found.source = state.string(0, 1);
  found.open_requests = state.number(0, 2);
  found.live_instances = state.number(0, 3);
  const Rows worlds = TRY(connection.run(
      "SELECT w.world, w.holder IS NOT NULL AND w.lease_until OPERATOR(pg_catalog.>) "
      "pg_catalog.clock_timestamp() FROM holdfast.worlds w ORDER BY w.attached, w.world"));
  for (int row = 0; row < worlds.size(); ++row)
    found.worlds.push_back({worlds.string(row, 0), worlds.is_true(row, 1)});
  return std::optional<Installed>(std::move(found));
}

base::Result<int> install(Connection& connection) {
  TRY(connection.run(kBegin));
  return finish(connection, install_in_transaction(connection));
}

base::Result<void> uninstall(Connection& connection, bool anyway) {
  TRY(connection.run(kBegin));
  return finish(connection, uninstall_in_transaction(connection, anyway));
}

}  // namespace holdfast::postgres
