// SPDX-License-Identifier: Apache-2.0
#include "sim/simulation.h"

#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "base/sha256.h"
#include "env/crash.h"
#include "node/history.h"
#include "node/loop.h"
#include "node/scratch_blobs.h"
#include "node/seal_check.h"
#include "sim/client.h"
#include "sim/dice.h"
#include "sim/faults.h"
#include "sim/last_batch.h"
#include "sim/ledger.h"
#include "sim/outside.h"
#include "sim/parking.h"
#include "sim/reader.h"
#include "sim/stage.h"
#include "sim/step_judge.h"
#include "sim/survey.h"

namespace holdfast::sim {
namespace {

constexpr std::uint64_t kStepsToTheEnd = 20'000;
constexpr std::uint64_t kStepsIn = 6;  // one in so many runs has workflows of steps
constexpr std::size_t kOpenings = 5;   // that may fail one after the other

class Simulation {
 public:
  explicit Simulation(const Options& options)
      : options_(options),
        dice_(options.seed),
        load_(dice_.one_in(kStepsIn) ? Load::kWithSteps : Load::kPlain),
        stage_(options.seed, load_),
        ledger_(report_),
        outside_(dice_, report_, ledger_, functions()),
        client_(dice_, report_, ledger_, kStart, load_),
        reader_(dice_, report_, ledger_),
        faults_in_(dice_.one_in(8) ? 0 : 20 + dice_.below(100)) {
    report_.keeps_notes = options.keeps_notes;
    crowd();
    limits_.batch_bytes = dice_.one_in(2) ? 2048 : std::size_t{256} << 10;
    limits_.inbox = 1 + dice_.below(20);
    limits_.snapshots.every = 5 + dice_.below(60);
    limits_.written_at_once = dice_.one_in(3) ? 4 : 0;
    // Runs of steps leave memory as soon as a snapshot has them, and large values before that.
    if (load_ == Load::kWithSteps) {
      cells_.clean_cells = dice_.below(3);
      cells_.clean_bytes = cells_.clean_cells * 4096;
      if (dice_.one_in(2)) cells_.dirty_bytes = 1024;
      limits_.snapshots.every = 3 + dice_.below(20);
    }
    // Decided by the seed alone, so that older seeds go on as they did.
    writes_blobs_ahead_ = options.seed % 3 != 0;
    if (writes_blobs_ahead_) much_waiting_bytes_ = std::size_t{256} << (options.seed % 6);
    history_limits_.slice.records = 1 + dice_.below(30);
    history_limits_.most_lag = dice_.one_in(3) ? 20 : 1'000'000;
    if (dice_.one_in(2))
      history_limits_.retention_ns = static_cast<std::uint64_t>(kSecond) * (5 + dice_.below(100));
    ledger_.watch_instances([this](const kernel::RecordView& record,
                                   const kernel::InstanceView& instance, bool begins) {
      if (!record.notes.empty() && record.notes.back().front() == kernel::kRules2)
        report_.sometimes("mail waits for room");
      if (instance.workflow == Relay::kWorkflow && instance.status == "failed")
        report_.violation("a relay fails, as others do not take their mail");
      if (!StepJudge::knows(instance.workflow)) return;
      parking_.add(record, instance);
      judge_.add(record, instance, begins);
    });
    judge_.watch_questions(
        [this](const std::string& survey, std::uint64_t round) { client_.answer(survey, round); });
  }

  Report run() {
    open();
    for (; is_well() && report_.steps < options_.steps; ++report_.steps) {
      act();
      look();
    }
    if (is_well()) settle_down();
    if (is_well()) compare();
    return std::move(report_);
  }

 private:
  engine::FunctionsByEffect functions() {
    if (load_ == Load::kPlain) return {};
    return engine::functions_of(survey_handlers(witness_)).take();
  }

  bool is_well() const { return report_.violation().empty(); }

