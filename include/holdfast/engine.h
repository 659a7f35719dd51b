// SPDX-License-Identifier: Apache-2.0
// Engine: a world inside this program. It is opened from a folder, and goes on where it was when
// the program, or the machine, last ended.
//
//   auto engine = holdfast::Engine::open({.dir = "orders.world",
//                                         .modules = {shop_module()},
//                                         .handlers = {holdfast::handle<Charge>(charge)}});
//   (*engine)->send(OrderPlaced{.id = "o-1", .cents = 1990}, {.id = "web-4711"});
//   auto order = (*engine)->wait<Order>("o-1", std::chrono::seconds(5));
//
// What a call returns is durable. All of it is for any thread, but `close` is not for handlers and
// callbacks. Handlers run on threads of the engine, which has none before it is opened and none
// after it is closed. No signal handlers, no globals.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "holdfast/backup.h"
#include "holdfast/clock.h"
#include "holdfast/detail/value_bytes.h"
#include "holdfast/governance.h"
#include "holdfast/handler.h"
#include "holdfast/listing.h"
#include "holdfast/log.h"
#include "holdfast/measures.h"
#include "holdfast/module.h"
#include "holdfast/outside_effect.h"
#include "holdfast/result.h"
#include "holdfast/workers.h"

namespace holdfast {

// A secret that definitions name is found only where these say. See docs/decisions/0010.
struct SecretOptions {
  std::vector<std::string> variables = {};  // of the environment, that may be read
  std::string folder = {};                  // whose files may be read; empty: none
};

// Where sys/http.request may go: nowhere, unless it is said here.
struct AllowedHost {
  std::string name;                // "api.example.com", "*.example.com", or an address
  std::uint16_t port = 0;          // 0: any
  bool private_addresses = false;  // also to addresses that are not public
};

struct EngineOptions {
  std::string dir;  // of the world; it is begun if there is none
  std::vector<Module> modules = {};
  std::vector<Handler> handlers = {};

  // False: the modules are only the code for definitions that the world has already.
  bool apply_definitions = true;
  std::size_t handler_threads = 4;
  // Instances of each workflow that stay in memory though nothing happens to them. More cost
  // memory, fewer are read back from the index more often. From 1.
  std::size_t hot_cells = 4096;
  SecretOptions secrets = {};
  std::vector<AllowedHost> http_hosts = {};
  // That sys/process.run may run, by their whole paths. Each is the file that is there when the
  // engine is opened: one that is changed or replaced afterwards is refused until the next opening.
  std::vector<std::string> programs = {};
  // That the params of sys/process.run may set for a program. LD_*, GLIBC_TUNABLES and GCONV_PATH
  // are refused, because they make any program load other code.
  std::vector<std::string> program_variables = {};

  // Also on a file system that cannot keep what the engine promises (one in memory, another
  // machine's): the operator has decided that it will do.
  bool any_file_system = false;

  // The fewest records between two snapshots, unless the bound below or an idle engine needs one
  // earlier. 0: no snapshots are taken.
  std::uint64_t snapshot_every = 200'000;

  // How long a restart may take to replay what came since the last snapshot. Within it, snapshots
  // take an eighth of the time at most. New work waits for a snapshot when replaying it would take
  // longer. From 1.
  std::chrono::seconds replay_bound = std::chrono::seconds(5);

  // Hears what there is to do for workers (holdfast/workers.h), from the beginning. With one,
  // effects whose executor is `worker` and that have no handler are left to workers; without one
  // such effects are refused when definitions are applied. Tasks (sys/task.run@1) are always left
  // to workers, and wait if there is nobody to place them.
  std::shared_ptr<WorkFeed> work_feed = {};

  // The clock that gives the world its time; without one, that of the machine.
  std::shared_ptr<Clock> clock = {};

  // An index of all instances behind the world, for streams and for retention, and signatures over
  // its records. It takes a thread of its own that yields to all others, and may lag; no answer
  // waits for it. Without it there are no streams, and nothing is forgotten or signed.
  bool history = true;

  // What has ended is forgotten when nothing came to it for so long, and its stream with it: it is
  // as if it had never been, and its key may begin again. 0: it is kept for ever.
  std::chrono::seconds retention = std::chrono::hours(7 * 24);

  // The same for task graphs: a graph goes whole, with all its tasks and their results.
  std::chrono::seconds graph_retention = std::chrono::hours(24);

  // The folder below which backups are made, each in a folder of its own; empty: nowhere.
  std::string backup_folder = {};

  // Told, in one line each, what an operator would like to know. From any thread of the engine.
  std::function<void(std::string_view line)> log = {};

