// Semantics of table/memory.inc: loads, stores, prefetch.
#include "sim/exec/memory.h"
#include "sim/exec/matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <type_traits>

#include "drywell/core/bits.h"
#include "drywell/isa/opcode.h"
#include "sim/events/hub.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/call.h"
#include "sim/exec/collisions.h"
#include "sim/exec/lane_window.h"
#include "sim/exec/wide.h"
#include "sim/state/payload/memory.h"

namespace drywell::sim {

Space space_of(isa::Mod m) {
  using isa::Mod;
  switch (m) {
    case Mod::global:
    case Mod::const_: return Space::global;
    case Mod::shared:
    case Mod::shared_cta: return Space::shared_cta;
    case Mod::shared_cluster: return Space::shared_cluster;
    case Mod::local: return Space::local;
    case Mod::param:
    case Mod::param_entry:
    case Mod::param_func: return Space::param;
    default: return Space::generic;
  }
}

namespace {

uint8_t* resolve_param(const Warp& w, uint64_t address, uint64_t bytes) {
  // Parameters are read-only to the guest; the validator rejects stores to them.
  auto& params = const_cast<std::vector<uint8_t>&>(w.cta->cluster->launch->params);
  return address <= params.size() && bytes <= params.size() - address ? params.data() + address : nullptr;
}

}  // namespace

uint8_t* resolve(Warp& w, Space space, uint64_t address, uint64_t bytes, uint32_t lane, const Gmem::Allocation*& hint) {
  switch (space) {
    case Space::global: return w.cta->cluster->launch->gmem->translate(address, bytes, hint);
    case Space::shared_cta: return shared_pointer(w, shared_address(w, address, false), bytes);
    case Space::shared_cluster: return shared_pointer(w, shared_address(w, address, true), bytes);
    case Space::local: return local_pointer(w, lane, address, bytes);
    case Space::param: return resolve_param(w, address, bytes);
    case Space::generic: break;
  }
  switch (address >> 32) {
    case window::kSharedHigh: return shared_pointer(w, static_cast<uint32_t>(address), bytes);
    case window::kLocalHigh: return local_pointer(w, lane, static_cast<uint32_t>(address), bytes);
    case window::kParamHigh: return resolve_param(w, static_cast<uint32_t>(address), bytes);
    default: return w.cta->cluster->launch->gmem->translate(address, bytes, hint);
  }
}

namespace {

/// Rank of the CTA whose shared memory an address names; 0 for an address of other memory.
uint32_t named_rank(const Warp& w, Space space, uint64_t address) {
  const bool cluster = space == Space::shared_cluster || (space == Space::generic && address >> 32 == window::kSharedHigh);
  return cluster ? shared_rank(shared_address(w, address, true)) : 0;
}

}  // namespace

[[gnu::noinline]] Effect access_fault(Warp& w, Space space, uint64_t address, uint64_t bytes, uint32_t lane, bool store) {
  const char* what = store ? "store" : "load";
  const size_t ctas = w.cta->cluster->ctas.size();
  if (const uint32_t rank = named_rank(w, space, address); rank >= ctas) {
    return fault(w, Code::F3502, fmt::format("lane {}: {} of {} bytes in shared memory of CTA rank {} of a cluster of {}", lane, what, bytes, rank, ctas));
  }
  if (!std::has_single_bit(bytes) || !is_aligned(address, bytes)) {
    return fault(w, Code::F3002, fmt::format("lane {}: misaligned {} of {} bytes at {:#x}", lane, what, bytes, address));
  }
  static constexpr const char* kNames[] = {"global", "shared::cta", "shared::cluster", "local", "param", "generic"};
  std::string detail;
  const Gmem& g = *w.cta->cluster->launch->gmem;
  if (space == Space::global || space == Space::generic) {
    detail = g.neighbourhood(address);
    // The address may be that of a tensor map parameter, taken from the parameter's name without cvta.param.
    if (space == Space::generic && bytes == 128 && address < w.cta->cluster->launch->program->param_bytes) detail = "; if that is a place in the parameters, cvta.param makes a generic address of it";
  } else if (space == Space::shared_cta || space == Space::shared_cluster) {
    detail = fmt::format("; the CTA has shared memory up to offset {:#x}", w.cta->smem.size());
  }
  return fault(w, Code::F3001, fmt::format("lane {}: {} of {} bytes out of bounds at {} address {:#x}{}", lane, what, bytes, kNames[static_cast<size_t>(space)], address, detail));
}

namespace {

using payload::Access;

// Any element width, any register width.
void write_register(Warp& w, uint32_t offset, uint32_t lane, const uint8_t* from, const Access& x) {
  if (x.element == 16) {
    std::memcpy(w.bank[0] + offset + 8 * lane, from, 8);
    std::memcpy(w.bank[0] + offset + 256 + 8 * lane, from + 8, 8);
    return;
  }
  uint64_t v = 0;
  std::memcpy(&v, from, x.element);
  if (x.is_signed) v = static_cast<uint64_t>(sign_extend(v, 8 * x.element)) & low_bits(x.reg_bits);
  if (x.reg_bits <= 32) {
    const auto v32 = static_cast<uint32_t>(v);
    std::memcpy(w.bank[0] + offset + 4 * lane, &v32, 4);
  } else {
    std::memcpy(w.bank[0] + offset + 8 * lane, &v, 8);
    const uint64_t upper = x.is_signed && static_cast<int64_t>(v) < 0 ? ~uint64_t{0} : 0;
    if (x.reg_bits == 128) std::memcpy(w.bank[0] + offset + register_bytes(64) + 8 * lane, &upper, 8);
  }
}
void read_register(const Warp& w, Src s, uint32_t lane, uint8_t* to, const Access& x) {
  const uint8_t* base = w.bank[s.bank] + s.offset;
  if (x.element == 16) {
    std::memcpy(to, base + 8 * lane, 8);
    std::memcpy(to + 8, base + 256 + 8 * lane, 8);
  } else if (x.reg_bits <= 32) {
    std::memcpy(to, base + 4 * lane, std::min(x.element, 4u));
  } else {
    std::memcpy(to, base + 8 * lane, x.element);
  }
}

// Bank of a sink in a 256-bit store: that element is not written (PTX ISA 9.7.9.11).
constexpr uint32_t kLeftOut = 2;

void observe(Warp& w, const DecodedOp& op, LaneMask mask, bool store) {
  const Access x = op.as<Access>();
  if (auto* o = w.cta->cluster->launch->observers; o != nullptr) o->memory(w, op, mask, x.space, x.element * x.count, store);
}

// Where a store of lanes to global memory is held until it is done. Most lanes are in the page of the lane before.
uint64_t places_of(const Warp& w, const DecodedOp& op, LaneMask mask) {
  const Access x = op.as<Access>();
  const uint64_t bytes = uint64_t{x.element} * x.count;
  uint64_t places = 0, begin = 0, end = 0;  // the page
  for_lanes(mask, [&](uint32_t lane) {
    const uint64_t first = lane_address(w, op, lane), last = first + bytes - 1;
    if ((first >= begin && last < end) || first < window::kGlobalBase) return;
    places |= StoreOrder::place_of(first) | StoreOrder::place_of(last);
    begin = first / StoreOrder::kPage * StoreOrder::kPage;
    end = begin + StoreOrder::kPage;
  });
  return places;
}

StoreOrder::Held hold(const Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto* o = w.cta->cluster->launch->observers;
  const Space space = op.as<Access>().space;
  if (o == nullptr || o->store_order() == nullptr || (space != Space::global && space != Space::generic)) return {};
  return {*o->store_order(), places_of(w, op, mask)};
}

// One lane after the other: finds the lane that faults.
template <bool Store>
[[gnu::noinline]] Effect each_lane(Warp& w, const DecodedOp& op, LaneMask mask) {
  const Access x = op.as<Access>();
  const Src* slots = slots_at(w, x.first_slot);
  const uint32_t bytes = x.element * x.count;
  const Gmem::Allocation* hint = nullptr;
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto i = static_cast<uint32_t>(std::countr_zero(m));
    const uint64_t address = lane_address(w, op, i);
    uint8_t* p = resolve(w, x.space, address, bytes, i, hint);
    if (p == nullptr || address % bytes != 0) [[unlikely]]
      return access_fault(w, x.space, address, bytes, i, Store);
    for (uint32_t k = 0; k < x.count; ++k) {
      if constexpr (Store) {
        if (slots[k].bank == kLeftOut) continue;
        read_register(w, slots[k], i, p + k * x.element, x);
      } else {
        write_register(w, slots[k].offset, i, p + k * x.element, x);
      }
    }
  }
  return Effect::next;
}

template <bool Store>
Effect access_general(Warp& w, const DecodedOp& op, LaneMask mask) {
  const StoreOrder::Held held = Store ? hold(w, op, mask) : StoreOrder::Held();
  observe(w, op, mask, Store);
  return each_lane<Store>(w, op, mask);
}

// Element k of every lane: T in memory, L in the register.
template <class T, class L>
void load_element(const LaneWindow& from, uint32_t k, L keep, L (&out)[kWarpSize]) {
  const auto value = [&](const uint8_t* p) {
    T v;
    std::memcpy(&v, p + k * sizeof(T), sizeof(T));
    return static_cast<L>(static_cast<L>(v) & keep);  // a signed T is extended
  };
  if (from.shape == LaneWindow::Shape::uniform) {
    std::fill_n(out, kWarpSize, value(from.base));
  } else {
    for (uint32_t i = 0; i < kWarpSize; ++i) out[i] = value(from.at(i));
  }
}
template <class T, class L>
Effect load(Warp& w, const DecodedOp& op, LaneMask mask) {
  if (mask == 0) return Effect::next;
  observe(w, op, mask, false);
  const Access x = op.as<Access>();
  const LaneWindow from = lane_window(w, op, mask, x.space, sizeof(T) * x.count);
  if (from.base == nullptr) return each_lane<false>(w, op, mask);
  const Src* slots = slots_at(w, x.first_slot);
  const auto keep = static_cast<L>(low_bits(x.reg_bits));
  for (uint32_t k = 0; k < x.count; ++k) {
    L r[kWarpSize];
    if (std::is_same_v<T, L> && x.count == 1 && from.shape == LaneWindow::Shape::consecutive) {
      std::memcpy(r, from.base, sizeof(r));
    } else {
      load_element<T, L>(from, k, keep, r);
    }
    store_masked(lanes<L>(w, slots[k].offset), r, mask);
  }
  return Effect::next;
}

// The address is a constant, as those of parameters are: one value for all lanes.
template <class T, class L>
Effect load_one(Warp& w, const DecodedOp& op, LaneMask mask) {
  if (mask == 0) return Effect::next;
  observe(w, op, mask, false);
  const Access x = op.as<Access>();
  const auto lane = static_cast<uint32_t>(std::countr_zero(mask));
  const uint64_t address = lane_address(w, op, lane), bytes = sizeof(T) * x.count;
  const Gmem::Allocation* hint = nullptr;
  const uint8_t* p = resolve(w, x.space, address, bytes, lane, hint);
  if (p == nullptr || address % bytes != 0) return each_lane<false>(w, op, mask);
  const LaneWindow from{.base = const_cast<uint8_t*>(p), .shape = LaneWindow::Shape::uniform};
  const Src* slots = slots_at(w, x.first_slot);
  for (uint32_t k = 0; k < x.count; ++k) {
    L r[kWarpSize];
    load_element<T, L>(from, k, static_cast<L>(low_bits(x.reg_bits)), r);
    store_masked(lanes<L>(w, slots[k].offset), r, mask);
  }
  return Effect::next;
}

// Lanes that store to the same place do so in their order.
template <class T, class L>
Effect store(Warp& w, const DecodedOp& op, LaneMask mask) {
  if (mask == 0) return Effect::next;
  const StoreOrder::Held held = hold(w, op, mask);
  observe(w, op, mask, true);
  const Access x = op.as<Access>();
  LaneWindow to = lane_window(w, op, mask, x.space, sizeof(T) * x.count);
  if (to.base == nullptr) return each_lane<true>(w, op, mask);
  const Src* slots = slots_at(w, x.first_slot);
  for (uint32_t k = 0; k < x.count; ++k) {
    const auto* s = reinterpret_cast<const L*>(w.bank[slots[k].bank] + slots[k].offset);
    if (std::is_same_v<T, L> && x.count == 1 && mask == kFullMask && to.shape == LaneWindow::Shape::consecutive) {
      std::memcpy(to.base, s, sizeof(L) * kWarpSize);
      continue;
    }
    for_lanes(mask, [&](uint32_t i) {
      const auto v = static_cast<T>(s[i]);
      std::memcpy(to.at(i) + k * sizeof(T), &v, sizeof(T));
    });
  }
  return Effect::next;
}

enum class Way : uint8_t {
  store,
  load,
  load_one
};

template <class T, Way W>
ExecFn with_register(uint32_t reg_bits) {
  if constexpr (W == Way::store) {
    return reg_bits <= 32 ? widest<store<T, uint32_t>>() : widest<store<T, uint64_t>>();
  } else if constexpr (W == Way::load) {
    return reg_bits <= 32 ? widest<load<T, uint32_t>>() : widest<load<T, uint64_t>>();
  } else {
    return reg_bits <= 32 ? widest<load_one<T, uint32_t>>() : widest<load_one<T, uint64_t>>();
  }
}
template <class Signed, Way W>
ExecFn with_sign(const Access& x) {
  return x.is_signed && W != Way::store ? with_register<Signed, W>(x.reg_bits) : with_register<std::make_unsigned_t<Signed>, W>(x.reg_bits);
}
template <Way W>
ExecFn with_element(const Access& x) {
  switch (x.element) {
    case 1: return with_sign<int8_t, W>(x);
    case 2: return with_sign<int16_t, W>(x);
    case 4: return with_sign<int32_t, W>(x);
    case 8: return with_register<uint64_t, W>(x.reg_bits);
    default: return access_general<W == Way::store>;
  }
}
/// A constant address in memory that all lanes share.
bool is_one_place(const DecodedOp& op, Space space) { return op.src[0].bank == 1 && space != Space::local && space != Space::generic; }
/// A register of 128 bits is two runs of lanes.
bool fills_two_runs(const Access& x) { return x.reg_bits == 128 && x.element < 16; }
ExecFn load_function(const DecodedOp& op, const Access& x) {
  if (fills_two_runs(x)) return access_general<false>;
  return is_one_place(op, x.space) ? with_element<Way::load_one>(x) : with_element<Way::load>(x);
}

/// True if one lane's store would leave the memory as it is.
bool leaves(const Warp& w, const Access& x, const Src* slots, uint32_t lane, const uint8_t* p) {
  for (uint32_t k = 0; k < x.count; ++k) {
    uint8_t value[16];
    if (slots[k].bank == kLeftOut) continue;
    read_register(w, slots[k], lane, value, x);
    if (std::memcmp(value, p + k * x.element, x.element) != 0) return false;
  }
  return true;
}

template <bool Store>
ExecFn bind_access(Decoder& d, DecodedOp& op, const isa::Operand& address, const isa::Operand& data) {
  const isa::Mod type = d.mod(isa::Slot::type);
  auto& x = op.emplace<Access>({.element = isa::type_bits(type) / 8, .is_signed = isa::is_signed_type(type), .space = d.access_space(address)});
  const isa::Operand& first = data.kind == isa::Operand::Kind::vec ? d.elements(data)[0] : data;
  x.reg_bits = first.kind == isa::Operand::Kind::reg ? d.register_bits(first) : std::max(32u, isa::type_bits(type));
  d.set_address(op, address);
  x.first_slot = d.vector(data, x.reg_bits);
  x.count = data.kind == isa::Operand::Kind::vec ? data.count : 1;
  bool all = true;
  if (Store && data.kind == isa::Operand::Kind::vec) {
    for (uint32_t k = 0; k < data.count; ++k) {
      if (d.elements(data)[k].kind != isa::Operand::Kind::sink) continue;
      d.program().slots[x.first_slot + k].bank = kLeftOut;
      all = false;
    }
  }
  if (!Store) return load_function(op, x);
  return all ? with_element<Way::store>(x) : access_general<true>;
}

Effect prefetch_map(Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto i = static_cast<uint32_t>(std::countr_zero(mask));
  const uint64_t address = lane_address(w, op, i);
  const Gmem::Allocation* hint = nullptr;
  const Space space = op.as<payload::MapPrefetch>().space;
  if (resolve(w, space, address, 128, i, hint) == nullptr) return access_fault(w, space, address, 128, i, false);
  return Effect::next;
}

}  // namespace

