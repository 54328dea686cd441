// tcgen05.ld and tcgen05.st between a warp's quarter of tensor memory and its registers (docs/facts/tcgen05.md §2).
#include <fmt/format.h>

#include <cstring>

#include "sim/engine/tmem_target.h"

namespace drywell::sim {
namespace {

void load_general(const Tmem& tmem, const TmemTarget& t, unsigned regs, uint32_t* out) {
  for (unsigned r = 0; r < regs; ++r) {
    for (unsigned l = 0; l < kWarpSize; ++l) {
      const auto o = isa::tmem_offset(t.access, l, r);
      const auto column = static_cast<uint32_t>(static_cast<int32_t>(t.column) + o.column);
      uint32_t v = tmem.at(t.lane + o.lane, column);
      if (t.access.pack) v = (v & 0xFFFF) | (tmem.at(t.lane + o.lane, column + 1) << 16);
      out[r * kWarpSize + l] = v;
    }
  }
}

void store_general(Tmem& tmem, const TmemTarget& t, unsigned regs, const uint32_t* data) {
  for (unsigned r = 0; r < regs; ++r) {
    for (unsigned l = 0; l < kWarpSize; ++l) {
      const auto o = isa::tmem_offset(t.access, l, r);
      const auto column = static_cast<uint32_t>(static_cast<int32_t>(t.column) + o.column);
      const uint32_t v = data[r * kWarpSize + l];
      if (t.access.pack) {
        // The upper halves keep their content: undocumented, as another simulator models it (docs/facts/tcgen05.md §2.3).
        uint32_t& low = tmem.at(t.lane + o.lane, column);
        uint32_t& high = tmem.at(t.lane + o.lane, column + 1);
        low = (low & 0xFFFF0000u) | (v & 0xFFFF);
        high = (high & 0xFFFF0000u) | (v >> 16);
      } else {
        tmem.at(t.lane + o.lane, column) = v;
      }
    }
  }
}

// One step of ld.red. Without .NaN, a NaN and a number reduce to the number (PTX ISA 9.7.16.8.1).
uint32_t reduce(const TmemLdSt& t, uint32_t a, uint32_t b) {
  const bool max = t.reduce_op == isa::Mod::max;
  if (t.reduce_type == isa::Mod::u32) return max ? std::max(a, b) : std::min(a, b);
  const auto ia = static_cast<int32_t>(a), ib = static_cast<int32_t>(b);
  if (t.reduce_type == isa::Mod::s32) return static_cast<uint32_t>(max ? std::max(ia, ib) : std::min(ia, ib));
  const auto is_nan = [](uint32_t v) { return (v & 0x7FFFFFFF) > 0x7F800000; };
  constexpr uint32_t kNan = 0x7FFFFFFF;
  if (is_nan(a) || is_nan(b)) return t.reduce_nan || (is_nan(a) && is_nan(b)) ? kNan : is_nan(a) ? b
                                                                                                 : a;
  // Sign-magnitude to two's complement, so that -0 is below +0.
  const auto key = [](uint32_t v) { return static_cast<int32_t>((v & 0x80000000u) != 0 ? ~(v & 0x7FFFFFFF) : v); };
  return (key(a) < key(b)) == max ? b : a;
}

void append_reduction(TmemLdSt& t, unsigned regs) {
  t.data.resize(size_t{regs + 1} * kWarpSize);
  const uint32_t keep = t.reduce_abs ? 0x7FFFFFFF : 0xFFFFFFFF;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    uint32_t v = t.data[l] & keep;
    for (unsigned r = 1; r < regs; ++r) v = reduce(t, v, t.data[r * kWarpSize + l] & keep);
    t.data[regs * kWarpSize + l] = v;
  }
}

}  // namespace

EngineResult read_operands(Cluster& c, AsyncOp& op, TmemLdSt& t) {
  TmemTarget at;
  if (auto e = locate(c, op, t, at); e.has_value()) return e;
  if (!t.load) return std::nullopt;
  const unsigned regs = isa::tmem_registers(at.access.shape, t.num);
  t.data.resize(size_t{regs} * kWarpSize);
  const Tmem& tmem = *c.cta(op.issuer.cta).tmem;
  if (at.is_plain()) {
    for (unsigned r = 0; r < regs; ++r) std::memcpy(&t.data[r * kWarpSize], tmem.column(at.column + r) + at.lane, 4 * kWarpSize);
  } else {
    load_general(tmem, at, regs, t.data.data());
  }
  if (t.reduce_op != isa::Mod::none) append_reduction(t, regs);
  return std::nullopt;
}

EngineResult write_result(Cluster& c, AsyncOp& op, TmemLdSt& t) {
  Cta& cta = c.cta(op.issuer.cta);
  Warp& w = cta.warps[op.issuer.warp];
  if (t.load) {
    for (size_t r = 0; r < t.regs.size(); ++r) {
      std::memcpy(w.register_file.data() + t.frame + t.regs[r], &t.data[r * kWarpSize], 4 * kWarpSize);
      const uint32_t bit = (t.frame + t.regs[r]) / 128;
      w.pending_regs[bit / 64] &= ~(uint64_t{1} << (bit % 64));
    }
    --w.pending_ld;
  } else {
    TmemTarget at;
    if (auto e = locate(c, op, t, at); e.has_value()) return e;
    const unsigned regs = isa::tmem_registers(at.access.shape, t.num);
    if (at.is_plain()) {
      for (unsigned r = 0; r < regs; ++r) std::memcpy(cta.tmem->column(at.column + r) + at.lane, &t.data[r * kWarpSize], 4 * kWarpSize);
    } else {
      store_general(*cta.tmem, at, regs, t.data.data());
    }
    --w.pending_st;
  }
  c.wake(cta);
  return std::nullopt;
}

}  // namespace drywell::sim
