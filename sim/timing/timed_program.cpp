#include "sim/timing/timed_program.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "drywell/isa/mma_shape.h"
#include "drywell/isa/strong.h"
#include "sim/state/payload/atomic.h"
#include "sim/timing/block_motion.h"
#include "sim/timing/constant_bank.h"
#include "sim/timing/double_constants.h"
#include "sim/timing/idioms.h"
#include "sim/timing/lanes_apart.h"
#include "sim/timing/matrix_product.h"
#include "sim/timing/merged_loads.h"
#include "sim/timing/pipes.h"
#include "sim/timing/warp_atomics.h"

namespace drywell::sim {
namespace {

using isa::Mod;
using isa::Slot;
using isa::TimingClass;

enum class MemoryUse : uint8_t {
  load,
  store,
  atomic
};

TimingClass memory_class(MemoryUse a, Mod space) {
  const bool store = a == MemoryUse::store;
  switch (space) {
    case Mod::shared:
    case Mod::shared_cta:
      return a == MemoryUse::atomic ? TimingClass::atom_shared
             : store                ? TimingClass::st_shared
                                    : TimingClass::ld_shared;
    case Mod::shared_cluster: return TimingClass::dsmem;
    case Mod::local: return store ? TimingClass::st_local : TimingClass::ld_local;
    case Mod::param:
    case Mod::param_entry:
    case Mod::param_func:
    case Mod::const_: return TimingClass::ld_param;
    case Mod::global:
      return a == MemoryUse::atomic ? TimingClass::atom_global
             : store                ? TimingClass::st_global
                                    : TimingClass::ld_global;
    default:
      return a == MemoryUse::atomic ? TimingClass::atom_global
             : store                ? TimingClass::st_generic
                                    : TimingClass::ld_generic;
  }
}

const isa::Operand* address_operand(const isa::Function& f, const isa::Instruction& i) {
  for (const isa::Operand& o : f.operands(i)) {
    if (o.kind == isa::Operand::Kind::addr) return &o;
  }
  return nullptr;
}

// State space of an access: the modifier, or the named variable's.
Mod access_space(const isa::Function& f, const isa::Instruction& i) {
  const Mod m = i.mod(Slot::space);
  if (m != Mod::none) return m;
  const isa::Operand* a = address_operand(f, i);
  if (a != nullptr && a->base == isa::Operand::Base::symbol) {
    const isa::SymbolRef& s = f.symbols[a->index];
    if (s.kind == isa::SymbolRef::Kind::param) return Mod::param;
    if (s.kind == isa::SymbolRef::Kind::local) return f.variables[s.index].space;
  }
  return Mod::none;
}

Space space_of_mod(Mod m) {
  switch (m) {
    case Mod::global: return Space::global;
    case Mod::shared:
    case Mod::shared_cta: return Space::shared_cta;
    case Mod::shared_cluster: return Space::shared_cluster;
    case Mod::local: return Space::local;
    case Mod::param:
    case Mod::param_entry:
    case Mod::param_func:
    case Mod::const_: return Space::param;
    default: return Space::generic;
  }
}

bool is_memory_class(TimingClass t) { return t >= TimingClass::ld_shared && t <= TimingClass::atom_global; }

OpKind kind_of(TimingClass t) {
  switch (t) {
    case TimingClass::none:
    case TimingClass::move: return OpKind::folded;
    case TimingClass::branch:
    case TimingClass::call: return OpKind::branch;
    case TimingClass::shfl:
    case TimingClass::match_any:
    case TimingClass::ldmatrix:
    case TimingClass::stmatrix: return OpKind::lsu;
    case TimingClass::dsmem: return OpKind::memory;
    case TimingClass::bar: return OpKind::barrier;
    case TimingClass::mbarrier_wait: return OpKind::wait;
    case TimingClass::bar_cluster:
    case TimingClass::fence_cta:
    case TimingClass::fence_gpu:
    case TimingClass::fence_proxy:
    case TimingClass::fence_proxy_all:
    case TimingClass::fence_mbarrier_init:
    case TimingClass::mbarrier_op:
    case TimingClass::bulk_wait:
    case TimingClass::tensormap:
    case TimingClass::wgmma_sync:
    case TimingClass::tmem_wait:
    case TimingClass::tmem_alloc:
    case TimingClass::tcgen05_fence:
    case TimingClass::setmaxnreg:
    case TimingClass::nanosleep:
    case TimingClass::griddep:
    case TimingClass::tma_prefetch: return OpKind::hold;
    case TimingClass::tma_load:
    case TimingClass::tma_store:
    case TimingClass::tma_reduce:
    case TimingClass::bulk_copy:
    case TimingClass::umma:
    case TimingClass::tmem_cp:
    case TimingClass::tmem_ld:
    case TimingClass::tmem_st:
    case TimingClass::tmem_shift:
    case TimingClass::tcgen05_commit:
    case TimingClass::clc:
    case TimingClass::wgmma:
    case TimingClass::cp_async: return OpKind::async;
    case TimingClass::ld_shared:
    case TimingClass::st_shared:
    case TimingClass::ld_global:
    case TimingClass::st_global:
    case TimingClass::ld_local:
    case TimingClass::st_local:
    case TimingClass::ld_generic:
    case TimingClass::st_generic:
    case TimingClass::atom_shared:
    case TimingClass::atom_global: return OpKind::memory;
    case TimingClass::alu:
    case TimingClass::imad:
    case TimingClass::imad_wide:
    case TimingClass::idiv:
    case TimingClass::idiv64:
    case TimingClass::bitcount:
    case TimingClass::bitfield:
    case TimingClass::fma:
    case TimingClass::fma2:
    case TimingClass::half:
    case TimingClass::mufu:
    case TimingClass::fdiv:
    case TimingClass::frcp:
    case TimingClass::fsqrt:
    case TimingClass::f64:
    case TimingClass::cvt_pack:
    case TimingClass::cvt_unpack:
    case TimingClass::cvt_rs4:
    case TimingClass::cvt_f2f:
    case TimingClass::cvt_int:
    case TimingClass::cvt_move:
    case TimingClass::s2r:
    case TimingClass::clock:
    case TimingClass::vote:
    case TimingClass::redux:
    case TimingClass::elect:
    case TimingClass::ld_param:
    case TimingClass::bar_warp:
    case TimingClass::mma_sync: return OpKind::local;
    case TimingClass::count_: break;
  }
  throw InternalError("a timing class without a kind of operation");
}

constexpr uint16_t kMatrixRow = 16;  // bytes that a lane of ldmatrix or stmatrix addresses

// The figures of ldmatrix and stmatrix are for .x4; each matrix is a wavefront.
double matrices(const isa::Instruction& i) { return i.has(Mod::x1) ? 1 : i.has(Mod::x2) ? 2
                                                                                        : 4; }

bool is_matrix_product(const isa::Instruction& i, TimingClass t) {
  return t == TimingClass::mma_sync && i.mod(Slot::shape) != Mod::none && isa::spec(i.op).memory == isa::MemoryRole::none;
}

// 64-bit integer work is two 32-bit instructions, and so is a choice between doubles.
double width_factor(const isa::Instruction& i, TimingClass t) {
  if (t == TimingClass::ldmatrix || t == TimingClass::stmatrix) return matrices(i) / 4;
  if (t != TimingClass::alu && t != TimingClass::bitfield && t != TimingClass::imad) return 1;
  const Mod type = i.mod(Slot::type);
  const bool counted = isa::is_float_type(type) && isa::spec(i.op).pipe_slots > 1;  // its row says how many
  return isa::type_bits(type) == 64 && !counted ? 2 : 1;
}

bool compares_doubles(const isa::Instruction& i) { return isa::spec(i.op).slot_index(Slot::cmp) >= 0 && i.mod(Slot::type) == Mod::f64; }

bool converts_doubles(const isa::Instruction& i, TimingClass t) {
  return t == TimingClass::cvt_int && (i.mod(Slot::type) == Mod::f64 || i.mod(Slot::atype) == Mod::f64);
}

uint16_t lane_bytes(const isa::Function& f, const isa::Instruction& i) {
  uint32_t elements = 1;
  for (const isa::Operand& o : f.operands(i)) {
    if (o.kind == isa::Operand::Kind::vec) elements = std::max<uint32_t>(elements, o.count);
  }
  return static_cast<uint16_t>(elements * std::max(8u, isa::type_bits(i.mod(Slot::type))) / 8);
}

bool bypasses_l1(const isa::Instruction& i) {
  for (const Mod m : {Mod::cg, Mod::cv, Mod::volatile_, Mod::relaxed, Mod::acquire, Mod::mmio}) {
    if (i.has(m)) return true;
  }
  return false;
}

// Accesses through which CTAs may exchange values while the kernel runs.
bool talks(const isa::Instruction& i, TimingClass t) {
  if (t == TimingClass::atom_global || t == TimingClass::clc) return true;
  if (!is_memory_class(t) || t == TimingClass::ld_shared || t == TimingClass::st_shared) return false;
  return isa::is_strong(i);
}

bool commutes(const DecodedOp& op) {
  const auto* x = op.get_if<payload::Atomic>();
  return x != nullptr && x->commutes;
}

// Four lanes move a piece of a line, of eight lines together: two elements of an accumulator each, or a register of A or B.
uint8_t piece_of(const isa::Instruction& i) {
  const isa::InstrSpec& row = isa::spec(i.op);
  if (row.memory != isa::MemoryRole::fragment_load && row.memory != isa::MemoryRole::fragment_store) return 0;
  const unsigned bits = isa::type_bits(i.mod(Slot::type));
  const bool accumulator = row.memory == isa::MemoryRole::fragment_store || bits == 32;
  return static_cast<uint8_t>(accumulator ? bits : std::max(16u, bits / 2));
}

// A sum of 64 bits: its lower half leaves a carry, in the ALU; the upper half is a product in the FMA pipe, which has the time (wide0 of mix.toml,
// traces/hw/h200-2026-11-27-arithmetic.csv).
bool carries(const isa::Instruction& i, TimingClass t) {
  return t == TimingClass::alu && isa::is_sum(isa::spec(i.op).fold) && isa::type_bits(i.mod(Slot::type)) == 64 && !isa::is_float_type(i.mod(Slot::type));
}

// A product, for the FMA pipe (steps0 of traces/hw/h200-2026-11-27-arithmetic.csv).
bool shifts_left_by_a_constant(const isa::Function& f, const isa::Instruction& i) {
  const auto operands = f.operands(i);
  return isa::spec(i.op).fold == isa::Fold::shift && isa::type_bits(i.mod(Slot::type)) == 32 && operands.size() == 3 && operands[2].kind == isa::Operand::Kind::imm;
}

// Integers of 32 bits become floats in the ALU; other conversions pass through the multifunction unit (i2f_i2f and convert_convert of
// traces/hw/h200-2026-11-27-arithmetic.csv).
bool converts_in_the_alu(const isa::Instruction& i) {
  return i.mod(Slot::type) == Mod::f32 && !isa::is_float_type(i.mod(Slot::atype)) && isa::type_bits(i.mod(Slot::atype)) <= 32;
}

// ptxas makes an atomic operation of its own of the addition of one: lanes at one word of shared memory do not wait for each other.
bool counts(const isa::Function& f, const isa::Instruction& i) {
  const auto operands = f.operands(i);
  return i.has(Mod::add) && !operands.empty() && operands.back().kind == isa::Operand::Kind::imm && operands.back().value == 1;
}

// rsqrt.approx.ftz.f64: the approximation without what refines it.
bool is_bare_root(const isa::Instruction& i) { return isa::spec(i.op).timing == TimingClass::f64 && i.has(Mod::ftz); }

class Maker {
 public:
  Maker(TimedProgram& out, const Program& p, const ArchConfig& arch) : products_(arch.target), out_(out), p_(p), arch_(arch) {}

