// The TMA engine, tensor copies: box rows between global memory and swizzled shared memory (facts/tma-mbarrier.md §2).
#include <fmt/format.h>

#include <cstring>

#include "drywell/isa/tensor_tile.h"
#include "sim/engine/engine.h"

namespace drywell::sim {
namespace {

using isa::TensorMapFields;
using isa::TileGeometry;
using isa::TileRow;

// What every copy needs, checked once at its first moment.
struct Plan {
  TensorMapFields map;
  TileGeometry geometry;
};

EngineResult make_plan(const TensorCopy& t, Plan& plan) {
  isa::TensorMap bytes;
  std::memcpy(bytes.bytes.data(), t.map.data(), t.map.size());
  Diagnostics problems;
  plan.map = isa::decode(bytes, problems);
  if (problems.has_errors() || !isa::has_signature(bytes)) {
    return GuestError{"F3302", fmt::format("the 128 bytes at {:#x} are not a tensor map: {}", t.map_address, problems.to_string())};
  }
  if (plan.map.rank != t.rank) return GuestError{"F3303", fmt::format("a {}-dimensional copy through a tensor map of rank {} (error 715 on a device)", t.rank, plan.map.rank)};
  const bool store = t.direction != TensorCopy::Direction::load;
  isa::check_coordinates(plan.map, t.coord, store ? isa::TensorAccess::store : isa::TensorAccess::load, problems);
  if (problems.has_errors()) return GuestError{"F3304", problems.to_string()};
  if (t.mode != isa::Mod::tile) return GuestError{"U5000", fmt::format("unsupported: tensor copy mode .{}", isa::mod_text(t.mode))};
  plan.geometry = isa::tile_geometry(plan.map);
  if (shared_offset(t.smem) % isa::kTensorSmemAlignment != 0) {
    return GuestError{"F3305", fmt::format("tensor copy at shared address {:#x}: 128-byte alignment is needed (error 716 on a device)", shared_offset(t.smem))};
  }
  return std::nullopt;
}

// Runs of a row between swizzle atoms: calls f(row byte, shared offset, length).
template <class F>
void for_runs(const Plan& p, uint32_t smem, const TileRow& row, uint32_t bytes, F f) {
  const uint32_t atom = p.map.swizzle == isa::Swizzle::none ? bytes : isa::swizzle_atom(p.map.swizzle);
  for (uint32_t b = 0; b < bytes; b += atom) {
    f(b, isa::swizzle_address(p.map.swizzle, smem + row.smem_offset + b), std::min(atom, bytes - b));
  }
}

std::string outside(const Plan& p, uint64_t address, uint64_t bytes) {
  return fmt::format("tensor map of '{}' bytes per row reaches global address {:#x} (+{}), outside every allocation; the map's tensor starts at {:#x}", p.geometry.row_bytes, address, bytes, p.map.address);
}

EngineResult gather(Cluster& c, AsyncOp& op, const TensorCopy& t, const Plan& p) {
  const TileGeometry& g = p.geometry;
  op.staging.resize(size_t{g.rows} * g.row_bytes);
  const uint16_t fill = isa::oob_fill_half(p.map.oob_fill);
  const Gmem::Allocation* hint = nullptr;
  for (uint32_t r = 0; r < g.rows; ++r) {
    const TileRow row = isa::tile_row(p.map, g, t.coord, r, isa::TensorAccess::load);
    uint8_t* to = op.staging.data() + size_t{r} * g.row_bytes;
    if (row.first != 0 || row.last != g.row_bytes) {
      for (uint32_t b = 0; b + 1 < g.row_bytes; b += 2) std::memcpy(to + b, &fill, 2);
    }
    if (row.first == row.last) continue;
    const uint64_t address = p.map.address + row.global_offset + row.first;
    const uint8_t* from = c.launch->gmem->translate(address, row.last - row.first, hint);
    if (from == nullptr) return GuestError{"F3306", outside(p, address, row.last - row.first)};
    std::memcpy(to + row.first, from, row.last - row.first);
    if (p.map.type == isa::TensorType::tf32 || p.map.type == isa::TensorType::tf32_ftz) {
      for (uint32_t b = row.first; b + 4 <= row.last; b += 4) {
        uint32_t v;
        std::memcpy(&v, to + b, 4);
        v = isa::tf32_load_rounding(v);
        std::memcpy(to + b, &v, 4);
      }
    }
  }
  return std::nullopt;
}

// Destination CTAs of a load: the multicast mask, or the CTA that owns the destination address.
uint32_t destination_mask(const TensorCopy& t) { return t.multicast != 0 ? t.multicast : 1u << shared_rank(t.smem); }

// The CTA whose mbarrier hears of data landing in CTA d (facts/tma-mbarrier.md §2.8).
uint32_t signalled_cta(const TensorCopy& t, uint32_t d) {
  if (t.multicast == 0) return shared_rank(t.mbar);
  return t.cta_group == 2 ? (d & ~1u) | (shared_rank(t.mbar) & 1u) : d;
}

EngineResult scatter_to_shared(Cluster& c, const AsyncOp& op, const TensorCopy& t, const Plan& p) {
  const TileGeometry& g = p.geometry;
  for (uint32_t d = 0; d < 16; ++d) {
    if ((destination_mask(t) >> d & 1) == 0) continue;
    if (d >= c.ctas.size()) return GuestError{"F3503", fmt::format("tensor copy to CTA rank {} of a cluster of {}", d, c.ctas.size())};
    Smem& smem = c.cta(d).smem;
    const uint32_t base = shared_offset(t.smem);
    if (!smem.contains(base, g.smem_bytes())) return GuestError{"F3307", fmt::format("a box of {} bytes at shared address {:#x} passes the end of the CTA's shared memory ({:#x})", g.smem_bytes(), base, smem.size())};
    for (uint32_t r = 0; r < g.rows; ++r) {
      TileRow row;
      row.smem_offset = r * g.row_pitch;
      const uint8_t* from = op.staging.data() + size_t{r} * g.row_bytes;
      for_runs(p, base, row, g.row_bytes, [&](uint32_t b, uint32_t at, uint32_t n) { std::memcpy(smem.data() + at, from + b, n); });
    }
  }
  for (uint32_t d = 0; d < 16; ++d) {
    if ((destination_mask(t) >> d & 1) == 0) continue;
    const uint32_t mbar = (signalled_cta(t, d) << 24) | shared_offset(t.mbar);
    if (auto e = apply_mbarrier(c, mbar, MbarrierOp::complete_tx, g.transaction_bytes); e.has_value()) return e;
  }
  return std::nullopt;
}

EngineResult gather_from_shared(Cluster& c, AsyncOp& op, const TensorCopy& t, const Plan& p) {
  const TileGeometry& g = p.geometry;
  Smem& smem = c.cta(shared_rank(t.smem)).smem;
  const uint32_t base = shared_offset(t.smem);
  if (!smem.contains(base, g.smem_bytes())) return GuestError{"F3307", fmt::format("a box of {} bytes at shared address {:#x} passes the end of the CTA's shared memory ({:#x})", g.smem_bytes(), base, smem.size())};
  op.staging.resize(size_t{g.rows} * g.row_bytes);
  for (uint32_t r = 0; r < g.rows; ++r) {
    TileRow row;
    row.smem_offset = r * g.row_pitch;
    uint8_t* to = op.staging.data() + size_t{r} * g.row_bytes;
    for_runs(p, base, row, g.row_bytes, [&](uint32_t b, uint32_t at, uint32_t n) { std::memcpy(to + b, smem.data() + at, n); });
  }
  return std::nullopt;
}

EngineResult scatter_to_global(Cluster& c, const AsyncOp& op, const TensorCopy& t, const Plan& p) {
  const TileGeometry& g = p.geometry;
  const Gmem::Allocation* hint = nullptr;
  for (uint32_t r = 0; r < g.rows; ++r) {
    const TileRow row = isa::tile_row(p.map, g, t.coord, r, isa::TensorAccess::store);
    if (row.first == row.last) continue;
    const uint64_t address = p.map.address + row.global_offset + row.first;
    uint8_t* to = c.launch->gmem->translate(address, row.last - row.first, hint);
    if (to == nullptr) return GuestError{"F3306", outside(p, address, row.last - row.first)};
    std::memcpy(to, op.staging.data() + size_t{r} * g.row_bytes + row.first, row.last - row.first);
  }
  return std::nullopt;
}

}  // namespace

EngineResult read(Cluster& c, AsyncOp& op, TensorCopy& t) {
  Plan p;
  if (auto e = make_plan(t, p); e.has_value()) return e;
  if (t.direction == TensorCopy::Direction::load) return gather(c, op, t, p);
  if (auto e = gather_from_shared(c, op, t, p); e.has_value()) return e;
  group_read_done(c, op.issuer, t.group, true);
  return std::nullopt;
}

EngineResult write(Cluster& c, AsyncOp& op, TensorCopy& t) {
  Plan p;
  if (auto e = make_plan(t, p); e.has_value()) return e;
  if (t.direction == TensorCopy::Direction::load) return scatter_to_shared(c, op, t, p);
  if (t.direction == TensorCopy::Direction::reduce) return GuestError{"U5000", "unsupported: tensor reduction"};
  if (auto e = scatter_to_global(c, op, t, p); e.has_value()) return e;
  group_write_done(c, op.issuer, t.group, true);
  return std::nullopt;
}

}  // namespace drywell::sim
