// The simulated device: memory, modules, launches. Two devices coexist in one process.
//
//   Device device;
//   const GmemAddr x = device.allocate(bytes, "x");
//   device.write(x, host);
// or load(module), with a module of the builder
//   RunResult r = device.launch(m, "axpy", {.grid = {4}, .block = {128}}, Args().add(x).add(2.0f));
//
// Threads. Devices share nothing: different threads may use different devices at the same time. One device may be used by one thread
// at a time; several threads may call const functions at once while no thread calls other functions. A launch uses host threads of its
// own (RunOptions::threads); they end before it returns, and values, cycles and faults do not depend on their number.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "drywell/core/types.h"
#include "drywell/isa/instruction.h"
#include "drywell/isa/tensor_map.h"
#include "drywell/sim/report.h"
#include "drywell/sim/run.h"

namespace drywell::sim {

struct ArchConfig;

/// A live allocation. `host` is valid until the allocation is freed, and must not be used while a launch runs.
struct MemoryRange {
  GmemAddr base;            // its first byte
  uint64_t bytes = 0;       // as asked for
  uint8_t* host = nullptr;  // address of its bytes in this process
};

/// A module whose global variables are placed in a device's memory. A value: any threads may read its copies at once. For
/// launches of the device that loaded it only.
class LoadedModule {
 public:
  /// As it was loaded; lives as long as a copy of this value.
  const isa::Module& module() const { return *module_; }
  /// Device address of a module variable, or nothing.
  std::optional<GmemAddr> symbol(std::string_view name) const;

 private:
  friend class Device;
  std::shared_ptr<const isa::Module> module_;
  std::vector<uint64_t> addresses_;  // per module variable
};

/// The machine, and the host memory that it may take.
struct DeviceOptions {
  std::string arch = "sm_100a";  // name of a shipped architecture, or path of a .toml file (load_arch)
  uint32_t sm_count = 0;         // 0: the architecture's number
  uint64_t max_memory = 0;       // bytes of host memory for all allocations; 0: what the host can give
  bool contract = false;         // products and sums without rounding modifiers are one fma where ptxas makes one (drywell/isa/contract.h)
};

/// One simulated GPU.
class Device {
 public:
  /// Throws InputError E20xx, E4001 if the architecture cannot be loaded.
  explicit Device(DeviceOptions options = {});
  ~Device();
  /// A device that was moved from can only be destroyed or assigned to.
  Device(Device&&) noexcept;
  /// Frees its own memory first.
  Device& operator=(Device&&) noexcept;

  /// Its figures (arch_config.h); lives as long as the device.
  const ArchConfig& arch() const;
  /// DeviceOptions::sm_count, or the architecture's.
  uint32_t sm_count() const;

  /// Poisoned memory (0xFF bytes) of at least `bytes`, 256-byte aligned. Throws InputError E4100 if the device has no room, E4105 if the
  /// host has not the memory.
  GmemAddr allocate(uint64_t bytes, std::string name = {});
  /// Maps host memory of this process as device memory at its own address, like pinned and managed memory. It must stay valid until
  /// free. Throws InputError E4104 if the addresses are taken.
  GmemAddr map_host(void* host, uint64_t bytes, std::string name = {});
  /// Throws InputError E4102 if `a` is not a live allocation.
  void free(GmemAddr a);
  /// The allocation that contains `a`.
  std::optional<MemoryRange> find(GmemAddr a) const;
  /// Bytes of all live allocations.
  uint64_t memory_used() const;
  /// Bytes of the device's memory, as its architecture says.
  uint64_t memory_capacity() const;
  /// Bytes that can still be allocated: what is left of the device, and of the host's memory.
  uint64_t memory_free() const;
  /// These throw InputError E4103 when the range is not inside one allocation.
  void write(GmemAddr to, const void* from, uint64_t bytes);
  /// Copies bytes to host memory.
  void read(void* to, GmemAddr from, uint64_t bytes) const;
  /// Sets each byte to `value`.
  void fill(GmemAddr at, uint8_t value, uint64_t bytes);
  /// Memory becomes as new: poison, which nothing has written if it is all of an allocation.
  void poison(GmemAddr at, uint64_t bytes);
  /// The bytes in this process, to read and write; valid until the allocation is freed. Counts as a write of the host.
  uint8_t* host_pointer(GmemAddr at, uint64_t bytes);

  /// Validates a module and places its variables. Throws InputError with every error.
  LoadedModule load(isa::Module m);
  /// Parses, validates and loads PTX text; messages use `name`. Throws InputError with every error.
  LoadedModule load_ptx(std::string_view text, const std::string& name = "<ptx>");

  /// Number of CTAs of such a launch that are resident on an SM at once, and of clusters on the chip.
  struct Occupancy {
    uint32_t ctas_per_sm = 0, clusters = 0;  // both 0: none fits
  };
  /// Both numbers are 0 for a launch whose shape launch() refuses. Throws InputError E41xx if the module has no such kernel.
  Occupancy occupancy(const LoadedModule& m, std::string_view kernel, const LaunchConfig& config);
  /// The same, where registers() limits it, too: what a program divides its work by. occupancy() knows .maxnreg alone, since an estimate
  /// must not refuse a launch.
  Occupancy estimated_occupancy(const LoadedModule& m, std::string_view kernel, const LaunchConfig& config);
  /// The heap of `malloc` in kernels: its bytes (8 MiB at first), what kernels have not freed, and its end.
  struct KernelHeap {
    uint64_t allocations = 0, bytes = 0;  // not freed; their bytes
  };
  /// Sets the heap's bytes.
  void set_kernel_heap(uint64_t bytes);
  /// What kernels have not freed.
  KernelHeap kernel_heap() const;
  /// Frees all of it.
  void free_kernel_heap();
  /// Registers of a thread: what ptxas takes for kernels with setmaxnreg, otherwise an estimate. Throws as occupancy().
  uint32_t registers(const LoadedModule& m, std::string_view kernel);
  /// Bytes of shared memory that the kernel declares statically.
  uint32_t static_smem(const LoadedModule& m, std::string_view kernel);

  /// Runs a kernel to its end. Throws InputError for launches that a real device refuses (E41xx); guest faults are in the
  /// result.
  RunResult launch(const LoadedModule& m, std::string_view kernel, const LaunchConfig& config, const Args& args, const RunOptions& options = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Runs a launch with the driver of `options`: for a LaunchRunner that does not debug this launch.
RunResult run_by_driver(const Launch& launch, const RunOptions& options);

}  // namespace drywell::sim
