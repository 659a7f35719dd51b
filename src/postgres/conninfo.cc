// SPDX-License-Identifier: Apache-2.0
#include "postgres/conninfo.h"

#include <libpq-fe.h>

namespace holdfast::postgres {

base::Result<void> check_conninfo(const std::string& place, const std::string& conninfo) {
  char* problem = nullptr;
  PQconninfoOption* const options = PQconninfoParse(conninfo.c_str(), &problem);
  const std::string message = problem == nullptr ? "" : problem;
  PQfreemem(problem);
  if (options != nullptr) {
    PQconninfoFree(options);
    return {};
  }
  return base::invalid(place, message.empty() ? "no connection string" : message);
}

}  // namespace holdfast::postgres
