#include "tools/common/command_guard.h"

#include <unistd.h>

#include <string_view>

#include "drywell/core/error.h"

namespace drywell::tools {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kLook{2};
constexpr milliseconds kForTheNextLaunch{60};  // a loop of launches comes to the next, which ends at once
constexpr milliseconds kForTheReport{1000};
constexpr std::string_view kMessage = "drywell: error F3605: the time is up, outside a launch\n";

/// True while a launch runs, and after one that a fault ended: its last CTAs are never done.
bool runs_or_was_ended(const sim::RunProgress& p) { return p.ctas_done < p.ctas_total; }

}  // namespace

CommandGuard::CommandGuard(sim::RunOptions& options) : deadline_(options.deadline) {
  options.progress = &progress_;
  if (deadline_.has_value()) watcher_ = std::thread([this] { watch(); });
}

CommandGuard::~CommandGuard() {
  if (!watcher_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  over_.notify_one();
  watcher_.join();
}

bool CommandGuard::time_is_up() {
  if (!deadline_.has_value() || Clock::now() < *deadline_) return false;
  const std::lock_guard lock(mutex_);
  return asked_ = true;
}

void CommandGuard::rest(bool on) {
  {
    const std::lock_guard lock(mutex_);
    rests_ = on;
  }
  over_.notify_one();
}

bool CommandGuard::command_ends_before(std::unique_lock<std::mutex>& lock, Time t) {
  return over_.wait_until(lock, t, [this] { return done_; });
}

bool CommandGuard::command_knows(std::unique_lock<std::mutex>& lock, Time since) {
  for (Time t = since; t <= since + kForTheNextLaunch; t += kLook) {
    if (command_ends_before(lock, t) || asked_ || runs_or_was_ended(progress_)) return true;
  }
  return false;
}

// Other threads may hold any lock, that of standard error too: the message goes out without one.
void CommandGuard::watch() {
  std::unique_lock lock(mutex_);
  if (command_ends_before(lock, *deadline_)) return;
  over_.wait(lock, [this] { return done_ || !rests_; });
  const Time now = Clock::now();
  if (command_knows(lock, now) && command_ends_before(lock, now + kForTheReport)) return;
  [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, kMessage.data(), kMessage.size());
  ::_exit(static_cast<int>(ExitCode::guest_fault));
}

}  // namespace drywell::tools
