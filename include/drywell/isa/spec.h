// The instruction table: one row per instruction form. Enum, resolver, printer, validator, dispatch, row tests,
// coverage and the ISA reference all derive from the rows in drywell/isa/table/*.inc.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "drywell/isa/mods.h"
#include "drywell/isa/target.h"

namespace drywell::isa {

/// One value per row of the table. Its enumerators are in opcode.h; only files that name a row include it, so that a new
/// row does not recompile the others.
enum class Opcode : uint16_t;

/// Meaning of a modifier; a row lists its slots in PTX's canonical order and never has a slot twice.
enum class Slot : uint8_t {
  type,   // the (destination) type
  atype,  // second type: source of cvt, A of mma
  btype,
  ctype,
  rnd,
  ftz,
  sat,
  relu,
  approx,
  half,
  carry,
  nan,
  xorsign,
  clamp,
  cmp,
  boolop,
  op,
  mode,
  scaled,
  space,
  space2,
  dst_space,
  src_space,
  sem,
  scope,
  proxy,
  cop,
  l1,
  l2,
  l2_prefetch,
  hint,
  vec,
  volatile_,
  uni,
  sync,
  aligned,
  dim,
  tile_mode,
  completion,
  multicast,
  cta_group,
  kind,
  block_scale,
  scale_vec,
  collector,
  ashift,
  shape,
  num,
  trans,
  pack,
  fmt,
  fmt_src,
  layout_a,
  layout_b,
  field,
  state,
  mask_mode,
  noinc,
  satfinite,
  abs,
  level,
  read,
  sp,
  stype,
  dtype,
  oob,
  evict,
  exclusive,
  lhs,
  rhs
};

/// A modifier position of a row: the tokens that are legal there, and whether one is required.
struct SlotSpec {
  Slot slot{};                // its meaning
  bool required = false;      // an opcode without it is none
  const Mod* mods = nullptr;  // tokens that are legal here
  uint8_t count = 0;          // of tokens; 0: no slot