  // The same with levels and fields, and what fails besides: instances, and attempts at effects. If
  // it is there, `log` is told nothing.
  LogSink log_lines = {};

  // It has ended by itself, and refuses everything from now on. Once, on a thread of the engine.
  std::function<void(const Error& why)> ended = {};
};

// What becomes of a start whose key belongs to an instance that has ended. One that has not ended
// refuses it in any case.
enum class KeyReuse : std::uint8_t {
  kRefuse,      // kConflict
  kStartAgain,  // the key begins again; what is recorded of the instance before stays
  kReturn,      // nothing happens, and `is_repeated` is set: query, or wait, tells how it ended
};

struct SendOptions {
  std::string_view id = {};            // the same event sent again under its id happens once
  KeyReuse reuse = KeyReuse::kRefuse;  // for a start
};

struct Sent {
  std::uint64_t record = 0;      // that holds it
  std::uint32_t deliveries = 0;  // instances that it was given to
  std::uint32_t ignored = 0;     // instances that had ended already
  bool is_repeated = false;      // it was sent before, and nothing happened now
  // Of the deliveries: to instances that were not there, and that such an event does not begin, as
  // with a key that is misspelt.
  std::uint32_t unhandled = 0;
  // If is_unhandled(): names up to 8 instances that the event was for, and says of each whether it
  // has ended or does not exist.
  std::string why_unhandled = {};

  // No instance took it: each one that it was for had ended, or is not there and is not begun by
  // such an event. False for an event that no workflow subscribes to.
  bool is_unhandled() const noexcept {
    return deliveries == unhandled && deliveries + ignored != 0;
  }
};

enum class InstanceStatus : std::uint8_t { kRunning, kWaiting, kCompleted, kFailed, kCancelled };

// An instance as it was at some record, with its values as bytes.
struct RawInstance {
  InstanceStatus status = InstanceStatus::kRunning;
  bool is_paused = false;
  Bytes state;
  Bytes outcome;                  // the result, or the error; empty: it has not ended
  std::uint64_t last_record = 0;  // that touched it
  Bytes trace = {};               // of the event that began it; empty: none

  // The version of its workflow, which is not the present one if it was pinned. Nothing: no
  // definition has the workflow any more.
  struct Code {
    Hash workflow_hash;
    std::string module;
    Hash module_hash;
  };
  std::optional<Code> code = {};
};

enum class Control : std::uint8_t { kCancel, kPause, kResume };

// Where an instance that has failed or was cancelled begins again. Neither: before the step that
// failed it, whose message it gets again; an effect whose failure that was is performed again.
struct RestartFrom {
  std::uint64_t record = 0;    // as it was after this record
  std::string_view step = {};  // when this step, or the effect of this name, was last begun
};

struct Restarted {
  std::uint64_t record = 0;  // that holds it
  std::uint64_t from = 0;    // the record that it begins again from
};

// One thing that keeps an instance from ending.
struct WaitReason {
  enum class Kind : std::uint8_t {
    kReceipt,
    kTurn,
    kPaused,
    kEvent,
    kNothing,
    kRoom,   // its next step sends to an instance whose mailbox is full
    kHolds,  // it takes events again when one of its effects has answered
  };
  Kind kind = Kind::kNothing;
  std::string effect;  // kReceipt: this and the next twelve
  std::string executor;
  Hash intent;
  std::uint64_t opened_at = 0;  // the record
  std::uint64_t since_ns = 0;
  std::optional<std::uint64_t> due_ns;  // of a timer
  bool by_workers = false;              // a worker performs it: `lease` says which, if one has it
  std::optional<LeaseInfo> lease = {};
  std::uint64_t queued_ns = 0;  // since when it waits for a worker, or waited before the lease
  std::uint64_t losses = 0;     // workers that were lost with it
  // The number of threads that run handlers, if it waits for one because all of them are busy. 0:
  // it does not wait for a thread.
  std::uint64_t busy_handler_threads = 0;
  std::string child_workflow = {};  // of an effect that runs another instance: that one
  Bytes child_key = {};             // canonical; empty if its workflow has no key
  std::uint64_t mail = 0;           // kTurn, kPaused, kRoom, kHolds: messages that wait for it
  // kPaused: the program has no code for the definition that it began with; its hash, and why
  std::string missing_code = {};
  std::string full_workflow = {};    // kRoom: of that instance; empty: the whole world is full
  Bytes full_key = {};               // canonical; empty if its workflow has no key
  std::vector<std::string> schemas;  // kEvent: of the events that would wake it
};

// An instance that has not ended and goes on with an earlier version of its workflow. The hashes
// are those of the definition and everything it leads to: two versions may differ only in a schema.
struct KeptVersion {
  Hash hash;                       // of the version that it goes on with
  Hash present_hash;               // of the version that instances begin with now
  std::string stays_because = {};  // why `migrate` would not move it now; empty: it would
};

template <class Workflow>
struct Instance {
  InstanceStatus status = InstanceStatus::kRunning;
  bool is_paused = false;
  typename Workflow::State state{};
  std::optional<EffectError> error;  // that it failed with
  Bytes result;                      // that it completed with; see result_as

