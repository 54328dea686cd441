#include "tools/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace drywell::tools {

std::string paint(std::string_view text, Colour colour, bool on) {
  static constexpr std::string_view kCodes[] = {"31", "32", "33", "36", "1", "2"};
  if (!on) return std::string(text);
  return fmt::format("\033[{}m{}\033[0m", kCodes[static_cast<size_t>(colour)], text);
}

bool wants_colour(int fd) {
  const char* no = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return ::isatty(fd) != 0 && (no == nullptr || *no == '\0') && term != nullptr &&
         std::string_view(term) != "dumb";
}

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

std::string with_commas(uint64_t n) {
  std::string digits = fmt::format("{}", n);
  for (size_t i = digits.size(); i > 3;) digits.insert(i -= 3, ",");
  return digits;
}

std::string with_unit(double value, std::string_view unit) {
  static constexpr std::string_view kPrefixes[] = {"", "k", "M", "G", "T", "P"};
  size_t p = 0;
  for (; value >= 1000 && p + 1 < std::size(kPrefixes); ++p) value /= 1000;
  return fmt::format("{:.3g} {}{}", value, kPrefixes[p], unit);
}

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
  tools::print(text);
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