  // The process begins. What goes wrong meanwhile goes wrong once.
  void open() {
    for (std::size_t i = 0; i < kOpenings; ++i) {
      auto opened = try_open();
      if (opened) return;
      report_.note("cannot open: " + opened.error().to_string());
      if (!faults_.excuse_no_beginning(opened.error(), *stage_.disk))
        return report_.violation("opening: " + opened.error().to_string());
      report_.sometimes("opening fails");
      die();
      faults_.make_room(*stage_.disk);
    }
    report_.violation("the world cannot be opened");
  }

  node::LocalWorldOptions world_options() const {
    return {.journal = {.segment_bytes = 6 * 4096},
            .world = {.cells = cells_, .mail_per_instance = mail_per_instance_},
            .collect_from_bytes = 64 << 10,
            .much_waiting_bytes = much_waiting_bytes_};
  }

  base::Result<void> try_open() {
    faults_.begin_life(*stage_.disk);
    world_ = TRY(stage_.open_world(world_options()));
    needed_ = 0;
    durable_without_lock_.reset();
    ledger_.reopened(world_->journal());
    outside_.watch(&world_->journal());
    node::LoopOptions limits = limits_;
    limits.behind_snapshot = world_->restoring().replayed;
    limits.begin_snapshot = [this](std::uint64_t last_ns) -> base::Result<node::FinishSnapshot> {
      parking_.begin_putting_away(world_->world());
      auto finish =
          TRY(node::snapshots_of(*world_, [this] { return history_->needs_from(); })(last_ns));
      parking_.put_away(world_->world());
      return node::FinishSnapshot([this, finish]() -> base::Result<std::uint64_t> {
        const std::uint64_t needed = TRY(finish());
        needed_ = needed;
        parking_.finished();
        report_.sometimes("a snapshot is taken");
        return needed;
      });
    };
    if (writes_blobs_ahead_) {
      limits.has_much_ahead = [this] { return world_->kernel_blobs().has_much(); };
      limits.is_crowded_ahead = [this] { return world_->kernel_blobs().is_crowded(); };
      limits.write_blobs_ahead = [this] {
        report_.sometimes("blobs are written ahead of a snapshot");
        return world_->kernel_blobs().write_waiting();
      };
    }
    limits.tidy = [this]() -> base::Result<bool> {
      const std::uint64_t before = world_->collector().removed();
      const bool more = TRY(world_->collector().go_on());
      if (world_->collector().removed() != before) report_.sometimes("blobs are collected");
      return more;
    };
    limits.trouble = [this](const base::Error& error) {
      if (error.code() == base::ErrorCode::kUnavailable) report_.sometimes("a snapshot is put off");
      report_.note(error.to_string());
    };
    heard_of_end_ = false;
    limits.ended = [this](const base::Error&) {
      if (heard_of_end_) report_.violation("the node ends twice");
      heard_of_end_ = true;
    };
    make_history();
    loop_ = std::make_unique<node::Loop>(world_->world(), world_->journal(), stage_.clock,
                                         *stage_.entropy, node::Executors{{"worker", &outside_}},
                                         limits);
    if (world_->restoring().snapshot) report_.sometimes("a world is opened from a snapshot");
    if (world_->restoring().replayed != 0) report_.sometimes("records are replayed");
    if (world_->recovery().torn) report_.sometimes("a torn end is cut off");
    outside_.set_recovering(true);
    TRY(loop_->recover());
    outside_.set_recovering(false);
    is_applied_ = world_->world().next_record() != 1;
    is_applying_ = false;
    return {};
  }

  void make_history() {
    node::HistoryOptions limits = history_limits_;
    limits.send = [this](node::Input input, node::Heard heard) {
      return loop_->send(std::move(input), std::move(heard));
    };
    limits.trouble = [this](const base::Error& error) {
      report_.sometimes("history has trouble");
      report_.note(error.to_string());
    };
    history_ =
        std::make_unique<node::History>(world_->folder(), world_->journal(), stage_.clock, limits);
  }

