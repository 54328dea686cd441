// Semantics of table/tcgen05_mma.inc: every form captures its operands as one Umma.
#include <fmt/format.h>

#include "drywell/isa/opcode.h"
#include "drywell/sim/arch_config.h"
#include "sim/exec/async_issue.h"
#include "sim/exec/tcgen05.h"
#include "sim/state/payload/umma.h"

namespace drywell::sim {
namespace {

// Slots of an mma in the program: each address takes two; absent operands read as 0.
enum MmaSlot : uint32_t {
  kD = 0,
  kA = 2,
  kMeta = 4,
  kSfa = 6,
  kSfb = 8,
  kB = 10,
  kIdesc = 11,
  kZeroMask = 12,
  kDisable = 13
};

// The actions of an mma's collector modifiers, in the order of the modifiers of each buffer.
enum class CollectorUse : uint8_t {
  fill,
  use,
  lastuse,
  discard
};

// A use needs a fill of the same operand before it (docs/facts/tcgen05.md §4.5, rule I13).
Effect use_collector(Warp& w, const Umma& u) {
  Cta& c = u.cta_group == 2 ? w.cta->cluster->cta(w.cta->rank & ~1u) : *w.cta;
  const auto index = u.collector == isa::Mod::none ? 4u * u.ws + 3
                                                   : static_cast<unsigned>(u.collector) -
                                                         static_cast<unsigned>(isa::Mod::collector_a_fill);
  CollectorBuffer& buffer = c.collectors[index / 4];
  // Size, type, sign and major-ness of the operand that is kept.
  constexpr uint32_t kOfA = 7u << 7 | 1u << 13 | 1u << 15 | 0x1Fu << 24,
                     kOfB = 7u << 10 | 1u << 14 | 1u << 16 | 0x3Fu << 17;
  const CollectorBuffer wanted{true, u.ws ? u.b : u.a, u.idesc & (u.ws ? kOfB : kOfA)};
  switch (static_cast<CollectorUse>(index % 4)) {
    case CollectorUse::fill: buffer = wanted; return Effect::next;
    case CollectorUse::discard: buffer.filled = false; return Effect::next;
    default: break;
  }
  if (!buffer.filled || buffer.operand != wanted.operand || buffer.idesc != wanted.idesc) {
    return fault(w, Code::F3219,
                 fmt::format(".{} without a fill of this operand before it", isa::mod_text(u.collector)));
  }
  buffer.filled = static_cast<CollectorUse>(index % 4) == CollectorUse::use;
  return Effect::next;
}

Effect mma(Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto& x = op.as<payload::Umma>();
  if (const Effect e = use_cta_group(w, x.cta_group, Peer::alive); e != Effect::next) return e;
  Effect result = Effect::next;
  const Src* s = slots_at(w, x.first_slot);
  const LaneMask enable = read_pred(w, op.pred[0]);
  for_lanes(mask, [&](uint32_t lane) {
    Umma u;
    u.kind = x.kind;
    u.d = slot_address(w, s + kD, lane);
    u.a_in_tmem = x.a_in_tmem;
    u.a = u.a_in_tmem ? slot_address(w, s + kA, lane) : lane_value(w, s[kA], lane, true);
    u.b = lane_value(w, s[kB], lane, true);
    u.idesc = static_cast<uint32_t>(lane_value(w, s[kIdesc], lane, false));
    u.meta = slot_address(w, s + kMeta, lane);
    u.sfa = slot_address(w, s + kSfa, lane);
    u.sfb = slot_address(w, s + kSfb, lane);
    u.zero_column_mask = lane_value(w, s[kZeroMask], lane, true);
    u.accumulate = (enable >> lane & 1) != 0;
    u.ws = x.ws;
    u.sparse = x.sparse;
    u.ashift = x.ashift;
    u.scale_d = x.scale_d;
    u.scale_vec = x.scale_vec;
    u.sm103 = isa::has_feature(w.cta->cluster->launch->arch->target, isa::Feature::sm103_only);
    u.cta_group = x.cta_group;
    u.collector = x.collector;
    for (uint32_t k = 0; k < x.disable_words; ++k)
      u.disable_lane[k] = static_cast<uint32_t>(lane_value(w, s[kDisable + k], lane, false));
    if (result != Effect::next) return;
    result = use_collector(w, u);
    if (result == Effect::next) order_after_pending(*w.cta->cluster, issue(w, lane, u));
  });
  return result;
}

// Factors per row and instruction; the kinds' defaults are 1X and 2X (docs/facts/tcgen05.md §6.1).
uint8_t scale_factors(Decoder& d) {
  switch (d.mod(isa::Slot::kind)) {
    case isa::Mod::kind_mxf8f6f4: return 1;
    case isa::Mod::kind_mxf4: return 2;
    default: break;
  }
  return d.has(isa::Mod::scale_vec_4X) || d.has(isa::Mod::block16) ? 4 : 2;
}

void push_address_or_zero(Decoder& d, const isa::Operand* o) {
  if (o != nullptr) {
    push_tmem_address(d, *o);
  } else {
    d.push_slot(d.constant(0, 32));
    d.push_slot(d.constant(0, 64));
  }
}

ExecFn bind_mma(Decoder& d, DecodedOp& op, bool ws, bool sparse) {
  auto& x = op.emplace<payload::Umma>({.first_slot = d.next_slot(), .kind = d.mod(isa::Slot::kind), .collector = d.mod(isa::Slot::collector), .cta_group = cta_group_of(d), .ws = ws, .sparse = sparse});
  push_tmem_address(d, *named_operand(d, "d"));
  const isa::Operand& a = *named_operand(d, "a");
  if (a.kind == isa::Operand::Kind::addr) {
    x.a_in_tmem = true;
    push_tmem_address(d, a);
  } else {
    d.push_slot(d.source(a, 64));
    d.push_slot(d.constant(0, 64));
  }
  for (const char* name : {"meta", "sfa", "sfb"}) push_address_or_zero(d, named_operand(d, name));
  d.push_slot(d.source(*named_operand(d, "b"), 64));
  d.push_slot(d.source(*named_operand(d, "idesc"), 32));
  const isa::Operand* zero_mask = named_operand(d, "zero_mask");
  d.push_slot(zero_mask != nullptr ? d.source(*zero_mask, 64) : d.constant(0, 64));
  if (const isa::Operand* disable = named_operand(d, "disable"); disable != nullptr) {
    for (const isa::Operand& e : d.elements(*disable)) d.push_slot(d.source(e, 32));
    x.disable_words = static_cast<uint8_t>(disable->count);
  }
  op.pred[0] = d.pred(*named_operand(d, "enable"));
  if (const isa::Operand* s = named_operand(d, "scale_d"); s != nullptr)
    x.scale_d = static_cast<uint8_t>(s->value & 15);
  x.ashift = d.has(isa::Mod::ashift);
  if (d.has(isa::Mod::block_scale)) x.scale_vec = scale_factors(d);
  return mma;
}

}  // namespace

template <>
ExecFn bind<isa::row::tcgen05_mma>(Decoder& d, DecodedOp& op) {
  return bind_mma(d, op, false, false);
}
template <>
ExecFn bind<isa::row::tcgen05_mma_scaled>(Decoder& d, DecodedOp& op) {
  return bind_mma(d, op, false, false);
}
template <>
ExecFn bind<isa::row::tcgen05_mma_sp>(Decoder& d, DecodedOp& op) {
  return bind_mma(d, op, false, true);
}
template <>
ExecFn bind<isa::row::tcgen05_mma_sp_scaled>(Decoder& d, DecodedOp& op) {
  return bind_mma(d, op, false, true);
}
template <>
ExecFn bind<isa::row::tcgen05_mma_ws>(Decoder& d, DecodedOp& op) {
  return bind_mma(d, op, true, false);
}
template <>
ExecFn bind<isa::row::tcgen05_mma_ws_sp>(Decoder& d, DecodedOp& op) {
  return bind_mma(d, op, true, true);
}

}  // namespace drywell::sim
