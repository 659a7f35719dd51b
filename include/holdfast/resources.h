// SPDX-License-Identifier: Apache-2.0
// Resources: what the bodies of steps need and do not make themselves: a connection, a client, a
// configuration. Each has a name, a type and a factory, and is made when it is first asked for:
//
//   auto resources = std::make_shared<holdfast::Resources>();
//   resources->add<Config>("config", [] { return Config{...}; })
//       .add<Db>("db", [](holdfast::ResourceMaker& maker) {
//         return std::make_unique<Db>(maker.get<Config>("config").url);
//       })
//       .add<Trace>("trace", [] { return Trace(); }, holdfast::ResourceLife::kRun);
//   step_handlers(host, resources);
//
// and in a body
//
//   Db& db = context.resource<Db>();         // the one there is of that type
//   Db& copy = context.resource<Db>("copy"); // one by its name
//
// They are no part of a workflow's graph: what a program gives to its steps may change while runs
// wait. A host object with members does the same for what needs no factory.
//
// Invariants: (1) one that lives as long as the program is made once, however many threads ask;
// several steps may use it at a time, and only those who ask for it wait while it is made; (2) one
// that lives as long as a run of a step is that run's alone; (3) what was made later ends earlier,
// so that what a resource needs outlives it; (4) when a factory throws nothing is kept, the step
// fails with that, and the next one tries again.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "holdfast/step_error.h"

namespace holdfast {

enum class ResourceLife : std::uint8_t {
  kProgram,  // as long as the Resources
  kRun,      // of one step: it ends when the body has, also at a wait
};

class ResourceMaker;

namespace detail {

// Types by number, as programs may be built without type information.
template <class T>
inline constexpr char kResourceType = 0;

// What is made and not ended, in order. The last ends first.
struct MadeResources {
  struct Made {
    std::size_t resource;
    std::shared_ptr<void> value;
  };
  std::vector<Made> all;

  MadeResources() = default;
  MadeResources(const MadeResources&) = delete;
  MadeResources& operator=(const MadeResources&) = delete;
  ~MadeResources() {
    while (!all.empty()) all.pop_back();
  }
  void* find(std::size_t resource) const {
    for (const Made& made : all) {
      if (made.resource == resource) return made.value.get();
    }
    return nullptr;
  }
};

}  // namespace detail

class Resources {
 public:
  Resources() = default;
  Resources(const Resources&) = delete;
  Resources& operator=(const Resources&) = delete;

  // The factory takes a ResourceMaker& or nothing, and returns a T or a smart pointer to one.
  template <class T, class Factory>
  Resources& add(std::string name, Factory factory, ResourceLife life = ResourceLife::kProgram) {
    add_entry({std::move(name),
               &detail::kResourceType<T>,
               life,
               [factory = std::move(factory)](ResourceMaker& maker) -> std::shared_ptr<void> {
                 return made<T>(factory, maker);
               },
               {}});
    return *this;
  }

  // Makes all that live as long as the program, for who wants to hear of mistakes at once.
  void make_all();

 private:
  friend class ResourceMaker;

  struct Entry {
    std::string name;
    const char* type;
    ResourceLife life;
    std::function<std::shared_ptr<void>(ResourceMaker&)> factory;
    std::thread::id made_by = {};  // while it is being made
  };

  template <class T, class Factory>
  static std::shared_ptr<T> made(const Factory& factory, ResourceMaker& maker) {
    const auto call = [&]() -> decltype(auto) {
      if constexpr (std::is_invocable_v<const Factory&, ResourceMaker&>) {
        return factory(maker);
      } else {
        return factory();
      }
    };
    using Made = decltype(call());
    if constexpr (std::is_convertible_v<Made, std::shared_ptr<T>>) {
      return call();
    } else {
      static_assert(std::is_convertible_v<Made, T>,
                    "holdfast: the factory of a resource returns it, or a smart pointer to it");
      return std::make_shared<T>(call());
    }
  }

  void add_entry(Entry entry) {
    const std::lock_guard lock(mutex_);
    for (const Entry& other : entries_) {
      if (other.name == entry.name)
        throw StepError("step.resource_twice", "there are two resources '" + entry.name + "'");
    }
    entries_.push_back(std::move(entry));
  }

  // Waits until nobody makes it. A thread never waits for what waits for that thread, wherever
  // their factories ask each other in a circle: then the last one to ask is refused.
  void wait_for_maker(std::size_t at, std::unique_lock<std::mutex>& lock) {
    const std::thread::id self = std::this_thread::get_id();
    while (entries_[at].made_by != std::thread::id()) {
      check_circle(at, self);
      waiting_.push_back({self, at});
      changed_.wait(lock);
      std::erase_if(waiting_, [&](const Waiting& waiting) { return waiting.thread == self; });
    }
  }
  void check_circle(std::size_t at, std::thread::id self) const {
    std::string circle;
    for (std::size_t next = at;;) {
      circle += "'" + entries_[next].name + "' needs ";
      const std::thread::id maker = entries_[next].made_by;
      if (maker == self)
        throw StepError("step.resource_cycle", circle + "'" + entries_[at].name + "'");
      const auto found =
          std::find_if(waiting_.begin(), waiting_.end(),
                       [&](const Waiting& waiting) { return waiting.thread == maker; });
      if (found == waiting_.end()) return;
      next = found->resource;
    }
  }

