// SPDX-License-Identifier: Apache-2.0
// SqlSteps: runs the SQL of flows (sys/sql.run@1), each statement once, as the role that submitted
// the flow.
//
// A step is one call of the function that the role has made by holdfast.enroll(), on a connection
// of the executor role. That function runs the statement and keeps its result as a receipt, in one
// transaction, so that a call whose answer was lost is made again and gets the same answer. A
// statement that the database refuses fails its node; while the database is away, steps wait.
//
// A connection that served another role is reset before it is used, or closed.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "codec/normaliser.h"
#include "holdfast/handler.h"
#include "postgres/connection.h"
#include "postgres/figures.h"

namespace holdfast::postgres {

struct SqlStepsOptions {
  std::string owner;     // connection string of the owner of the schema
  std::string executor;  // of the executor role
  std::shared_ptr<BridgeFigures> figures = std::make_shared<BridgeFigures>();
};

class SqlSteps {
 public:
  // kInvalid: a connection string cannot be read.
  static base::Result<std::shared_ptr<SqlSteps>> make(SqlStepsOptions options);

  // For the engine. It keeps the steps.
  static Handler handler(std::shared_ptr<SqlSteps> steps);

 private:
  struct Step {
    std::string role;  // its oid
    std::string flow;
    std::string node;
    std::string path;
    std::string query;
  };
  struct Pooled {
    std::string role;  // that it last served
    Connection connection;
    bool is_prepared = false;  // the call of that role's function
  };
  // What became of one attempt.
  struct Attempt {
    std::optional<std::string> result;  // JSON
    std::optional<EffectError> error;   // for good
    bool is_conflict = false;           // with another transaction: the next one may do
  };

  SqlSteps(SqlStepsOptions options, executors::WakeUp wake);
  std::optional<EffectError> run(Reader params, const Call& call, Writer& receipt);
  Attempt attempt(const Step& step, const Call& call);
  static base::Result<Rows> ask(Pooled& pooled, const Step& step, const std::string& proof,
                                const Call& call);
  base::Result<std::optional<std::string>> secret_of(const std::string& role);
  void forget_secret(const std::string& role);
  base::Result<Pooled> take(const std::string& role);
  void give_back(Pooled pooled);

  const SqlStepsOptions options_;
  Patience patience_;
  std::mutex mutex_;
  std::vector<Pooled> idle_;
  std::map<std::string, std::string> secrets_;  // by role
  std::mutex asking_;                           // one thread at a time uses the next
  std::optional<Connection> owner_;
};

}  // namespace holdfast::postgres
