// The TMA engine, tensor copies and reductions: box rows between global memory and swizzled shared memory
// (docs/facts/tma-mbarrier.md §2).
#include <fmt/format.h>

#include <cstring>

#include "sim/engine/engine.h"
#include "sim/engine/reduce.h"
#include "sim/engine/signals.h"
#include "sim/engine/tensor_plan.h"

namespace drywell::sim {
namespace {

using isa::Mod;
using isa::TensorType;
using isa::TileRow;

GuestError outside(const Cluster& c, const TensorPlan& p, uint64_t address, uint64_t bytes) {
  return {Code::F3306, fmt::format("tensor copy reaches {} bytes at global address {:#x}, outside every "
                                   "allocation; the map's tensor starts at {:#x}{}",
                                   bytes, address, p.map.address, c.launch->gmem->neighbourhood(address))};
}

EngineResult check_box(const TensorPlan& p, uint32_t base, const Smem& smem) {
  if (smem.contains(base, p.geometry().smem_bytes())) return std::nullopt;
  return GuestError{
      Code::F3307,
      fmt::format(
          "a box of {} bytes at shared address {:#x} passes the end of the CTA's shared memory ({:#x})",
          p.geometry().smem_bytes(), base, smem.size())};
}

// ---- conversion of padded element formats

// Sixteen packed values take 16 bytes of shared memory; the padding is poison, not data (docs/facts/tma-mbarrier.md §2.6).
constexpr uint32_t kPaddedGroup = 16;
constexpr uint8_t kPadPoison = 0xFF;

void expand_padded(const uint8_t* packed, uint32_t packed_group, uint8_t* row, uint32_t row_bytes) {
  for (uint32_t b = 0; b < row_bytes; b += kPaddedGroup, packed += packed_group) {
    std::memcpy(row + b, packed, packed_group);
    std::memset(row + b + packed_group, kPadPoison, kPaddedGroup - packed_group);
  }
}

// b6p2x16: each byte holds a 6-bit value in its low bits; they are packed, first value lowest.
void pack_six_bits(const uint8_t* row, uint32_t row_bytes, uint8_t* packed) {
  for (uint32_t b = 0; b < row_bytes; b += 4, packed += 3) {
    uint32_t word = 0;
    for (uint32_t k = 0; k < 4; ++k) word |= uint32_t{row[b + k] & 0x3Fu} << (6 * k);
    for (uint32_t k = 0; k < 3; ++k) packed[k] = static_cast<uint8_t>(word >> (8 * k));
  }
}

void round_tf32(uint8_t* row, uint32_t first, uint32_t last) {
  for (uint32_t b = first; b + 4 <= last; b += 4) {
    uint32_t v;
    std::memcpy(&v, row + b, 4);
    v = isa::tf32_load_rounding(v);
    std::memcpy(row + b, &v, 4);
  }
}

// Swizzled rows are copied in runs of one atom, which is 16 bytes in most modes.
inline void copy_run(uint8_t* to, const uint8_t* from, uint32_t bytes) {
  constexpr uint32_t kAtom = 16;
  if (bytes == kAtom) std::memcpy(to, from, kAtom);
  else std::memcpy(to, from, bytes);
}

// ---- loads

EngineResult load_row(Cluster& c, const TensorPlan& p, const TileRow& row, uint8_t* to,
                      const Gmem::Allocation*& hint) {
  const isa::TileGeometry& g = p.geometry();
  const bool padded = isa::is_padded(p.map.type);
  if (row.first == row.last || row.first != 0 || row.last != g.row_bytes) {
    const uint16_t fill = isa::oob_fill_half(p.map.oob_fill);
    for (uint32_t b = 0; b + 1 < g.row_bytes; b += 2) std::memcpy(to + b, &fill, 2);
    if (padded) {
      const std::vector<uint8_t> zero(g.global_row_bytes);
      expand_padded(zero.data(), g.global_row_bytes * kPaddedGroup / g.row_bytes, to, g.row_bytes);
    }
  }
  if (row.first == row.last) return std::nullopt;
  const uint32_t bytes = padded ? g.global_row_bytes : row.last - row.first;
  const uint64_t address = p.map.address + row.global_offset + row.first;
  const uint8_t* from = c.launch->gmem->translate(address, bytes, hint);
  if (from == nullptr) return outside(c, p, address, bytes);
  if (padded) {
    expand_padded(from, g.global_row_bytes * kPaddedGroup / g.row_bytes, to, g.row_bytes);
  } else {
    std::memcpy(to + row.first, from, bytes);
  }
  if (p.map.type == TensorType::tf32 || p.map.type == TensorType::tf32_ftz)
    round_tf32(to, row.first, row.last);
  return std::nullopt;
}

EngineResult gather(Cluster& c, AsyncOp& op, const TensorPlan& p) {
  const isa::TileGeometry& g = p.geometry();
  op.staging.resize(size_t{g.rows} * g.row_bytes);
  const Gmem::Allocation* hint = nullptr;
  for (uint32_t r = 0; r < g.rows; ++r) {
    if (auto e = load_row(c, p, p.box.rows[r], op.staging.data() + size_t{r} * g.row_bytes, hint);
        e.has_value())
      return e;
  }
  return std::nullopt;
}

EngineResult scatter_to_shared(Cluster& c, const AsyncOp& op, const TensorCopy& t, const TensorPlan& p) {
  const LoadTarget target{t.smem, t.mbar, t.multicast, t.cta_group};
  if (auto e = check_target(c, target); e.has_value()) return e;
  for (uint32_t d = 0; d < kMaxClusterCtas; ++d) {
    if ((target.ctas() >> d & 1) == 0) continue;
    Smem& smem = c.cta(d).smem;
    if (auto e = check_box(p, shared_offset(t.smem), smem); e.has_value()) return e;
    for (uint32_t r = 0; r < p.geometry().rows; ++r) {
      const uint8_t* from = op.staging.data() + size_t{r} * p.geometry().row_bytes;
      for_runs(p, shared_offset(t.smem), p.box.rows[r],
               [&](uint32_t b, uint32_t at, uint32_t n) { copy_run(smem.data() + at, from + b, n); });
    }
  }
  return signal_target(c, target, p.geometry().transaction_bytes);
}

// ---- stores and reductions

EngineResult gather_from_shared(Cluster& c, AsyncOp& op, const TensorCopy& t, const TensorPlan& p) {
  const isa::TileGeometry& g = p.geometry();
  const Smem& smem = c.cta(shared_rank(t.smem)).smem;
  if (auto e = check_box(p, shared_offset(t.smem), smem); e.has_value()) return e;
  op.staging.resize(size_t{g.rows} * g.row_bytes);
  for (uint32_t r = 0; r < g.rows; ++r) {
    uint8_t* to = op.staging.data() + size_t{r} * g.row_bytes;
    for_runs(p, shared_offset(t.smem), p.box.rows[r],
             [&](uint32_t b, uint32_t at, uint32_t n) { copy_run(to + b, smem.data() + at, n); });
  }
  return std::nullopt;
}

// The reduction type of a map's elements under an operation; none if there is no such reduction.
Mod reduce_type(TensorType type, Mod op) {
  const bool bitwise = op == Mod::and_ || op == Mod::or_ || op == Mod::xor_;
  switch (type) {
    case TensorType::u32: return bitwise ? Mod::b32 : Mod::u32;
    case TensorType::s32: return bitwise ? Mod::b32 : Mod::s32;
    case TensorType::u64: return bitwise ? Mod::b64 : Mod::u64;
    case TensorType::s64: return bitwise || op == Mod::add ? Mod::none : Mod::s64;  // error 715 on an H200
    case TensorType::f16: return Mod::f16;
    case TensorType::bf16: return Mod::bf16;
    case TensorType::f32:
    case TensorType::f32_ftz: return Mod::f32;
    default: return Mod::none;
  }
}

EngineResult scatter_to_global(Cluster& c, const AsyncOp& op, const TensorCopy& t, const TensorPlan& p) {
  const isa::TileGeometry& g = p.geometry();
  const bool reduces = t.direction == TensorCopy::Direction::reduce, padded = isa::is_padded(p.map.type);
  const ReduceFn reduce =
      reduces ? reduce_function(t.reduce_op, reduce_type(p.map.type, t.reduce_op)) : nullptr;
  if (reduces && reduce == nullptr)
    return GuestError{Code::F3308, fmt::format("no .{} reduction of {} elements", isa::mod_text(t.reduce_op),
                                               isa::to_string(p.map.type))};
  const Gmem::Allocation* hint = nullptr;
  std::vector<uint8_t> packed(padded ? g.global_row_bytes : 0);
  for (uint32_t r = 0; r < g.rows; ++r) {
    const TileRow& row = p.box.rows[r];
    if (row.first == row.last) continue;
    const uint64_t address = p.map.address + row.global_offset + row.first;
    const uint32_t bytes = padded ? g.global_row_bytes : row.last - row.first;
    uint8_t* to = c.launch->gmem->translate(address, bytes, hint);
    if (to == nullptr) return outside(c, p, address, bytes);
    const uint8_t* from = op.staging.data() + size_t{r} * g.row_bytes + row.first;
    if (padded) {
      pack_six_bits(from, g.row_bytes, packed.data());
      std::memcpy(to, packed.data(), bytes);
    } else if (reduces) {
      reduce(to, from, bytes);
    } else {
      std::memcpy(to, from, bytes);
    }
  }
  return std::nullopt;
}

}  // namespace

EngineResult read_operands(Cluster& c, AsyncOp& op, TensorCopy& t) {
  TensorPlan p;
  if (auto e = plan_copy(t, p); e.has_value()) return e;
  if (t.direction == TensorCopy::Direction::load) return gather(c, op, p);
  if (auto e = gather_from_shared(c, op, t, p); e.has_value()) return e;
  group_read_done(c, op.issuer, t.group, true);
  return std::nullopt;
}

EngineResult write_result(Cluster& c, AsyncOp& op, TensorCopy& t) {
  TensorPlan p;
  if (auto e = plan_copy(t, p); e.has_value()) return e;
  if (t.direction == TensorCopy::Direction::load) return scatter_to_shared(c, op, t, p);
  if (auto e = scatter_to_global(c, op, t, p); e.has_value()) return e;
  group_write_done(c, op.issuer, t.group, true);
  return std::nullopt;
}

}  // namespace drywell::sim
