#include "python/src/interruptible.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace drywell::python {
namespace {

namespace nb = nanobind;
constexpr auto kPoll = std::chrono::milliseconds(50);

/// The work's thread and what it left.
class Worker {
 public:
  explicit Worker(const std::function<void()>& work) : thread_([this, &work] { run(work); }) {}
  ~Worker() { thread_.join(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Returns true if the work has ended.
  bool wait() {
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, kPoll, [this] { return over_; });
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void run(const std::function<void()>& work) {
    try {
      work();
    } catch (...) {
      error_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    over_ = true;
    ended_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::exception_ptr error_;
  std::thread thread_;  // last: it uses the others
};

/// Handles signals and calls the callback; returns the Python error that they raised.
std::exception_ptr attend(const sim::RunProgress& done, const nb::object& progress) {
  const nb::gil_scoped_acquire hold;
  try {
    if (PyErr_CheckSignals() != 0) nb::raise_python_error();
    if (!progress.is_none())
      progress(done.ctas_done.load(), done.ctas_total.load(), done.cycles.load());
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

}  // namespace

void run_interruptibly(const std::function<void()>& work, std::atomic<bool>& stop,
                       const sim::RunProgress& done, const nb::object& progress) {
  std::exception_ptr raised, failed;
  {
    const nb::gil_scoped_release free;
    Worker worker(work);
    while (!worker.wait()) {
      if (!raised) raised = attend(done, progress);
      if (raised) stop = true;
    }
    try {
      worker.rethrow();
    } catch (...) {
      failed = std::current_exception();
    }
  }
  if (raised) std::rethrow_exception(raised);
  if (failed) std::rethrow_exception(failed);
}

}  // namespace drywell::python
