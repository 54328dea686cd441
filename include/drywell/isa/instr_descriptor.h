// The 32-bit instruction descriptor of tcgen05.mma in its three layouts, the legality of shapes and types, and the
// zero-column-mask descriptor of mma.ws. Source: docs/facts/tcgen05.md §4.2, §4.3, §4.7, §4.8, §9 (PTX ISA 9.7.16.4.2). All
// functions depend on their arguments only and may be called at the same time.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "drywell/core/error.h"
#include "drywell/isa/field_note.h"
#include "drywell/isa/smem_descriptor.h"

namespace drywell::isa {

/// `.kind` of tcgen05.mma; chooses the layout of the instruction descriptor.
enum class MmaKind : uint8_t {
  f16,
  tf32,
  f8f6f4,
  i8,
  mxf8f6f4,
  mxf4,
  mxf4nvf4
};
inline constexpr unsigned kMmaKindCount = 7;  // of MmaKind

/// As in the modifier: "mxf4nvf4".
std::string_view to_string(MmaKind kind);

/// True for the kinds with .block_scale.
constexpr bool is_block_scaled(MmaKind k) { return k >= MmaKind::mxf8f6f4; }
/// mxf4 and mxf4nvf4: two elements per byte, K-major only.
constexpr bool is_packed_fp4(MmaKind k) { return k == MmaKind::mxf4 || k == MmaKind::mxf4nvf4; }

/// `.scale_vec::NX`: scale factors per row and MMA (dense), independent of the `.blockN` spelling.
enum class ScaleVector : uint8_t {
  none = 0,
  x1 = 1,
  x2 = 2,
  x4 = 4
};

/// Element type that a type code of the descriptor means; `invalid` for codes that the kind does not have.
enum class MmaElement : uint8_t {
  f16,
  bf16,
  tf32,
  e4m3,
  e5m2,
  e2m3,
  e3m2,
  e2m1,
  u8,
  s8,
  invalid
};
/// Type of D, numbered as in the descriptor.
enum class MmaAccumulator : uint8_t {
  f16 = 0,
  f32 = 1,
  s32 = 2,
  invalid = 3
};
/// "e4m3" and the like; "invalid".
std::string_view to_string(MmaElement e);
/// "f16", "f32", "s32", "invalid".
std::string_view to_string(MmaAccumulator d);

/// Bits of the value; 8 for `invalid`.
constexpr unsigned element_bits(MmaElement e) {
  switch (e) {
    case MmaElement::f16:
    case MmaElement::bf16: return 16;
    case MmaElement::tf32: return 32;
    case MmaElement::e2m3:
    case MmaElement::e3m2: return 6;
    case MmaElement::e2m1: return 4;
    default: return 8;
  }
}

/// Properties of the instruction that are not in its descriptor. `cta_group` is 1 or 2.
struct MmaForm {
  MmaKind kind = MmaKind::f16;                         // .kind
  uint8_t cta_group = 1;                               // .cta_group
  bool ws = false, sparse = false, a_in_tmem = false;  // .ws, .sp, A is a tensor-memory address
  ScaleVector scale = ScaleVector::none;               // block-scaled kinds: x1, x2 or x4
  bool sm103 = false;                                  // the machine has sm_103's K = 96 and absolute leading-dimension addresses
};

/// Number of elements along K of one MMA (logical K, so twice as many for sparse A); `k96` is the sm_103a size of the
/// packed kinds.
constexpr unsigned mma_k(MmaKind kind, bool sparse, bool k96 = false) {
  unsigned k = 32;
  if (kind == MmaKind::f16) {
    k = 16;
  }
  if (kind == MmaKind::tf32) {
    k = 8;
  }
  if (is_packed_fp4(kind)) {
    k = k96 ? 96 : 64;
  }
  return sparse ? 2 * k : k;
}

/// True if PTX lists this shape for the form (docs/facts/tcgen05.md §4.3). `wide_b`: B is MN-major with 8-bit elements, which doubles
/// the step of N.
bool is_valid_shape(const MmaForm& form, unsigned m, unsigned n, bool wide_b = false);
/// Returns the valid shapes as text, for hints.
std::string valid_shapes(const MmaForm& form, bool wide_b = false);

/// Decoded descriptor. Fields that a layout lacks keep their defaults; `reserved` keeps the bits outside the layout's
/// fields.
struct InstrDescriptor {
  MmaKind kind = MmaKind::f16;                                                        // decides the layout
  uint16_t m = 0, n = 0;                                                              // elements
  uint8_t a_type = 0, b_type = 0;                                                     // codes, see element_of()
  uint8_t d_type = 0;                                                                 // (a) only; block-scaled kinds accumulate in f32
  bool sparse = false, saturate = false;                                              // bits of these names
  uint8_t sparsity_selector = 0;                                                      // 0 to 3
  bool negate_a = false, negate_b = false, transpose_a = false, transpose_b = false;  // bits of these names; transpose: MN-major
  uint8_t max_shift = 0;                                                              // (a) only: 0, 1, 2, 3 = none, 8, 16, 32
  uint8_t sfa_id = 0, sfb_id = 0;                                                     // (b), (c)
  bool scale_ue8m0 = false;                                                           // (b), (c): true ue8m0, false ue4m3
  bool k96 = false;                                                                   // (c) only, sm_103a
  uint32_t reserved = 0;                                                              // 0 in a legal one

