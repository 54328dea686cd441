#include "sim/check/absent_flow.h"

#include <algorithm>
#include <array>

#include "drywell/isa/spec.h"
#include "sim/check/absent_use.h"
#include "sim/exec/exec.h"
#include "sim/exec/shuffle_sources.h"
#include "sim/state/payload/call.h"

namespace drywell::sim::check {
namespace {

constexpr uint32_t kSlot = 128;  // bytes of a register of 32-bit lanes

// Values that a marked operand may have had: the ends of integers and floats of every width, NaN, and a small one. A predicate is true
// in every other probe.
constexpr std::array<uint64_t, 5> kPatterns{0, ~uint64_t{0}, 0x7BFF7BFF7BFF7BFF, 0xFBFFFBFFFBFFFBFF, 0x0000000100000001};
constexpr std::array<size_t, 2 * kPatterns.size()> kProbes{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
// Of a product of matrices: with 0 and with NaN (-1 of integers), which decide elements by whatever they are multiplied with.
constexpr std::array<size_t, 2> kProductProbes{0, 3};

template <class Lane>
void fill(Lane* at, LaneMask lanes, uint64_t value, uint64_t bits) {
  for_lanes(lanes, [&](uint32_t lane) { at[lane] = static_cast<Lane>((at[lane] & ~bits) | (value & bits)); });
}

/// Bits in which some lane of two registers differs.
template <class Lane>
uint64_t differing_bits(const uint8_t* a, const uint8_t* b, LaneMask lanes) {
  uint64_t bits = 0;
  for_lanes(lanes, [&](uint32_t lane) { bits |= uint64_t{reinterpret_cast<const Lane*>(a)[lane] ^ reinterpret_cast<const Lane*>(b)[lane]}; });
  return bits;
}

uint64_t differing(const uint8_t* a, const uint8_t* b, uint32_t bytes, LaneMask lanes) {
  if (bytes > 8) return ~uint64_t{0};
  return bytes == 4 ? differing_bits<uint32_t>(a, b, lanes) : differing_bits<uint64_t>(a, b, lanes);
}

/// Whether the probes toggle each bit of the result that depends on a marked bit: moves, logic, fields and sums of integers, whose carries are longest
/// from the greatest value. Of other instructions all of the result depends on the operand.
bool works_on_bits(const DecodedOp& op) {
  const isa::TimingClass t = isa::spec(op.opcode).timing;
  return t == isa::TimingClass::alu || t == isa::TimingClass::bitfield || t == isa::TimingClass::move || t == isa::TimingClass::cvt_move;
}

/// Width in bits of each of the two numbers of a packed type of arithmetic; 0: of other types.
unsigned pair_bits(isa::Mod type) {
  switch (type) {
    case isa::Mod::f16x2:
    case isa::Mod::bf16x2:
    case isa::Mod::u16x2:
    case isa::Mod::s16x2:
    case isa::Mod::f32x2: return isa::type_bits(type) / 2;
    default: return 0;
  }
}

/// The bits of a result without a value if those in `changing` depend on the operand. The two numbers of a packed type do not depend on each other.
uint64_t dependent_bits(const DecodedOp& op, unsigned pair, uint64_t changing) {
  if (works_on_bits(op)) return changing;
  if (pair == 0) return ~uint64_t{0};
  const uint64_t low = (uint64_t{1} << pair) - 1, high = low << pair;
  return ((changing & low) != 0 ? low : 0) | ((changing & high) != 0 ? high : 0);
}

template <class Lane>
LaneMask equal_lanes(const Lane* a, const Lane* b) {
  LaneMask same = 0;
  for (uint32_t i = 0; i < kWarpSize; ++i) same |= LaneMask{a[i] == b[i]} << i;
  return same;
}

LaneMask equal_lanes(const uint8_t* a, const uint8_t* b, uint32_t bytes) {
  if (bytes == 4) return equal_lanes(reinterpret_cast<const uint32_t*>(a), reinterpret_cast<const uint32_t*>(b));
  return equal_lanes(reinterpret_cast<const uint64_t*>(a), reinterpret_cast<const uint64_t*>(b));
}

// Operands of a computation have different patterns: the difference of two values without a value is none, either.
size_t pattern_of(size_t probe, size_t operand, bool product) { return product ? probe / 2 : (probe / 2 + operand) % kPatterns.size(); }

}  // namespace

AbsentFlow::Operands AbsentFlow::operands_of(const DecodedOp& op) const {
  const Program& p = *parts_.launch.program;
  const Program::RegUse& use = p.reg_use[parts_.pc_of(op)];
  const PredicateUse::Range preds = parts_.launch.predicates.of(parts_.pc_of(op));
  const uint32_t* const at = p.reg_lists.data() + use.first;
  return {{at, use.reads}, {at + use.reads, use.writes}, {preds.at, preds.reads}, {preds.at + preds.reads, preds.writes}};
}

uint32_t AbsentFlow::lane_bytes(const DecodedOp& op, uint32_t offset) {
  const Program& p = *parts_.launch.program;
  if (lane_bytes_.empty()) lane_bytes_.resize(p.functions.size());
  std::vector<uint8_t>& of = lane_bytes_[op.function];
  if (of.empty()) {
    const FunctionCode& code = p.functions[op.function];
    of.resize(code.frame_bytes / kSlot + 1, 4);
    for (size_t r = 0; r < code.function->regs.size(); ++r) {
      const isa::Mod type = code.function->regs[r].type;
      if (type != isa::Mod::pred) of[code.reg_offset[r] / kSlot] = static_cast<uint8_t>(register_bytes(isa::type_bits(type)) / kWarpSize);
    }
  }
  return of[offset / kSlot];
}

AbsentMarks AbsentFlow::marks_read(const Warp& w, const Operands& o) const {
  const AbsentValues& values = parts_.state_of(w).absent;
  AbsentMarks all;
  for (const uint32_t r : o.reads) all.add(values.of_register(w.frame_base + r));
  for (const uint16_t i : o.predicate_reads) all.add(values.of_predicate(w.frames[w.frame].preds + i));
  return all;
}

void AbsentFlow::step(const Warp& w, const DecodedOp& op, LaneMask mask) {
  if (!parts_.state_of(w).holes.empty()) return load(w, op, mask);
  if (is_shuffle(op)) return shuffle(w, op, mask);
  if (!parts_.state_of(w).absent.any() || op.flow == isa::Flow::return_) return;
  if (op.flow == isa::Flow::call) return call(w, op, mask);
  if (is_reduction_of_lanes(op)) return reduce(w, op, mask);
  const Operands o = operands_of(op);
  const AbsentMarks read = marks_read(w, o).of(mask);
  const bool followed = follows(w, op, read);
  if (read.any() != 0 && !followed) check_absent_use(parts_, w, op, mask, read);
  if (read.any() == 0 || !followed) return clear_results(w, o, mask);
  compute(w, op, mask, o, read);
}

// Rows of a tile that lie beyond the end of a matrix are multiplied, and what comes of them is not stored.
bool AbsentFlow::follows(const Warp& w, const DecodedOp& op, const AbsentMarks& read) const {
  if (is_computation(op)) return true;
  return read.any() != 0 && is_register_product(op) && parts_.state_of(w).absent.origin_at(read.origin).agent == Agent::unset;
}

// A lane has what its source has. The predicate says whether the source is in the segment; it is right whether that lane takes part or not.
void AbsentFlow::shuffle(const Warp& w, const DecodedOp& op, LaneMask mask) {
  AbsentValues& values = parts_.state_of(w).absent;
  const auto sources = shuffle_sources(w, op, mask);
  const Operands o = operands_of(op);
  if (!sources) return clear_results(w, o, mask);
  if (!values.any() && (sources->absent | sources->outside) == 0) return;
  AbsentMarks result;
  if (op.src[0].bank == 0) {
    const AbsentMarks from = values.of_register(w.frame_base + op.src[0].offset);
    for_lanes(mask & ~sources->absent, [&](uint32_t lane) {
      const AbsentMarks one = from.of(1u << sources->lane[lane]);
      if (one.any() != 0) result.add({one.wrong != 0 ? 1u << lane : 0, one.harmless != 0 ? 1u << lane : 0, 0, one.origin});
    });
  }
  if (const LaneMask lanes = sources->absent | sources->outside; lanes != 0) {
    const Access access = parts_.access(w, op, lanes, Agent::shuffle, true);
    result.add({sources->absent, sources->outside, 0, values.origin(access)});
  }
  clear_results(w, o, mask);
  for (const uint32_t r : o.writes) values.set_register(w.frame_base + r, mask, result);
}

// All members have a result without a value if one of them has none: Triton reduces whole warps that loaded nothing, and stores none of it.
void AbsentFlow::reduce(const Warp& w, const DecodedOp& op, LaneMask mask) {
  const Operands o = operands_of(op);
  AbsentValues& values = parts_.state_of(w).absent;
  const Src &value = op.src[0], &members = op.src[1];
  const AbsentMarks from = value.bank == 0 ? values.of_register(w.frame_base + value.offset).of(mask) : AbsentMarks{};
  const bool known = members.bank != 0 || !is_written(o, members.offset);
  LaneMask lanes = 0;
  if (values.from_nothing(from)) for_lanes(mask, [&](uint32_t lane) { lanes |= LaneMask{((known ? lane_value(w, members, lane, false) : mask) & from.any()) != 0} << lane; });
  clear_results(w, o, mask);
  for (const uint32_t r : o.writes) values.set_register(w.frame_base + r, lanes, {lanes, 0, 0, from.origin});
}

// Of local, shared or tensor memory: the registers that it brings from where nothing was written are marked.
void AbsentFlow::load(const Warp& w, const DecodedOp& op, LaneMask mask) {
  AbsentValues& values = parts_.state_of(w).absent;
  if (values.any()) clear_results(w, operands_of(op), mask);
  for (const MemoryHole& h : parts_.state_of(w).holes) {
    const Access own = parts_.access(w, op, h.lanes, h.tensor ? Agent::vacant : h.shared ? Agent::unset
                                                                                         : Agent::hole,
                                     false);
    const uint16_t origin = h.passed != 0 ? static_cast<uint16_t>(h.passed - 1) : values.origin(h.stored != 0 ? parts_.memory.origin_of_stored(h.stored) : own);
    values.set_register(w.frame_base + h.slot, h.lanes, {0, h.lanes, 0, origin});
  }
  parts_.state_of(w).holes.clear();
}

// Arguments and results lose their marks.
void AbsentFlow::call(const Warp& w, const DecodedOp& op, LaneMask mask) {
  const Program& p = *parts_.launch.program;
  AbsentValues& values = parts_.state_of(w).absent;
  const bool entered = p.calls[op.as<payload::Call>().site].builtin == Builtin::none;
  const CallFrame& caller = w.frames[entered ? w.frames[w.frame].parent : w.frame];
  const Operands o = operands_of(op);
  for (const uint32_t r : o.writes) values.set_register(caller.registers + r, mask, {});
  if (!entered) return;
  const CallFrame& f = w.frames[w.frame];
  for (uint32_t at = 0; at < p.functions[f.function].frame_bytes; at += kSlot) values.set_register(f.registers + at, mask, {});
  for (uint32_t i = 0; i < p.functions[f.function].pred_count; ++i) values.set_predicate(f.preds + i, mask, {});
}

bool AbsentFlow::is_written(const Operands& o, uint32_t r) { return std::find(o.writes.begin(), o.writes.end(), r) != o.writes.end(); }

void AbsentFlow::clear_results(const Warp& w, const Operands& o, LaneMask mask) {
  AbsentValues& values = parts_.state_of(w).absent;
  for (const uint32_t r : o.writes) values.set_register(w.frame_base + r, mask, {});
  for (const uint16_t i : o.predicate_writes) values.set_predicate(w.frames[w.frame].preds + i, mask, {});
}

// A result is marked where it depends on a marked operand, or on a marked guard. It is harmless where it is one of the other operands; of a
// value that nothing has written, where it is only moved.
void AbsentFlow::compute(const Warp& w, const DecodedOp& op, LaneMask mask, const Operands& o, const AbsentMarks& read) {
  AbsentValues& values = parts_.state_of(w).absent;
  const bool product = is_register_product(op);
  const Depends depends = probe(w, op, product ? mask : read.any(), o);
  const AbsentMarks guard = op.guard.index != 0 ? values.of_predicate(w.frames[w.frame].preds + op.guard.index).of(mask) : AbsentMarks{};
  const bool nothing = values.from_nothing(read), uses = parts_.launch.predicates.of(parts_.pc_of(op)).transfer == Transfer::uses;
  const auto marks_of = [&](LaneMask changing, LaneMask same, uint64_t bits) {
    if (nothing) {
      const LaneMask made = product ? changing : (uses ? read.any() : read.wrong) & changing;
      AbsentMarks m{made, changing & ~made, 0, read.origin, bits};
      m.add(guard);
      return m;
    }
    const LaneMask wrong = read.wrong & changing & ~same;
    AbsentMarks m{wrong, changing & ~wrong, changing & read.wrong & same, read.origin, bits};
    m.add(guard);
    return m;
  };
  std::vector<AbsentMarks> registers, predicates;  // before any is set: a result may be an operand
  for (size_t i = 0; i < o.writes.size(); ++i) registers.push_back(marks_of(depends.registers[i], equal_to_operand(w, op, o.writes[i], o), depends.bits[i]));
  for (size_t i = 0; i < o.predicate_writes.size(); ++i) predicates.push_back(marks_of(depends.predicates[i], 0, ~uint64_t{0}));
  for (size_t i = 0; i < o.writes.size(); ++i) values.set_register(w.frame_base + o.writes[i], mask, registers[i]);
  for (size_t i = 0; i < o.predicate_writes.size(); ++i) values.set_predicate(w.frames[w.frame].preds + o.predicate_writes[i], mask, predicates[i]);
}

bool AbsentFlow::run_probe(const Warp& w, const DecodedOp& op, LaneMask mask, const Operands& o, size_t probe) {
  const AbsentValues& values = parts_.state_of(w).absent;
  replay_.load(w, op, o.reads);
  const auto set = [&](uint32_t r, LaneMask lanes, uint64_t value, uint64_t bits) {
    lane_bytes(op, r) == 4 ? fill(replay_.lanes<uint32_t>(r), lanes, value, bits) : fill(replay_.lanes<uint64_t>(r), lanes, value, bits);
  };
  const bool product = is_register_product(op);
  for (size_t i = 0; i < o.reads.size(); ++i) {
    const uint32_t r = o.reads[i];
    const AbsentMarks& marks = values.of_register(w.frame_base + r);
    // What a product was added to is overwritten: it may be the NaN of a wrong value by now.
    if (product && is_written(o, r)) set(r, ~marks.any(), 0, ~uint64_t{0});
    set(r, marks.any(), kPatterns[pattern_of(probe, i, product)], product ? ~uint64_t{0} : marks.bits);
  }
  for (const uint16_t i : o.predicate_reads) {
    const LaneMask marked = values.of_predicate(w.frames[w.frame].preds + i).any();
    replay_.predicate(i) = (replay_.predicate(i) & ~marked) | (probe % 2 == 0 ? 0 : marked);
  }
  return replay_.run(op, mask);
}

AbsentFlow::Depends AbsentFlow::probe(const Warp& w, const DecodedOp& op, LaneMask mask, const Operands& o) {
  Depends d{std::vector<LaneMask>(o.writes.size()), std::vector<LaneMask>(o.predicate_writes.size()), std::vector<uint64_t>(o.writes.size())};
  std::vector<std::vector<uint8_t>> first;
  std::vector<uint32_t> first_predicates;
  const bool product = is_register_product(op);
  const unsigned pair = product ? 0 : pair_bits(parts_.launch.program->instruction(op).mod(isa::Slot::type));
  for (const size_t k : product ? std::span<const size_t>(kProductProbes) : std::span<const size_t>(kProbes)) {
    if (!run_probe(w, op, mask, o, k)) return d;
    for (size_t i = 0; i < o.writes.size(); ++i) {
      const uint32_t bytes = lane_bytes(op, o.writes[i]);
      const uint8_t* const result = replay_.lanes<uint8_t>(o.writes[i]);
      if (k == 0) first.emplace_back(result, result + bytes * kWarpSize);
      d.registers[i] |= mask & ~equal_lanes(first[i].data(), result, bytes);
      d.bits[i] |= dependent_bits(op, pair, differing(first[i].data(), result, bytes, mask));
    }
    for (size_t i = 0; i < o.predicate_writes.size(); ++i) {
      const uint32_t result = replay_.predicate(o.predicate_writes[i]);
      if (k == 0) first_predicates.push_back(result);
      d.predicates[i] |= mask & (first_predicates[i] ^ result);
    }
  }
  return d;
}

LaneMask AbsentFlow::equal_to_operand(const Warp& w, const DecodedOp& op, uint32_t result, const Operands& o) {
  const AbsentValues& values = parts_.state_of(w).absent;
  const uint32_t bytes = lane_bytes(op, result);
  LaneMask equal = 0;
  for (const uint32_t r : o.reads) {
    if (lane_bytes(op, r) != bytes) continue;
    equal |= equal_lanes(w.bank[0] + r, w.bank[0] + result, bytes) & ~values.of_register(w.frame_base + r).wrong;
  }
  return equal;
}

}  // namespace drywell::sim::check
