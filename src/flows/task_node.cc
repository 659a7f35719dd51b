// SPDX-License-Identifier: Apache-2.0
#include "flows/task_node.h"

#include "codec/cbor_writer.h"
#include "tasks/compile.h"
#include "tasks/run_params.h"
#include "tasks/task_codec.h"

namespace holdfast::flows {
namespace {

using codec::View;

base::Result<void> copy_filled(View from, const FillText& fill, codec::Buffer& out) {
  switch (from.kind()) {
    case codec::ViewKind::kText:
      codec::write_text(out, TRY(fill(from.text().value_or(""))));
      return {};
    case codec::ViewKind::kList:
      codec::write_list_head(out, from.size());
      for (const View each : from.elements()) TRY(copy_filled(each, fill, out));
      return {};
    case codec::ViewKind::kMap:
      codec::write_map_head(out, from.size());
      for (const auto [key, value] : from.entries()) {
        out.append(key.encoded());
        TRY(copy_filled(value, fill, out));
      }
      return {};
    default: out.append(from.encoded()); return {};
  }
}

}  // namespace

base::Result<base::Bytes> task_params(View spec, const FillText& fill, std::string_view flow,
                                      std::uint64_t frame) {
  codec::Buffer document;
  codec::write_map_head(document, 4);
  codec::write_text(document, "kind");
  codec::write_text(document, "Workflow");
  codec::write_text(document, "spec");
  TRY(copy_filled(spec, fill, document));
  codec::write_text(document, "metadata");
  codec::write_map_head(document, 1);
  codec::write_text(document, "name");
  codec::write_text(document, "flow");
  codec::write_text(document, "apiVersion");
  codec::write_text(document, "holdfast/v1");
  tasks::CompileOptions options;
  options.max_tasks = 1;
  const tasks::Compiled compiled = tasks::compile(View::of(document.view()), options);
  if (!compiled.plan) {
    const base::Error& first = compiled.errors[0];
    return base::invalid(first.where(), first.message());
  }
  if (compiled.plan->total_count != 1 || compiled.plan->nodes[0].condition)
    return base::invalid("spec", "expected one task, without a condition");
  const tasks::TaskDefinition task = compiled.plan->task(0);
  codec::Buffer definition;
  tasks::write_task(definition, task);
  codec::Buffer out;
  tasks::write_run_params(out, {task, definition.view(), flow, frame});
  return out.to_bytes();
}

}  // namespace holdfast::flows