  bool has_ended() const noexcept { return status >= InstanceStatus::kCompleted; }

  template <class T>
  std::optional<T> result_as() const {
    T value{};
    Reader in(result);
    if (status != InstanceStatus::kCompleted || !detail::Form<T>::read(in, value))
      return std::nullopt;
    return value;
  }
};

enum class Condition : std::uint8_t {
  kReady,
  kDiskFull,  // nothing new is taken until there is room
  kNoFiles,   // nothing new is taken: the system gives the journal no next file, as when no file
              // descriptors are left; the log says why
  kEnded,     // it was closed, or something has ended it
};

// Records as documents: maps in CBOR, the fields of which docs/formats/record.md names.
struct JournalPart {
  std::vector<Bytes> records;
  std::uint64_t next = 0;   // where to go on
  std::uint64_t first = 0;  // that the journal still has
  std::uint64_t last = 0;   // that is durable
};

// What happened to one instance, the last first.
struct TimelinePart {
  std::vector<Bytes> records;
  std::uint64_t next = 0;   // where to go on; 0: the instance begins here
  bool is_trimmed = false;  // the journal does not have `next` any more
};

struct PartLimits {
  std::size_t records = 100;
  std::size_t bytes = std::size_t{1} << 20;  // one record at least
};

// How much a look at the past may cost. Bytes: of the records that are replayed, and of what is
// read of the snapshot.
struct PastLimits {
  std::uint64_t records = 1'000'000;
  std::uint64_t bytes = std::uint64_t{256} << 20;
  std::chrono::milliseconds time = std::chrono::seconds(20);
  std::function<bool()> stopped = {};  // asked now and then: true, if it is not wanted any more
};

// A world as it was after one of its records. It may be asked only while it is shown.
class PastMoment {
 public:
  virtual std::uint64_t record() const = 0;

  // Those that the world had then; see Engine::definitions.
  virtual const Bytes& definitions() const = 0;

  // kNotFound: there was no such instance.
  virtual Result<RawInstance> read(std::string_view workflow, const Bytes& key) = 0;

 protected:
  ~PastMoment() = default;
};

// A wait with a callback.
struct WaitId {
  std::uint64_t number = 0;
};

// How a stream ended: as its instance did; or the instance was there, and is forgotten.
struct StreamEnd {
  std::uint64_t sequence = 0;
  enum class Kind : std::uint8_t { kCompleted, kFailed, kCancelled, kRemoved, kForgotten } kind{};
};

// Some entries of a stream, in order. Sequence numbers grow, with gaps, also over instances that
// follow each other under one key; a reader goes on after the last one that it has read.
template <class Entry>
struct StreamPage {
  struct Numbered {
    std::uint64_t sequence = 0;
    Entry value;
  };
  std::vector<Numbered> entries;

  // Not 0: entries were let go of, or belong to an instance of this key that was there before. The
  // first that could be read is behind this sequence.
  std::uint64_t truncated = 0;

  // There will be no more entries behind these.
  std::optional<StreamEnd> end;

  std::uint64_t last = 0;  // to go on behind
};
using RawStreamPage = StreamPage<Bytes>;

// Of a workflow without key: {}.
template <class Workflow>
using KeyOf = typename detail::Parts<Workflow>::Key;

class Engine {
 public:
  using Timeout = std::chrono::milliseconds;

  // What is called when there is an answer, once, on a thread of the engine or, if the call is
  // refused at once, inside the call. It must not wait for the engine, nor for long, nor throw.
  template <class T>
  using Then = std::function<void(Result<T>)>;

