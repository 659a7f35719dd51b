// SPDX-License-Identifier: Apache-2.0
#include "sim/change_run.h"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "codec/cbor_writer.h"
#include "codec/normaliser.h"
#include "codec/view.h"
#include "kernel/forget_list.h"
#include "kernel/world.h"
#include "node/scratch_blobs.h"
#include "sim/dice.h"

namespace holdfast::sim {
namespace {

constexpr std::string_view kWorkflow = "chg/Order@1";
constexpr std::uint64_t kVersions = 4;
constexpr std::uint64_t kKeys = 10;
constexpr std::uint64_t kUnlucky = 13;  // a state whose number it divides does not migrate

base::Bytes bytes_of(base::ByteView view) { return {view.begin(), view.end()}; }

base::Bytes json_value(const std::string& json) {
  codec::Normaliser normaliser;
  const auto made = normaliser.part_from_json(codec::Schema::any(), json);
  CHECK(made.has_value());
  return bytes_of(*made);
}

std::string field_of(std::uint64_t version) { return "f" + std::to_string(version); }

// A version has a state with a field of its own; with others, there is one more workflow.
std::string version_definitions(std::uint64_t version, bool with_others) {
  const std::string others =
      with_others ? R"({"$kind":"defworkflow","name":"chg/Other@1","state":"chg/Go@1",
"event":"chg/Go@1","key_schema":"chg/Key@1","effects_emitted":[],
"impl":{"module":"chg/code@1","entrypoint":"other"}},)"
                  : "";
  return R"([{"$kind":"defschema","name":"chg/Go@1","type":{"record":{"id":{"text":{}},"n":{"nat":{}}}}},
{"$kind":"defschema","name":"chg/Key@1","type":{"text":{}}},
{"$kind":"defschema","name":"chg/State@1","type":{"record":{"n":{"nat":{}},")" +
         field_of(version) + R"(":{"nat":{}}}}},
{"$kind":"defschema","name":"chg/Params@1","type":{"record":{"n":{"nat":{}}}}},
{"$kind":"defschema","name":"chg/Done@1","type":{"record":{"ok":{"bool":{}}}}},
{"$kind":"defschema","name":"chg/Event@1","type":{"variant":{"Go":{"ref":"chg/Go@1"},
"Receipt":{"ref":"sys/EffectReceiptEnvelope@1"}}}},
{"$kind":"defeffect","name":"chg/work@1","params":"chg/Params@1","receipt":"chg/Done@1",
"executor":{"kind":"worker","queue":"q"}},
{"$kind":"defmodule","name":"chg/code@1","runtime":{"kind":"native"}},
{"$kind":"defworkflow","name":"chg/Order@1","state":"chg/State@1","event":"chg/Event@1",
"key_schema":"chg/Key@1","effects_emitted":["chg/work@1"],
"impl":{"module":"chg/code@1","entrypoint":"order"}},)" +
         others + R"({"$kind":"manifest","air_version":"2","schemas":[{"name":"chg/Go@1"},
{"name":"chg/Key@1"},{"name":"chg/State@1"},{"name":"chg/Params@1"},{"name":"chg/Done@1"},
{"name":"chg/Event@1"}],"modules":[{"name":"chg/code@1"}],"effects":[{"name":"chg/work@1"}],
"workflows":[{"name":"chg/Order@1"})" +
         (with_others ? R"(,{"name":"chg/Other@1"})" : "") +
         R"(],"routing":{"subscriptions":[
{"event":"chg/Go@1","workflow":"chg/Order@1","key_field":"id"}]}}])";
}

std::optional<std::uint64_t> number_in(base::ByteView value, std::string_view field) {
  const auto found = codec::View::of(value).find(field);
  return found ? found->nat() : std::nullopt;
}

// Adds up what it is told, and ends with what its one effect answers.
class OrderMachine : public kernel::Machine {
 public:
  explicit OrderMachine(std::uint64_t version) : version_(version) {}

  void step(const kernel::StepInput& input, kernel::StepOutput& output) const override {
    const std::uint64_t before = input.state ? number_in(*input.state, "n").value_or(0) : 0;
    // A state of another version is the mistake that is looked for.
    if (input.state && !number_in(*input.state, field_of(version_)))
      return output.fail("chg.stepped_by_another_version", "");
    if (input.mail.kind != kernel::MailKind::kEvent) {
      if (input.mail.status != kernel::ReceiptStatus::kOk) return output.fail("chg.bad", "no");
      write_state(output, before);
      output.begin_result();
      return write(output.bytes(), before);
    }
    const std::uint64_t sum = before + number_in(input.mail.value, "n").value_or(0);
    write_state(output, sum);
    if (input.state) return;
    output.begin_effect("chg/work@1");
    codec::write_map_head(output.bytes(), 1);
    codec::write_text(output.bytes(), "n");
    codec::write_nat(output.bytes(), sum);
  }