  /// The legal tokens.
  constexpr std::span<const Mod> values() const { return {mods, count}; }
  /// True if the token is legal here.
  constexpr bool admits(Mod m) const {
    for (uint8_t i = 0; i < count; ++i) {
      if (mods[i] == m) return true;
    }
    return false;
  }
};

/// Use of a register operand.
enum class Access : uint8_t {
  read,
  write,
  read_write
};

/// Bit set of the shapes an operand may take.
enum OperandShape : uint16_t {
  kReg = 1 << 0,       // register (also a predicate register, by the type rule)
  kImm = 1 << 1,       // integer, float or WARP_SZ immediate
  kAddr = 1 << 2,      // [reg+imm], [symbol+imm], [imm]
  kVec = 1 << 3,       // {a, b, …} (elements: registers, immediates, sinks)
  kLabel = 1 << 4,     // branch target
  kSymbol = 1 << 5,    // name of a variable, parameter or function, as a value
  kSink = 1 << 6,      // _
  kTensor = 1 << 7,    // [map, {coordinates}{, {offsets}}]
  kPair = 1 << 8,      // d|p
  kSpecial = 1 << 9,   // %tid.x and the like
  kNegPred = 1 << 10,  // predicate that may be written !p
  kArgs = 1 << 11,     // ( … ) of a call
  kPart = 1 << 12,     // a register that may be written a.b0, a.h1, …
  kMinus = 1 << 13,    // a register that may be written -a
};

/// Register type that an operand needs.
struct TypeRule {
  /// Where the type comes from.
  enum class From : uint8_t {
    any,
    fixed,
    slot,
    slot_wide
  };
  From from = From::any;   // where it comes from
  Mod fixed = Mod::none;   // From::fixed
  Slot slot = Slot::type;  // From::slot; slot_wide = twice that width
  bool loose = false;      // a wider register is also legal (ld, st, cvt: PTX ISA 9.4.1 operand size exceeding)
};

/// An operand position of a row.
struct OperandSpec {
  const char* name = nullptr;    // as PTX names it; nullptr: no operand
  Access access = Access::read;  // of a register
  uint16_t shapes = 0;           // OperandShape bits
  TypeRule type{};               // of a register
  bool optional = false;         // may be left out
  Mod when = Mod::none;          // present exactly if this modifier is (e.g. the mask with .multicast::cluster)
};

/// Unit that issues the instruction: its lanes must be active together.
enum class Issue : uint8_t {
  lane,
  warp,
  warpgroup,
  cta,
  thread
};
/// The unit that executes the instruction; statistics and timing group by it.
enum class Engine : uint8_t {
  alu,
  control,
  lsu,
  barrier,
  mbarrier,
  tma,
  tensor,
  tmem,
  cluster,
  none
};
/// The signal that an asynchronous form is complete.
enum class Completion : uint8_t {
  sync,
  mbarrier,
  bulk_group,
  async_group,
  commit,
  wait_ld,
  wait_st,
  wgmma_group
};
/// unsupported: the form is checked and printed, and its execution is a fault that names it.
enum class Status : uint8_t {
  supported,
  unsupported
};
/// Accuracy of the simulated result.
enum class Fidelity : uint8_t {
  exact,
  documented,
  inferred,
  approximate
};

/// Cost class; the arch file gives each a latency and an issue interval (docs/facts/timing.md §3).
enum class TimingClass : uint8_t {
#define TIMING_CLASS(OP_, TENSOR_) OP_,
#include "drywell/isa/table/timing_classes.inc"
#undef TIMING_CLASS
  count_
};
/// As in the files of architectures.
std::string_view timing_class_name(TimingClass t);

/// Target of control flow after the instruction, if its guard is true.
enum class Flow : uint8_t {
  next,     // the next instruction
  branch,   // a label among the operands
  call,     // a function, then the next instruction
  return_,  // the caller; in a kernel the thread ends
  end,      // none: the thread ends
};
/// Memory accesses of the instruction itself. Accesses of asynchronous copies are separate (Completion).
enum class MemoryRole : uint8_t {
  none,
  load,
  store,
  atomic,     // reads and writes, and returns the old value
  reduction,  // reads and writes, without a result
  matrix_load,
  matrix_store,  // ldmatrix, stmatrix
  fragment_load,
  fragment_store,  // wmma
  fill,            // st.bulk
  async_store,     // st.async, red.async
  multimem,
};
/// Effect of an instruction on the order of other instructions (PTX ISA 8 and 9.7.13). Each different rule has its own
/// value; code that models synchronisation switches over all of them.
enum class SyncRole : uint8_t {
  none,
  mbarrier_init,
  mbarrier_inval,
  mbarrier_arrive,
  mbarrier_count /* expect_tx, complete_tx */,
  mbarrier_wait,
  cta_barrier,
  cta_barrier_arrive,
  cluster_arrive,
  cluster_wait,
  warp_barrier,
  thread_fence,
  mbarrier_init_fence,
  async_proxy_fence,
  async_generic_fence,
  alias_fence,
  map_edit,
  map_copy,
  map_release,
  map_acquire,  // tensor maps
  tensor_fence_before,
  tensor_fence_after,
  tensor_commit,
  tensor_product,
  tmem_load_wait,
  tmem_store_wait,
  tmem_alloc,
  tmem_dealloc,
  tmem_relinquish,
  copy_commit,
  copy_wait,
  copy_wait_all,
  copy_arrive,  // cp.async
  bulk_commit,
  bulk_wait,
  product_fence,
  product_commit,
  product_wait,  // wgmma
  register_pool,
  grid_dependency,
};
/// How ptxas folds an instruction into its neighbours (docs/facts/timing.md §3.1).
enum class Fold : uint8_t {
  none,
  inversion,  // of a predicate: into its uses; of bits: as logic
  sign,       // abs of a float: into its uses
  negation,   // neg of a float: into its uses
  sum,        // with a constant: into addresses; else IADD3, LEA, IMAD
  sum_like,   // a difference, or a sum with carry: folded as a sum, and not a + b itself
  shift,      // left, into a sum: LEA
  product,    // into a sum: IMAD
  logic,      // several of three inputs: LOP3
  mask,       // and: folded as logic; at least as aligned as each operand
  float_sum,
  float_difference,  // with a float_product: fma (contract.h)
  float_product,
  float_quotient,  // approximate: the reciprocal of the divisor, times the dividend, is a float_product
};
/// A sum or a difference, with or without carry.
constexpr bool is_sum(Fold f) { return f == Fold::sum || f == Fold::sum_like; }
/// Bit by bit, of two operands.
constexpr bool is_logic(Fold f) { return f == Fold::logic || f == Fold::mask; }

struct InstructionRef;  // instruction.h
class LegalityReport;   // validate.h
using LegalityFn = void (*)(const InstructionRef&, LegalityReport&);

inline constexpr size_t kMaxSlots = 16;     // of a row
inline constexpr size_t kMaxOperands = 12;  // of a row

/// One row.
struct InstrSpec {
  std::string_view mnemonic;                         // fixed leading tokens, e.g. "tcgen05.mma"
  std::array<SlotSpec, kMaxSlots> slots{};           // canonical order
  std::array<OperandSpec, kMaxOperands> operands{};  // in PTX order
  Issue issue = Issue::lane;                         // lanes that issue it together
  bool convergent = false;                           // .aligned: the whole warp must execute it together
  Engine engine = Engine::alu;                       // unit that executes it
  Completion completion = Completion::sync;          // how its end is known
  TimingClass timing = TimingClass::alu;             // its cost
  Flow flow = Flow::next;                            // where control goes
  MemoryRole memory = MemoryRole::none;              // its own accesses
  SyncRole sync = SyncRole::none;                    // its effect on order
  Fold fold = Fold::none;                            // what ptxas makes of it
  uint8_t pipe_slots = 1;                            // number of instructions that ptxas sends down its pipe
  bool packs = false;                                // each source makes a part of the result of its own
  PtxVersion since{1, 0};                            // first .version that has it
  Feature needs = Feature::base;                     // of the target
  LegalityFn legality = nullptr;                     // rules across slots and operands; nullptr: the row has no
                                                     // further rules
  Status status = Status::supported;                 // whether Drywell executes it
  Fidelity fidelity = Fidelity::exact;               // how far its results are known
  std::string_view example;                          // one instruction that must parse, validate, print and assemble
  std::string_view doc;                              // one line, with the PTX ISA section

