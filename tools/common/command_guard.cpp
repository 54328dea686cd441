#include "tools/common/command_guard.h"

#include <unistd.h>

#include <string_view>

#include "drywell/core/error.h"

namespace drywell::tools {
namespace {

constexpr std::chrono::seconds kGrace{1};
constexpr std::string_view kMessage = "drywell: error F3605: the time is up, outside a launch\n";

}  // namespace

CommandGuard::CommandGuard(const sim::RunOptions& options) {
  if (options.deadline.has_value())
    watcher_ = std::thread([this, end = *options.deadline + kGrace] { watch(end); });
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

// Other threads may hold any lock, that of standard error too: the message goes out without one.
void CommandGuard::watch(std::chrono::steady_clock::time_point end) {
  std::unique_lock lock(mutex_);
  if (over_.wait_until(lock, end, [this] { return done_; })) return;
  [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, kMessage.data(), kMessage.size());
  ::_exit(static_cast<int>(ExitCode::guest_fault));
}

}  // namespace drywell::tools
