// SPDX-License-Identifier: Apache-2.0
// Copying a database of the history: each step on the thread of the history, which has the database
// to itself, and what happens between two steps on the thread of whoever copies. So a copy that is
// paced, or writes to a slow disk, holds up nobody who asks the history, and can be ended after any
// step.
#pragma once

#include <functional>
#include <string>

#include "node/history.h"
#include "store/backup.h"
#include "store/database_look.h"

namespace holdfast::engine {

// As BackupSource::visit_database. A database that the history does not have open is copied at once
// on its thread, until `stopped` says true.
base::Result<bool> visit_history(node::History& history, const store::WorldPlace& world,
                                 const std::string& name, store::BackupSource::Step step,
                                 const store::BackupSource::Between& between,
                                 const std::function<bool()>& stopped);

}  // namespace holdfast::engine