  bool migrate(const kernel::EarlierState& earlier, codec::Buffer& out,
               std::string& why) const override {
    const auto n = number_in(earlier.state, "n");
    if (!n || *n % kUnlucky == 0) {
      why = "unlucky";
      return false;
    }
    write(out, *n);
    return true;
  }

 private:
  // Canonical: the shorter name comes first.
  void write(codec::Buffer& out, std::uint64_t n) const {
    codec::write_map_head(out, 2);
    codec::write_text(out, "n");
    codec::write_nat(out, n);
    codec::write_text(out, field_of(version_));
    codec::write_nat(out, version_);
  }
  void write_state(kernel::StepOutput& output, std::uint64_t n) const {
    output.begin_state();
    write(output.bytes(), n);
  }

  const std::uint64_t version_;
};

class OtherMachine : public kernel::Machine {
 public:
  void step(const kernel::StepInput&, kernel::StepOutput& output) const override {
    output.remove();
  }
};

// The code of all versions. Which one a definition is of is seen from its state.
class VersionedMachines : public kernel::MachineSource {
 public:
  const kernel::Machine* find(const defs::ModuleDef&, std::string_view) const override {
    return &other_;
  }
  std::shared_ptr<const kernel::Machine> make(const defs::ModuleDef&,
                                              const defs::WorkflowDef& workflow,
                                              const defs::Catalogue& catalogue) const override {
    if (workflow.impl.entrypoint != "order") return nullptr;
    const codec::Type* state = catalogue.find(workflow.state);
    for (std::uint64_t version = 1; state != nullptr && version <= kVersions; ++version) {
      for (const codec::Member& member : state->members) {
        if (member.name == field_of(version)) return std::make_shared<const OrderMachine>(version);
      }
    }
    return nullptr;
  }

 private:
  OtherMachine other_;
};

enum class Fate : std::uint8_t { kWaits, kCompleted, kFailed, kCancelled };

// What an instance must be.
struct Entry {
  std::uint64_t n = 0;
  std::uint64_t version = 0;
  Fate fate = Fate::kWaits;
  base::Hash intent;  // while it waits

  bool has_ended() const { return fate != Fate::kWaits; }
};

// An instance as it was once.
struct Kept {
  kernel::InstanceImage image;
  std::uint64_t n = 0;
  std::uint64_t version = 0;
};

class ChangeRun {
 public:
  explicit ChangeRun(const ChangeOptions& options) : dice_(options.seed), options_(options) {
    report_.keeps_notes = options.keeps_notes;
    world_.emplace(machines_, blobs_);
  }

  Report run() {
    apply(1, false, false, false);
    for (; report_.steps < options_.steps && good(); ++report_.steps) {
      act();
      if (good()) judge();
    }
    finish();
    if (good()) judge_replay();
    return std::move(report_);
  }

 private:
  using Tick = decltype(kernel::Tick::input);

  bool good() const { return report_.violation().empty(); }
  std::string some_key() { return "k" + std::to_string(dice_.below(kKeys)); }
  static base::Bytes key_of(const std::string& key) { return json_value("\"" + key + "\""); }

  kernel::Outcome tick(const Tick& input) {
    kernel::Tick tick;
    tick.time_ns = ++time_s_ * 1'000'000'000;
    tick.entropy.fill(static_cast<std::uint8_t>(time_s_));
    tick.input = input;
    kernel::Outcome outcome = world_->reduce(tick);
    if (outcome.failure) report_.violation("the world failed: " + outcome.failure->to_string());
    if (!outcome.record.empty()) {
      report_.trace(outcome.record);
      journal_.push_back(outcome.record);
    }
    return outcome;
  }
  void expect(bool is_so, const std::string& what) {
    if (!is_so) report_.violation("step " + std::to_string(report_.steps) + ": " + what);
  }
  static bool is_accepted(const kernel::Outcome& outcome) {
    return std::holds_alternative<kernel::Accepted>(outcome.answer);
  }
  static std::optional<base::Hash> opened(const kernel::Outcome& outcome) {
    for (const kernel::Command& command : outcome.commands) {
      if (const auto* open = std::get_if<kernel::OpenIntent>(&command)) return open->intent;
    }
    return std::nullopt;
  }
  void begin(const std::string& key, std::uint64_t n, const kernel::Outcome& outcome) {
    const auto intent = opened(outcome);
    expect(intent.has_value(), key + " begins without an effect");
    ledger_[key] = {n, version_, Fate::kWaits, intent.value_or(base::Hash())};
  }