  /// The word; values that do not fit are cut to their fields.
  uint32_t encode() const;
  /// The fields in the layout of the kind; decode(kind, d.encode()) == d if all values fit.
  static InstrDescriptor decode(MmaKind kind, uint32_t word);
  bool operator==(const InstrDescriptor&) const = default;

  /// element_of(kind, a_type).
  MmaElement a_element() const;
  /// element_of(kind, b_type).
  MmaElement b_element() const;
  /// Type of D; f32 for block-scaled kinds.
  MmaAccumulator accumulator() const;
  /// Logical K of one MMA with this descriptor.
  unsigned k() const { return mma_k(kind, sparse, k96); }
};

/// Returns the element type of a type code; `invalid` if the kind does not have the code.
MmaElement element_of(MmaKind kind, uint8_t code);
/// Returns the code of an element type in a kind; 0xFF if the kind does not have it.
uint8_t code_of(MmaKind kind, MmaElement element);
/// Returns the storage form of the element in SMEM under this kind (docs/facts/tcgen05.md §8).
SmemElement smem_element(MmaKind kind, MmaElement element);

/// Returns the part of A (B) in one CTA: M / cta_group rows of stored K (half of it for sparse A), N / cta_group rows
/// of logical K (docs/facts/tcgen05.md §4.4).
OperandTile operand_tile_a(const InstrDescriptor& d, unsigned cta_group);
/// The same for B.
OperandTile operand_tile_b(const InstrDescriptor& d, unsigned cta_group);

/// Reports rules I1..I9, I11 and I14 of docs/facts/tcgen05.md §9 with codes E1421..E1434 (E1420 + rule number); E1422 covers the shape,
/// E1423 the types.
void check(const InstrDescriptor& d, const MmaForm& form, Diagnostics& out, const SourcePos& where = {});

/// Reports rule I10 (E1430): the scale-input-d immediate exists for f16 and tf32 only, 0..15.
void check_scale_input_d(MmaKind kind, int64_t immediate, Diagnostics& out, const SourcePos& where = {});

/// Each field with its bits and meaning.
std::vector<FieldNote> explain(const InstrDescriptor& d);

/// The optional 64-bit zero-column-mask descriptor of mma.ws (docs/facts/tcgen05.md §4.8).
struct ZeroColumnMask {
  std::array<uint8_t, 4> start_count{};  // columns to skip at the start of the first run, per sub-mask
  std::array<bool, 4> first_zeroed{};    // first-span bit: the first run is zeroed
  bool generate = false;                 // bit 39; false: every column is used
  uint8_t skip_span = 0, use_span = 0;   // run lengths minus 1
  uint8_t column_shift = 0;              // B column n reads row n + shift
  uint64_t reserved = 0;                 // 0 in a legal one

  /// The word.
  uint64_t encode() const;
  /// The fields of a word.
  static ZeroColumnMask decode(uint64_t word);
  bool operator==(const ZeroColumnMask&) const = default;
};

/// Number of sub-masks for M: 1, 2, 4 for 128, 64, 32; each covers N / count columns.
constexpr unsigned zero_mask_parts(unsigned m) { return m >= 128 ? 1 : 128 / m; }

/// Sets out[n] = 1 if column n of the MMA counts as zero, else 0. `out` has N entries.
void zeroed_columns(const ZeroColumnMask& mask, unsigned m, std::span<uint8_t> out);

/// Reports E1431: shift beyond 16 (M=32), 32 (else) or the descriptor's maximum shift; E1421: reserved bits.
void check(const ZeroColumnMask& mask, const InstrDescriptor& d, Diagnostics& out,
           const SourcePos& where = {});

}  // namespace drywell::isa