  uint32_t first_slot = 0;  // of the function being described

  void begin(const isa::Function& f) {
    constants_.emplace(f);
    bank_.emplace(f);
    products_.forget();
  }
  /// The instruction is the first of a loop.
  void begin_loop() {
    constants_->forget();
    products_.forget();
  }

  OpInfo make(const isa::Function& f, const isa::Instruction& i, bool folded) {
    OpInfo x;
    const bool known = divides_again(f, i);
    x.timing = known ? TimingClass::fma : timing_class(f, i);
    const isa::InstrSpec& row = isa::spec(i.op);
    x.piece = piece_of(i);
    if (row.memory == isa::MemoryRole::matrix_load || row.memory == isa::MemoryRole::matrix_store) x.matrices = static_cast<uint8_t>(matrices(i));
    x.constant = row.memory == isa::MemoryRole::load && access_space(f, i) == Mod::const_ && bank_->is_indexed(f, i);
    x.kind = folded ? OpKind::folded : x.piece != 0 || x.matrices != 0 || x.constant ? OpKind::memory
                                                                                     : kind_of(x.timing);
    if (row.flow == isa::Flow::return_ || row.flow == isa::Flow::end) x.kind = OpKind::exit;
    const ClassCost& c = arch_.cost(x.timing);
    const MatrixProduct product = is_matrix_product(i, x.timing) ? products_.of(f, i) : MatrixProduct{};
    products_.writes(f, i);
    const double factor = product.times * width_factor(i, x.timing);
    x.pipe = c.pipe;
    x.latency = static_cast<uint16_t>(std::lround(latency_of(i, x.timing) + std::max(0.0, factor - 1) * c.interval + subnormal_care(i, x.timing)));
    x.interval = static_cast<float>(c.interval * (carries(i, x.timing) ? 1 : factor) * (is_bare_root(i) ? 1 : row.pipe_slots));
    x.queue = static_cast<uint8_t>(x.pipe == Pipe::xu  ? arch_.sm.xu_queue
                                   : is_shared(x.pipe) ? arch_.sm.lsu_queue
                                                       : arch_.sm.alu_queue);
    if (x.kind == OpKind::memory) {
      x.space = space_of_mod(access_space(f, i));
      x.bytes = x.matrices != 0 ? kMatrixRow : lane_bytes(f, i);
      x.atomic = x.timing == TimingClass::atom_global || x.timing == TimingClass::atom_shared;
      x.store = row.memory == isa::MemoryRole::store || row.memory == isa::MemoryRole::fragment_store || row.memory == isa::MemoryRole::matrix_store;
      x.real = isa::is_float_type(i.mod(Slot::type));
      x.swaps = i.has(Mod::cas);
      x.counts = counts(f, i);
      x.cached = row.engine == isa::Engine::lsu && !x.atomic && !x.constant && !bypasses_l1(i);
    }
    x.relaxed = i.has(Mod::relaxed);
    x.fenced = x.timing == TimingClass::mbarrier_op && i.has(Mod::release) && i.has(Mod::cluster);
    x.either_pipe = x.pipe == Pipe::alu && !carries(i, x.timing) && ((x.timing == TimingClass::alu && (isa::is_sum(row.fold) || shifts_left_by_a_constant(f, i))) || x.timing == TimingClass::cvt_f2f);
    x.sequence = is_sequence(x.timing);
    if (is_refined(i)) {
      x.sequence = true;
      x.latency = static_cast<uint16_t>(std::lround(c.latency * row.pipe_slots + arch_.cost(TimingClass::mufu).latency));
    }
    if (product.sequence != 0) {
      x.sequence = true;
      x.latency = product.sequence;
    }
    x.slots = known ? kKnownReciprocal : product.slots > 1 ? product.slots
                                                           : issue_slots(i, x.timing, factor);
    if (row.flow == isa::Flow::call) constants_->forget();
    if (x.timing == TimingClass::f64 && !folded) x.slots += constants_->new_words(f, i);
    x.arrives = row.sync == isa::SyncRole::cluster_arrive || row.sync == isa::SyncRole::cta_barrier_arrive;
    const bool exchanges = talks(i, x.timing);
    out_.talks_between_ctas = out_.talks_between_ctas || exchanges;
    out_.orders_ctas = out_.orders_ctas || (exchanges && !commutes(p_.code[out_.ops.size()]));
    if (i.guard != isa::kNoReg) x.guard = first_slot + i.guard;
    record_slots(f, i, x);
    x.line = line_of(i);
    return x;
  }

