// SPDX-License-Identifier: Apache-2.0
// What the tests of a program that uses Holdfast need: a world in memory with a clock of its own.
#pragma once

#include "holdfast/test_world.h"  // IWYU pragma: export