  /// Slots in use.
  constexpr size_t slot_count() const {
    size_t n = 0;
    while (n < kMaxSlots && slots[n].count != 0) ++n;
    return n;
  }
  /// Operands in use, optional ones too.
  constexpr size_t operand_count() const {
    size_t n = 0;
    while (n < kMaxOperands && operands[n].name != nullptr) ++n;
    return n;
  }
  /// Position of `s` among the row's slots, or -1.
  constexpr int slot_index(Slot s) const {
    for (size_t i = 0; i < kMaxSlots && slots[i].count != 0; ++i) {
      if (slots[i].slot == s) return static_cast<int>(i);
    }
    return -1;
  }
};

/// The row of an opcode.
const InstrSpec& spec(Opcode op);
/// Returns the row's identifier ("tcgen05_mma"), which is also the name of its semantics and of its tests.
std::string_view opcode_name(Opcode op);
/// All rows, by opcode.
std::span<const InstrSpec> all_specs();
/// Returns the rows whose mnemonic is exactly `mnemonic`, in table order; empty if there is none.
std::span<const Opcode> rows_of(std::string_view mnemonic);
/// Returns the longest run of leading dot-separated tokens of `opcode_text` that is a mnemonic of the table ("" if
/// none).
std::string_view mnemonic_of(std::string_view opcode_text);
/// Returns the mnemonic nearest to `text`, for hints; "" if none is near.
std::string_view nearest_mnemonic(std::string_view text);

}  // namespace drywell::isa
