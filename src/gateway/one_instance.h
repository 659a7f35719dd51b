// SPDX-License-Identifier: Apache-2.0
// For routes about the instance that their path names.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "gateway/exchange.h"

namespace holdfast::gateway {

// Of a workflow that the manifest does not have: of all that the key may be, what is there.
template <class Put>
void with_one_of(Exchange& exchange, std::vector<Bytes> keys, Put put) {
  std::vector<Engine::RawName> names;
  for (const Bytes& key : keys) names.push_back({exchange.path_value(0), key});
  exchange.service().engine.query_raw(
      std::move(names),
      exchange.later<Engine::RawInstances>(
          [keys = std::move(keys), put](Exchange& self, const Result<Engine::RawInstances>& found) {
            if (!found) return self.refuse(found.error());
            for (std::size_t i = 0; i < keys.size(); ++i) {
              const Result<RawInstance>& one = (*found)[i];
              if (one) return put(self, keys[i], *one);
              if (one.error().code != ErrorCode::kNotFound) return self.refuse(one.error());
            }
            self.refuse(
                {ProblemCode::kNotFound, "the manifest has no workflow '" + self.path_value(0) +
                                             "', and there is no instance of it with this key"});
          }));
}

// Asks for the instance, and answers with what `put(exchange, key, instance)` makes of it.
template <class Put>
void with_instance(Exchange& exchange, Put put) {
  auto keys = exchange.keys_in_path();
  if (!keys) return;
  if (keys->size() != 1) return with_one_of(exchange, std::move(*keys), put);
  exchange.service().queries.ask(
      exchange, exchange.path_value(0), std::move(keys->front()),
      [put](Exchange& self, const Bytes& asked, const Result<RawInstance>& found) {
        if (!found) return self.refuse(found.error());
        put(self, asked, *found);
      });
}

}  // namespace holdfast::gateway
