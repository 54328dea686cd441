// Runs tcgen05 instructions on images of shared and tensor memory: the images go in, the instructions run in one thread,
// the whole tensor memory comes out. What a test expects it computes on the images.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "drywell/isa/builder.h"
#include "drywell/sim/device.h"

namespace drywell::test {

inline constexpr unsigned kTmemLanes = 128, kTmemColumns = 512;

/// One CTA's memories. `smem` starts at an address that is a multiple of 1024.
struct TensorImage {
  std::vector<uint8_t> smem;
  std::vector<uint32_t> tmem = std::vector<uint32_t>(kTmemLanes * kTmemColumns, 0);
  std::vector<uint32_t> registers_in, registers_out;  // [register][thread], for TensorProgram::every_thread

  uint32_t& cell(unsigned lane, unsigned column) { return tmem[column * kTmemLanes + lane]; }
  uint32_t cell(unsigned lane, unsigned column) const { return tmem[column * kTmemLanes + lane]; }
};

/// What the instructions under test can name.
struct TensorOperands {
  isa::KernelBuilder& k;
  isa::Reg image;  // shared address of the image
  isa::Reg tmem;   // base of the allocation: column 0

  /// A descriptor whose start address counts from the image.
  isa::Reg descriptor(uint64_t relative) const;
  isa::Reg word(uint32_t value) const { return k.def("mov.b32", value); }
  isa::Reg predicate(bool value) const;
};

/// Instructions of one thread; the step ends when a commit after them has arrived.
using TensorStep = std::function<void(const TensorOperands&)>;

struct TensorProgram {
  unsigned cta_group = 1;       // images.size() CTAs
  unsigned issuer = 0;          // rank of the CTA whose thread issues
  std::vector<TensorStep> steps;
  /// Runs in every thread after the steps; `in` come from TensorImage::registers_in, `out` go to registers_out.
  std::function<void(const TensorOperands&, const isa::RegArray& in, const isa::RegArray& out)> every_thread;
  unsigned in = 0, out = 0;
  isa::Target target = isa::Target::sm_100a;
};

/// The kernel: loads the images, runs the steps, stores tensor memory.
isa::Module tensor_kernel(const TensorProgram& program, uint32_t smem_bytes);

/// Runs the program; `images` take the tensor memories it leaves.
sim::RunResult run_tensor(const TensorProgram& program, std::vector<TensorImage>& images, sim::DriverKind driver, uint64_t seed = 1);

/// Runs under every driver and expects these tensor memories and registers; tells where they differ.
void expect_tensor(const TensorProgram& program, const std::vector<TensorImage>& images, const std::vector<TensorImage>& expected);
/// Runs under the eager driver and expects a fault with this code.
void expect_tensor_fault(const TensorProgram& program, const std::vector<TensorImage>& images, const std::string& code);

}  // namespace drywell::test
