// A command whose time is up outside a launch ends soon; one whose launch was ended reports first.
#include "tools/common/command_guard.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace drywell::tools {
namespace {

using std::chrono::milliseconds;
using testing::ExitedWithCode;

constexpr int kTimeUp = 5, kHostCodeEnded = 99;

sim::RunOptions with_deadline(milliseconds t) {
  sim::RunOptions o;
  o.deadline = std::chrono::steady_clock::now() + t;
  return o;
}

/// Host code that takes 800 ms: far more than the tenth of a second that the guard has, less than the second of a report.
[[noreturn]] void host_code() {
  ::usleep(800'000);
  ::_exit(kHostCodeEnded);
}

void guarded(void (*launch)(sim::RunProgress&)) {
  sim::RunOptions o = with_deadline(milliseconds(20));
  const CommandGuard guard(o);
  launch(*o.progress);
  host_code();
}

TEST(CommandGuardDeathTest, EndsHostCodeBeforeAnyLaunch) {
  EXPECT_EXIT(guarded([](sim::RunProgress&) {}), ExitedWithCode(kTimeUp), "F3605: the time is up, outside a launch");
}

TEST(CommandGuardDeathTest, EndsHostCodeBehindALaunch) {
  EXPECT_EXIT(guarded([](sim::RunProgress& p) { p.launches = 1, p.ctas_total = p.ctas_done = 7; }), ExitedWithCode(kTimeUp), "F3605");
}

TEST(CommandGuardDeathTest, LetsACommandReportItsEndedLaunch) {
  EXPECT_EXIT(guarded([](sim::RunProgress& p) { p.launches = 1, p.ctas_total = 7; }), ExitedWithCode(kHostCodeEnded), "");
}

TEST(CommandGuardDeathTest, LetsACommandReportThatKnows) {
  const auto body = [] {
    sim::RunOptions o = with_deadline(milliseconds(20));
    CommandGuard guard(o);
    while (!guard.time_is_up()) ::usleep(100);
    host_code();
  };
  EXPECT_EXIT(body(), ExitedWithCode(kHostCodeEnded), "");
}

TEST(CommandGuardDeathTest, DoesNotCountTheTimeAtAPrompt) {
  const auto body = [] {
    sim::RunOptions o = with_deadline(milliseconds(20));
    CommandGuard guard(o);
    guard.rest(true);
    ::usleep(300'000);
    [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, "rested", 6);
    guard.rest(false);
    host_code();
  };
  EXPECT_EXIT(body(), ExitedWithCode(kTimeUp), "rested.*F3605");
}

TEST(CommandGuard, EndsWithItsCommand) {
  sim::RunOptions o = with_deadline(std::chrono::hours(1));
  CommandGuard guard(o);
  EXPECT_FALSE(guard.time_is_up());
  EXPECT_NE(o.progress, nullptr);
}

}  // namespace
}  // namespace drywell::tools
