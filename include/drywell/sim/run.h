// One launch: its shape, arguments, options and result. Plain values: copies are independent, and objects that options point to
// must live until the launch returns.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "drywell/core/types.h"
#include "drywell/isa/tensor_map.h"
#include "drywell/sim/fault.h"

namespace drywell::sim {

class Listener;
class Observer;
class LaunchRunner;
struct Launch;
struct TimingReport;

/// Times at which asynchronous operations happen. Every correct kernel leaves the same memory under all drivers.
enum class DriverKind : uint8_t {
  eager,     // at issue, as soon as their dependencies are complete
  lazy,      // as late as is legal: only when no warp can continue
  shuffled,  // random order and interleaving, from a seed
  timed,     // at the cycle that the machine model computes
};
/// "eager", "lazy", "shuffled", "timed".
std::string_view driver_name(DriverKind d);

/// Contents of the L2 when a timed launch starts. Functional drivers have no caches.
enum class Caches : uint8_t {
  cold,   // nothing of this device's memory
  warm,   // every allocation, the latest first, until the L2 is full; no line has been written
  carry,  // what the copies and timed launches before it left, written lines included
};

/// SM clock that turns the cycles of a timed launch into seconds.
struct ClockChoice {
  /// Where the clock comes from.
  enum class Kind : uint8_t {
    nominal,               // chip.clock; chip.tensor_clock if the kernel uses the tensor cores
    sustained,             // the clock that the chip would hold if it repeated the launch for seconds (sim/timing/power.h)
    fixed,                 // `ghz`; the memory then moves more or fewer bytes a cycle
  } kind = Kind::nominal;  // of this choice
  double ghz = 0;          // fixed: GHz
};

/// Shape of a launch.
struct LaunchConfig {
  Dim3 grid, block;           // CTAs of the grid; threads of a CTA
  Dim3 cluster{1, 1, 1};      // overridden by .reqnctapercluster
  uint32_t dynamic_smem = 0;  // bytes
};

/// Progress of the latest launch: other threads may read it while the launch runs.
struct RunProgress {
  std::atomic<uint64_t> launches{0};                  // begun
  std::atomic<uint64_t> ctas_total{0}, ctas_done{0};  // of the latest launch
  std::atomic<uint64_t> cycles{0};                    // timed driver only
};

/// How a launch runs, its bounds, and who watches.
struct RunOptions {
  DriverKind driver = DriverKind::eager;  // when asynchronous operations happen
  uint64_t seed = 0;                      // of the shuffled driver
  unsigned threads = 0;                   // host threads; 0 = all cores. Results do not depend on it
  // Bounds of the launch: 0 = none. Reaching one is a fault.
  uint64_t max_instructions = 0;                                  // warp instructions: F3602
  uint64_t max_cycles = 0;                                        // timed driver only: F3604
  std::optional<std::chrono::steady_clock::time_point> deadline;  // F3605; several launches may share it
  uint64_t max_memory = 0;                                        // bytes of host memory that this process holds: F3606
  uint64_t max_output = 64 << 20;                                 // bytes of vprintf text kept; the rest is dropped
  std::vector<Listener*> listeners;                               // results of listener() of HazardChecker, TraceWriter and others
  std::vector<Observer*> observers;                               // of the user (observer.h); any observer makes the run single-threaded
  LaunchRunner* runner = nullptr;                                 // runs the launch instead of `driver` (the debugger: sim/debug)
  bool cooperative = false;                                       // all CTAs of the grid run at once; the caller has checked that they fit
  bool values = true;                                             // false (timed only): same cycles, the tensor core's results are not computed
  Caches caches = Caches::cold;                                   // timed only
  ClockChoice clock;                                              // timed only
  RunProgress* progress = nullptr;                                // updated while the launch runs
  const std::atomic<bool>* stop = nullptr;                        // another thread may set it: the launch then ends soon, with fault F3603
};

/// Kernel arguments in declaration order, a value: one thread changes it at a time.
class Args {
 public:
  /// A parameter with the bytes of `v`: its size is that of the kernel's parameter.
  template <class T>
  Args& add(const T& v) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* p = reinterpret_cast<const uint8_t*>(&v);
    values_.emplace_back(p, p + sizeof(T));
    return *this;
  }
  /// A pointer parameter.
  Args& add(GmemAddr a) { return add(a.value()); }
  /// A tensor map: 128 bytes.
  Args& add(const isa::TensorMap& m) {
    values_.emplace_back(m.bytes.begin(), m.bytes.end());
    return *this;
  }
  /// A parameter of these bytes.
  Args& add_bytes(std::span<const uint8_t> b) {
    values_.emplace_back(b.begin(), b.end());
    return *this;
  }
  /// The bytes of each parameter.
  const std::vector<std::vector<uint8_t>>& values() const { return values_; }

 private:
  std::vector<std::vector<uint8_t>> values_;
};

/// Results of a launch other than its memory.
struct RunResult {
  std::optional<Fault> fault;                  // the first in CTA order
  uint64_t warp_instructions = 0;              // executed, by all warps
  uint64_t cycles = 0;                         // timed driver only
  std::shared_ptr<const TimingReport> timing;  // timed driver only
  double host_seconds = 0;                     // wall-clock time of the launch
  std::string output;                          // text that the kernel printed (vprintf), in cluster order
  bool output_truncated = false;               // RunOptions::max_output was reached

  /// True if no fault ended the launch; hazards do not count.
  bool ok() const { return !fault.has_value(); }
};

/// Runs a launch in place of a driver: RunOptions::runner. Called on the launching thread.
class LaunchRunner {
 public:
  virtual ~LaunchRunner() = default;
  /// Runs the launch to its end or to a fault.
  virtual RunResult run(const Launch& launch, const RunOptions& options) = 0;
};

}  // namespace drywell::sim
