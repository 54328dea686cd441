// The machine that a kernel's host code uses: the simulated device, or a GPU through the CUDA driver
// (launch/cuda_driver). Allocations, tensor maps and launches are the same for both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "drywell/core/types.h"
#include "drywell/isa/instruction.h"
#include "drywell/isa/tensor_map.h"
#include "drywell/sim/arch_config.h"
#include "drywell/sim/device.h"

namespace drywell::kernels {

/// The fault of a kernel that failed on a GPU, for every cause: the driver does not return more details.
inline constexpr Code kLaunchFailedOnGpu = Code::F3801;

/// A machine with memory, that runs kernels. One thread uses it at a time; different accelerators may be used at the same time.
class Accelerator {
 public:
  virtual ~Accelerator() = default;

  /// Figures of the machine; kernels are built for its `target`.
  virtual const sim::ArchConfig& arch() const = 0;
  /// SMs that run CTAs.
  virtual uint32_t sm_count() const = 0;

  /// Returns poisoned memory (0xFF bytes), 256-byte aligned. Throws InputError E4100 if there is not enough memory.
  virtual GmemAddr allocate(uint64_t bytes, std::string name) = 0;
  /// Frees an allocation.
  virtual void release(GmemAddr a) = 0;
  /// Copies `bytes` to the machine.
  virtual void write(GmemAddr to, const void* from, uint64_t bytes) = 0;
  /// Copies `bytes` from the machine.
  virtual void read(void* to, GmemAddr from, uint64_t bytes) = 0;

  /// Encodes with the rules of cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col. Throws InputError E146x.
  virtual isa::TensorMap encode(const isa::TensorMapFields& fields) = 0;

  /// Loads the module of later launches; a second module replaces the first. `text` is its PTX as the user wrote it;
  /// empty: the printed module.
  void load(isa::Module module) { load(std::move(module), {}); }
  /// The same, with its text.
  virtual void load(isa::Module module, std::string_view text) = 0;
  /// Throws InputError E41xx for launches that the device rejects; guest faults are in the result. A GPU ignores
  /// `options`; its RunResult has host_seconds (time on the device) and no cycles.
  virtual sim::RunResult launch(std::string_view kernel, const sim::LaunchConfig& config, const sim::Args& args, const sim::RunOptions& options) = 0;
  /// True once a failed kernel has taken the machine from this process: a GPU then refuses every call until another process opens it.
  virtual bool lost() const { return false; }
};

/// The simulator. Threads: as Accelerator.
class SimulatedDevice : public Accelerator {
 public:
  /// A device of its own. Throws InputError as load_arch does.
  explicit SimulatedDevice(sim::DeviceOptions options = {}) : device_(std::move(options)) {}
  /// What it runs on.
  sim::Device& device() { return device_; }

  const sim::ArchConfig& arch() const override { return device_.arch(); }
  uint32_t sm_count() const override { return device_.sm_count(); }
  GmemAddr allocate(uint64_t bytes, std::string name) override { return device_.allocate(bytes, std::move(name)); }
  void release(GmemAddr a) override { device_.free(a); }
  void write(GmemAddr to, const void* from, uint64_t bytes) override { device_.write(to, from, bytes); }
  void read(void* to, GmemAddr from, uint64_t bytes) override { device_.read(to, from, bytes); }
  isa::TensorMap encode(const isa::TensorMapFields& fields) override;
  using Accelerator::load;
  void load(isa::Module module, std::string_view text) override;
  sim::RunResult launch(std::string_view kernel, const sim::LaunchConfig& config, const sim::Args& args, const sim::RunOptions& options) override;

 private:
  sim::Device device_;
  std::optional<sim::LoadedModule> module_;
};

/// Compute capability of a target: 90 for sm_90a.
unsigned compute_capability(isa::Target t);

}  // namespace drywell::kernels
