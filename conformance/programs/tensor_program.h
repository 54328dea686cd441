// Programs of the tcgen05 family: the kernel loads images of shared and tensor memory, one thread runs the
// instructions, and the kernel stores the whole tensor memory. Expected values are computed on the images.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "conformance/programs/program.h"
#include "drywell/isa/builder.h"

namespace drywell::kernels::conformance {

inline constexpr unsigned kTmemLanes = 128, kTmemColumns = 512, kTensorThreads = 128;

/// Deterministic pseudo-random words (splitmix64).
class RandomWords {
 public:
  explicit RandomWords(uint64_t seed) : state_(seed) {}
  uint32_t next();

 private:
  uint64_t state_;
};

/// One CTA's memories. `smem` starts at an address that is a multiple of 1024.
struct TensorImage {
  std::vector<uint8_t> smem;
  std::vector<uint32_t> tmem = std::vector<uint32_t>(kTmemLanes * kTmemColumns, 0);
  std::vector<uint32_t> registers_in, registers_out;  // [register][thread], for TensorProgram::every_thread

  uint32_t& cell(unsigned lane, unsigned column) { return tmem[column * kTmemLanes + lane]; }
  uint32_t cell(unsigned lane, unsigned column) const { return tmem[column * kTmemLanes + lane]; }
  void fill_tmem(RandomWords& words);
};

/// Operands for the instructions under test.
struct TensorOperands {
  isa::KernelBuilder& k;
  isa::Reg image;  // shared address of the image
  isa::Reg tmem;   // base of the allocation: column 0

  /// Returns a descriptor whose start address is relative to the image.
  isa::Reg descriptor(uint64_t relative) const;
  isa::Reg word(uint32_t value) const { return k.def("mov.b32", value); }
  isa::Reg predicate(bool value) const;
};

/// Replaces `width` bits of `word` from bit `low`.
void put_bits(uint32_t& word, unsigned low, unsigned width, uint32_t value);

/// Instructions of one thread; the step ends when a commit after them has arrived on its mbarrier.
using TensorStep = std::function<void(const TensorOperands&)>;

struct TensorProgram {
  unsigned cta_group = 1;  // also the number of CTAs
  unsigned issuer = 0;     // rank of the CTA whose thread issues
  std::vector<TensorStep> steps;
  /// Runs in every thread after the steps.
  std::function<void(const TensorOperands&, const isa::RegArray& in, const isa::RegArray& out)> every_thread;
  unsigned in = 0, out = 0;
  isa::Target target = isa::Target::sm_100a;
};

/// Builds the kernel "tensor": it loads the images, runs the steps, stores tensor memory. Parameters: addresses of
/// shared memories, tensor memories in and out, registers in and out, one image after the other.
isa::Module tensor_kernel(const TensorProgram& program, uint32_t smem_bytes);

/// A program with its expected result.
struct TensorCheck {
  TensorProgram program;
  std::vector<TensorImage> images, expected;
  /// Bits of the expected tensor memory that PTX does not specify, per CTA; empty: none.
  std::vector<std::vector<uint32_t>> open;
};
struct TensorSpec {
  std::string name;
  std::function<TensorCheck()> make;
  isa::Target target = isa::Target::sm_100a;
};

/// Converts a check to a program of the suite.
Program to_program(const TensorCheck& check);

/// The family's forms.
void add_mma_forms(std::vector<TensorSpec>& out);
void add_move_forms(std::vector<TensorSpec>& out);  // cp, shift, ld, st, ld.red
std::vector<TensorSpec> tensor_specs();

}  // namespace drywell::kernels::conformance
