#include "sim/timing/window_workers.h"

#include <chrono>
#include <exception>
#include <utility>

namespace drywell::sim {
namespace {

/// Seconds since its beginning.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

std::optional<uint32_t> WindowWorkers::Share::take(bool from_front) {
  uint64_t now = left.load(std::memory_order_relaxed);
  for (;;) {
    const auto first = static_cast<uint32_t>(now >> 32), last = static_cast<uint32_t>(now);
    if (first == last) return std::nullopt;
    const uint64_t rest = from_front ? uint64_t{first + 1} << 32 | last : uint64_t{first} << 32 | (last - 1);
    if (left.compare_exchange_weak(now, rest, std::memory_order_relaxed)) return from_front ? first : last - 1;
  }
}

WindowWorkers::WindowWorkers(std::vector<std::unique_ptr<Group>>& groups, unsigned threads, bool in_order)
    : groups_(groups), shares_(threads), barrier_(threads), in_order_(in_order) {
  const auto serve = [this](unsigned t) {
    for (;;) {
      barrier_.arrive_and_wait();
      if (end_) return;
      work(t);
      barrier_.arrive_and_wait();
    }
  };
  pool_.reserve(threads - 1);
  try {
    while (pool_.size() + 1 < threads) pool_.emplace_back(serve, static_cast<unsigned>(pool_.size() + 1));
  } catch (const std::exception&) {  // the host gives no more threads, or no memory for them: those that there are take all shares
    for (size_t t = pool_.size() + 1; t < threads; ++t) barrier_.arrive_and_drop();
  }
}

WindowWorkers::~WindowWorkers() {
  end_ = true;
  if (!pool_.empty()) barrier_.arrive_and_wait();
  for (std::thread& t : pool_) t.join();
}

void WindowWorkers::run(const std::vector<uint32_t>& active, Time until) {
  constexpr size_t kWorthSharing = 4;
  active_ = &active;
  until_ = until;
  if (!in_order_) forward_ = !forward_;
  const bool together = !pool_.empty() && active.size() >= kWorthSharing && sharing_.next();
  const size_t threads = together ? shares_.size() : 1;
  for (size_t t = 0; t < threads; ++t)
    shares_[t].set(static_cast<uint32_t>(active.size() * t / threads), static_cast<uint32_t>(active.size() * (t + 1) / threads));
  if (together)
    work_together();
  else
    work(0);
  if (thrown_ != nullptr) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void WindowWorkers::work_together() {
  const Stopwatch watch;
  barrier_.arrive_and_wait();
  work(0);
  barrier_.arrive_and_wait();
  double busy = 0;
  for (const Share& s : shares_) busy += s.busy;
  sharing_.took(watch.seconds(), busy);
}

void WindowWorkers::keep_exception() {
  const std::lock_guard lock(mutex_);
  if (thrown_ == nullptr) thrown_ = std::current_exception();
}

void WindowWorkers::work(unsigned thread) {
  const Stopwatch watch;
  const auto run_all = [&](Share& share, bool from_front) {
    while (const std::optional<uint32_t> i = share.take(from_front)) {
      try {
        groups_[(*active_)[*i]]->run(until_);
      } catch (...) {
        keep_exception();
      }
    }
  };
  run_all(shares_[thread], forward_);
  for (size_t other = 1; other < shares_.size(); ++other) run_all(shares_[(thread + other) % shares_.size()], !forward_);
  shares_[thread].busy = watch.seconds();
}

}  // namespace drywell::sim