  void act() {
    switch (dice_.below(12)) {
      case 0:
      case 1:
      case 2: return send();
      case 3: return start();
      case 4:
      case 5: return answer();
      case 6:
        return apply(1 + dice_.below(kVersions), dice_.one_in(2), !dice_.one_in(3),
                     dice_.one_in(6));
      case 7: return migrate();
      case 8: return cancel();
      case 9: return keep();
      case 10: return reopen();
      case 11: return restart();
    }
  }

  base::Bytes go(const std::string& key, std::uint64_t n) {
    return json_value(R"({"id":")" + key + R"(","n":)" + std::to_string(n) + "}");
  }

  void send() {
    const std::string key = some_key();
    const std::uint64_t n = 1 + dice_.below(20);
    const base::Bytes event = go(key, n);
    const kernel::Outcome outcome = tick(kernel::EventArrived{"chg/Go@1", event, {}});
    expect(is_accepted(outcome), "an event is not accepted");
    const auto known = ledger_.find(key);
    if (known == ledger_.end()) return begin(key, n, outcome);
    if (!known->second.has_ended()) known->second.n += n;
  }

  void start() {
    const std::string key = some_key();
    const std::uint64_t n = 1 + dice_.below(20);
    const base::Bytes event = go(key, n);
    const base::Bytes name = key_of(key);
    kernel::EventArrived arrived{"chg/Go@1", event, {}};
    arrived.workflow = kWorkflow;
    arrived.key = name;
    arrived.starts = true;
    arrived.reuse = std::array{kernel::KeyReuse::kRefuse, kernel::KeyReuse::kStartAgain,
                               kernel::KeyReuse::kReturnEnded}[dice_.below(3)];
    const kernel::Outcome outcome = tick(arrived);
    const auto known = ledger_.find(key);
    if (known == ledger_.end()) {
      expect(is_accepted(outcome), "a start is not accepted");
      return begin(key, n, outcome);
    }
    const bool has_ended = known->second.has_ended();
    if (has_ended && arrived.reuse == kernel::KeyReuse::kStartAgain) {
      report_.sometimes("a key begins again");
      expect(is_accepted(outcome), "a key does not begin again");
      return begin(key, n, outcome);
    }
    if (has_ended && arrived.reuse == kernel::KeyReuse::kReturnEnded) {
      report_.sometimes("an ended instance is returned");
      return expect(std::holds_alternative<kernel::Repeated>(outcome.answer),
                    "an ended instance is not returned");
    }
    expect(std::holds_alternative<kernel::Refused>(outcome.answer), "a key is taken twice");
  }

  // Somebody who waits.
  std::map<std::string, Entry>::iterator some_waiting() {
    std::vector<std::map<std::string, Entry>::iterator> all;
    for (auto at = ledger_.begin(); at != ledger_.end(); ++at) {
      if (!at->second.has_ended()) all.push_back(at);
    }
    return all.empty() ? ledger_.end() : all[dice_.below(all.size())];
  }

  void answer() {
    const auto found = some_waiting();
    if (found == ledger_.end()) return;
    const bool is_ok = !dice_.one_in(3);
    settle(found->second, is_ok);
  }
  void settle(Entry& entry, bool is_ok) {
    const base::Bytes payload =
        json_value(is_ok ? R"({"ok":true})"
                         : R"({"code":"bad","message":"no","retryable":false,"details":null})");
    const kernel::Outcome outcome = tick(
        kernel::ReceiptArrived{entry.intent,
                               is_ok ? kernel::ReceiptStatus::kOk : kernel::ReceiptStatus::kError,
                               payload,
                               {},
                               {}});
    expect(is_accepted(outcome), "an answer is not accepted");
    entry.fate = is_ok ? Fate::kCompleted : Fate::kFailed;
  }

