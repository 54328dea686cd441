// The description of a kernel for the commands that list, build, run and verify it.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drywell/core/npy.h"
#include "drywell/isa/instruction.h"
#include "drywell/launch/accelerator.h"
#include "drywell/launch/params.h"
#include "drywell/sim/arch_config.h"
#include "drywell/sim/device.h"

namespace drywell::kernels {

/// Options of a run.
struct RunContext {
  Params params;                 // of the kernel
  std::string arch = "sm_100a";  // name or path, as sim::DeviceOptions::arch
  sim::RunOptions options;       // passed to Device::launch unchanged: driver, seed, threads, listeners, progress
  std::string input;             // .npy file; empty: generate by the kernel's parameters
  bool verify = false;           // compare with the host reference
  bool keep_outputs = false;     // fill KernelReport::outputs
  /// Called before each lengthy part with its name: "generating input", "running", "verifying". May be empty.
  std::function<void(std::string_view)> phase;
  /// Calls `phase` if there is one.
  void enter(std::string_view what) const {
    if (phase) phase(what);
  }
  /// Opens the machine for the run; empty: a simulated device of `arch`.
  std::function<std::unique_ptr<Accelerator>()> machine;
  /// Returns the machine for the kernel's host code.
  std::unique_ptr<Accelerator> open() const;
};

/// Result of the comparison with the reference.
struct Verification {
  bool done = false;           // false: not asked for, or the kernel faulted
  uint64_t compared = 0;       // values
  uint64_t mismatches = 0;     // of the values compared
  std::string first_mismatch;  // "codes[3, 17]: 0x12, the reference has 0x13"; empty if none
  /// Compared, and all equal.
  bool passed() const { return done && mismatches == 0; }
};

/// One of several launches of a kernel's host code.
struct TimedLaunch {
  std::string name;                                 // "gemm-blockscaled FProp"
  sim::LaunchConfig config;                         // as launched
  std::shared_ptr<const sim::TimingReport> timing;  // timed driver only
};

/// Result of a run.
struct KernelReport {
  std::string shape;                                      // "8192 x 5120 bf16 -> 5120 x 4096 e2m1, 5120 x 512 ue4m3"
  sim::LaunchConfig launch;                               // of the kernel's own launch
  sim::RunResult run;                                     // its result
  std::vector<TimedLaunch> launches;                      // those of a host code that launches several, in their order; else empty
  Verification verify;                                    // of the outputs
  std::vector<std::pair<std::string, NpyArray>> outputs;  // by name; saved as <name>.npy
  /// Bytes of global memory that the algorithm must read and write once: the traffic of the bandwidth bound.
  uint64_t bytes_read = 0, bytes_written = 0;                   // read, written
  std::vector<std::pair<std::string, std::string>> notes;       // further lines of the summary
  std::vector<std::pair<std::string, std::string>> host_notes;  // the same, about the speed of this host
};

/// A kernel of `drywell list`.
struct Kernel {
  std::string_view name;              // lower case with dashes
  std::string_view doc;               // one line; what stands before its first semicolon is for lists
  std::vector<Parameter> parameters;  // in the order of lists
  /// Builds the kernel. Throws InputError for parameters without a kernel.
  isa::Module (*build)(const Params&, const sim::ArchConfig&);
  /// Generates or reads the input, launches, and verifies on request. Guest faults are in the report (then nothing is
  /// compared); InputError is for wrong input and parameters.
  KernelReport (*run)(const RunContext&);
};

/// Returns the kernel of that name, or of a shared object (drywell/launch/kernel_library.h). Throws InputError E4305 with the names and the
/// nearest one, E4312 for a shared object that cannot be used.
const Kernel& find_kernel(std::span<const Kernel> kernels, std::string_view name);

}  // namespace drywell::kernels
