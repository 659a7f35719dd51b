// SPDX-License-Identifier: Apache-2.0
#include "registry/state.h"

#include <algorithm>
#include <limits>
#include <set>

#include "codec/buffer.h"
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

bool is_id(std::string_view text) {
  return !text.empty() && text.size() <= kMaxId &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-';
         });
}

// In UTF-8; U+0080 to U+009F are some too.
bool has_control(std::string_view text) {
  unsigned char before = 0;
  return std::any_of(text.begin(), text.end(), [&](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f || (std::exchange(before, byte) == 0xc2 && byte < 0xa0);
  });
}

// Takes the members of a map one by one; those that nobody took are unknown. The map is walked
// once: there may be thousands of them, and every change reads them all.
class Members {
 public:
  static base::Result<Members> of(codec::View map, std::string path) {
    if (map.kind() != codec::ViewKind::kMap) return corrupt(path, "is not an object");
    return Members(map, std::move(path));
  }

  std::optional<codec::View> take(std::string_view name) {
    for (Member& member : members_) {
      if (member.name != name) continue;
      member.is_taken = true;
      return member.value.is_null() ? std::nullopt : std::optional(member.value);
    }
    return std::nullopt;
  }

  base::Result<void> text(const char* name, std::string& into) {
    return text_of(name, take(name), into);
  }
  base::Result<void> text_if_there(const char* name, std::string& into) {
    const auto found = take(name);
    return found ? text_of(name, found, into) : base::Result<void>();
  }
  // Names and ids go into messages and into the log: another program may have written them.
  base::Result<void> name(const char* name, std::string& into) {
    TRY(text(name, into));
    if (!check_name(name, into)) return corrupt(path_ + "." + name, "is not a name");
    return {};
  }
  base::Result<void> id(const char* name, std::string& into) {
    TRY(text(name, into));
    if (!is_id(into)) return corrupt(path_ + "." + name, "is not an id");
    return {};
  }
  base::Result<void> id_if_there(const char* name, std::string& into) {
    if (!take(name)) return {};
    return id(name, into);
  }
  base::Result<void> integer(const char* name, std::int64_t& into) {
    const auto found = take(name);
    const auto value = found ? found->integer() : std::nullopt;
    if (!value || *value < 0) return corrupt(path_ + "." + name, "is not a whole number");
    into = *value;
    return {};
  }
  base::Result<void> time(const char* name, std::int64_t& into) {
    const auto found = take(name);
    const auto text = found ? found->text() : std::nullopt;
    const auto time = text ? from_utc(*text) : std::nullopt;
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
    for (const Member& member : members_) {
      if (member.is_taken) continue;
      const base::ByteView bytes = member.value.encoded();
      unknown.emplace_back(member.name, base::Bytes(bytes.begin(), bytes.end()));
    }
    return unknown;
  }

  const std::string& path() const { return path_; }

 private:
  struct Member {
    std::string_view name;
    codec::View value;
    bool is_taken = false;
  };

  // What comes from JSON has keys that are texts, and none twice.
  Members(codec::View map, std::string path) : path_(std::move(path)) {
    members_.reserve(map.size());
    for (const auto& [key, value] : map.entries()) {
      if (const auto name = key.text()) members_.push_back({*name, value});
    }
  }

  base::Result<void> text_of(const char* name, const std::optional<codec::View>& found,
                             std::string& into) const {
    const auto value = found ? found->text() : std::nullopt;
    if (!value) return corrupt(path_ + "." + name, "is not a text");
    into = *value;
    return {};
  }

  std::string path_;
  std::vector<Member> members_;
};

// The members of an identity: owner_pid, holder_pid and so on.
base::Result<void> read_identity(Members& members, const char* const (&names)[6], Identity& into) {
  TRY(members.integer(names[0], into.pid));
  TRY(members.integer(names[1], into.start_ns));
  TRY(members.text(names[2], into.boot_id));
  TRY(members.text_if_there(names[3], into.id_space));
  TRY(members.inode(names[4], into.pidfd_inode));
  TRY(members.id(names[5], into.nonce));
  return {};
}

constexpr const char* kOwner[6] = {"owner_pid",           "owner_start_ns",    "owner_boot_id",
                                   "owner_pid_namespace", "owner_pidfd_inode", "owner_nonce"};
constexpr const char* kHolder[6] = {"holder_pid",           "holder_start_ns",    "holder_boot_id",
                                    "holder_pid_namespace", "holder_pidfd_inode", "swap_id"};

base::Result<Workflow> read_workflow(codec::View value, std::string path) {
  Members members = TRY(Members::of(value, std::move(path)));
  Workflow workflow;
  TRY(members.name("name", workflow.name));
  TRY(members.name("recipe", workflow.recipe));
  TRY(read_identity(members, kOwner, workflow.owner));
  TRY(members.time("started_at", workflow.started_at_ns));
  TRY(members.time("last_renewed_at", workflow.last_renewed_at_ns));
  TRY(members.integer("renewed_since_boot_ns", workflow.renewed_since_boot_ns));
  TRY(members.integer("ttl_seconds", workflow.ttl_seconds));
  TRY(members.boolean("preemptible", workflow.preemptible));
  TRY(members.text_if_there("preempt_signal_path", workflow.signal_name));
  TRY(members.id_if_there("preempt_requested_by", workflow.preempt_requested_by));
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
  TRY(members.name("recipe", swap.recipe));
  TRY(read_identity(members, kHolder, swap.holder));
  TRY(members.time("started_at", swap.started_at_ns));
  swap.unknown = members.rest();
  return swap;
}

