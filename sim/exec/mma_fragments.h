// Fragments of the warp-level products: registers to matrices and back, and the slots they are decoded to.
#pragma once

#include <array>

#include "drywell/sim/numeric/mma_tile.h"
#include "sim/exec/decoder.h"
#include "sim/exec/exec.h"
#include "sim/exec/fragment.h"
#include "sim/exec/sparse.h"
#include "sim/exec/wide.h"
#include "sim/state/payload/mma.h"

namespace drywell::sim {

struct Registers {
  const Src *d, *a, *b, *c;
  uint32_t d_count, a_count, b_count, c_count;
};
inline Registers registers_of(const Warp& w, const payload::Fragments& f) {
  const Src* s = slots_at(w, f.first_slot);
  return {s, s + f.d, s + f.d + f.a, s + f.d + f.a + f.b, f.d, f.a, f.b, f.c};
}

inline constexpr uint32_t kMaxM = 16, kMaxN = 8, kMaxK = 256;

/// Codes of A and B, K-major, and words of C and D.
struct Operands {
  std::array<uint32_t, kMaxM * 64> a;
  std::array<uint32_t, kMaxN * 128> b;
  std::array<uint32_t, kMaxM * kMaxN> cd;
};

template <class Place>
void gather(const Warp& w, const Src* regs, uint32_t count, uint32_t bits, uint32_t k, uint32_t* codes,
            Place place) {
  const uint32_t per = per_register(bits);
  const uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1;
  for (uint32_t r = 0; r < count; ++r) {
    const uint32_t* v = lanes<uint32_t>(w, regs[r]);
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      for (uint32_t e = 0; e < per; ++e) {
        const FragmentPlace at = place(lane, r, e);
        codes[at.row * k + at.column] = v[lane] >> (e * bits) & mask;
      }
    }
  }
}

/// The rows of A and B as the instruction's codes are in memory: K-major, without gaps.
inline void gather_rows(const Warp& w, const Registers& regs, MmaShape s, uint32_t bits, Operands& o) {
  const uint32_t blocks = s.m / 8u, words = s.k * bits / 32;  // blocks of eight rows of A
  for (uint32_t r = 0; r < regs.a_count; ++r) copy_quads(lanes<uint32_t>(w, regs.a[r]), &o.a[8 * (r % blocks) * words + 4 * (r / blocks)], words);
  for (uint32_t r = 0; r < regs.b_count; ++r) copy_quads(lanes<uint32_t>(w, regs.b[r]), &o.b[4 * r], words);
}
/// The storage of elements in those rows.
inline numeric::CodeStorage storage_of(uint32_t bits) {
  return bits == 32 ? numeric::CodeStorage::words : bits == 16 ? numeric::CodeStorage::halves
                                                : bits == 8    ? numeric::CodeStorage::bytes
                                                               : numeric::CodeStorage::nibbles;
}

// Accumulators: one f32 or s32, or two f16, per register.
inline void gather_c(const Warp& w, const Registers& regs, bool is_half, uint32_t* c) {
  const auto row = [&](uint32_t i) { return c + size_t{8} * i * kMaxN; };
  for (uint32_t i = 0; is_half && i < regs.c_count; ++i) join_halves(lanes<uint32_t>(w, regs.c[i]), row(i), kMaxN);
  for (uint32_t i = 0; !is_half && i < regs.c_count / 2; ++i) join_pairs(lanes<uint32_t>(w, regs.c[2 * i]), lanes<uint32_t>(w, regs.c[2 * i + 1]), row(i), kMaxN);
}
inline void scatter_d(Warp& w, const Registers& regs, bool is_half, const uint32_t* d) {
  const auto row = [&](uint32_t i) { return d + size_t{8} * i * kMaxN; };
  const auto to = [&](uint32_t r) { return lanes<uint32_t>(w, regs.d[r].offset); };
  for (uint32_t i = 0; is_half && i < regs.d_count; ++i) part_halves(row(i), kMaxN, to(i));
  for (uint32_t i = 0; !is_half && i < regs.d_count / 2; ++i) part_pairs(row(i), kMaxN, to(2 * i), to(2 * i + 1));
}

/// Elements of B (K-major, k of `f`) that row `row` of sparse A multiplies: `stored` per column, at `out`.
inline void select_for_row(const payload::Fragments& f, const uint32_t* metadata, uint32_t row,
                           const uint32_t* b, uint32_t* out) {
  const uint32_t bits = f.bits, k_dense = f.shape.k, stored = k_dense / 2;
  const SparseGroup group = sparse_group(bits);
  for (uint32_t s = 0; s < stored; ++s) {
    const uint32_t g = s / group.stored;
    const MetadataPlace at = metadata_place(bits, k_dense / group.dense, f.selector, row, g);
    const uint32_t k =
        g * group.dense + dense_position(bits, metadata[at.lane] >> at.shift & 0xF, s % group.stored);
    for (uint32_t n = 0; n < f.shape.n; ++n) out[n * stored + s] = b[n * k_dense + k];
  }
}

inline payload::Fragments fragments_of(Decoder& d, unsigned register_bits) {
  payload::Fragments f;
  f.first_slot = d.next_slot();
  uint8_t* const counts[] = {&f.d, &f.a, &f.b, &f.c};
  for (size_t k = 0; k < 4; ++k) {
    d.vector(*d.operand(k), register_bits);
    *counts[k] = static_cast<uint8_t>(d.operand(k)->count);
  }
  f.shape = isa::mma_shape(d.mod(isa::Slot::shape));
  f.bits = static_cast<uint8_t>(isa::type_bits(d.mod(isa::Slot::atype)));
  return f;
}
// Sparse A: metadata and selector follow C.
inline void add_metadata(Decoder& d, payload::Fragments& f) {
  d.push_slot(d.source(*d.operand(4), 32));
  f.selector = static_cast<uint8_t>(d.operand(5)->value);
}

}  // namespace drywell::sim
