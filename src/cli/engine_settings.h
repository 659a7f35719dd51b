// SPDX-License-Identifier: Apache-2.0
// Settings of an engine: out of texts, as flags, the environment and the settings file have them.
#pragma once

#include "base/result.h"
#include "cli/settings.h"
#include "holdfast/engine.h"
#include "workers/desk.h"

namespace holdfast::cli {

// What is set goes before what the options have; everything else of them stays as it is. kInvalid:
// a text is not what it is for, and the place says where it stands.
base::Result<void> use_settings(const Settings& settings, EngineOptions& options);
base::Result<void> use_settings(const Settings& settings, workers::DeskOptions& options);

}  // namespace holdfast::cli