  // A world without definitions gets them, before anybody sends anything.
  void apply() {
    if (is_applying_) return;
    const auto heard = [this](const kernel::Answer& answer) {
      is_applying_ = false;
      is_applied_ = std::holds_alternative<kernel::Accepted>(answer);
      if (const auto* refused = std::get_if<kernel::Refused>(&answer);
          refused != nullptr && refused->code != base::ErrorCode::kUnavailable)
        report_.violation("the definitions are refused: " + refused->message +
                          (refused->details.empty() ? "" : ": " + refused->details.front()));
    };
    is_applying_ = loop_->send(node::Input::apply(kernel::ApplyManifest{stage_.definitions}), heard)
                       .has_value();
  }
  void ask() {
    if (!is_applied_) return apply();
    client_.send(*loop_, world_->journal(), world_->world().next_record());
  }

  // One thing happens.
  void act() {
    const std::uint64_t what = dice_.below(100);
    report_.trace(what);
    if (faults_in_ != 0 && dice_.one_in(faults_in_)) return harm();
    if (what < 30) return turn();
    if (what < 42) return write();
    if (what < 50) return loop_->release();
    if (what < 65) return ask();
    if (what < 75) return outside_.work(false);
    if (what < 78) return prepare();
    if (what < 80) return keep();
    if (what < 84) return control();
    if (what < 87) return keep_history();
    if (what < 90) return reader_.read(*world_, *history_);
    pass_time();
  }

  void turn() {
    if (load_ == Load::kWithSteps) parking_.before_turn(world_->world());
    runs_out_of_memory = [this] { return !is_settling_ && dice_.one_in(60); };
    loop_->turn();
    runs_out_of_memory = nullptr;
  }

  // With a batch the journal lets go of what nobody needs, also what it could not let go of before.
  void write() {
    store::Journal& journal = world_->journal();
    const store::RecordNumber durable = journal.durable();
    const bool is_calm = faults_.is_calm(*stage_.disk);
    loop_->write();
    if (!is_calm || journal.durable() == durable) return;
    const store::RecordNumber first = journal.first();
    if (journal.trim(needed_) && journal.first() != first)
      report_.violation("the journal keeps records that nobody needs");
  }

  void prepare() {
    if (loop_->has_preparing()) loop_->prepare();
  }

  void keep_history() {
    if (history_->has_work()) work_on_history();
  }
  // Whoever hears of a stream holds it against the ledger, which must not know less.
  void work_on_history() {
    ledger_.catch_up(world_->journal());
    history_->work();
  }

  void keep() {
    if (loop_->has_keeping()) loop_->keep();
  }

