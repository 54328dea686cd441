#include "sim/engine/tmem_target.h"

#include <fmt/format.h>

#include <algorithm>

namespace drywell::sim {
namespace {

isa::TmemShape shape_of(isa::Mod m) {
  switch (m) {
    case isa::Mod::_16x64b: return isa::TmemShape::s16x64b;
    case isa::Mod::_16x128b: return isa::TmemShape::s16x128b;
    case isa::Mod::_16x256b: return isa::TmemShape::s16x256b;
    case isa::Mod::_16x32bx2: return isa::TmemShape::s16x32bx2;
    default: return isa::TmemShape::s32x32b;
  }
}

}  // namespace

EngineResult locate(const Cluster& c, const AsyncOp& op, const TmemLdSt& t, TmemTarget& out) {
  const TmemAddr a(t.taddr);
  out.access.shape = shape_of(t.shape);
  out.access.num = static_cast<uint16_t>(t.num);
  out.access.pack = t.pack;
  out.access.half_split = t.split;
  const char* name = t.load ? "tcgen05.ld" : "tcgen05.st";
  // Bits above those of 128 lanes are ignored by a B200: kernels of pairs add rank * 128 (docs/facts/tcgen05.md §1.1).
  const auto lane = isa::tmem_base_lane(out.access.shape, a.lane() % kTmemLanes, op.issuer.warp);
  if (!lane.has_value()) {
    return GuestError{Code::F3209, fmt::format("{} at lane {} by warp {}, which may touch lanes {} to {}", name, a.lane(), op.issuer.warp, 32 * (op.issuer.warp % 4), 32 * (op.issuer.warp % 4) + 31)};
  }
  out.lane = *lane;
  out.column = a.column();
  const Cta& cta = *c.ctas[op.issuer.cta];
  uint32_t first = ~0u, last = 0;
  const unsigned regs = isa::tmem_registers(out.access.shape, t.num);
  for (unsigned r : {0u, regs - 1}) {
    for (unsigned lane_id : {0u, 31u}) {
      const auto o = isa::tmem_offset(out.access, lane_id, r);
      const auto column = static_cast<uint32_t>(static_cast<int32_t>(out.column) + o.column);
      first = std::min(first, column);
      last = std::max(last, column + (t.pack ? 1 : 0));
    }
  }
  if (last >= kTmemColumns || !cta.tmem->reaches(first, last - first + 1, cta.serial + 1)) {
    return GuestError{Code::F3210, fmt::format("{} touches columns {} to {}, which this CTA has not allocated", name, first, last)};
  }
  return std::nullopt;
}

}  // namespace drywell::sim