  struct Waiting {
    std::thread::id thread;
    std::size_t resource;
  };

  std::mutex mutex_;  // nobody has it while a factory runs
  std::condition_variable changed_;
  std::deque<Entry> entries_;  // they stay where they are
  std::vector<Waiting> waiting_;
  detail::MadeResources made_;
};

// Where resources are asked for: in a factory, and inside of a context.
class ResourceMaker {
 public:
  explicit ResourceMaker(std::shared_ptr<Resources> resources) : all_(std::move(resources)) {}
  ResourceMaker(const ResourceMaker&) = delete;
  ResourceMaker& operator=(const ResourceMaker&) = delete;

  // By its name, or the only one of its type.
  template <class T>
  T& get(std::string_view name = {}) {
    return *static_cast<T*>(find(&detail::kResourceType<T>, name));
  }

 private:
  friend class Resources;

  void* find(const char* type, std::string_view name) {
    if (!all_) throw StepError("step.no_resource", "the program gives no resources to its steps");
    std::unique_lock lock(all_->mutex_);
    const std::size_t at = place(type, name);
    Resources::Entry& entry = all_->entries_[at];
    const bool is_of_run = entry.life == ResourceLife::kRun;
    detail::MadeResources& made = is_of_run ? made_ : all_->made_;
    check_need(at);  // also of one that is there: who needs it may live longer
    // What is of this run only is made by nobody else.
    if (!is_of_run) all_->wait_for_maker(at, lock);
    if (void* found = made.find(at)) return found;
    const Making making(*this, entry, at);
    lock.unlock();
    std::shared_ptr<void> value = entry.factory(*this);
    if (!value)
      throw StepError("step.no_resource", "the factory of '" + entry.name + "' made nothing");
    void* const found = value.get();
    const std::lock_guard keeping(all_->mutex_);
    made.all.push_back({at, std::move(value)});
    return found;
  }

  std::size_t place(const char* type, std::string_view name) const {
    const std::size_t none = all_->entries_.size();
    std::size_t found = none;
    for (std::size_t at = 0; at < none; ++at) {
      const Resources::Entry& entry = all_->entries_[at];
      if (name.empty() ? entry.type != type : entry.name != name) continue;
      if (found != none)
        throw StepError("step.no_resource", "there are several resources of that type: '" +
                                                all_->entries_[found].name + "' and '" +
                                                entry.name + "'");
      found = at;
    }
    if (found == none)
      throw StepError("step.no_resource", name.empty()
                                              ? "there is no resource of that type"
                                              : "there is no resource '" + std::string(name) + "'");
    if (all_->entries_[found].type != type)
      throw StepError("step.no_resource",
                      "the resource '" + std::string(name) + "' is of another type");
    return found;
  }

  void check_need(std::size_t at) const {
    const auto& entries = all_->entries_;
    for (std::size_t i = 0; i < making_.size(); ++i) {
      if (making_[i] != at) continue;
      std::string circle;
      for (; i < making_.size(); ++i) circle += "'" + entries[making_[i]].name + "' needs ";
      throw StepError("step.resource_cycle", circle + "'" + entries[at].name + "'");
    }
    if (making_.empty() || entries[at].life == ResourceLife::kProgram) return;
    const Resources::Entry& needing = entries[making_.back()];
    if (needing.life == ResourceLife::kProgram)
      throw StepError("step.resource_life", "'" + needing.name + "' would outlive '" +
                                                entries[at].name + "', which it needs");
  }

  // While a factory runs, however it ends. Begins with the mutex held, and ends without.
  class Making {
   public:
    Making(ResourceMaker& maker, Resources::Entry& entry, std::size_t at)
        : maker_(maker), entry_(entry) {
      maker_.making_.push_back(at);
      if (entry_.life == ResourceLife::kProgram) entry_.made_by = std::this_thread::get_id();
    }
    Making(const Making&) = delete;
    Making& operator=(const Making&) = delete;
    ~Making() {
      maker_.making_.pop_back();
      if (entry_.life == ResourceLife::kRun) return;
      const std::lock_guard lock(maker_.all_->mutex_);
      entry_.made_by = {};
      maker_.all_->changed_.notify_all();
    }

   private:
    ResourceMaker& maker_;
    Resources::Entry& entry_;
  };

  std::shared_ptr<Resources> all_;
  std::vector<std::size_t> making_;  // the last is needed by the one before it
  detail::MadeResources made_;       // those of this run
};

inline void Resources::make_all() {
  // It makes nothing of a run, so that it need not keep this alive.
  ResourceMaker maker(std::shared_ptr<Resources>(std::shared_ptr<void>(), this));
  std::vector<const Entry*> wanted;
  {
    const std::lock_guard lock(mutex_);
    for (const Entry& entry : entries_) {
      if (entry.life == ResourceLife::kProgram) wanted.push_back(&entry);
    }
  }
  for (const Entry* entry : wanted) maker.find(entry->type, entry->name);
}

}  // namespace holdfast
