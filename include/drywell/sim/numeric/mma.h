// The arithmetic of one matrix instruction, per output element: one algorithm, with the parameters of every architecture
// and kind as data.
//
//   D = C + sum over k of A[k] * B[k] * SFA[k / block] * SFB[k / block]
//
// Source: docs/facts/numerics.md §3 (merged from public bit-accurate models and words measured on B200, H100 and
// H200). This header has the slow, obvious version, `dot`, which uses exact integers and is the reference for the tiled
// version in mma_tile.h.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "drywell/sim/numeric/format.h"

namespace drywell::numeric {

/// Architectures whose arithmetic differs.
enum class MmaArch : uint8_t {
  sm_70,
  sm_75,
  sm_80,
  sm_89,
  sm_90,
  sm_100,
  sm_120
};
/// Families of matrix instructions; each has kinds of its own.
enum class MmaInstruction : uint8_t {
  mma_sync,
  wgmma,
  tcgen05
};
/// PTX kinds; f16 includes bf16, and f8f6f4 includes every unscaled 8-, 6- and 4-bit product.
enum class MmaKind : uint8_t {
  f16,
  tf32,
  f8f6f4,
  mxf8f6f4,
  mxf4,
  mxf4nvf4
};

/// Conversion of the exact sum to a word of D.
enum class MmaOutput : uint8_t {
  f32_rz24,  // truncate to 24 significant bits; an overflow becomes infinity although the rounding is toward zero
  f32_rz14,  // the same with 14 significant bits (Hopper fp8)
  f16_rn,    // nearest even, from the exact sum
};

/// Parameters of an MMA's arithmetic. All exponents are powers of two.
struct MmaParams {
  /// Efloor: lower bound of the window's exponent. kNoFloor if no record has one.
  static constexpr int kNoFloor = -500;

  int group = 1;                           // consecutive k summed exactly before alignment: 16 in the mxf4 family, otherwise 1
  int window = 25;                         // F: terms are truncated to multiples of 2^(E - F)
  int exponent_floor = -133;               // lower bound of E
  MmaOutput output = MmaOutput::f32_rz24;  // how the exact sum becomes a word of D
  int sum_terms = 0;                       // k of one fused sum; D of one sum is C of the next; 0 = one sum for the whole instruction
  /// The fp8 forms of mma.sync on sm_90 and sm_100 are computed as f16 (docs/facts/numerics.md §3.2, "Legacy fp8
  /// mma.sync"): two chained sums over k mod 4 in {0,1} and {2,3}, starting from 0, then one ordinary addition of C.
  bool legacy_fp8 = false;  // computed as f16

  /// The format of C and D.
  constexpr Format d_format() const { return output == MmaOutput::f16_rn ? Format::f16 : Format::f32; }
  constexpr bool operator==(const MmaParams&) const = default;
};

/// Evidence for the parameters of a row.
enum class Confidence : uint8_t {
  measured,  // agrees with result words of real hardware
  modelled,  // from a public model that claims bit accuracy, not checked against hardware words
  assumed,
};

/// A set of formats, as bits 1 << Format.
using FormatSet = uint16_t;

/// The arithmetic of one kind of one architecture's instructions.
struct MmaRow {
  MmaArch arch;                    // the architecture
  MmaInstruction instruction;      // the family of instructions
  MmaKind kind;                    // the kind of PTX
  FormatSet a_formats, b_formats;  // formats of A and B that the row is for
  Format scale_format;             // f32 if the kind is not block-scaled
  MmaParams params;                // the arithmetic
  Confidence confidence;           // the evidence for it
  std::string_view note;           // its source in words
};

/// All floating-point rows (for integer and f64 MMA see dot_i8 and dot_f64).
std::span<const MmaRow> mma_rows();

/// What find_mma looks for.
struct MmaQuery {
  MmaArch arch = MmaArch::sm_100;                            // the architecture
  MmaInstruction instruction = MmaInstruction::tcgen05;      // the family of instructions
  MmaKind kind = MmaKind::f16;                               // the kind of PTX
  Format a = Format::f16, b = Format::f16, d = Format::f32;  // formats of A, B and D
  Format scale = Format::f32;                                // ue8m0 or ue4m3 for the block-scaled kinds
};

/// The row for `query`, or nullptr if no public record describes its arithmetic (the caller reports it as unsupported).
const MmaRow* find_mma(const MmaQuery& query);

/// One row of A and one of B: one code per element. Scales: one code per K / scales.size() elements, equal numbers for A
/// and B; empty if the kind is not block-scaled.
struct DotOperands {
  Format a_format, b_format;                               // of the codes
  std::span<const uint32_t> a, b;                          // codes, in order of k; equal numbers
  Format scale_format = Format::ue8m0;                     // of the scales' codes
  std::span<const uint32_t> a_scales = {}, b_scales = {};  // codes of the block scales, in order of k
};

/// One element of D for one whole instruction. `c` is a code of params.d_format(); pass 0 if the instruction does not read
/// D. `input_d_shift` is the scale-input-d operand of tcgen05.mma: the sum uses C * 2^-shift. No public record describes the
/// rounding of that scaling; here it is exact (assumed).
uint32_t dot(const MmaParams& params, const DotOperands& operands, uint32_t c, unsigned input_d_shift = 0);

/// Integer kinds: exact sum; wraps modulo 2^32, or clamps once after the whole sum including C if `saturate`.
uint32_t dot_i8(std::span<const uint8_t> a, bool a_signed, std::span<const uint8_t> b, bool b_signed,
                uint32_t c, bool saturate);

/// f64 MMA: IEEE fused multiply-adds in k order, starting from C (modelled).
double dot_f64(std::span<const double> a, std::span<const double> b, double c);

}  // namespace drywell::numeric
