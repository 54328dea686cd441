// A GPU as an Accelerator.
#pragma once

#include <memory>
#include <string>

#include "drywell/launch/accelerator.h"
#include "launch/cuda_driver/library.h"

namespace drywell::kernels {

/// The first GPU of the machine. Two of them may coexist; they share the device's primary context.
class CudaDevice : public Accelerator {
 public:
  /// Throws Unavailable E4501, E4502, E4503 (Drywell has no figures for this GPU).
  CudaDevice();
  ~CudaDevice() override;
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  /// Returns for example "NVIDIA H100 80GB HBM3, compute capability 9.0, driver 13.0"
  std::string describe() const;

  const sim::ArchConfig& arch() const override;
  uint32_t sm_count() const override;
  GmemAddr allocate(uint64_t bytes, std::string name) override;
  void release(GmemAddr a) override;
  void write(GmemAddr to, const void* from, uint64_t bytes) override;
  void read(void* to, GmemAddr from, uint64_t bytes) override;
  isa::TensorMap encode(const isa::TensorMapFields& fields) override;
  using Accelerator::load;
  void load(isa::Module module, std::string_view text) override;
  sim::RunResult launch(std::string_view kernel, const sim::LaunchConfig& config, const sim::Args& args, const sim::RunOptions& options) override;
  bool lost() const override;

  /// Puts a launch on a stream and returns at once: for streams that are captured, and for callers that wait on their own.
  /// Throws as launch() does.
  void enqueue(std::string_view kernel, const sim::LaunchConfig& config, const sim::Args& args, cuda::Stream stream);
  const cuda::Library& library() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Returns the architecture whose kernels a GPU of this compute capability runs, for example "sm_103a" for 10.3; empty if Drywell has
/// no figures for it.
std::string_view arch_of_capability(int major, int minor);

}  // namespace drywell::kernels