base::Result<void> read_workflows(codec::View list, State& state) {
  if (list.kind() != codec::ViewKind::kList) return corrupt("$.workflows", "is not a list");
  if (list.size() > kMaxWorkflows) return corrupt("$.workflows", "has too many entries");
  state.workflows.reserve(list.size() + 1);  // whoever reads may add one
  std::set<std::string_view> names;          // in the workflows, which stay where they are
  std::size_t index = 0;
  for (const codec::View each : list.elements()) {
    const std::string path = "$.workflows[" + std::to_string(index++) + "]";
    Workflow workflow = TRY(read_workflow(each, path));
    state.workflows.push_back(std::move(workflow));
    if (!names.insert(state.workflows.back().name).second)
      return corrupt(path + ".name", "is the name of another one too");
  }
  return {};
}

// JSON as codec::to_json indents it, without canonical bytes in between: every change writes all of
// it again.
class Writer {
 public:
  explicit Writer(codec::Buffer& out) : out_(out) {}

  void open(char bracket) {
    out_.push(static_cast<std::uint8_t>(bracket));
    ++depth_;
    is_empty_ = true;
  }
  void close(char bracket) {
    --depth_;
    if (!is_empty_) line();
    is_empty_ = false;
    out_.push(static_cast<std::uint8_t>(bracket));
  }
  void element() {
    if (!is_empty_) out_.push(',');
    is_empty_ = false;
    line();
  }
  void key(std::string_view name) {
    element();
    codec::write_string_json(out_, name);
    raw(": ");
  }

  void text(std::string_view name, std::string_view value) {
    key(name);
    codec::write_string_json(out_, value);
  }
  void null(std::string_view name) {
    key(name);
    raw("null");
  }
  void text_or_null(std::string_view name, std::string_view value) {
    value.empty() ? null(name) : text(name, value);
  }
  void integer(std::string_view name, std::int64_t value) {
    key(name);
    const bool negative = value < 0;
    codec::write_integer_json(out_, negative,
                              static_cast<std::uint64_t>(negative ? ~value : value));
  }
  void nat_or_null(std::string_view name, std::uint64_t value) {
    if (value == 0) return null(name);
    key(name);
    codec::write_integer_json(out_, false, value);
  }
  void boolean(std::string_view name, bool value) {
    key(name);
    raw(value ? "true" : "false");
  }
  void identity(const char* const (&names)[6], const Identity& identity) {
    integer(names[0], identity.pid);
    integer(names[1], identity.start_ns);
    text(names[2], identity.boot_id);
    text_or_null(names[3], identity.id_space);
    nat_or_null(names[4], identity.pidfd_inode);
    text(names[5], identity.nonce);
  }
  void unknown(const UnknownMembers& members) {
    for (const auto& [name, value] : members) {
      key(name);
      codec::write_json(out_, codec::View::of(value), codec::JsonStyle::kIndented, depth_);
    }
  }

 private:
  void raw(std::string_view text) { out_.append(text.data(), text.size()); }
  void line() {
    out_.push('\n');
    for (std::size_t i = 0; i < depth_; ++i) raw("  ");
  }

  codec::Buffer& out_;
  std::size_t depth_ = 0;
  bool is_empty_ = true;  // what was opened last
};

void write_workflow(Writer& writer, const Workflow& workflow) {
  writer.element();
  writer.open('{');
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
  writer.close('}');
}

void write_swap(Writer& writer, const SwapMarker& swap) {
  writer.key("swap_in_progress");
  writer.open('{');
  writer.text("recipe", swap.recipe);
  writer.identity(kHolder, swap.holder);
  writer.text("started_at", to_utc(swap.started_at_ns));
  writer.unknown(swap.unknown);
  writer.close('}');
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
  Writer writer(out);
  writer.open('{');
  writer.integer("version", kVersion);
  writer.key("workflows");
  writer.open('[');
  for (const Workflow& workflow : state.workflows) write_workflow(writer, workflow);
  writer.close(']');
  state.swap ? write_swap(writer, *state.swap) : writer.null("swap_in_progress");
  writer.unknown(state.unknown);
  writer.close('}');
  out.push('\n');
  std::string json(base::as_text(out.view()));
  if (json.size() <= kMaxStateBytes && state.workflows.size() <= kMaxWorkflows) return json;
  return base::Error(base::ErrorCode::kTooLarge, "workflows.json",
                     "would hold more than " + std::to_string(kMaxWorkflows) + " workflows or " +
                         std::to_string(kMaxStateBytes) + " bytes");
}

base::Result<void> check_name(std::string_view what, std::string_view name) {
  if (!name.empty() && name.size() <= kMaxName && codec::is_utf8(name) && !has_control(name))
    return {};
  return base::invalid(std::string(what),
                       "must be 1 to 255 bytes of UTF-8 without control characters");
}

}  // namespace holdfast::registry