  void apply(std::uint64_t version, bool with_others, bool pin, bool strict) {
    const base::Bytes document = json_value(version_definitions(version, with_others));
    std::uint64_t touched = 0;
    std::uint64_t waiting = 0;
    for (const auto& [key, entry] : ledger_) {
      if (entry.has_ended()) continue;
      ++waiting;
      touched += entry.version == version_ && version != version_ ? 1U : 0U;
    }
    const kernel::Outcome outcome = tick(kernel::ApplyManifest{document, {}, strict, pin});
    if (version == version_ && with_others == has_others_) {
      report_.sometimes("the same definitions again");
      return expect(std::holds_alternative<kernel::Unchanged>(outcome.answer),
                    "the same definitions change something");
    }
    const std::uint64_t blocking = strict ? waiting : pin ? 0 : touched;
    if (const auto* blocked = std::get_if<kernel::Blocked>(&outcome.answer)) {
      report_.sometimes("definitions are blocked");
      return expect(blocked->count == blocking, "another number of instances blocks");
    }
    expect(is_accepted(outcome), "definitions are refused");
    expect(blocking == 0, "definitions are applied though instances use them");
    if (touched != 0) report_.sometimes("instances are pinned");
    if (version != version_ && waiting == 0) report_.sometimes("a quiet world changes");
    version_ = version;
    has_others_ = with_others;
  }

  void migrate() {
    std::set<std::string> keys;
    for (std::uint64_t i = 0; i <= dice_.below(kKeys); ++i) keys.insert(some_key());
    std::vector<base::Bytes> names;
    for (const std::string& key : keys) names.push_back(key_of(key));
    std::vector<kernel::ForgetName> list;
    for (const base::Bytes& name : names) list.push_back({kWorkflow, name, 0});
    codec::Buffer bytes;
    kernel::write_forget_list(bytes, list);
    const kernel::Outcome outcome = tick(kernel::MigrateInstances{bytes.view()});
    std::uint64_t moves = 0;
    std::uint64_t stays = 0;
    for (const std::string& key : keys) {
      const auto known = ledger_.find(key);
      if (known == ledger_.end() || known->second.has_ended() || known->second.version == version_)
        continue;
      if (known->second.n % kUnlucky == 0) {
        ++stays;
        report_.sometimes("an instance does not fit the new version");
        continue;
      }
      ++moves;
      known->second.version = version_;
      report_.sometimes("an instance moves to another version");
    }
    const auto* accepted = std::get_if<kernel::Accepted>(&outcome.answer);
    const auto* unchanged = std::get_if<kernel::Unchanged>(&outcome.answer);
    const kernel::Migration* migration = accepted != nullptr    ? accepted->migration.get()
                                         : unchanged != nullptr ? unchanged->migration.get()
                                                                : nullptr;
    expect(migration != nullptr && migration->moved == moves && migration->stays.size() == stays,
           "other instances move than should");
  }

  void cancel() {
    const auto found = some_waiting();
    if (found == ledger_.end() || !dice_.one_in(3)) return;
    const base::Bytes name = key_of(found->first);
    const kernel::Outcome outcome =
        tick(kernel::ControlRequested{kernel::Control::kCancel, kWorkflow, name, "because"});
    expect(is_accepted(outcome), "an instance is not cancelled");
    found->second.fate = Fate::kCancelled;
  }

  // Takes an image of somebody who waits, for later.
  void keep() {
    const auto found = some_waiting();
    if (found == ledger_.end()) return;
    auto image = world_->image(kWorkflow, key_of(found->first));
    if (!image || !image->has_value()) return expect(false, "there is no image");
    kept_[found->first] = {std::move(**image), found->second.n, found->second.version};
  }

  void reopen() {
    const std::string key = some_key();
    const auto kept = kept_.find(key);
    if (kept == kept_.end()) return;
    const auto known = ledger_.find(key);
    codec::Buffer image;
    kernel::write_image(image, kept->second.image);
    const base::Bytes name = key_of(key);
    const kernel::Outcome outcome =
        tick(kernel::ReopenInstance{kWorkflow, name, image.view(), 1, "because"});
    const bool may = known->second.fate == Fate::kFailed || known->second.fate == Fate::kCancelled;
    if (!is_accepted(outcome)) {
      const auto* refused = std::get_if<kernel::Refused>(&outcome.answer);
      expect(refused != nullptr, "a restart is answered otherwise");
      // The state is of a version that its cell is not of any more.
      expect(!may ||
                 (refused != nullptr && refused->message.find("does not fit") != std::string::npos),
             "an instance does not begin again");
      report_.sometimes(may ? "an image does not fit any more" : "what has not failed is refused");
      return;
    }
    expect(may, "an instance begins again that has not failed");
    const auto intent = opened(outcome);
    expect(intent.has_value() && *intent != known->second.intent, "no effect is opened again");
    known->second = {kept->second.n, kept->second.version, Fate::kWaits,
                     intent.value_or(base::Hash())};
    report_.sometimes("an instance begins again as it was");
  }

