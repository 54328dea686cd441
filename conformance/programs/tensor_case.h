// One tcgen05.mma of the suite: matrices of codes, their places, and the expected result. Layouts are written from the
// PTX ISA and the public code that docs/facts/tcgen05.md §4.6, §5, §6, §8 cites, the arithmetic from docs/facts/numerics.md §3.1;
// nothing here calls isa/ layouts or sim/numeric.
#pragma once

#include <ostream>
#include <string>

#include "conformance/programs/tensor_program.h"
#include "conformance/programs/tensor_reference.h"

namespace drywell::kernels::conformance {

/// Swizzle modes, with the names of the tests.
enum class Swizzling : uint8_t {
  none,
  s32,
  s64,
  s128,
  s128_atom32
};

/// Layout of an operand in shared memory.
struct SmemPlan {
  bool mn_major = false;
  Swizzling swizzle = Swizzling::none;
  unsigned steps = 0;  // K-major with a swizzle: the operand starts this many 32-byte steps inside the span
  bool split = false;  // the row goes on behind the span at an absolute address (sm_103)
};

struct MmaCase {
  std::string kind = "f16";  // PTX's name
  std::string a_type = "f16", b_type = "f16", d_type = "f32";
  unsigned m = 128, n = 64, cta_group = 1;
  bool ws = false, sparse = false, a_in_tmem = false, accumulate = true, saturate = false;
  bool negate_a = false, negate_b = false, ashift = false;
  bool k96 = false;  // K = 96 of sm_103
  SmemPlan a, b;
  std::string scale_type;  // "ue8m0", "ue4m3": block scaled
  unsigned factors = 0;    // per row
  unsigned sfa_id = 0, sfb_id = 0;
  unsigned scale_d = 0, d_lane = 0, selector = 0, max_shift = 0;
  uint64_t zero_mask = 0;
  bool has_zero_mask = false;
  std::vector<uint32_t> disable;
  std::string qualifiers;  // collector and similar qualifiers
  unsigned issuer = 0;
  uint32_t wrong_bits = 0;  // XORed into the instruction descriptor, for illegal variants
  bool tame = false;        // no infinities, NaNs or extremes among the codes
  uint64_t seed = 1;

  std::string name() const;
  friend void PrintTo(const MmaCase& c, std::ostream* out) { *out << c.name(); }
  bool scaled() const { return factors != 0; }
  bool packed_fp4() const { return kind == "mxf4" || kind == "mxf4nvf4"; }  // two elements per byte
  unsigned bits(const std::string& type) const;                             // of the value
  unsigned stored_k() const;                                                // of A
  unsigned k() const { return stored_k() * (sparse ? 2 : 1); }
  unsigned meta_groups() const;   // number of 4-bit groups of metadata per row
  unsigned column_shift() const;  // of the zero-column mask
  char layout() const;            // PTX's letter
  uint32_t idesc() const;
};

/// The matrices. Rows of A are the whole tile's; scale factors in order of k.
struct MmaData {
  std::vector<std::vector<uint32_t>> a, b, sfa, sfb, c;
  std::vector<std::vector<uint8_t>> meta;  // per row: one nibble per group
};
MmaData random_matrices(const MmaCase& c);

/// Cell of D(m, n): CTA, lane and column relative to the base.
struct Cell {
  unsigned cta, lane, column;
};
Cell d_place(const MmaCase& c, unsigned m, unsigned n);

/// Images with every operand in its place and random bits elsewhere, and the operands of the instruction.
struct MmaSetup {
  std::vector<TensorImage> images;
  uint64_t a_desc = 0, b_desc = 0;
  uint32_t d = 0, a_tmem = 0, meta = 0, sfa = 0, sfb = 0;
};
MmaSetup place(const MmaCase& c, const MmaData& data);
/// Places only A and B into shared memory of sufficient size; A starts at `a_start`, B after it. Returns the
/// descriptors.
struct SmemOperands {
  uint64_t a_desc, b_desc;
  uint32_t end;
};
SmemOperands store_smem(const MmaCase& c, const MmaData& data, std::vector<TensorImage>& images,
                        uint32_t a_start = 0);

/// Returns D by the reference.
std::vector<std::vector<uint32_t>> expected_d(const MmaCase& c, const MmaData& data);
/// Returns the images after the instruction.
std::vector<TensorImage> expected_images(const MmaCase& c, const MmaData& data, const MmaSetup& setup);

/// Column at which place() puts A in tensor memory.
inline constexpr unsigned kAColumn = 260;

/// Emits the instruction.
void emit_mma(const MmaCase& c, const MmaSetup& setup, const TensorOperands& o);
TensorProgram program_of(const MmaCase& c, const MmaSetup& setup);
/// Random data and its expected result; the upper halves of f16 results are not specified.
TensorCheck mma_check(const MmaCase& c);

}  // namespace drywell::kernels::conformance
