// wgmma.mma_async: one warp's 16 rows of the warpgroup's product. The operands are read as raw bytes at one moment; the
// product is computed and the accumulator registers are written at another.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "drywell/isa/smem_descriptor.h"
#include "drywell/sim/numeric/mma_tile.h"
#include "sim/engine/engine.h"
#include "sim/engine/skip_wgmma.h"
#include "sim/exec/fragment.h"
#include "sim/exec/mma_format.h"
#include "sim/exec/sparse.h"

namespace drywell::sim {
namespace {

constexpr uint32_t kRows = 16;        // of one warp
constexpr uint32_t kDepthBytes = 32;  // of stored K, in every form; B has twice as many if A is sparse
uint32_t depth_of_b(const Wgmma& m) { return m.sparse ? 2 * kDepthBytes : kDepthBytes; }

isa::SmemElement element_of(isa::Mod type) {
  switch (isa::type_bits(type)) {
    case 16: return isa::SmemElement::half;
    case 32: return isa::SmemElement::word;
    default: return isa::SmemElement::byte;  // also 8 single bits
  }
}

/// The rows [first, first + rows) of one operand.
struct Part {
  uint64_t descriptor;
  isa::Mod type;
  bool transposed;
  uint32_t mn, first, rows, depth;
};

// Writes K-major rows of `depth` bytes to `out`.
EngineResult gather(const Smem& smem, const Part& part, uint8_t* out) {
  const auto [word, type, transposed, mn, first, rows, depth] = part;
  const auto d = isa::SmemDescriptor::decode(word, isa::SmemDescriptorFormat::wgmma);
  const isa::SmemElement element = element_of(type);
  const uint32_t bytes = isa::storage_bits(element) / 8, k = depth / bytes, per_chunk = 16 / bytes;
  const isa::OperandTile tile{transposed ? isa::Major::mn : isa::Major::k, element, mn, k};
  std::vector<uint32_t> chunks(tile.chunks());
  isa::operand_row_chunks(d, tile, chunks);
  const uint32_t per_line = tile.chunks_per_line();
  for (uint32_t line = 0; line < tile.lines(); ++line) {
    for (uint32_t c = 0; c < per_line; ++c) {
      const uint32_t from = transposed ? c * per_chunk : line;
      if (from < first || from >= first + rows) continue;
      const uint32_t at = chunks[line * per_line + c];
      if (!smem.contains(at, 16)) return GuestError{Code::F3222, fmt::format("a wgmma operand reaches shared address {:#x}, past the CTA's {:#x}", at, smem.size())};
      const uint8_t* p = smem.data() + at;
      if (!transposed) {
        std::memcpy(out + (line - first) * depth + 16 * c, p, 16);
      } else {
        for (uint32_t e = 0; e < per_chunk; ++e) std::memcpy(out + (from - first + e) * depth + line * bytes, p + e * bytes, bytes);
      }
    }
  }
  return std::nullopt;
}

const uint32_t* register_of(const Warp& w, const Wgmma& m, uint32_t slot) { return reinterpret_cast<const uint32_t*>(w.register_file.data() + m.frame + slot); }

// The A fragment has the layout of mma.sync's m16: four registers of 32 bits, two steps of K.
void gather_registers(const Warp& w, const Wgmma& m, uint8_t* out) {
  for (uint32_t r = 0; r < 4; ++r) {
    uint32_t rows[8 * 4];
    copy_quads(register_of(w, m, m.a_regs[r]), rows, 4);
    for (uint32_t i = 0; i < 8; ++i) std::memcpy(out + (8 * (r % 2) + i) * kDepthBytes + 16 * (r / 2), rows + 4 * i, 16);
  }
}

/// C or D of 16 rows: one word per element.
using Accumulator = std::vector<uint32_t>;

/// Calls f(register, first of eight rows of eight words) for each register, or for each pair of them, of the accumulators.
template <class F>
void for_blocks(const Wgmma& m, uint32_t registers, F f) {
  for (uint32_t r = 0; r < m.d_regs.size(); r += registers) {
    const uint32_t block = r / registers;  // the upper and the lower rows take turns
    f(r, block % 2 * 8 * m.n + block / 2 * 8);
  }
}

void load_accumulator(const Warp& w, const Wgmma& m, Accumulator& c) {
  const auto lanes = [&](uint32_t r) { return register_of(w, m, m.d_regs[r]); };
  if (m.d_type == isa::Mod::f16) return for_blocks(m, 1, [&](uint32_t r, uint32_t at) { join_halves(lanes(r), &c[at], m.n); });
  for_blocks(m, 2, [&](uint32_t r, uint32_t at) { join_pairs(lanes(r), lanes(r + 1), &c[at], m.n); });
}

void store_accumulator(Warp& w, const Wgmma& m, const Accumulator& d) {
  const auto lanes = [&](uint32_t r) { return const_cast<uint32_t*>(register_of(w, m, m.d_regs[r])); };
  if (m.d_type == isa::Mod::f16) return for_blocks(m, 1, [&](uint32_t r, uint32_t at) { part_halves(&d[at], m.n, lanes(r)); });
  for_blocks(m, 2, [&](uint32_t r, uint32_t at) { part_pairs(&d[at], m.n, lanes(r), lanes(r + 1)); });
}

// Multiplies `rows` rows of A with B; both have kDepthBytes bytes of K per row.
EngineResult multiply_float(const Wgmma& m, uint32_t rows, const uint8_t* a_bytes, const uint8_t* b_bytes, uint32_t* cd) {
  numeric::MmaQuery q{numeric::MmaArch::sm_90, numeric::MmaInstruction::wgmma, mma_kind(m.a_type), format_of(m.a_type), format_of(m.b_type), format_of(m.d_type)};
  const numeric::MmaRow* row = numeric::find_mma(q);
  if (row == nullptr) return GuestError{Code::U5000, "unsupported: no public record of this product's arithmetic"};
  const uint32_t bits = isa::type_bits(m.a_type);
  numeric::OperandSource a;
  a.k = kDepthBytes * 8 / bits;
  a.row_stride = kDepthBytes;
  a.storage = bits == 32 ? numeric::CodeStorage::words : bits == 16 ? numeric::CodeStorage::halves
                                                                    : numeric::CodeStorage::bytes;
  numeric::OperandSource b = a;
  a.format = q.a;
  a.rows = rows;
  a.codes = a_bytes;
  a.negate = m.negate_a;
  b.format = q.b;
  b.rows = m.n;
  b.codes = b_bytes;
  b.negate = m.negate_b;
  numeric::mma_tile(row->params, a, b, {.c = m.accumulate ? cd : nullptr, .c_stride = m.n, .d = cd, .d_stride = m.n});
  return std::nullopt;
}

EngineResult multiply_rows(const Wgmma& m, uint32_t rows, const uint8_t* a, const uint8_t* b, uint32_t* cd) {
  if (m.d_type != isa::Mod::s32) return multiply_float(m, rows, a, b, cd);
  numeric::mma_tile_i8({.m = rows, .n = m.n, .k = kDepthBytes, .a = a, .a_stride = kDepthBytes, .a_signed = m.a_type == isa::Mod::s8, .b = b, .b_stride = kDepthBytes, .b_signed = m.b_type == isa::Mod::s8, .saturate = m.saturate},
                       {.c = m.accumulate ? cd : nullptr, .c_stride = m.n, .d = cd, .d_stride = m.n});
  return std::nullopt;
}

// Each row of A is multiplied with the elements of B that its metadata selects.
EngineResult multiply_sparse(const Wgmma& m, const uint8_t* a, const uint8_t* b, Accumulator& cd) {
  const uint32_t bits = isa::type_bits(m.a_type), bytes = bits / 8, stored = kDepthBytes / bytes;
  const SparseGroup group = sparse_group(bits);
  std::vector<uint8_t> kept(size_t{m.n} * kDepthBytes);
  for (uint32_t row = 0; row < kRows; ++row) {
    for (uint32_t s = 0; s < stored; ++s) {
      const uint32_t g = s / group.stored;
      const MetadataPlace at = metadata_place(bits, m.k / group.dense, m.selector, row, g);
      const uint32_t k = g * group.dense + dense_position(bits, m.metadata[at.lane] >> at.shift & 0xF, s % group.stored);
      for (uint32_t n = 0; n < m.n; ++n) std::memcpy(&kept[n * kDepthBytes + s * bytes], b + n * 2 * kDepthBytes + k * bytes, bytes);
    }
    if (auto e = multiply_rows(m, 1, a + row * kDepthBytes, kept.data(), cd.data() + size_t{row} * m.n); e.has_value()) return e;
  }
  return std::nullopt;
}

void multiply_bits(const Wgmma& m, const uint8_t* a, const uint8_t* b, Accumulator& cd) {
  const auto word = [](const uint8_t* p) {
    uint64_t v;
    std::memcpy(&v, p, 8);
    return v;
  };
  for (uint32_t r = 0; r < kRows; ++r) {
    for (uint32_t n = 0; n < m.n; ++n) {
      uint32_t sum = m.accumulate ? cd[r * m.n + n] : 0;
      for (uint32_t at = 0; at < kDepthBytes; at += 8) sum += static_cast<uint32_t>(std::popcount(word(a + r * kDepthBytes + at) & word(b + n * kDepthBytes + at)));
      cd[r * m.n + n] = sum;
    }
  }
}

// Removes this operation's registers from the set in flight, except those that other operations in flight use.
void release_registers(Cluster& c, const AsyncOp& op, const Wgmma& m) {
  Warp& w = c.cta(op.issuer.cta).warps[op.issuer.warp];
  const auto mark = [&](const Wgmma& x, bool pending) {
    for (const auto* list : {&x.d_regs, &x.a_regs}) {
      for (uint32_t r : *list) {
        const uint32_t bit = (x.frame + r) / 128;
        const uint64_t one = uint64_t{1} << (bit % 64);
        w.pending_regs[bit / 64] = pending ? w.pending_regs[bit / 64] | one : w.pending_regs[bit / 64] & ~one;
      }
    }
  };
  mark(m, false);
  for (const AsyncOp& p : c.pending) {
    const auto* other = std::get_if<Wgmma>(&p.payload);
    if (other != nullptr && p.id != op.id && p.issuer.cta == op.issuer.cta && p.issuer.warp == op.issuer.warp) mark(*other, true);
  }
  --w.pending_wgmma;
}

void leave_group(Cluster& c, const AsyncOp& op, const Wgmma& m) {
  Cta& cta = c.cta(op.issuer.cta);
  for (ThreadGroups& t : cta.warps[op.issuer.warp].wgmma_groups) {
    for (ThreadGroups::Group& g : t.groups) {
      if (g.serial == m.group) --g.reads, --g.writes;
    }
  }
  c.wake(cta);
}

}  // namespace

EngineResult read_operands(Cluster& c, AsyncOp& op, Wgmma& m) {
  const Cta& cta = c.cta(op.issuer.cta);
  const Warp& w = cta.warps[op.issuer.warp];
  op.staging.resize(kDepthBytes * kRows + depth_of_b(m) * m.n);
  if (m.a_in_registers) {
    gather_registers(w, m, op.staging.data());
  } else if (auto e = gather(cta.smem, {m.a, m.a_type, m.trans_a, 64, kRows * (op.issuer.warp % 4), kRows, kDepthBytes}, op.staging.data()); e.has_value()) {
    return e;
  }
  return gather(cta.smem, {m.b, m.b_type, m.trans_b, m.n, 0, m.n, depth_of_b(m)}, op.staging.data() + kDepthBytes * kRows);
}

EngineResult write_result(Cluster& c, AsyncOp& op, Wgmma& m) {
  Warp& w = c.cta(op.issuer.cta).warps[op.issuer.warp];
  const uint8_t *a = op.staging.data(), *b = a + kDepthBytes * kRows;
  Accumulator cd(kRows * m.n);
  if (m.accumulate) load_accumulator(w, m, cd);
  if (m.a_type == isa::Mod::b1) {
    multiply_bits(m, a, b, cd);
  } else if (auto e = m.sparse ? multiply_sparse(m, a, b, cd) : multiply_rows(m, kRows, a, b, cd.data()); e.has_value()) {
    return e;
  }
  store_accumulator(w, m, cd);
  end_without_product(c, op, m);
  return std::nullopt;
}

void end_without_product(Cluster& c, const AsyncOp& op, const Wgmma& m) {
  release_registers(c, op, m);
  leave_group(c, op, m);
}

}  // namespace drywell::sim
