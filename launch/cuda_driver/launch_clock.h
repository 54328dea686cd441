// Times of launches on a GPU, as a program that launches a kernel again and again sees them: slopes of CUDA
// graphs, so that the cost of starting and ending a measurement cancels.
#pragma once

#include <memory>
#include <vector>

#include "launch/cuda_driver/cuda_device.h"
#include "launch/forwarding_accelerator.h"
#include "launch/launch_times.h"

namespace drywell::kernels {

/// An accelerator that runs each launch once, and then times it.
class LaunchClock : public ForwardingAccelerator {
 public:
  /// Both must outlive the clock; `out` gets one entry a launch that has not failed.
  LaunchClock(CudaDevice& gpu, std::vector<LaunchTimes>& out);
  ~LaunchClock() override;
  sim::RunResult launch(std::string_view kernel, const sim::LaunchConfig& config, const sim::Args& args,
                        const sim::RunOptions& options) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace drywell::kernels