LaneMask lanes_that_store_what_is_there(const Warp& w, const DecodedOp& op, LaneMask mask) {
  const Access* x = op.get_if<Access>();
  if (x == nullptr) return matrix_is_there(w, op) ? mask : 0;
  const Gmem::Allocation* hint = nullptr;
  LaneMask same = 0;
  for_lanes(mask, [&](uint32_t lane) {
    // resolve returns memory that may be written; this only reads it.
    const uint8_t* p = resolve(const_cast<Warp&>(w), x->space, lane_address(w, op, lane), uint64_t{x->element} * x->count, lane, hint);
    if (p != nullptr && leaves(w, *x, slots_at(w, x->first_slot), lane, p)) same |= LaneMask{1} << lane;
  });
  return same;
}

namespace {

// Odd numbers without structure: 2^64 by the golden ratio, and a multiplier of SplitMix64.
constexpr uint64_t kForAddress = 0x9E3779B97F4A7C15u, kForValue = 0xBF58476D1CE4E5B9u;

uint64_t mixed(uint64_t digest, uint64_t v) {
  digest = (digest ^ v) * kForValue;
  return digest ^ digest >> 29;
}

uint64_t digest_of_lane(const Warp& w, const Access& x, const Src* slots, uint32_t lane, uint64_t address) {
  uint64_t digest = mixed(address * kForAddress, x.element);
  for (uint32_t k = 0; k < x.count; ++k) {
    if (slots[k].bank == kLeftOut) continue;
    std::array<uint64_t, 2> value{};
    read_register(w, slots[k], lane, reinterpret_cast<uint8_t*>(value.data()), x);
    digest = mixed(digest, value[0]);
    if (x.element > 8) digest = mixed(digest, value[1]);
  }
  return digest;
}

}  // namespace

