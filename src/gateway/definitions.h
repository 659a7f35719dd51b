// SPDX-License-Identifier: Apache-2.0
// Definitions: what a server must know of the definitions of its world, to make values out of what
// clients write: the schema of an event, the key of a workflow, where an event goes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "codec/buffer.h"
#include "codec/normaliser.h"
#include "codec/schema.h"
#include "defs/load.h"
#include "steps/graph.h"

namespace holdfast::gateway {

class Definitions {
 public:
  // From what an engine calls its definitions; empty: there are none.
  static base::Result<Definitions> load(const base::Bytes& closure);

  // Null: the manifest does not have it. Compiled when it is asked for; one thread at a time.
  const codec::Schema* schema(std::string_view name);

  const defs::WorkflowDef* workflow(std::string_view name) const;
  const defs::EffectDef* effect(std::string_view name) const;
  const defs::ModuleDef* module(std::string_view name) const;

  // The graph of a step workflow, as its definition has it. Null: it is none, or the definition was
  // made before graphs were part of them.
  const steps::Graph* graph_of(std::string_view workflow);

  // The event that begins instances of a workflow if nothing else is said: its first subscription.
  const defs::Subscription* first_event_of(std::string_view workflow) const;

  // Where an event goes, if that is one workflow.
  const defs::Subscription* only_route_of(std::string_view event) const;

  // What stands in `value` under a path such as "customer.id", as canonical bytes.
  static std::optional<base::ByteView> key_in(base::ByteView value, std::string_view field);

  // The canonical key of an instance as it stands in a path (codec/key_word.h), or a number. A
  // workflow without key has one instance, whose key is written "-". kNotFound: no such workflow.
  base::Result<base::Bytes> key_of(std::string_view workflow, std::string_view text);

  // The same for whoever only looks. Instances of a workflow that the manifest does not have any
  // more are still there, but nobody knows the schema of their keys: then all that the text may
  // stand for, the likeliest first.
  base::Result<std::vector<base::Bytes>> keys_of(std::string_view workflow, std::string_view text);

  const base::Bytes& closure() const noexcept { return *closure_; }
  const defs::Manifest* manifest() const noexcept;

 private:
  Definitions() = default;

  base::Result<base::Bytes> key_by(const codec::Schema& schema, std::string_view text);

  // Behind pointers: what refers to them stays true when this is moved.
  std::unique_ptr<base::Bytes> closure_;
  std::unique_ptr<defs::Bundle> bundle_;
  std::map<std::string, std::optional<codec::Schema>, std::less<>> schemas_;
  std::map<std::string, std::optional<steps::Graph>, std::less<>> graphs_;
  codec::Normaliser normaliser_;
  codec::Buffer key_json_;
};

}  // namespace holdfast::gateway