  // The definitions of the modules are applied if they are not the world's already; kConflict if
  // instances that have not ended stand in the way. What was under way goes on before this returns.
  static Result<std::unique_ptr<Engine>> open(EngineOptions options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // An event for everybody who subscribes to it.
  template <class Event>
  Result<Sent> send(const Event& event, SendOptions options = {}) {
    return wait_for<Sent>([&](Then<Sent> then) { send(event, options, std::move(then)); });
  }
  template <class Event>
  void send(const Event& event, SendOptions options, Then<Sent> then) {
    send_raw({.schema = Event::kSchema, .value = detail::bytes_of_value(event), .id = options.id},
             std::move(then));
  }

  // A new instance, begun by an event that only it gets. kConflict: it is there already, and was
  // not begun by this event (which its id tells).
  template <class Workflow, class Event>
  Result<Sent> start(const KeyOf<Workflow>& key, const Event& event, SendOptions options = {}) {
    return wait_for<Sent>(
        [&](Then<Sent> then) { start<Workflow>(key, event, options, std::move(then)); });
  }
  template <class Workflow, class Event>
  void start(const KeyOf<Workflow>& key, const Event& event, SendOptions options, Then<Sent> then) {
    send_raw({.schema = Event::kSchema,
              .value = detail::bytes_of_value(event),
              .id = options.id,
              .workflow = Workflow::kWorkflow,
              .key = detail::bytes_of_key(key),
              .reuse = options.reuse},
             std::move(then));
  }

  // kNotFound: there is no such instance.
  template <class Workflow>
  Result<Instance<Workflow>> query(const KeyOf<Workflow>& key) {
    return typed<Workflow>(wait_for<RawInstance>([&](Then<RawInstance> then) {
      query_raw(Workflow::kWorkflow, detail::bytes_of_key(key), std::move(then));
    }));
  }

  // Until it has ended. kTimedOut: it has not within that time; it may not even be there yet.
  // kUnavailable: too many wait already (65 536), or too much else.
  template <class Workflow>
  Result<Instance<Workflow>> wait(const KeyOf<Workflow>& key, Timeout timeout) {
    return typed<Workflow>(wait_raw(Workflow::kWorkflow, detail::bytes_of_key(key), timeout));
  }
  template <class Workflow>
  WaitId wait(const KeyOf<Workflow>& key, Then<Instance<Workflow>> then) {
    return wait_raw(Workflow::kWorkflow, detail::bytes_of_key(key),
                    [then = std::move(then)](auto raw) { then(typed<Workflow>(std::move(raw))); });
  }

  // Ends a wait: its callback hears kEnded, unless it was called before. The number of waits is
  // limited, so a wait for something that may never happen needs this.
  void stop_waiting(WaitId wait);

  // kNotFound: there is no such instance; kConflict: it has ended. `by` is who asked, for the
  // record: up to 1024 bytes of the program's choice. Empty: the program itself.
  template <class Workflow>
  Result<Done> cancel(const KeyOf<Workflow>& key, std::string_view reason,
                      std::string_view by = {}) {
    return control_raw(Control::kCancel, Workflow::kWorkflow, detail::bytes_of_key(key), reason,
                       by);
  }
  template <class Workflow>
  Result<Done> pause(const KeyOf<Workflow>& key, std::string_view reason,
                     std::string_view by = {}) {
    return control_raw(Control::kPause, Workflow::kWorkflow, detail::bytes_of_key(key), reason, by);
  }
  template <class Workflow>
  Result<Done> resume(const KeyOf<Workflow>& key, std::string_view reason,
                      std::string_view by = {}) {
    return control_raw(Control::kResume, Workflow::kWorkflow, detail::bytes_of_key(key), reason,
                       by);
  }

  // Begins an instance again that has failed or was cancelled: in a new life, which has the state,
  // the mail and the open effects of the moment that is named. Effects that were open then are
  // opened anew, and children that failed or were cancelled with it are started again. What is
  // recorded stays. Reads files, replays records in memory, and takes as long as that does.
  // kNotFound: there is no such instance, or the records are gone. kConflict: it has not ended, or
  // has completed; there is no such moment; what it was does not fit its definitions any more.
  // kTooLarge: it passes the limits, or 6 MiB.
  template <class Workflow>
  Result<Restarted> restart(const KeyOf<Workflow>& key, const RestartFrom& from = {},
                            std::string_view reason = {}, std::string_view by = {}) {
    return restart_raw(Workflow::kWorkflow, detail::bytes_of_key(key), from, reason, {}, by);
  }

  // Moves the instances of earlier versions of a workflow (ApplyOptions::pin) to the present one,
  // with the states that its migration makes of theirs (holdfast/workflow.h); of a step workflow,
  // those whose steps and events the new graph has. Their open effects stay open. An instance that
  // does not fit stays as it is, and is listed. Everything goes on meanwhile. kNotFound: there is
  // no such workflow.
  Result<Migrated> migrate(std::string_view workflow, std::string_view by = {},
                           const PastLimits& limits = {});

  // What an instance has put out behind a sequence (0: from the beginning), from 1 to 1000 entries
  // at most. It may be nothing. Of each stream the newest 10 000 entries are kept, and 4 MiB of
  // them. kNotFound: there is no such instance, or it is forgotten. kConflict: there is no history.
  template <class Workflow, class Entry = typename Workflow::Entry>
  Result<StreamPage<Entry>> stream(const KeyOf<Workflow>& key, std::uint64_t after = 0,
                                   std::size_t limit = 100) {
    return typed_page<Entry>(wait_for<RawStreamPage>([&](Then<RawStreamPage> then) {
                               stream_raw(Workflow::kWorkflow, detail::bytes_of_key(key), after,
                                          limit, std::move(then));
                             }),
                             after);
  }

  // The same when there is something: entries, or the end. The instance need not be there yet.
  // kTimedOut: there was nothing within that time; there may be later.
  template <class Workflow, class Entry = typename Workflow::Entry>
  Result<StreamPage<Entry>> follow(const KeyOf<Workflow>& key, std::uint64_t after,
                                   std::size_t limit, Timeout timeout) {
    return typed_page<Entry>(
        follow_raw(Workflow::kWorkflow, detail::bytes_of_key(key), after, limit, timeout), after);
  }
  // What it returns ends the waiting when it is called; `then` may be on its way.
  using Stop = std::function<void()>;
  template <class Workflow, class Entry = typename Workflow::Entry>
  Stop follow(const KeyOf<Workflow>& key, std::uint64_t after, std::size_t limit,
              std::type_identity_t<Then<StreamPage<Entry>>> then) {
    return follow_raw(Workflow::kWorkflow, detail::bytes_of_key(key), after, limit,
                      [then = std::move(then), after](auto page) {
                        then(typed_page<Entry>(std::move(page), after));
                      });
  }

  Figures figures();
  Condition condition();

  // Takes one now: everything before the record that is told is in it.
  void take_snapshot(Then<std::uint64_t> then);

  // Makes a backup of the world, which goes on, in the folder of this name below `backup_folder`;
  // one that is there is brought up to date. Everything that was durable before the call is in it.
  // Gives at once whether it begins; `then` hears what came of it. kInvalid: the name is not one
  // to 64 letters, digits and ".-_", or begins with one of these. kConflict: there is no folder for
  // backups, or the folder of this name holds something else. kUnavailable: another one is under
  // way, or the disk has no room for it. kEnded: the engine closes; the same again completes it.
  Result<Done> backup(const std::string& name, BackupOptions options, Then<BackupInfo> then);
  Result<BackupInfo> backup(const std::string& name, BackupOptions options = {});

  // Those that are there, by name. Reads files, and takes as long as that does.
  Result<std::vector<BackupInfo>> list_backups();

  // The lives that began with a restore, from the oldest; none: it was never restored.
  std::vector<RestoredLife> restored_lives() const;

  // The last record that is durable.
  std::uint64_t last_durable() const noexcept;

  // Takes nothing new, makes durable what was taken, and ends. Waits that are left are told so. An
  // error: why it had ended before.
  Result<Done> close();

  // The same without types: canonical values, without the self-describe tag.
  struct RawEvent {
    std::string_view schema;
    Bytes value;
    std::string_view id = {};
    std::string_view workflow = {};  // not empty: only for the instance of this key
    Bytes key = {};
    bool starts = true;  // that instance, which must not be there yet
    KeyReuse reuse = KeyReuse::kRefuse;

    // That it is part of, as 25 bytes (W3C: trace, span, flags); empty: none. Instances that it
    // begins keep it, and hand it on with their requests. Anything else is kInvalid.
    Bytes trace = {};
  };
  void send_raw(const RawEvent& event, Then<Sent> then);
  void query_raw(std::string_view workflow, Bytes key, Then<RawInstance> then);

  // Many at once cost little more than one.
  struct RawName {
    std::string workflow;
    Bytes key;
  };
  using RawInstances = std::vector<Result<RawInstance>>;  // in the order of the names
  // When as many bytes of values were read as given here, the rest of the names is left out: the
  // answer is shorter than the list of names, but has one at least.
  void query_raw(std::vector<RawName> names, Then<RawInstances> then,
                 std::size_t bytes = ~std::size_t{0});
  void control_raw(Control control, std::string_view workflow, Bytes key, std::string_view reason,
                   Then<Done> then, std::string_view by = {});

  // For a source of events that keeps each event until it has marked it, such as the inbox of a
  // database. Ids of its events begin with its name and "/". From the first call on they are
  // remembered until they are marked, and for 24 hours after that. `record`: the events that were
  // taken up to this one are marked (Sent::record); 0: none is yet.
  void mark_source(std::string_view source, std::uint64_t record, Then<Done> then);

  WaitId wait_raw(std::string_view workflow, Bytes key, Then<RawInstance> then);
  Result<RawInstance> wait_raw(std::string_view workflow, Bytes key, Timeout timeout);
  void stream_raw(std::string_view workflow, Bytes key, std::uint64_t after, std::size_t limit,
                  Then<RawStreamPage> then);
  Stop follow_raw(std::string_view workflow, Bytes key, std::uint64_t after, std::size_t limit,
                  Then<RawStreamPage> then);
  // The same with pages of fewer bytes than 1 MiB, or one entry.
  void stream_raw(std::string_view workflow, Bytes key, std::uint64_t after, PartLimits limits,
                  Then<RawStreamPage> then);
  // Behind everything that any stream has now.
  std::uint64_t sequence_now() const;
  // Goes on with a stream whose instance was there before: if it is not, that is the end.
  Stop go_on_raw(std::string_view workflow, Bytes key, std::uint64_t after, PartLimits limits,
                 Then<RawStreamPage> then);
  Result<RawStreamPage> follow_raw(std::string_view workflow, Bytes key, std::uint64_t after,
                                   std::size_t limit, Timeout timeout);

  // How it stands and why it has not ended, as of one moment.
  struct RawSituation {
    RawInstance instance;
    std::vector<WaitReason> reasons;          // none: it has ended
    std::optional<KeptVersion> version = {};  // nothing: it has the present one, or has ended
  };
  void situation_raw(std::string_view workflow, Bytes key, Then<RawSituation> then);

  // Why it has not ended; nothing: it has. kNotFound: there is no such instance.
  void why_raw(std::string_view workflow, Bytes key, Then<std::vector<WaitReason>> then);
  void measure(Then<Measures> then);

  // The same without what the world says of itself, which is left as it is; nobody is waited for.
  Measures measure_at_once();

  // Reads the folder of the world, and takes as long as that does.
  Result<DiskUse> disk_use();

  // Instances by what the index of the history knows of them. It goes on before it is read, by some
  // thousand records: what was durable before is in the list, unless `lag` says that more is
  // missing. kConflict: there is no history. kUnavailable: too many ask. kIo: the index cannot be
  // read now.
  void list_raw(ListOptions options, Then<InstanceList> then);

  // Of the world, as one canonical list; empty: it has none yet. The version is another one when
  // they have changed since.
  Bytes definitions();
  std::uint64_t definitions_version() const noexcept;

  // Makes definitions (CBOR, a list with its manifest) the world's own, or says whether that could
  // be done. What is added, and what nothing under way uses, is applied while everything runs;
  // instances that are touched by what changes stand in the way, which is no error. kInvalid: the
  // definitions are not good, or nobody here performs one of their effects.
  void apply_raw(Bytes definitions, ApplyOptions options, Then<Applied> then,
                 std::string_view by = {});

  // What would become of every instance under way if these definitions were applied: tried on a
  // copy of the world in memory, beside the world, which is not held up. The records since a
  // snapshot are replayed with the code of this program on the way. Nothing is recorded. Takes as
  // long as that does. kTooLarge: it passes the limits. kInvalid: as of apply_raw.
  Result<Rehearsed> rehearse_raw(const Bytes& definitions, const RehearseOptions& options = {});

  // See restart.
  Result<Restarted> restart_raw(std::string_view workflow, const Bytes& key,
                                const RestartFrom& from, std::string_view reason,
                                const PastLimits& limits = {}, std::string_view by = {});

  // Proposals of definitions: made (CBOR, as above, or a patch of the present ones), tried, decided
  // and applied, in that order; kConflict: its turn has not come, or is over. What is told is the
  // record; that of the first names the proposal.
  void propose_raw(Bytes document, std::string_view description, Then<std::uint64_t> then,
                   std::string_view by = {});
  void proposals_raw(Then<std::vector<ProposalInfo>> then);

  // The trial run: a copy of the world, in memory and beside it, takes what came under the present
  // definitions and under the proposed ones; what came out differently is the report, which is
  // recorded. Nothing is performed, and the world is not held up. kUnavailable: another one is
  // under way. kNotFound: there is no such proposal, or no such records when it begins; what is
  // there stays. kInvalid: `from` is behind `to`. kConflict: it cannot be tried. kTooLarge: it
  // passes the limits. kEnded: it was stopped, or the engine closes. Only success is recorded.
  void try_proposal_raw(std::uint64_t proposal, TrialOptions options, Then<Tried> then);
  void decide_raw(const ProposalDecision& decision, Then<std::uint64_t> then);
  void apply_proposal_raw(std::uint64_t proposal, Then<Applied> then, std::string_view by = {});

  // An effect that is open, with any executor. kNotFound: it is not.
  void effect_raw(const Hash& intent, Then<OpenEffect> then);

  // Open effects of this name that are performed outside, the oldest first, behind the place that
  // the part before has named. kInvalid: it is no such place.
  void open_effects_raw(std::string_view effect, std::string_view after, PartLimits limits,
                        Then<OpenEffectsPart> then);

  // What those report who perform effects outside. A receipt settles the effect, once: a payload
  // that does not fit fails its instance. kConflict: the engine performs this effect by itself.
  void settle_raw(const RawReceipt& receipt, Then<Reported> then);
  void progress_raw(const RawProgress& progress, Then<Reported> then);

  // Workers and leases: see holdfast/workers.h.

  // Again with the same id, everything that it says of itself is replaced and it is active; what it
  // holds it keeps. There are up to 65 536 workers, which may describe themselves with 64 MiB
  // together: for one more, those that left or were lost longest ago are forgotten. kUnavailable:
  // none has. kInvalid: a name or the description is not good.
  void enroll_worker(const WorkerEnrolment& enrolment, Then<WorkerInfo> then);
  Result<WorkerInfo> enroll_worker(const WorkerEnrolment& enrolment);

  // kNotFound: there is no such worker. kConflict: it is gone, and cannot be drained. A worker that
  // is lost or leaves gives everything back, in several records if that is much.
  void change_worker(const WorkerChange& change, Then<WorkerChanged> then);
  Result<WorkerChanged> change_worker(const WorkerChange& change);

  // By id, those behind `after`; kNotFound: there is no such worker.
  void workers(std::string_view after, std::size_t limit, Then<std::vector<WorkerInfo>> then);
  Result<std::vector<WorkerInfo>> workers(std::string_view after = {}, std::size_t limit = 1000);
  void worker(std::string_view id, Then<WorkerInfo> then);
  Result<WorkerInfo> worker(std::string_view id);

  // kNotFound: there is no such worker. kConflict: it is cordoned, draining, lost or has left.
  // kUnavailable: it would hold more than 16 384. What is granted may be handed out.
  void lease(std::string_view worker, const std::vector<LeaseRequest>& requests, Then<Leased> then);
  Result<Leased> lease(std::string_view worker, const std::vector<LeaseRequest>& requests);

  // These answer when all of them are durable, each one in its place. `worker` is who says so. It
  // is empty where the program itself gives something back, or settles what nobody holds.
  void give_back(std::string_view worker, const std::vector<WorkReturn>& returns,
                 Then<WorkAnswers> then);
  Result<WorkAnswers> give_back(std::string_view worker, const std::vector<WorkReturn>& returns);
  void settle_work(std::string_view worker, const std::vector<WorkReceipt>& receipts,
                   Then<WorkAnswers> then);
  Result<WorkAnswers> settle_work(std::string_view worker,
                                  const std::vector<WorkReceipt>& receipts);
  void progress_work(std::string_view worker, const std::vector<WorkProgress>& progress,
                     Then<WorkAnswers> then);
  Result<WorkAnswers> progress_work(std::string_view worker,
                                    const std::vector<WorkProgress>& progress);

  // Asks for an effect to be stopped. One that a worker holds is stopping from then on: it settles
  // as cancelled when its worker reports, gives it back or is lost. One that nobody holds settles
  // at once. kRepeated: it was asked before, or has ended. kConflict: workers do not perform it.
  void stop_work(const Hash& intent, std::string_view reason, std::string_view by,
                 Then<WorkAnswer> then);
  Result<WorkAnswer> stop_work(const Hash& intent, std::string_view reason,
                               std::string_view by = {});

  // Effects that workers perform, with params and lease, in the order of the intents. When as
  // many bytes were read as given here, the rest is left out: the answer has one at least.
  // kNotFound: it is not open.
  void work(std::vector<Hash> intents, Then<std::vector<Result<WorkInfo>>> then,
            std::size_t bytes = ~std::size_t{0});
  Result<std::vector<Result<WorkInfo>>> work(const std::vector<Hash>& intents);

  // Blobs: bytes that are found by their SHA-256, and that stay as long as something in the world
  // names them (docs/formats/blobs.md). Durable when it is told; a blob that nothing names yet is
  // kept while there is its `pin`. kUnavailable: too many wait.
  struct KeptBlob {
    Hash hash;
    std::shared_ptr<const void> pin;
  };
  void keep_blob(Bytes bytes, Then<KeptBlob> then);
  // kNotFound: there is no such blob. kCorrupt: its bytes are damaged.
  void read_blob(const Hash& hash, Then<Bytes> then);

  // These read files, and take as long as that does. kNotFound: the journal has not, or not any
  // more, what they are asked to begin with.
  Result<JournalPart> read_journal(std::uint64_t from, PartLimits limits = {});
  Result<TimelinePart> read_timeline(std::string_view workflow, const Bytes& key,
                                     std::uint64_t from, PartLimits limits = {});

  // Shows the world as it was behind each of these durable records, which must be in order: the
  // nearest snapshot before the first and the records from there on, replayed in memory beside the
  // world, which is not held up. The limits are those of all of it. Takes seconds; many at once
  // take that much memory each. Those at the front that nothing leads to when it begins are passed
  // over. kNotFound: that is all of them. kTooLarge: it passes the limits, or what is held for it.
  // kConflict: the program has not the code of that time. An error of `show` ends it.
  Result<Done> look_back(const std::vector<std::uint64_t>& records, const PastLimits& limits,
                         const std::function<Result<Done>(PastMoment&)>& show);

  // Tells the last durable record when that is this one or behind it, which may be at once.
  // kUnavailable: too many wait (16 384).
  Stop when_durable(std::uint64_t record, Then<std::uint64_t> then);

  // Keeps the records from this one on, as long as it is there and the journal can hold them: not
  // more than it holds for any reader of the past.
  std::shared_ptr<const void> hold_journal(std::uint64_t from);

 private:
  struct Body;

  explicit Engine(std::unique_ptr<Body> body);
  Result<Done> control_raw(Control control, std::string_view workflow, Bytes key,
                           std::string_view reason, std::string_view by);

  // Calls `ask` with where the answer goes, and waits for it.
  template <class T, class Ask>
  static Result<T> wait_for(Ask&& ask) {
    // Shared: the thread that answers may still be busy with it when the answer is read.
    const auto answer = std::make_shared<std::promise<Result<T>>>();
    ask(Then<T>([answer](Result<T> told) { answer->set_value(std::move(told)); }));
    return answer->get_future().get();
  }

  template <class Workflow>
  static Result<Instance<Workflow>> typed(Result<RawInstance> raw) {
    if (!raw) return raw.error();
    Instance<Workflow> instance;
    instance.status = raw->status;
    instance.is_paused = raw->is_paused;
    Reader state(raw->state);
    if (!raw->state.empty() && !detail::Form<typename Workflow::State>::read(state, instance.state))
      return Error{ErrorCode::kCorrupt, "the state is not what this program takes it for"};
    if (raw->status == InstanceStatus::kCompleted) instance.result = std::move(raw->outcome);
    if (raw->status == InstanceStatus::kFailed) instance.error = error_of(raw->outcome);
    return instance;
  }
  static std::optional<EffectError> error_of(const Bytes& outcome);

  // One that is made of several is all of them, under one sequence.
  template <class Entry>
  static bool add_entry(StreamPage<Entry>& page, std::uint64_t sequence, Entry entry) {
    if constexpr (requires { entry.parts(); }) {
      auto parts = entry.parts();
      if (!parts) return false;
      for (auto& part : *parts) page.entries.push_back({sequence, std::move(part)});
    } else {
      page.entries.push_back({sequence, std::move(entry)});
    }
    return true;
  }

  template <class Entry>
  static Result<StreamPage<Entry>> typed_page(Result<RawStreamPage> raw, std::uint64_t after) {
    if (!raw) return raw.error();
    StreamPage<Entry> page;
    page.truncated = raw->truncated;
    page.end = raw->end;
    page.last = raw->last;
    for (const auto& [sequence, value] : raw->entries) {
      Reader in(value);
      Entry entry{};
      const bool good = detail::Form<Entry>::read(in, entry);
      if (!good || !add_entry(page, sequence, std::move(entry)))
        return Error{ErrorCode::kCorrupt, "an entry is not what this program takes it for"};
    }
    // To cancel runs no code that could put something out, so the record speaks for itself.
    if constexpr (requires { Entry::of_cancel(); }) {
      if (page.end && page.end->kind == StreamEnd::Kind::kCancelled && page.end->sequence > after)
        page.entries.push_back({page.end->sequence, Entry::of_cancel()});
    }
    return page;
  }

  std::unique_ptr<Body> body_;
};

}  // namespace holdfast