uint64_t digest_of_stored(const Warp& w, const DecodedOp& op, LaneMask mask) {
  const Access* x = op.get_if<Access>();
  if (x == nullptr) return 0;
  const Src* const slots = slots_at(w, x->first_slot);
  uint64_t digest = 0;  // a sum: which lane stores which part does not count
  for_lanes(mask, [&](uint32_t lane) { digest += digest_of_lane(w, *x, slots, lane, lane_address(w, op, lane)); });
  return digest == 0 ? 1 : digest;
}

uint64_t digest_of_value(const Warp& w, const DecodedOp& op, LaneMask mask) {
  const Access* x = op.get_if<Access>();
  if (x == nullptr) return 0;
  const Src* const slots = slots_at(w, x->first_slot);
  if (std::any_of(slots, slots + x->count, [](const Src& s) { return s.bank == kLeftOut; })) return 0;
  const auto of_lane = [&](uint32_t lane) { return digest_of_lane(w, *x, slots, lane, 0); };
  const uint64_t first = of_lane(static_cast<uint32_t>(std::countr_zero(mask)));
  for (; mask != 0; mask &= mask - 1) {
    if (of_lane(static_cast<uint32_t>(std::countr_zero(mask))) != first) return 0;
  }
  return first;
}

namespace {

// As in most stores: no two lanes have one address.
bool addresses_rise(const Warp& w, const DecodedOp& op, LaneMask mask) {
  uint64_t last = 0;
  bool rise = true, first = true;
  for_lanes(mask, [&](uint32_t lane) {
    const uint64_t a = lane_address(w, op, lane);
    rise = rise && (first || a > last);
    last = a;
    first = false;
  });
  return rise;
}

}  // namespace

