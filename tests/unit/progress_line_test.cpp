// The line that tells how far a run is.
#include "drywell/sim/inspect/progress_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <stdexcept>
#include <thread>

namespace drywell::sim {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Progress, IsTheWorkDoneTheRateAndTheTimeLeft) {
  EXPECT_EQ(describe_progress({.ctas_done = 300, .ctas_total = 1200, .cycles = 0, .seconds = 2}, 0),
            "300/1,200 CTAs, 150/s, 6 s left");
  EXPECT_EQ(describe_progress({.ctas_done = 300, .ctas_total = 1200, .cycles = 12345, .seconds = 2}, 8),
            "[##      ] 300/1,200 CTAs, 150/s, 6 s left, cycle 12,345");
  EXPECT_EQ(describe_progress({.ctas_done = 0, .ctas_total = 9, .cycles = 0, .seconds = 2}, 0), "0/9 CTAs")
      << "no rate yet";
  EXPECT_EQ(describe_progress({}, 8), "");
}

/// What a line with this manner has written when `shown` returns true of it, or in two minutes.
template <class Act>
std::string written(bool redraws, Act&& act, std::string_view until) {
  char* text = nullptr;
  size_t bytes = 0;
  std::FILE* to = open_memstream(&text, &bytes);
  RunProgress progress;
  {
    ProgressLine line(progress, "", {to, redraws, 0ms, 1ms});
    act(progress, line);
    const auto end = std::chrono::steady_clock::now() + 120s;
    bool seen = false;
    while (!seen && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(1ms);
      line.phase("launch 3, axpy");  // takes the line's lock: the text is not written meanwhile
      std::fflush(to);
      seen = std::string_view(text, bytes).find(until) != std::string_view::npos;
    }
    EXPECT_TRUE(seen) << std::string_view(text, bytes);
    line.end();
  }
  std::fclose(to);
  std::string out(text, bytes);
  std::free(text);
  return out;
}

void begin(RunProgress& p, ProgressLine& line) {
  p.ctas_total = 1000;
  p.ctas_done = 250;
  ++p.launches;
  line.phase("launch 3, axpy");
}

TEST(Progress, OfALaunchThatJustBeganHasNoTimeLessThanNone) {
  EXPECT_EQ(describe_progress({.ctas_done = 300, .ctas_total = 10, .cycles = 0, .seconds = 2}, 0), "300/10 CTAs, 150/s, 0 s left");
}

TEST(ProgressLine, FallsSilentWhenALaunchIsRefused) {
  char* text = nullptr;
  size_t bytes = 0;
  std::FILE* to = open_memstream(&text, &bytes);
  RunProgress progress;
  {
    ProgressLine line(progress, "", {to, false, 0ms, 1ms});
    const auto length = [&] {
      line.print("");  // takes the line's lock: the text is not written meanwhile
      std::fflush(to);
      return bytes;
    };
    EXPECT_THROW(
        {
          const ProgressLine::During shown(line, "launch 0, axpy");
          const auto end = std::chrono::steady_clock::now() + 120s;
          while (length() == 0 && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
          throw std::runtime_error("no such launch");
        },
        std::runtime_error);
    const size_t said = length();
    EXPECT_NE(said, 0u);
    std::this_thread::sleep_for(100ms);
    EXPECT_EQ(length(), said);
  }
  std::fclose(to);
  std::free(text);
}

TEST(ProgressLine, IsALineOfTextWhereNothingCanBeDrawnAgain) {
  const std::string out = written(false, begin, "CTAs");
  EXPECT_THAT(out, StartsWith("drywell: launch 3, axpy 0 s  250/1,000 CTAs"));
  EXPECT_EQ(out.find('\r'), std::string::npos);
  EXPECT_EQ(out.back(), '\n');
}

TEST(ProgressLine, IsDrawnAgainAndErasedOnATerminal) {
  const std::string out = written(true, begin, "CTAs");
  EXPECT_THAT(out, HasSubstr("[#######                       ] 250/1,000 CTAs"));
  EXPECT_EQ(out.find('\n'), std::string::npos);
  EXPECT_TRUE(out.ends_with("\r\033[K"));
}

}  // namespace
}  // namespace drywell::sim