 private:
  // The upper half of a product comes later, and so do conversions of doubles (cross_hi_hi of cross.toml, f64_f2f, f64_select and
  // f64_min of f64.toml; traces/hw/h200-2026-11-27-crossings.csv).
  double latency_of(const isa::Instruction& i, TimingClass t) const {
    constexpr double kUpperHalf = 9, kComparison = 10;
    if (t == TimingClass::imad_wide && i.has(Mod::hi)) return kUpperHalf;
    if (converts_doubles(i, t)) return arch_.cost(TimingClass::mufu).latency;
    if (compares_doubles(i)) return kComparison;
    return arch_.cost(t).latency * (t == TimingClass::alu ? isa::spec(i.op).pipe_slots : 1);
  }
  // ptxas takes the reciprocal of a divisor once in a block; the scaled dividend and the product remain.
  static constexpr uint8_t kKnownReciprocal = 3;
  bool divides_again(const isa::Function& f, const isa::Instruction& i) {
    const isa::InstrSpec& row = isa::spec(i.op);
    if (row.flow != isa::Flow::next) divisors_.clear();
    if (row.fold != isa::Fold::float_quotient) return false;
    const isa::Operand& divisor = f.operands(i)[2];
    return divisor.kind == isa::Operand::Kind::reg && !divisors_.insert(divisor.index).second;
  }
  // The multifunction unit flushes subnormals. Where PTX keeps them, ptxas compares, and scales before and after where it must.
  double subnormal_care(const isa::Instruction& i, TimingClass t) const {
    const bool scaled = t == TimingClass::mufu && i.mod(Slot::type) == Mod::f32 && isa::spec(i.op).slot_index(Slot::ftz) >= 0 && !i.has(Mod::ftz);
    return scaled ? 2 * arch_.cost(TimingClass::fma).latency + arch_.sm.guard_latency : 0;
  }
  // Machine instructions that ptxas 13.0 makes of it for sm_90a, on the way without exceptions; one of the multifunction unit keeps the issue
  // slot for two cycles. Their sum bounds a full SM (steps* and *_24 of mix.toml, traces/hw/h200-2026-11-27-arithmetic.csv).
  uint8_t issue_slots(const isa::Instruction& i, TimingClass t, double factor) const {
    constexpr uint8_t kMultifunction = 2, kSequence = 12, kScaled = 3, kQuotient = 4, kFullQuotient = 7;
    switch (t) {
      case TimingClass::idiv:
      case TimingClass::idiv64:
      case TimingClass::fdiv:
      case TimingClass::frcp:
      case TimingClass::fsqrt: return kSequence;
      case TimingClass::cvt_int: return kMultifunction;
      case TimingClass::mufu: return kMultifunction + (quotient(i) ? i.has(Mod::full) ? kFullQuotient : kQuotient : subnormal_care(i, t) != 0 ? kScaled
                                                                                                                                              : 0);
      case TimingClass::alu:
      case TimingClass::bitfield:
      case TimingClass::imad: return static_cast<uint8_t>(factor * isa::spec(i.op).pipe_slots);
      default: return 1;
    }
  }
  static bool quotient(const isa::Instruction& i) { return isa::spec(i.op).fold == isa::Fold::float_quotient && !i.has(Mod::ftz); }
  void record_slots(const isa::Function& f, const isa::Instruction& i, OpInfo& x) {
    std::vector<uint32_t> reads, writes;
    const auto visit = [&](const auto& self, const isa::Operand& o, bool write) -> void {
      switch (o.kind) {
        case isa::Operand::Kind::reg: (write ? writes : reads).push_back(first_slot + o.index); break;
        case isa::Operand::Kind::addr:
          if (o.base == isa::Operand::Base::reg) reads.push_back(first_slot + o.index);
          break;
        case isa::Operand::Kind::vec:
        case isa::Operand::Kind::tensor:
        case isa::Operand::Kind::pair:
        case isa::Operand::Kind::args:
          for (const isa::Operand& e : f.elements(o)) self(self, e, write);
          break;
        default: break;
      }
    };
    const isa::InstrSpec& row = isa::spec(i.op);
    const auto positions = isa::operand_positions(f, i);
    for (size_t k = 0; k < isa::kMaxOperands && row.operands[k].name != nullptr; ++k) {
      if (positions[k] < 0) continue;
      const isa::Operand& o = f.operands(i)[static_cast<size_t>(positions[k])];
      if (row.operands[k].access != isa::Access::write) visit(visit, o, false);
      if (row.operands[k].access != isa::Access::read) visit(visit, o, true);
    }
    x.first = static_cast<uint32_t>(out_.slots.size());
    x.reads = static_cast<uint16_t>(reads.size());
    x.writes = static_cast<uint16_t>(writes.size());
    out_.slots.insert(out_.slots.end(), reads.begin(), reads.end());
    out_.slots.insert(out_.slots.end(), writes.begin(), writes.end());
  }

