// SPDX-License-Identifier: Apache-2.0
// For threads that can wait: they run when nobody else wants to, where the system lets a single
// thread be so; elsewhere as all others.
#pragma once

namespace holdfast::env {

void lower_priority_of_this_thread() noexcept;

}  // namespace holdfast::env