LaneMask lanes_that_collide(const Warp& w, const DecodedOp& op, LaneMask mask) {
  const Access* x = op.get_if<Access>();
  if (x == nullptr || addresses_rise(w, op, mask)) return 0;
  const Src* const slots = slots_at(w, x->first_slot);
  LaneMask collide = 0;
  for (LaneMask left = mask; left != 0; left &= left - 1) {
    const auto one = static_cast<uint32_t>(std::countr_zero(left));
    for_lanes(left & (left - 1), [&](uint32_t other) {
      if (lane_address(w, op, one) != lane_address(w, op, other)) return;
      if (digest_of_lane(w, *x, slots, one, 0) != digest_of_lane(w, *x, slots, other, 0)) collide |= 1u << one | 1u << other;
    });
  }
  return collide;
}

namespace {

// A butterfly's lanes have one sum, but a compiler that contracts its first step to `fma` lets each lane round another product.
constexpr uint32_t kStepsOfRounding = 256;

bool is_normal_float(uint32_t bits) {
  const uint32_t exponent = bits >> 23 & 0xff;
  return exponent != 0 && exponent != 0xff;
}

bool near_floats(uint32_t a, uint32_t b) {
  if (a == b) return true;
  return is_normal_float(a) && is_normal_float(b) && std::max(a, b) - std::min(a, b) <= kStepsOfRounding;
}

using Words = std::array<uint32_t, 4>;

Words words_of(const Warp& w, const Access& x, const Src& s, uint32_t lane) {
  Words words{};
  read_register(w, s, lane, reinterpret_cast<uint8_t*>(words.data()), x);
  return words;
}

bool near_lanes(const Warp& w, const Access& x, uint32_t one, uint32_t other) {
  const Src* const slots = slots_at(w, x.first_slot);
  return std::all_of(slots, slots + x.count, [&](const Src& s) {
    if (s.bank == kLeftOut) return true;
    const Words a = words_of(w, x, s, one), b = words_of(w, x, s, other);
    return near_floats(a[0], b[0]) && (x.element == 4 || near_floats(a[1], b[1]));
  });
}

}  // namespace