  void pass_time() {
    if (dice_.one_in(40)) {
      report_.sometimes("the wall clock jumps");
      const auto by = static_cast<std::int64_t>(dice_.below(7200)) * kSecond - 3600 * kSecond;
      stage_.clock.set_wall_ns(stage_.clock.wall_ns() + by);
    } else {
      stage_.clock.advance_ns(
          static_cast<std::int64_t>(dice_.below(dice_.one_in(5) ? 20'000 : 50)) * kMillisecond);
    }
  }

  // Somebody pauses, resumes or cancels an instance.
  void control() {
    if (ledger_.instances().empty()) return;
    auto at = ledger_.instances().begin();
    std::advance(at, dice_.below(ledger_.instances().size()));
    kernel::ControlRequested request;
    request.control = static_cast<kernel::Control>(dice_.one_in(4) ? 0 : 1 + dice_.below(2));
    request.workflow = at->first.first;
    request.key = at->first.second;
    request.reason = "somebody said so";
    const auto heard = [this,
                        reduced = world_->world().next_record()](const kernel::Answer& answer) {
      const auto* accepted = std::get_if<kernel::Accepted>(&answer);
      if (accepted != nullptr && !Client::is_in_time(reduced, accepted->record))
        report_.violation("somebody who interferes waits while others are taken that came later");
    };
    if (loop_->send(node::Input::control(request), heard))
      report_.sometimes("somebody interferes with an instance");
  }

  void harm() {
    const std::uint64_t what = dice_.below(10);
    report_.trace(what);
    if (what == 0) {
      report_.sometimes("the process dies");
      report_.note("the process dies");
      return restart();
    }
    if (what == 1) {
      report_.sometimes("the power is cut");
      report_.note("the power is cut");
      return cut_power();
    }
    if (what == 2) {
      report_.sometimes("the disk is full");
      std::uint64_t used = 0;
      for (const auto& [file, bytes] : stage_.disk->now().files) used += bytes.size();
      return faults_.fill(*stage_.disk, used + dice_.below(100'000));
    }
    if (what == 6) return stop();
    if (what == 7) return intrude();
    if (what == 8) return flip_a_bit();
    if (what == 9) return pin_or_let_go();
    if (what == 3) {
      report_.sometimes("there is room again");
      return faults_.make_room(*stage_.disk);
    }
    report_.sometimes("a call to the disk fails");
    constexpr env::DiskFault kFaults[] = {env::DiskFault::kIoError, env::DiskFault::kNoSpace,
                                          env::DiskFault::kInterrupted, env::DiskFault::kShort};
    faults_.fail_call(*stage_.disk, dice_.below(12), kFaults[dice_.below(4)]);
  }

  // Somebody removes LOCK, and starts another process. It must not get in, and this one must not
  // acknowledge anything more.
  void intrude() {
    if (!stage_.disk->remove("./world/LOCK")) return;
    report_.sometimes("the lock is removed");
    report_.note("the lock is removed");
    faults_.remove_lock();
    durable_without_lock_ = world_->journal().durable();
    const auto second = stage_.open_world(world_options());
    if (second) return report_.violation("two processes have the world");
    const bool is_refused = second.error().code() == base::ErrorCode::kConflict;
    if (!is_refused && !faults_.excuse_no_beginning(second.error(), *stage_.disk))
      report_.violation("a second process is not refused: " + second.error().to_string());
  }

  // Nothing comes for a moment. False: something was wrong with the disk, or the node has ended.
  bool rest() {
    const bool is_calm = faults_.is_calm(*stage_.disk);
    for (int i = 0; i < 2; ++i) {  // what waits to be written, and then the mark
      stage_.clock.advance_ns(kSecond);
      loop_->write();
      loop_->release();
    }
    return is_calm && loop_->condition() == node::LoopCondition::kReady;
  }

  // What the next process would find if this one died now, and one bit of the last batch were
  // another one. Damage to what is known to be durable must not look like a write that was torn.
  void flip_a_bit() {
    const bool is_quiet = dice_.one_in(2) && rest();
    env::DiskState state = stage_.disk->now();
    const auto last = find_last_batch(state);
    if (is_quiet && last && !last->is_marked)
      return report_.violation("a journal at rest is not marked");
    const store::HistoryIndex* index = history_->index();
    const bool is_indexed = last && index != nullptr && index->cursor().record >= last->last_record;
    if (!last || (!last->is_marked && !is_indexed)) return;
    report_.sometimes(last->is_marked ? "a bit of a marked batch flips"
                                      : "a bit of a batch flips that the index has seen");
    state.files.at(last->file)[last->offset + dice_.below(last->bytes)] ^=
        static_cast<std::uint8_t>(1U << dice_.below(8));
    env::SimDisk damaged(std::move(state));
    const auto entropy = env::seeded_random(dice_.below(1000));
    const auto opened = node::LocalWorld::open(damaged, *entropy, stage_.process, "./world",
                                               stage_.machines, world_options());
    if (opened || opened.error().code() != base::ErrorCode::kCorrupt)
      report_.violation("damage to the last batch is not noticed" +
                        (opened ? std::string() : ": " + opened.error().to_string()));
  }

  // Somebody reads from there on, for a while.
  void pin_or_let_go() {
    if (pin_) return pin_.reset();
    report_.sometimes("somebody pins records");
    pin_ = world_->journal().pin(1 + dice_.below(world_->journal().durable() + 1));
  }

  // What the dying process still does is not seen by the next one.
  void die() {
    auto next = stage_.disk->after_process_death();
    forget_process(std::move(next));
  }
  void forget_process(std::unique_ptr<env::SimDisk> next) {
    outside_.forget();
    client_.lose_hope();
    parking_.forget();
    pin_.reset();
    loop_.reset();
    history_.reset();
    world_.reset();
    stage_.disk = std::move(next);
  }
  void restart() {
    die();
    open();
  }

  // In order: what was reported by then is never asked for again.
  void stop() {
    loop_->stop();
    loop_->shut_down_executors();
    for (std::uint64_t i = 0; !loop_->is_over(); ++i) {
      if (i == kStepsToTheEnd) return report_.violation("it does not stop");
      if (loop_->has_turn()) loop_->turn();
      if (loop_->has_writing()) loop_->write();
      if (loop_->has_releasing()) loop_->release();
    }
    if (const auto failure = loop_->failure()) {
      // On a full disk it gives up; what was reported is asked for again then.
      if (!faults_.excuse_no_beginning(*failure, *stage_.disk))
        return report_.violation("it does not stop in order: " + failure->to_string());
    } else {
      report_.sometimes("the process stops in order");
      ledger_.catch_up(world_->journal());
      for (const base::Hash& intent : outside_.reported()) {
        const Ledger::Intent* known = ledger_.find(intent);
        if (known != nullptr && !known->is_settled)
          report_.violation("a receipt is forgotten when the process stops");
      }
    }
    restart();
  }

  // Somewhere in the middle of a step. Not of a turn that writes: what it has let out after that
  // cannot be taken back.
  void cut_power() {
    const std::size_t before = stage_.disk->operations().size();
    switch (dice_.below(5)) {
      case 0:
        if (limits_.written_at_once == 0) turn();
        break;
      case 1: loop_->write(); break;
      case 2: work_on_history(); break;
      case 3: loop_->keep(); break;
      default: loop_->prepare();
    }
    const std::span<const env::DiskOperation> all = stage_.disk->operations();
    const auto done = all.first(before + dice_.below(all.size() - before + 1));
    if (done.size() != all.size()) report_.sometimes("the power is cut inside a step");
    env::Crash crash{.at = done.size()};
    for (const std::size_t pending : env::pending_operations(done)) {
      const env::DiskOperation& operation = done[pending];
      const bool is_write = operation.kind == env::DiskOperation::Kind::kWrite;
      if (is_write && !crash.torn && dice_.one_in(2)) {
        crash.torn = pending;
        const std::uint64_t first = operation.offset / env::kSectorBytes;
        const std::uint64_t end = (operation.offset + operation.bytes.size()) / env::kSectorBytes;
        for (std::uint64_t sector = first; sector <= end; ++sector)
          if (dice_.one_in(2)) crash.lost_sectors.insert(sector);
      } else if (dice_.one_in(2)) {
        crash.lost.insert(pending);
      }
    }
    auto next = std::make_unique<env::SimDisk>(env::after_crash(stage_.disk->start(), all, crash));
    forget_process(std::move(next));
    faults_.new_machine();
    open();
  }

  // After every step.
  void look() {
    if (!is_well()) return;
    if (const auto failure = loop_->failure()) {
      report_.sometimes("the node ends itself");
      report_.note("the node ends: " + failure->to_string());
      if (!heard_of_end_) return report_.violation("nobody hears that the node has ended");
      if (!faults_.excuse_end(*failure, *stage_.disk))
        return report_.violation("the node ends for no reason: " + failure->to_string());
      return restart();
    }
    if (durable_without_lock_ && world_->journal().durable() != *durable_without_lock_)
      return report_.violation("a record becomes durable though the lock is not ours any more");
    ledger_.catch_up(world_->journal());
    report_.trace(ledger_.records());
    const bool all_durable = world_->world().next_record() == ledger_.records() + 1;
    if (all_durable && world_->world().open_intents() != ledger_.open_intents())
      report_.violation("the world has " + std::to_string(world_->world().open_intents()) +
                        " intents open, the journal " + std::to_string(ledger_.open_intents()));
  }

  // Nothing goes wrong any more, and those who were held up go on.
  void settle_down() {
    faults_.make_room(*stage_.disk);
    pin_.reset();
    is_settling_ = true;
    for (std::uint64_t i = 0; i < kStepsToTheEnd && is_well(); ++i, ++report_.steps) {
      if (unsettled().empty()) return;
      if (!client_.is_content()) ask();
      resume_all();
      // Only when it says that there is something to do: nobody else wakes its threads.
      if (loop_->has_turn()) turn();
      if (loop_->has_writing()) loop_->write();
      if (loop_->has_releasing()) loop_->release();
      prepare();
      // Slowly where runs are put away by it, so that some are woken meanwhile.
      if (load_ != Load::kWithSteps || dice_.one_in(4)) keep();
      keep_history();
      if (dice_.one_in(4)) reader_.read(*world_, *history_);
      outside_.work(true);
      if (!has_work()) stage_.clock.advance_ns(kSecond);
      look();
    }
    if (is_well()) report_.violation("it does not come to its end: " + unsettled());
  }

  bool has_work() {
    return loop_->has_turn() || loop_->has_writing() || loop_->has_releasing() ||
           history_->has_work();
  }

  // What is still to come; nothing: everything has come to its end.
  std::string unsettled() {
    if (!client_.is_content()) return "the client waits";
    if (outside_.is_busy()) return "an effect is under way";
    if (ledger_.open_intents() != 0) return "an intent is open";
    if (world_->world().has_ready()) return "mail is left over";
    if (has_mail_at_relays()) return "mail waits for a relay, and it is nobody's turn";
    if (loop_->has_turn()) return "the node has something to reduce";
    if (loop_->has_writing()) return "the node has something to write";
    if (loop_->has_releasing()) return "the node has something to let go out";
    if (loop_->has_keeping()) return "a snapshot is not finished";
    if (world_->world().next_record() != ledger_.records() + 1) return "not all is durable";
    for (const auto& [name, instance] : ledger_.instances()) {
      if (instance.paused && !instance.has_ended()) return "an instance is paused";
      // An index that was begun anew knows nothing of those that ended before.
      const bool is_known = history_->index() == nullptr ||
                            instance.last_record >= history_->index()->cursor().begins;
      if (history_limits_.retention_ns != 0 && instance.has_ended() && is_known)
        return "an instance is to be forgotten";
    }
    if (history_->figures().lag != 0) return "the index lags";
    return {};
  }

  // In some runs mailboxes are small, and many words are passed on: relays fill each other's, and
  // those of paused ones. Dice of their own leave the other choices of a seed as they are.
  void crowd() {
    Dice dice(options_.seed ^ 0x6d61'696c);
    if (!dice.one_in(3)) return;
    mail_per_instance_ = 1 + dice.below(4);
    for (std::uint64_t i = 2 + dice.below(12); i > 0; --i)
      client_.pass_word(dice.below(5), dice.below(60));
  }

  bool has_mail_at_relays() {
    for (const auto& [name, instance] : ledger_.instances()) {
      if (name.first != Relay::kWorkflow) continue;
      const auto cell = world_->world().find(name.first, name.second);
      if (cell && *cell != nullptr && !(*cell)->mail.empty()) return true;
    }
    return false;
  }

  void resume_all() {
    for (const auto& [name, instance] : ledger_.instances()) {
      if (!instance.paused || instance.has_ended()) continue;
      kernel::ControlRequested request;
      request.control = kernel::Control::kResume;
      request.workflow = name.first;
      request.key = name.second;
      static_cast<void>(loop_->send(node::Input::control(request), nullptr).has_value());
    }
  }

  // Everything that was promised is there, everything that can end has ended, and the world is what
  // its journal says, read from a snapshot or from the first record on.
  void compare() {
    client_.check();
    for (const auto& [name, instance] : ledger_.instances()) {
      if (name.first != Relay::kWorkflow && !instance.has_ended() && instance.status != "deleted")
        report_.violation("an instance of " + name.first + " does not end, and is " +
                          instance.status);
    }
    compare_with_index();
    compare_with_seals();
    const auto live = world_->world().snapshot();
    if (!live) return report_.violation("no snapshot: " + live.error().to_string());
    report_.trace(base::sha256(*live).bytes);
    if (world_->journal().first() == 1) compare_with_replay(*live);
    restart();
    if (!is_well()) return;
    const auto again = world_->world().snapshot();
    if (!again || *again != *live) report_.violation("the world is another after a restart");
  }

  // Who is in the index stands there as in the journal, and nobody is missing who was touched since
  // it began.
  void compare_with_index() {
    store::HistoryIndex* index = history_->index();
    if (index == nullptr) return report_.violation("there is no index in the end");
    if (index->cursor().begins > 1) report_.sometimes("the index was begun anew");
    for (const auto& [name, instance] : ledger_.instances()) {
      const auto row = index->find(name.first, name.second);
      if (!row) return report_.violation("the index: " + row.error().to_string());
      const bool is_kept =
          *row && (*row)->last_record == instance.last_record && (*row)->status == instance.status;
      const bool is_gone =
          !*row && (instance.status == "deleted" || instance.last_record < index->cursor().begins);
      if (!is_kept && !is_gone)
        report_.violation("the index shows " + name.first + " " + kernel::key_text(name.second) +
                          " as " + (*row ? (*row)->status : "not there") + " and not as " +
                          instance.status);
    }
  }

  // The records are those that were sealed, through all that happened in between.
  void compare_with_seals() {
    for (int i = 0; i < 20; ++i) history_->finish();  // its slices may be of one record
    const auto look = store::SealsLook::open(store::WorldPlace::of(world_->folder()));
    if (!look) return report_.violation("the seals: " + look.error().to_string());
    store::Journal& journal = world_->journal();
    base::Errors errors;
    node::SealCheck check(look->get(), journal.first(), {}, errors);
    auto reader = journal.read(journal.first()).take();
    while (const auto record = reader->next().take()) check.check(*record);
    std::vector<std::string> notes;
    check.finish(journal.last(), notes);
    for (const base::Error& error : errors) report_.violation("the seals: " + error.to_string());
    if (!check.last() || check.last()->last != journal.last())
      report_.violation("not every record is sealed in the end");
    if (check.records() != 0) report_.sometimes("records are as they were sealed");
  }

  void compare_with_replay(const base::Bytes& live) {
    report_.sometimes("everything is replayed");
    node::ScratchBlobs blobs;
    kernel::World world(stage_.machines, blobs,
                        {.cells = cells_, .mail_per_instance = mail_per_instance_});
    auto reader = world_->journal().read(1).take();
    while (const auto record = reader->next().take()) {
      const auto replayed = world.replay(record->bytes);
      if (!replayed) return report_.violation("replay: " + replayed.error().to_string());
    }
    const auto replayed = world.snapshot();
    if (!replayed || *replayed != live) report_.violation("replay comes to another world");
  }

  Options options_;
  Report report_;
  Dice dice_;
  const Load load_;
  Stage stage_;
  Ledger ledger_;
  Witness witness_{report_};
  StepJudge judge_{report_, witness_};
  Parking parking_{report_, ledger_};
  Outside outside_;
  Client client_;
  Reader reader_;
  std::uint64_t faults_in_;  // one in so many steps; 0: nothing ever goes wrong
  node::LoopOptions limits_;
  kernel::CellLimits cells_;
  std::size_t mail_per_instance_ = kernel::kMaxMailPerInstance;
  node::HistoryOptions history_limits_;
  bool writes_blobs_ahead_ = false;
  std::size_t much_waiting_bytes_ = node::StoreBlobs::kMuchWaitingBytes;
  Faults faults_;
  std::unique_ptr<node::LocalWorld> world_;
  std::unique_ptr<node::History> history_;
  std::unique_ptr<node::Loop> loop_;
  std::unique_ptr<store::JournalPin> pin_;
  store::RecordNumber needed_ = 0;  // what the last snapshot of this life says
  std::optional<store::RecordNumber> durable_without_lock_;  // when it was removed, in this life
  bool heard_of_end_ = false;
  bool is_applied_ = false;
  bool is_applying_ = false;
  bool is_settling_ = false;
};

}  // namespace

Report simulate(const Options& options) { return Simulation(options).run(); }

std::uint64_t shortest(Options failing) {
  std::uint64_t fails = failing.steps;  // and from `holds` on it may
  std::uint64_t holds = 0;
  while (holds < fails) {
    failing.steps = (holds + fails) / 2;
    if (simulate(failing).violation().empty()) {
      holds = failing.steps + 1;
    } else {
      fails = failing.steps;
    }
  }
  return fails;
}

}  // namespace holdfast::sim
