// Runs tcgen05 programs of the conformance suite's kind in tests: every driver, the whole tensor memory
// compared.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "conformance/programs/tensor_case.h"
#include "drywell/sim/device.h"

namespace drywell::test {

using kernels::conformance::MmaCase;
using kernels::conformance::MmaData;
using kernels::conformance::MmaSetup;
using kernels::conformance::RandomWords;
using kernels::conformance::SmemOperands;
using kernels::conformance::Swizzling;
using kernels::conformance::TensorImage;
using kernels::conformance::TensorOperands;
using kernels::conformance::TensorProgram;

inline constexpr sim::DriverKind kAllDrivers[] = {sim::DriverKind::eager, sim::DriverKind::lazy,
                                                  sim::DriverKind::shuffled, sim::DriverKind::timed};

/// Runs the program; `images` take the tensor memories and registers it leaves.
sim::RunResult run_tensor(const TensorProgram& program, std::vector<TensorImage>& images,
                          sim::DriverKind driver, uint64_t seed = 1);

/// Runs under the drivers and expects these tensor memories and registers; reports the differences.
void expect_tensor(const TensorProgram& program, const std::vector<TensorImage>& images,
                   const std::vector<TensorImage>& expected,
                   std::span<const sim::DriverKind> drivers = kAllDrivers);
/// Runs under the eager driver and expects a fault with this code.
void expect_tensor_fault(const TensorProgram& program, const std::vector<TensorImage>& images,
                         Code code);

}  // namespace drywell::test
