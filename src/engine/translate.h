// SPDX-License-Identifier: Apache-2.0
// Between the types of include/holdfast and those inside: answers, instances; errors are translated
// in errors/translate.h.
#pragma once

#include <optional>
#include <vector>

#include "errors/translate.h"
#include "holdfast/engine.h"
#include "kernel/outcome.h"
#include "kernel/world.h"
#include "node/refusal.h"
#include "node/rehearsal.h"

namespace holdfast::engine {

using errors::outside;
using node::refusal;

kernel::KeyReuse inside(KeyReuse reuse);

Result<Sent> sent(const kernel::Answer& answer);
Result<Done> done(const kernel::Answer& answer);

// Of a tick that applies definitions. Instances that stand in the way are no error.
Result<Applied> applied(const kernel::Answer& answer);

Migrated migrated(const node::MigrationSum& sum);

// What a rehearsal showed. kInvalid: the definitions are not good.
Result<Rehearsed> rehearsed(const node::Rehearsal& rehearsal);

// The instance as the world has it now.
Result<RawInstance> read(kernel::World& world, const kernel::InstanceName& name);

// Why it has not ended, as Engine::why_raw says it.
Result<std::vector<WaitReason>> reasons_of(kernel::World& world, const kernel::InstanceName& name);

// Nothing: it goes on with the present version, or has ended.
Result<std::optional<KeptVersion>> kept_version_of(kernel::World& world,
                                                   const kernel::InstanceName& name);

}  // namespace holdfast::engine
