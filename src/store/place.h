// SPDX-License-Identifier: Apache-2.0
// Whether a folder is a place for a world. To be asked where a world is begun or served, before
// anything is promised; a person may decide otherwise.
#pragma once

#include "env/disk.h"

namespace holdfast::store {

// kConflict: the file system of the folder cannot keep what we promise, and the message says why.
// Of a folder that is not there yet, the one around it is looked at.
base::Result<void> check_place(env::Disk& disk, const std::string& path);

}  // namespace holdfast::store