  // The process ends: it goes on from a snapshot, of now or of some time ago, and replays the rest.
  void restart() {
    if (dice_.one_in(2)) {
      auto taken = world_->snapshot();
      if (!taken) return expect(false, "no snapshot: " + taken.error().to_string());
      snapshot_ = std::move(*taken);
      snapshot_at_ = journal_.size();
      if (dice_.one_in(2)) return;
    }
    std::optional<kernel::World> next;
    if (snapshot_.empty()) {
      next.emplace(machines_, blobs_);
    } else {
      auto restored = kernel::World::restore(machines_, blobs_, snapshot_);
      if (!restored) return expect(false, "no restart: " + restored.error().to_string());
      next.emplace(std::move(*restored));
    }
    for (std::size_t at = snapshot_at_; at < journal_.size(); ++at) {
      const auto replayed = next->replay(journal_[at]);
      if (!replayed) return expect(false, "no replay: " + replayed.error().to_string());
    }
    report_.sometimes(snapshot_at_ == journal_.size() ? "a restart without replay"
                                                      : "a restart with replay");
    world_ = std::move(next);
  }

  void judge() {
    std::uint64_t waiting = 0;
    for (const auto& [key, entry] : ledger_) {
      const auto values = world_->read(kWorkflow, key_of(key));
      if (!values || !values->has_value()) return expect(false, key + " is lost");
      const auto cell = world_->find(kWorkflow, key_of(key));
      constexpr std::array kStatus{kernel::Status::kWaiting, kernel::Status::kCompleted,
                                   kernel::Status::kFailed, kernel::Status::kCancelled};
      expect((*values)->status == kStatus[static_cast<std::size_t>(entry.fate)],
             key + " has another status: " + std::string(name_of((*values)->status)));
      expect(number_in((*values)->state, "n") == entry.n, key + " has another sum");
      expect(number_in((*values)->state, field_of(entry.version)) == entry.version,
             key + " is not of version " + std::to_string(entry.version));
      if (entry.fate == Fate::kCompleted)
        expect(number_in((*values)->outcome, "n") == entry.n, key + " ended with another result");
      if (entry.has_ended()) continue;
      ++waiting;
      expect((*cell)->intents.size() == 1 && *(*cell)->intents.begin() == entry.intent,
             key + " waits for something else");
    }
    expect(world_->active_instances() == waiting, "another number of instances is under way");
    expect(world_->open_intents() == waiting, "another number of effects is open");
  }

  // Everything comes to its end.
  void finish() {
    for (auto& [key, entry] : ledger_) {
      if (good() && !entry.has_ended()) settle(entry, true);
    }
    if (good()) judge();
    if (good()) apply(version_, !has_others_, false, true);
    if (!good()) return;
    expect(!world_->program().has_pins(), "versions are kept that nobody goes on with");
    judge();
  }

  void judge_replay() {
    node::ScratchBlobs blobs;
    kernel::World again(machines_, blobs);
    for (const base::Bytes& record : journal_) {
      const auto replayed = again.replay(record);
      if (!replayed) return expect(false, "the journal: " + replayed.error().to_string());
    }
    const auto now = world_->snapshot();
    const auto then = again.snapshot();
    expect(now && then && *now == *then, "the journal comes to another world");
  }

  Dice dice_;
  const ChangeOptions options_;
  Report report_;
  const VersionedMachines machines_;
  node::ScratchBlobs blobs_;
  std::optional<kernel::World> world_;
  std::vector<base::Bytes> journal_;
  base::Bytes snapshot_;
  std::size_t snapshot_at_ = 0;  // records that it has
  std::uint64_t time_s_ = 0;
  std::uint64_t version_ = 0;
  bool has_others_ = false;
  std::map<std::string, Entry> ledger_;
  std::map<std::string, Kept> kept_;
};

}  // namespace

Report run_changes(const ChangeOptions& options) { return ChangeRun(options).run(); }

}  // namespace holdfast::sim