  uint32_t line_of(const isa::Instruction& i) {
    const bool known = i.source.file != 0;
    const std::pair<uint32_t, uint32_t> key =
        known ? std::pair{i.source.file, i.source.line} : std::pair{0u, i.ptx_line};
    const auto [it, fresh] = line_ids_.try_emplace(key, static_cast<uint32_t>(out_.lines.size()));
    if (fresh) out_.lines.push_back({known || !p_.module->files[0].empty() ? p_.module->files[key.first] : "<ptx>", key.second});
    return it->second;
  }

  std::set<isa::RegId> divisors_;  // of the block's quotients
  std::optional<DoubleConstants> constants_;
  std::optional<ConstantBank> bank_;
  MatrixProducts products_;
  TimedProgram& out_;
  const Program& p_;
  const ArchConfig& arch_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> line_ids_;
};

TimingClass special_register_class(isa::SpecialReg r) {
  switch (r) {
    case isa::SpecialReg::clock:
    case isa::SpecialReg::clock_hi:
    case isa::SpecialReg::clock64:
    case isa::SpecialReg::globaltimer:
    case isa::SpecialReg::globaltimer_lo:
    case isa::SpecialReg::globaltimer_hi: return TimingClass::clock;
    default: return TimingClass::s2r;
  }
}

}  // namespace

isa::TimingClass timing_class(const isa::Function& f, const isa::Instruction& i) {
  const isa::InstrSpec& row = isa::spec(i.op);
  for (const isa::Operand& o : f.operands(i)) {
    if (o.kind == isa::Operand::Kind::special) return special_register_class(static_cast<isa::SpecialReg>(o.index));
  }
  if (row.timing == TimingClass::imad && i.has(Mod::hi)) return TimingClass::imad_wide;
  if (row.timing == TimingClass::alu && compares_doubles(i)) return TimingClass::f64;
  switch (row.timing) {
    case TimingClass::ld_global:
    case TimingClass::ld_generic:
    case TimingClass::ld_shared: return memory_class(MemoryUse::load, access_space(f, i));
    case TimingClass::st_global:
    case TimingClass::st_generic:
    case TimingClass::st_shared: return memory_class(MemoryUse::store, access_space(f, i));
    case TimingClass::atom_global:
    case TimingClass::atom_shared: return memory_class(MemoryUse::atomic, access_space(f, i));
    // Without a state space the fence covers global memory too.
    case TimingClass::fence_proxy: return row.sync == isa::SyncRole::async_proxy_fence && i.mod(Slot::space) == Mod::none ? TimingClass::fence_proxy_all : row.timing;
    case TimingClass::f64: return is_bare_root(i) ? TimingClass::mufu : row.timing;
    case TimingClass::idiv: return isa::type_bits(i.mod(Slot::type)) == 64 ? TimingClass::idiv64 : row.timing;
    case TimingClass::cvt_int: return converts_in_the_alu(i) ? TimingClass::cvt_move : row.timing;
    case TimingClass::fence_gpu: return i.mod(Slot::scope) == Mod::cta ? TimingClass::fence_cta : row.timing;
    default: return row.timing;
  }
}

// The leader moves the bytes of all, and the others' registers are ready with its first.
void TimedProgram::bill_leaders(size_t first, const std::vector<MergedLoad>& loads) {
  for (size_t i = 0; i < loads.size(); ++i) {
    if (loads[i].bytes == 0) continue;
    OpInfo& x = ops[first + i];
    const OpInfo& leader = ops[first + loads[i].leader];
    if (&x == &leader) {
      x.bytes = loads[i].bytes;
      continue;
    }
    const std::vector<uint32_t> written(slots.begin() + x.first + x.reads, slots.begin() + x.first + x.reads + x.writes);
    const uint32_t ready = slots[leader.first + leader.reads];
    x.kind = OpKind::folded;
    x.first = static_cast<uint32_t>(slots.size());
    x.reads = 1;
    slots.push_back(ready);
    slots.insert(slots.end(), written.begin(), written.end());
  }
}

TimedProgram::TimedProgram(const Program& p, const ArchConfig& arch) {
  Maker maker(*this, p, arch);
  for (const FunctionCode& code : p.functions) {
    const isa::Function& f = *code.function;
    const size_t first = ops.size();
    const std::vector<uint8_t> folded = folded_instructions(f);
    std::set<uint32_t> heads;
    for (const Loop& l : loops_of(f)) heads.insert(l.first);
    maker.begin(f);
    for (uint32_t i = 0; i < f.body.size(); ++i) {
      if (heads.count(i) != 0) maker.begin_loop();
      ops.push_back(maker.make(f, f.body[i], folded[i] != 0));
    }
    balance_pipes(f, first);
    const LanesApart lanes = lanes_apart(f, isa::registers_of(f));
    mark_meetings(f, lanes, first);
    mark_warp_atomics(f, lanes, first);
    forget_old_values(f, first);
    bill_reciprocals(f, first);
    bill_leaders(first, merged_shared_loads(f));
    OpInfo end;  // executed at the end of a body without a return
    end.kind = OpKind::exit;
    ops.push_back(end);
    maker.first_slot += static_cast<uint32_t>(f.regs.size());
  }
  if (lines.empty()) lines.push_back({"<ptx>", 0});  // a kernel without instructions: its end needs one
  std::map<Pipes::Admission, uint16_t> classes;
  for (OpInfo& x : ops) x.admission = classes.try_emplace(Pipes::admission(x), static_cast<uint16_t>(classes.size())).first->second;
  slot_count = maker.first_slot;
  guard_extra = extra_of_guards(arch);
}

bool is_refined(const isa::Instruction& i) {
  const isa::InstrSpec& row = isa::spec(i.op);
  return row.timing == TimingClass::f64 && row.pipe_slots > 1 && !is_bare_root(i);
}

bool is_sequence(TimingClass t) {
  return t == TimingClass::idiv || t == TimingClass::idiv64 || t == TimingClass::fdiv || t == TimingClass::frcp || t == TimingClass::fsqrt;
}

uint16_t extra_of_guards(const ArchConfig& arch) {
  return static_cast<uint16_t>(std::max(0L, std::lround(arch.sm.guard_latency - arch.cost(TimingClass::alu).latency)));
}

}  // namespace drywell::sim
