#include "sim/schedule/run_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

#include "drywell/core/host_memory.h"

namespace drywell::sim {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLook{5};  // a guest writes some 20 MB in this time

}  // namespace

RunBounds::RunBounds(const RunOptions& options)
    : stop_(options.stop), deadline_(options.deadline), max_memory_(options.max_memory) {
  if (!deadline_.has_value() && max_memory_ == 0) return;
  reached_ = time_is_up() || holds_too_much();
  if (!reached_) start();
}

// A run that cannot be watched is not bounded: it ends as without memory, which is what there is no thread for.
void RunBounds::start() try {
  watcher_ = std::thread([this] { watch(); });
} catch (const std::system_error&) {
  throw std::bad_alloc();
}

RunBounds::~RunBounds() {
  if (!watcher_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    run_is_over_ = true;
  }
  over_.notify_one();
  watcher_.join();
}

bool RunBounds::time_is_up() const { return deadline_.has_value() && Clock::now() >= *deadline_; }

bool RunBounds::holds_too_much() const { return max_memory_ != 0 && resident_bytes() > max_memory_; }

void RunBounds::watch() {
  std::unique_lock lock(mutex_);
  while (!run_is_over_ && !reached_) {
    const auto next = Clock::now() + kLook;
    over_.wait_until(lock, max_memory_ == 0        ? *deadline_
                           : deadline_.has_value() ? std::min(next, *deadline_)
                                                   : next);
    reached_ = time_is_up() || holds_too_much();
  }
}

Fault RunBounds::fault(GuestPlace place) const {
  if (!reached_) return {Code::F3603, "the launch was stopped from outside", std::move(place)};
  if (!time_is_up())
    return {Code::F3606, fmt::format("the process holds more than {} bytes of host memory", max_memory_),
            std::move(place)};
  return {Code::F3605, "the time is up", std::move(place)};
}

}  // namespace drywell::sim