bool element_differs(const Warp& w, const DecodedOp& op, uint32_t k, uint32_t one, uint32_t other) {
  const Access& x = op.as<Access>();
  const Src& s = slots_at(w, x.first_slot)[k];
  return s.bank != kLeftOut && words_of(w, x, s, one) != words_of(w, x, s, other);
}

bool lanes_differ_by_rounding(const Warp& w, const DecodedOp& op, LaneMask lanes) {
  const Access* x = op.get_if<Access>();
  if (x == nullptr || (x->element != 4 && x->element != 8)) return false;  // a float, or two of them
  bool near = true;
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    const auto one = static_cast<uint32_t>(std::countr_zero(left));
    for_lanes(left & (left - 1), [&](uint32_t other) { near = near && (lane_address(w, op, one) != lane_address(w, op, other) || near_lanes(w, *x, one, other)); });
  }
  return near;
}

template <> ExecFn bind<isa::row::ldu>(Decoder& d, DecodedOp& op) { return bind_access<false>(d, op, *d.operand(1), *d.operand(0)); }
template <> ExecFn bind<isa::row::ld>(Decoder& d, DecodedOp& op) { return bind_access<false>(d, op, *d.operand(1), *d.operand(0)); }
template <> ExecFn bind<isa::row::st>(Decoder& d, DecodedOp& op) { return bind_access<true>(d, op, *d.operand(0), *d.operand(1)); }
template <> ExecFn bind<isa::row::prefetch_tensormap>(Decoder& d, DecodedOp& op) {
  d.set_address(op, *d.operand(0));
  op.emplace<payload::MapPrefetch>({.space = d.access_space(*d.operand(0))});
  return prefetch_map;
}

}  // namespace drywell::sim
