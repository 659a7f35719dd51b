// SPDX-License-Identifier: Apache-2.0
// A node that a worker runs: a task without a graph, as a task document of one task describes it
// (docs/task-documents.md).
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "codec/buffer.h"
#include "codec/view.h"

namespace holdfast::flows {

using FillText = std::function<base::Result<std::string>(std::string_view text)>;

// The params of sys/task.run@1, under the name of a flow and a frame. `spec` is that of the task;
// its texts are filled. kInvalid, with the place: it is no spec of one task.
base::Result<base::Bytes> task_params(codec::View spec, const FillText& fill, std::string_view flow,
                                      std::uint64_t frame);

}  // namespace holdfast::flows
