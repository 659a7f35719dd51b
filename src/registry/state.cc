// SPDX-License-Identifier: Apache-2.0
#include "registry/state.h"

#include <algorithm>
#include <limits>
#include <set>

#include "codec/cbor_writer.h"
#include "codec/json_writer.h"
#include "codec/normaliser.h"
#include "codec/utf8.h"
#include "registry/place.h"
#include "registry/utc.h"

namespace holdfast::registry {
namespace {

constexpr std::int64_t kVersion = 1;

base::Error corrupt(std::string where, std::string message) {
  return {base::ErrorCode::kCorrupt, std::move(where), std::move(message)};
}

// Takes the members of a map one by one; those that nobody took are unknown.
class Members {
 public:
  static base::Result<Members> of(codec::View map, std::string path) {
    if (map.kind() != codec::ViewKind::kMap) return corrupt(path, "is not an object");
    return Members(map, std::move(path));
  }

  std::optional<codec::View> take(const char* name) {
    taken_.insert(name);
    const auto found = map_.find(name);
    return found && !found->is_null() ? found : std::nullopt;
  }

  base::Result<void> text(const char* name, std::string& into) {
    const auto found = take(name);
    const auto value = found ? found->text() : std::nullopt;
    if (!value) return corrupt(path_ + "." + name, "is not a text");
    into = *value;
    return {};
  }
  base::Result<void> text_if_there(const char* name, std::string& into) {
    if (!take(name)) return {};
    return text(name, into);
  }
  base::Result<void> integer(const char* name, std::int64_t& into) {
    const auto found = take(name);
    const auto value = found ? found->integer() : std::nullopt;
    if (!value || *value < 0) return corrupt(path_ + "." + name, "is not a whole number");
    into = *value;
    return {};
  }
  base::Result<void> time(const char* name, std::int64_t& into) {
    std::string text_of_time;
    TRY(text(name, text_of_time));
    const auto time = from_utc(text_of_time);
    if (!time) return corrupt(path_ + "." + name, "is not a time");
    into = *time;
    return {};
  }
  base::Result<void> boolean(const char* name, bool& into) {
    const auto found = take(name);
    const auto value = found ? found->boolean() : std::nullopt;
    if (!value) return corrupt(path_ + "." + name, "is neither true nor false");
    into = *value;
    return {};
  }
  base::Result<void> inode(const char* name, std::uint64_t& into) {
    const auto found = take(name);
    if (!found) return {};
    const auto value = found->nat();
    if (!value) return corrupt(path_ + "." + name, "is not a whole number");
    into = *value;
    return {};
  }

  UnknownMembers rest() const {
    UnknownMembers unknown;
    for (const auto& [key, value] : map_.entries()) {
      const auto name = key.text();
      if (!name || taken_.contains(*name)) continue;
      const base::ByteView bytes = value.encoded();
      unknown.emplace_back(*name, base::Bytes(bytes.begin(), bytes.end()));
    }
    return unknown;
  }

  const std::string& path() const { return path_; }

 private:
  Members(codec::View map, std::string path) : map_(map), path_(std::move(path)) {}

