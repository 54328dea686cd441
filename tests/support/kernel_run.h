// Kernels of the table run from the words a user would type.
#pragma once

#include <string>

#include "kernels/registry.h"

namespace drywell::test {

/// "gemm-bf16 --m=128 --n=64" as a kernel and its parameters.
struct KernelWords {
  explicit KernelWords(const std::string& text);
  const kernels::Kernel* kernel = nullptr;
  kernels::Params params;
};

struct KernelRunOptions {
  sim::DriverKind driver = sim::DriverKind::eager;
  uint64_t seed = 0;
  bool verify = false;
  std::string arch = "sm_100a";
  std::vector<sim::Listener*> listeners{};
};

/// Runs it and keeps its outputs.
kernels::KernelReport run_kernel(const std::string& text, const KernelRunOptions& o = {});

/// Expects the kernel to equal its reference under the eager driver and to leave the same outputs under lazy, two shuffled
/// ones and (`timed`) the timed driver.
void expect_verified_under_every_driver(const std::string& text, const std::string& arch = "sm_100a", bool timed = true);

/// Expects ptxas to take the kernel's PTX; skips the test where there is none.
void expect_assembles(const std::string& text, const std::string& arch = "sm_100a");

/// A legal name of a parameterised test.
std::string words_name(const std::string& text);

}  // namespace drywell::test
