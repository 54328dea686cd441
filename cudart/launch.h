// Kernel launches: from a program's arguments to the simulator's launch, and a record of each launch.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cudart/memory.h"
#include "cudart/modules.h"
#include "cudart/options.h"
#include "cudart/streams.h"
#include "drywell/core/pattern.h"
#include "drywell/sim/check.h"
#include "drywell/sim/inspect/progress_line.h"
#include "drywell/sim/trace.h"

namespace drywell::cudart {

/// A launch with its arguments copied.
struct LaunchRequest {
  Kernel* kernel = nullptr;
  std::shared_ptr<GuestModule> module;  // the kernel's
  sim::LaunchConfig config;
  std::vector<std::vector<uint8_t>> arguments;
  std::shared_ptr<const sim::MemoryPools> pools;  // what the framework's allocator has handed out; nullptr: not known
  bool cooperative = false;
  bool programmatic = false;        // may overlap the kernel before it in its stream (programmatic stream serialization)
  const Stream* stream = nullptr;   // nullptr: a graph's
  uint64_t place = 0;               // among the stream's works
  std::vector<const void*> events;  // handles; recorded with the launch (programmatic and completion events)
};

/// Result of a launch.
struct LaunchRecord {
  std::string kernel, mangled;  // plain and mangled name
  sim::LaunchConfig config;
  uint64_t warp_instructions = 0, cycles = 0;
  double seconds = 0, host_seconds = 0;
  std::string fault;                                // code, or empty
  uint64_t hazard_errors = 0, hazard_warnings = 0;  // distinct hazards, with --check
  uint32_t values = 0;                              // digest of all device memory after the launch (Memory::digest), with --summary or --report
  std::shared_ptr<const sim::TimingReport> timing;
};

class Launcher {
 public:
  Launcher(sim::Device& device, Memory& memory, Streams& streams, ExecOptions options);

  /// Throws CallFailed or InputError for a launch that a device rejects before it runs.
  LaunchRequest prepare(Kernel& k, const sim::LoadedModule& m, const sim::LaunchConfig& config, void** arguments, void** extra,
                        std::span<const LaunchAttribute> attributes);
  /// Runs the launch. Returns success, or the sticky error of its fault.
  CudaError run(const LaunchRequest& r, const sim::LoadedModule& m);
  /// Simulated seconds of all kernels so far, without launch latencies; not a number without the timed driver.
  double kernel_seconds() const;
  /// Some launches have a clock.
  bool timed() const { return run_options_.driver == sim::DriverKind::timed || timed_.has_value(); }
  const std::vector<LaunchRecord>& records() const { return records_; }
  /// What the framework's allocator has handed out, for the launch that comes next.
  void divide(sim::MemoryPools pools) { pools_ = std::make_shared<const sim::MemoryPools>(std::move(pools)); }
  std::shared_ptr<const sim::MemoryPools> take_pools() { return std::exchange(pools_, nullptr); }
  /// Writes the requested summary, report and trace.
  void finish() const;
  /// A line for --kernel and --time each, if no launch so far was of such a kernel.
  std::string unmatched_patterns() const;
  /// True if a checked launch had a hazard that is an error by PTX.
  bool found_hazards() const;
  /// The next launch includes the latency from host to device: only work queued behind another launch hides it.
  void queue_drained() {
    queue_empty_ = true;
    before_.reset();
  }

 private:
  void check_limits(const LaunchRequest& r, const sim::LoadedModule& m) const;
  void apply(const LaunchAttribute& a, LaunchRequest& r) const;
  bool watched(const Kernel& k) const;
  sim::RunOptions options_of(const Kernel& k) const;
  sim::RunResult launch(const LaunchRequest& r, const sim::LoadedModule& m, sim::RunOptions& options);
  void dump(const LaunchRequest& r, const sim::LoadedModule& m, const sim::Args& args) const;
  LaunchRecord record_of(const LaunchRequest& r, const sim::RunResult& result);
  CudaError report_fault(const LaunchRequest& r, sim::Fault fault) const;
  bool breaks_at(const Kernel& k) const;
  std::unique_ptr<sim::HazardChecker> checker_of(const LaunchRequest& r);
  void report_hazards(const sim::HazardChecker& checker, LaunchRecord& record);

  sim::Device& device_;
  Memory& memory_;
  Streams& streams_;
  ExecOptions options_;
  sim::RunOptions run_options_;
  std::optional<Pattern> filter_, timed_;
  std::vector<LaunchRecord> records_;
  sim::TraceText trace_text_;
  std::optional<sim::TraceWriter> trace_;
  sim::RunProgress progress_;
  std::optional<sim::ProgressLine> line_;
  std::set<std::string> told_;  // hazards already printed: a launch that is repeated a hundred times prints them once
  /// The latest launch that was checked: a programmatic one may overlap it.
  struct Checked {
    const Stream* stream = nullptr;
    uint64_t place = 0;
    std::unique_ptr<sim::HazardChecker> checker;
  };
  std::optional<Checked> before_;
  std::shared_ptr<const sim::MemoryPools> pools_;  // for the next launch
  bool queue_empty_ = true;
  bool broken_ = false;  // the debugger had its launch already
};

}  // namespace drywell::cudart