  codec::View map_;
  std::string path_;
  std::set<std::string, std::less<>> taken_;
};

// The members of an identity: owner_pid, holder_pid and so on.
base::Result<void> read_identity(Members& members, const char* const (&names)[6], Identity& into) {
  TRY(members.integer(names[0], into.pid));
  TRY(members.integer(names[1], into.start_ns));
  TRY(members.text(names[2], into.boot_id));
  TRY(members.text_if_there(names[3], into.id_space));
  TRY(members.inode(names[4], into.pidfd_inode));
  TRY(members.text(names[5], into.nonce));
  return {};
}

constexpr const char* kOwner[6] = {"owner_pid",           "owner_start_ns",    "owner_boot_id",
                                   "owner_pid_namespace", "owner_pidfd_inode", "owner_nonce"};
constexpr const char* kHolder[6] = {"holder_pid",           "holder_start_ns",    "holder_boot_id",
                                    "holder_pid_namespace", "holder_pidfd_inode", "swap_id"};

base::Result<Workflow> read_workflow(codec::View value, std::string path) {
  Members members = TRY(Members::of(value, std::move(path)));
  Workflow workflow;
  TRY(members.text("name", workflow.name));
  TRY(members.text("recipe", workflow.recipe));
  TRY(read_identity(members, kOwner, workflow.owner));
  TRY(members.time("started_at", workflow.started_at_ns));
  TRY(members.time("last_renewed_at", workflow.last_renewed_at_ns));
  TRY(members.integer("renewed_since_boot_ns", workflow.renewed_since_boot_ns));
  TRY(members.integer("ttl_seconds", workflow.ttl_seconds));
  TRY(members.boolean("preemptible", workflow.preemptible));
  TRY(members.text_if_there("preempt_signal_path", workflow.signal_name));
  TRY(members.text_if_there("preempt_requested_by", workflow.preempt_requested_by));
  if (workflow.ttl_seconds < 1 || workflow.ttl_seconds > kMaxTtlSeconds)
    return corrupt(members.path() + ".ttl_seconds", "is out of range");
  // It would be removed one day: nothing but a signal file may be.
  if (workflow.preemptible != !workflow.signal_name.empty() ||
      (workflow.preemptible && !check_signal_name(workflow.signal_name)))
    return corrupt(members.path() + ".preempt_signal_path", "does not name a signal file");
  workflow.unknown = members.rest();
  return workflow;
}

base::Result<SwapMarker> read_swap(codec::View value, std::string path) {
  Members members = TRY(Members::of(value, std::move(path)));
  SwapMarker swap;
  TRY(members.text("recipe", swap.recipe));
  TRY(read_identity(members, kHolder, swap.holder));
  TRY(members.time("started_at", swap.started_at_ns));
  swap.unknown = members.rest();
  return swap;
}

base::Result<void> read_workflows(codec::View list, State& state) {
  if (list.kind() != codec::ViewKind::kList) return corrupt("$.workflows", "is not a list");
  if (list.size() > kMaxWorkflows) return corrupt("$.workflows", "has too many entries");
  std::set<std::string> names;
  std::size_t index = 0;
  for (const codec::View each : list.elements()) {
    const std::string path = "$.workflows[" + std::to_string(index++) + "]";
    Workflow workflow = TRY(read_workflow(each, path));
    if (!names.insert(workflow.name).second)
      return corrupt(path + ".name", "is the name of another one too");
    state.workflows.push_back(std::move(workflow));
  }
  return {};
}

class Writer {
 public:
  explicit Writer(codec::Buffer& out) : out_(out) {}

  void text(const char* name, std::string_view value) {
    codec::write_text(out_, name);
    codec::write_text(out_, value);
  }
  void text_or_null(const char* name, std::string_view value) {
    codec::write_text(out_, name);
    value.empty() ? codec::write_null(out_) : codec::write_text(out_, value);
  }
  void integer(const char* name, std::int64_t value) {
    codec::write_text(out_, name);
    codec::write_int(out_, value);
  }
  void boolean(const char* name, bool value) {
    codec::write_text(out_, name);
    codec::write_bool(out_, value);
  }
  void identity(const char* const (&names)[6], const Identity& identity) {
    integer(names[0], identity.pid);
    integer(names[1], identity.start_ns);
    text(names[2], identity.boot_id);
    text_or_null(names[3], identity.id_space);
    codec::write_text(out_, names[4]);
    identity.pidfd_inode == 0 ? codec::write_null(out_)
                              : codec::write_nat(out_, identity.pidfd_inode);
    text(names[5], identity.nonce);
  }
  void unknown(const UnknownMembers& members) {
    for (const auto& [name, value] : members) {
      codec::write_text(out_, name);
      out_.append(value);
    }
  }

