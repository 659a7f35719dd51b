// SPDX-License-Identifier: Apache-2.0
#include "kernel/instance_image.h"

#include <utility>

#include "base/trace_context.h"
#include "codec/cbor_writer.h"
#include "codec/well_formed.h"
#include "kernel/cell_codec.h"
#include "kernel/list_reader.h"
#include "kernel/mail_codec.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

constexpr std::uint64_t kImageVersion = 1;

base::Bytes copy_of(base::ByteView view) { return {view.begin(), view.end()}; }

base::Error too_large() {
  return {base::ErrorCode::kTooLarge,
          "the instance with its mail and effects has more than 6 MiB: it cannot begin again from "
          "there"};
}

bool read_effect(codec::View view, InstanceImage::Effect& effect) {
  ListReader list(view);
  effect.name = list.text();
  effect.params = copy_of(list.bytes());
  effect.issuer_ref = list.text();
  return list.done();
}

// Reads the elements of a list into `all`, as long as `read` finds them good.
template <class T, class Read>
bool read_all(codec::View view, std::vector<T>& all, const Read& read) {
  ListReader list(view);
  while (list.good() && !list.at_end()) {
    if (!read(list.next(), all.emplace_back())) return false;
  }
  return list.done();
}

}  // namespace

void write_image(codec::Buffer& out, const InstanceImage& image) {
  out.append(codec::kSelfDescribe, sizeof codec::kSelfDescribe);
  codec::write_list_head(out, 6);
  codec::write_nat(out, kImageVersion);
  if (image.state) {
    codec::write_bytes(out, *image.state);
  } else {
    codec::write_null(out);
  }
  codec::write_list_head(out, image.parts.size());
  for (const base::Bytes& part : image.parts) codec::write_bytes(out, part);
  codec::write_list_head(out, image.effects.size());
  for (const InstanceImage::Effect& effect : image.effects) {
    codec::write_list_head(out, 3);
    codec::write_text(out, effect.name);
    codec::write_bytes(out, effect.params);
    codec::write_text(out, effect.issuer_ref);
  }
  codec::write_list_head(out, image.mail.size());
  for (const Mail& mail : image.mail) write_mail(out, mail);
  codec::write_bytes(out, image.trace);
}

std::optional<InstanceImage> read_image(base::ByteView bytes) {
  if (bytes.size() > kMaxImageBytes || !codec::is_well_formed(bytes)) return std::nullopt;
  ListReader list(codec::View::of(bytes));
  InstanceImage image;
  list.require(list.nat() == kImageVersion);
  const codec::View state = list.next();
  if (!state.is_null()) {
    list.require(state.bytes().has_value());
    image.state = copy_of(state.bytes().value_or(base::ByteView()));
  }
  list.require(read_all(list.next(), image.parts, [](codec::View view, base::Bytes& part) {
    part = copy_of(view.bytes().value_or(base::ByteView()));
    return !part.empty();
  }));
  list.require(read_all(list.next(), image.effects, read_effect));
  list.require(read_all(list.next(), image.mail, [](codec::View view, Mail& mail) {
    return read_mail(view, mail) && !mail.away;
  }));
  image.trace = copy_of(list.bytes());
  list.require(image.trace.empty() || base::TraceContext::of(image.trace));
  if (!list.done() || image.parts.size() > kMaxStateParts ||
      image.effects.size() > kMaxOpenIntents || image.mail.size() > kMaxMailPerInstance)
    return std::nullopt;
  return image;
}

base::Result<InstanceImage> image_of(WorldState& world, Cell& cell) {
  Cells& cells = world.cells[cell.workflow];
  InstanceImage image;
  image.trace = cell.trace;
  std::size_t bytes = 0;
  const auto take = [&](std::size_t more) -> base::Result<void> {
    bytes += more;
    if (bytes > kMaxImageBytes || image.mail.size() > kMaxMailPerInstance) return too_large();
    return {};
  };
  if (const auto state = TRY(cells.state_of(cell))) {
    TRY(take(state->size()));
    image.state = copy_of(*state);
  }
  for (const StatePart& part : cell.parts) {
    base::Bytes from_blob;
    const base::ByteView found = TRY(cells.part_of(cell, part.hash, from_blob));
    TRY(take(found.size()));
    image.parts.push_back(copy_of(found));
  }
  for (const base::Hash& hash : cell.intents) {
    const Intent* intent = world.intents.find(world.blobs, hash);
    if (intent == nullptr) return corrupt("an intent that an instance waits for is not open");
    TRY(take(intent->params().size() + intent->issuer_ref().size() + kIntentBytes));
    image.effects.push_back({world.program->effect(intent->effect()).name,
                             copy_of(intent->params()), std::string(intent->issuer_ref())});
  }
  for (const Mail& mail : cell.mail) {
    TRY(take(mail.weight()));
    TRY(cells.bring_back(image.mail.emplace_back(mail)));
  }
  return image;
}

base::Result<std::optional<InstanceImage>> World::image(std::string_view workflow,
                                                        base::ByteView key) {
  const Cell* const found = TRY(find(workflow, key));
  if (found == nullptr || found->terminal()) return std::optional<InstanceImage>();
  auto made = image_of(*state_, *state_->cells[found->workflow].find(found->id));
  if (auto failure = take_failure(*state_)) return std::move(*failure);
  if (!made) return std::move(made).error();
  return std::optional(std::move(*made));
}

}  // namespace holdfast::kernel
