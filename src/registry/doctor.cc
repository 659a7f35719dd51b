// SPDX-License-Identifier: Apache-2.0
#include "registry/doctor.h"

#include <algorithm>
#include <set>
#include <utility>

#include "registry/session.h"
#include "registry/signals.h"
#include "registry/swap_log.h"

namespace holdfast::registry {
namespace {

// Longer than anybody who is well keeps the lock, however many want it.
constexpr std::int64_t kPatience_ns = 5'000'000'000;

class Doctor {
 public:
  explicit Doctor(const Site& site) : site_(site) {}

  base::Result<std::vector<Finding>> examine() {
    const auto names = site_.host.disk.list(site_.place.folder);
    if (!names) {
      if (names.error().code() == base::ErrorCode::kNotFound) return std::move(findings_);
      return base::Error(names.error().code(), names.error().where(), names.error().message());
    }
    TRY(look_at_file_system());
    const auto file = TRY(read_state_file(site_));
    const auto state = file ? parse_state(*file) : State{};
    if (!state) {
      cannot_be_read(state.error().to_string());
    } else {
      TRY(look_at_workflows(*state));
    }
    TRY(look_at_files(*names, state ? &*state : nullptr));
    if (state && has(*names, ".workflows.lock")) TRY(look_at_swap());
    TRY(look_at_log(*names));
    return std::move(findings_);
  }

 private:
  static bool has(const std::vector<std::string>& names, std::string_view name) {
    return std::binary_search(names.begin(), names.end(), name);
  }

  void mends_itself(std::string place, std::string problem, std::string remedy) {
    findings_.push_back({std::move(place), std::move(problem), std::move(remedy), false});
  }
  void needs_somebody(std::string place, std::string problem, std::string remedy) {
    findings_.push_back({std::move(place), std::move(problem), std::move(remedy), true});
  }

  void cannot_be_read(const std::string& why) {
    needs_somebody(site_.place.state(), "is not a state: " + why,
                   "every call is refused, and nothing is forgotten; put a good file in its "
                   "place, or remove it when no workflow and no swap is running");
  }

  base::Result<void> look_at_file_system() {
    const env::FileSystem system = TRY(site_.host.disk.file_system_of(site_.place.folder));
    if (system.kind == env::FileSystemKind::kNetwork) {
      needs_somebody(site_.place.folder, "is on another machine's disk (" + system.name + ")",
                     "locks there may not keep two processes apart; use a folder of this machine");
    } else if (system.kind == env::FileSystemKind::kMemory) {
      mends_itself(site_.place.folder, "is in memory (" + system.name + ")",
                   "a power cut loses it, with everybody who is registered in it");
    }
    return {};
  }

  base::Result<void> look_at_workflows(const State& state) {
    const Witness witness(site_.host);
    for (const Workflow& workflow : state.workflows) {
      const Life life = TRY(witness.life_of(workflow.owner));
      const Standing standing = TRY(standing_of(site_, witness, workflow));
      const std::string owner = describe(workflow.owner);
      if (standing == Standing::kDead) {
        mends_itself(workflow.name, owner + " has ended",
                     "the next registration or swap removes the entry and its signal file");
      } else if (standing == Standing::kExpired) {
        mends_itself(workflow.name, owner + " has not renewed in time",
                     "the next registration or swap removes the entry and its signal file");
      } else if (life == Life::kHidden) {
        mends_itself(workflow.name, owner + " is in a container that we cannot look into",
                     "it counts as alive until its time to live has passed");
      }
      if (workflow.renewed_since_boot_ns > site_.host.clock.since_boot_ns()) {
        mends_itself(workflow.name, "was renewed later than now",
                     "it counts as renewed now, until it really is");
      }
    }
    return {};
  }

  base::Result<void> look_at_files(const std::vector<std::string>& names, const State* state) {
    std::set<std::string> signals;
    if (state != nullptr) {
      for (const Workflow& workflow : state->workflows) signals.insert(workflow.signal_name);
    }
    for (const std::string& name : names) {
      if (name == "workflows.json.new") {
        mends_itself(site_.place.signal(name), "is left of a write that did not come to its end",
                     "it is never read, and the next write replaces it");
      } else if (name.starts_with("workflows.json.corrupt-")) {
        needs_somebody(site_.place.signal(name), "is a copy of a state that could not be read",
                       "look at it, and remove it");
      } else if (name.starts_with(kBrokenLogPrefix)) {
        needs_somebody(site_.place.signal(name), "is a swap log that could not be used",
                       "look at it, and remove it; after " + std::to_string(kMostBrokenLogs) +
                           " of them nothing is logged any more");
      } else if (state != nullptr && name.starts_with(kSignalPrefix) && !signals.contains(name)) {
        needs_somebody(site_.place.signal(name), "is a signal file that is nobody's",
                       "it asks nobody to yield; remove it");
      }
    }
    return {};
  }

  // Needs the lock: the swap lock may only be tried by who has it.
  base::Result<void> look_at_swap() {
    Site patient = site_;
    patient.lock_timeout_ns = std::min(patient.lock_timeout_ns, kPatience_ns);
    auto opened = Session::open(patient, Access::kLook);
    if (!opened && opened.error().code() == base::ErrorCode::kUnavailable) {
      needs_somebody(site_.place.lock(), opened.error().message(),
                     "nobody can register, renew, release or swap until it is given back, and the "
                     "swap was not looked at; `fuser` names the process that has it: it may be a "
                     "child of the one that is named here and has died");
      return {};
    }
    // Since it was read for the first time.
    if (!opened && opened.error().code() == base::ErrorCode::kCorrupt) {
      cannot_be_read(opened.error().message());
      return {};
    }
    Session session = TRY(std::move(opened));
    const bool has_marker = session.state().swap.has_value();
    if (const auto why = TRY(session.orphaned())) {
      mends_itself("the swap to " + session.state().swap->recipe, "is nobody's: " + *why,
                   "the next call clears it and logs orphan_marker_cleared");
    }
    const auto probe = site_.host.disk.lock_to_look(site_.place.swap_lock());
    const bool held = !probe && probe.error().code() == base::ErrorCode::kConflict;
    if (held && (!has_marker || TRY(session.orphaned()))) {
      needs_somebody(site_.place.swap_lock(),
                     "is held, but by nobody who is swapping; it " + probe.error().message(),
                     "registrations go on, but no swap can begin until the process that has kept "
                     "it ends: a child of a dead coordinator, which `fuser` names");
    }
    return {};
  }

  base::Result<void> look_at_log(const std::vector<std::string>& names) {
    if (!has(names, "swap_log.jsonl")) return {};
    const auto last_byte = [this]() -> base::Result<std::uint8_t> {
      const auto file = TRY(site_.host.disk.open(site_.place.log(), env::OpenMode::kRead));
      const std::uint64_t size = TRY(file->size());
      std::uint8_t last = '\n';
      if (size > 0) TRY(env::read_all(*file, size - 1, {&last, 1}));
      return last;
    };
    const auto last = last_byte();
    if (!last) {
      mends_itself(site_.place.log(), "cannot be used: " + last.error().to_string(),
                   "the next line goes to a new log, and this one is set aside");
      return {};
    }
    if (*last != '\n') {
      mends_itself(site_.place.log(), "ends with a line that was cut short",
                   "the next line takes its place");
    }
    return {};
  }

  const Site& site_;
  std::vector<Finding> findings_;
};

}  // namespace

base::Result<std::vector<Finding>> diagnose(const Site& site) { return Doctor(site).examine(); }

}  // namespace holdfast::registry