 private:
  codec::Buffer& out_;
};

void write_workflow(codec::Buffer& out, const Workflow& workflow) {
  Writer writer(out);
  codec::write_map_head(out, 15 + workflow.unknown.size());
  writer.text("name", workflow.name);
  writer.text("recipe", workflow.recipe);
  writer.identity(kOwner, workflow.owner);
  writer.text("started_at", to_utc(workflow.started_at_ns));
  writer.text("last_renewed_at", to_utc(workflow.last_renewed_at_ns));
  writer.integer("renewed_since_boot_ns", workflow.renewed_since_boot_ns);
  writer.integer("ttl_seconds", workflow.ttl_seconds);
  writer.boolean("preemptible", workflow.preemptible);
  writer.text_or_null("preempt_signal_path", workflow.signal_name);
  writer.text_or_null("preempt_requested_by", workflow.preempt_requested_by);
  writer.unknown(workflow.unknown);
}

void write_swap(codec::Buffer& out, const SwapMarker& swap) {
  Writer writer(out);
  codec::write_map_head(out, 8 + swap.unknown.size());
  writer.text("recipe", swap.recipe);
  writer.identity(kHolder, swap.holder);
  writer.text("started_at", to_utc(swap.started_at_ns));
  writer.unknown(swap.unknown);
}

}  // namespace

Workflow* State::find(std::string_view name) {
  const auto found = std::find_if(workflows.begin(), workflows.end(),
                                  [&](const Workflow& each) { return each.name == name; });
  return found == workflows.end() ? nullptr : &*found;
}

base::Result<State> parse_state(std::string_view json) {
  codec::Normaliser normaliser;
  const auto bytes = normaliser.from_json(codec::Schema::any(), json);
  if (!bytes) return corrupt(bytes.error().where(), bytes.error().message());
  Members members = TRY(Members::of(codec::View::of(*bytes), "$"));
  State state;
  std::int64_t version = kVersion;
  if (members.take("version")) TRY(members.integer("version", version));
  if (version != kVersion)
    return corrupt("$.version", "is " + std::to_string(version) + "; this program knows 1");
  const auto workflows = members.take("workflows");
  if (!workflows) return corrupt("$.workflows", "is missing");
  TRY(read_workflows(*workflows, state));
  if (const auto swap = members.take("swap_in_progress"))
    state.swap = TRY(read_swap(*swap, "$.swap_in_progress"));
  state.unknown = members.rest();
  return state;
}

base::Result<std::string> to_json(const State& state) {
  codec::Buffer out;
  codec::write_map_head(out, 3 + state.unknown.size());
  codec::write_text(out, "version");
  codec::write_int(out, kVersion);
  codec::write_text(out, "workflows");
  codec::write_list_head(out, state.workflows.size());
  for (const Workflow& workflow : state.workflows) write_workflow(out, workflow);
  codec::write_text(out, "swap_in_progress");
  state.swap ? write_swap(out, *state.swap) : codec::write_null(out);
  Writer(out).unknown(state.unknown);
  std::string json =
      codec::to_json(codec::View::of(out.view()), codec::JsonStyle::kIndented) + "\n";
  if (json.size() <= kMaxStateBytes && state.workflows.size() <= kMaxWorkflows) return json;
  return base::Error(base::ErrorCode::kTooLarge, "workflows.json",
                     "would hold more than " + std::to_string(kMaxWorkflows) + " workflows or " +
                         std::to_string(kMaxStateBytes) + " bytes");
}

base::Result<void> check_name(std::string_view what, std::string_view name) {
  const bool control = std::any_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (!name.empty() && name.size() <= kMaxName && !control && codec::is_utf8(name)) return {};
  return base::invalid(std::string(what),
                       "must be 1 to 255 bytes of UTF-8 without control characters");
}

}  // namespace holdfast::registry
