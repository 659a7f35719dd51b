// SPDX-License-Identifier: Apache-2.0
// Values: turns what requests say into values of the engine, by the definitions of the world, and
// the definitions into the catalogue that the database publishes. One thread's own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "codec/normaliser.h"
#include "gateway/definitions.h"
#include "holdfast/engine.h"
#include "postgres/request.h"

namespace holdfast::postgres {

class Values {
 public:
  explicit Values(Engine& engine) : engine_(engine) {}

  // Reads the definitions again if they have changed. True: they have.
  base::Result<bool> refresh();

  // {"flows": ..., "workflows": [...], "schemas": {...}}
  std::string catalogue(bool has_flows);

  // The event of a start, a signal or a send, in canonical form.
  base::Result<Bytes> event_of(const Request& request);

  // The canonical key of the instance that a request is for.
  base::Result<Bytes> key_of(const std::string& workflow, const std::optional<std::string>& key);

  // The key of a start. kInvalid: its event has another one where the routes find it.
  base::Result<Bytes> key_of_start(const Request& request, const Bytes& event);

 private:
  Engine& engine_;
  std::optional<gateway::Definitions> definitions_;
  std::uint64_t version_ = 0;
  codec::Normaliser normaliser_;
};

}  // namespace holdfast::postgres
