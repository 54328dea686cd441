#include "drywell/sim/inspect/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "drywell/core/terminal.h"

namespace drywell::sim {
namespace {

constexpr size_t kBar = 30;
constexpr std::chrono::milliseconds kRedraw{100};

std::string time_left(const ProgressValues& v) {
  if (v.ctas_done == 0 || v.seconds <= 0) return "";
  const double rate = static_cast<double>(v.ctas_done) / v.seconds;
  // The counts are read one after the other: a launch may begin in between.
  const double left = static_cast<double>(v.ctas_total - std::min(v.ctas_total, v.ctas_done)) / rate;
  return fmt::format(", {}/s, {:.0f} s left", with_commas(static_cast<uint64_t>(rate)), left);
}

}  // namespace

std::string describe_progress(const ProgressValues& v, size_t bar) {
  std::string out;
  if (v.ctas_total != 0) {
    const size_t filled =
        std::min(bar, static_cast<size_t>(static_cast<double>(bar) * static_cast<double>(v.ctas_done) /
                                          static_cast<double>(v.ctas_total)));
    if (bar != 0) out += fmt::format("[{:<{}}] ", std::string(filled, '#'), bar);
    out += fmt::format("{}/{} CTAs", with_commas(v.ctas_done), with_commas(v.ctas_total)) + time_left(v);
  }
  if (v.cycles != 0) out += fmt::format("{}cycle {}", out.empty() ? "" : ", ", with_commas(v.cycles));
  return out;
}

ProgressLine::Manner ProgressLine::on_stderr() {
  if (::isatty(STDERR_FILENO) == 0) return {};
  return {stderr, true, std::chrono::seconds(1), kRedraw};
}

struct ProgressLine::State {
  using Clock = std::chrono::steady_clock;

  State(const RunProgress* p, Manner m) : progress(p), manner(m) {}
  static void start(const std::shared_ptr<State>& state);
  void work();
  void look();
  void draw(Clock::time_point now);
  void wipe();

  const RunProgress* progress;  // nullptr: phases only
  Manner manner;
  std::string phase;  // empty: nothing is shown
  Clock::time_point began, launch_began, due;
  uint64_t launch = 0;
  bool drawn = false, stop = false;
  std::mutex mutex;
  std::condition_variable wake;
};

// Without memory there is no more progress to see, and the run says what is wrong.
void ProgressLine::State::work() try {
  std::unique_lock lock(mutex);
  while (!wake.wait_for(lock, std::min(kRedraw, manner.next), [this] { return stop; })) {
    if (!phase.empty()) look();
  }
} catch (const std::bad_alloc&) {
}

void ProgressLine::State::start(const std::shared_ptr<State>& state) {
  try {
    std::thread([state] { state->work(); }).detach();
  } catch (const std::system_error&) {  // the host gives no thread
  }
}

// Several launches may count into one RunProgress.
void ProgressLine::State::look() {
  const auto now = Clock::now();
  if (progress != nullptr && progress->launches != launch) {
    launch = progress->launches;
    launch_began = now;
  }
  if (now < due) return;
  draw(now);
  due += manner.next;
}

void ProgressLine::State::draw(Clock::time_point now) {
  const auto seconds = [now](Clock::time_point from) {
    return std::chrono::duration<double>(now - from).count();
  };
  ProgressValues v;
  if (progress != nullptr)
    v = {progress->ctas_done, progress->ctas_total, progress->cycles, seconds(launch_began)};
  const std::string state = describe_progress(v, manner.redraws ? kBar : 0);
  const std::string line = fmt::format("{} {:.0f} s{}{}", without_controls(phase), seconds(began), state.empty() ? "" : "  ", state);
  if (manner.redraws)
    fmt::print(manner.to, "\r\033[K{}", line);
  else
    fmt::print(manner.to, "drywell: {}\n", line);
  std::fflush(manner.to);
  drawn = manner.redraws;
}

void ProgressLine::State::wipe() {
  if (drawn) std::fputs("\r\033[K", manner.to);
  drawn = false;
}

ProgressLine::ProgressLine(const RunProgress& progress, std::string_view first, Manner manner)
    : state_(std::make_shared<State>(&progress, manner)) {
  phase(first);
  State::start(state_);
}

ProgressLine::ProgressLine() : state_(std::make_shared<State>(nullptr, on_stderr())) {
  phase("starting");
  State::start(state_);
}

ProgressLine::~ProgressLine() { end(); }

void ProgressLine::end() {
  const std::lock_guard lock(state_->mutex);
  state_->stop = true;
  state_->wipe();
  state_->wake.notify_all();
}

void ProgressLine::print(std::string_view text) {
  const std::lock_guard lock(state_->mutex);
  state_->wipe();
  drywell::print(text);
}

void ProgressLine::phase(std::string_view what) {
  const std::lock_guard lock(state_->mutex);
  if (state_->phase.empty()) {
    state_->began = state_->launch_began = State::Clock::now();
    state_->due = state_->began + state_->manner.first;
  }
  state_->phase = what;
  if (what.empty()) state_->wipe();
}

}  // namespace drywell::sim
