#include "tools/common/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace drywell::tools {

ProgressLine::ProgressLine(sim::RunProgress& progress)
    : progress_(progress), active_(::isatty(STDERR_FILENO) != 0) {
  if (!active_) return;
  thread_ = std::thread([this] {
    const auto start = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, std::chrono::milliseconds(500), [this] { return stop_; });
    while (!stop_) {
      draw(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      wake_.wait_for(lock, std::chrono::milliseconds(100), [this] { return stop_; });
    }
  });
}

ProgressLine::ProgressLine() : ProgressLine(none_) {}

ProgressLine::~ProgressLine() { end(); }

void ProgressLine::end() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
  wipe();
}

void ProgressLine::wipe() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

void ProgressLine::print(std::string_view text) {
  const std::lock_guard lock(mutex_);
  wipe();
  drywell::print(text);
}

void ProgressLine::phase(std::string_view what) {
  const std::lock_guard lock(mutex_);
  phase_ = what;
}

void ProgressLine::draw(double seconds) {
  constexpr size_t kWidth = 30;
  const uint64_t total = progress_.ctas_total, done = progress_.ctas_done, cycles = progress_.cycles;
  std::string line = fmt::format("\r\033[K{} {:.0f} s", phase_, seconds);
  if (total != 0) {
    const auto filled = static_cast<size_t>(static_cast<double>(kWidth) * static_cast<double>(done) /
                                            static_cast<double>(total));
    line +=
        fmt::format("  [{:<{}}] {}/{} CTAs", std::string(std::min(filled, kWidth), '#'), kWidth, done, total);
  }
  if (cycles != 0) line += fmt::format("  cycle {}", with_commas(cycles));
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace drywell::tools
