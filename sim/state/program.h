// A kernel decoded once for execution: operands resolved to register slots, constants and function pointers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "drywell/isa/instruction.h"
#include "drywell/isa/spec.h"
#include "sim/state/cta.h"
#include "sim/state/payload/payload.h"

namespace drywell::sim {

/// Effect of an executed instruction on the warp.
enum class Effect : uint8_t {
  next,     // continue with the next instruction
  jumped,   // pc was set
  blocked,  // cannot continue; Warp::block has the reason; the instruction runs again later
  exited,   // lanes ended
  yield,    // complete, but other warps should run (nanosleep, a wait that timed out)
  fault,    // fault of the guest; Warp::fault_code/message
};

struct DecodedOp;
using ExecFn = Effect (*)(Warp&, const DecodedOp&, LaneMask);

/// A source: byte offset into the frame's registers (bank 0) or the program's constants (bank 1).
struct Src {
  uint32_t offset = 0;
  uint32_t bank = 0;
};
/// A predicate source; index 0 is constant true.
struct PredSrc {
  uint16_t index = 0;
  bool negated = false;
};

/// One decoded instruction. The fields common to all instructions are here; a family's other fields are a payload of
/// sim/state/payload. The first cache line has all fields that most instructions read.
struct alignas(64) DecodedOp {
  ExecFn fn = nullptr;
  PredSrc guard{};
  bool needs_all = false;            // runs even if the guard excludes every active lane (warp-wide forms)
  bool aligned = false;              // .aligned: every live lane of the warp must be active
  bool wide = false;                 // address operand: its register, src[0], has 64-bit lanes
  isa::Flow flow = isa::Flow::next;  // of its row in the instruction table, as is `sync`
  isa::Opcode opcode{};
  isa::SyncRole sync = isa::SyncRole::none;
  bool plain = false;  // of the lanes alone: executes, or faults, and the next instruction follows
  uint32_t dst = 0;    // register slot or predicate
  uint64_t imm = 0;    // address operand: the value added to src[0]
  Src src[4]{};
  PredSrc pred[2]{};
  uint32_t function = 0;  // index into Program::functions
  uint32_t instr = 0;     // index in that function's body
  Payload payload;

  template <class P>
  P& emplace(const P& value = {}) {
    return payload.emplace(value);
  }
  template <class P>
  const P& as() const {
    return payload.as<P>();
  }
  template <class P>
  const P* get_if() const {
    return payload.get_if<P>();
  }
};
static_assert(sizeof(DecodedOp) <= 128 && offsetof(DecodedOp, src) + sizeof(DecodedOp::src) <= 64);

/// Storage of one register by lane: 32-bit lanes for types up to 32 bits, 64-bit lanes above, two runs of 64-bit lanes
/// (low, high) for b128.
constexpr uint32_t register_bytes(unsigned bits) { return bits <= 32 ? 128 : bits <= 64 ? 256
                                                                                        : 512; }

/// One function of a program: the kernel, or a .func it can reach.
struct FunctionCode {
  const isa::Function* function = nullptr;
  uint32_t module_index = 0;         // in Module::functions
  uint32_t first = 0;                // pc of its first instruction
  std::vector<uint32_t> reg_offset;  // RegId → byte offset in the frame; predicates: index in preds
  uint32_t frame_bytes = 0;
  uint32_t pred_count = 1;              // [0] is constant true
  uint32_t carry = 0;                   // predicate that holds CC.CF
  uint32_t sink_pred = 0;               // predicate that receives discarded results
  uint32_t scratch = 0;                 // register slot for discarded results
  uint32_t local_bytes = 0;             // .local and .param variables; a .func's formal parameters come first
  std::vector<uint32_t> param_offset;   // per parameter: in the parameter block (kernel) or in local memory (.func)
  std::vector<uint32_t> return_offset;  // per return parameter, in local memory
  uint32_t return_pc = 0;               // .func: register slot with each lane's return address
  // Registers with addresses that depend on the frame or the CTA, written when a frame is created: local memory of a
  // .func, and shared memory, whose addresses carry the CTA's rank (docs/facts/tma-mbarrier.md §5).
  struct FrameAddress {
    isa::Mod space = isa::Mod::none;
    uint32_t slot = 0;
    uint32_t offset = 0;
    bool wide = false;
  };
  std::vector<FrameAddress> frame_addresses;
};

/// Functions that Drywell implements because the module only declares them.
enum class Builtin : uint8_t {
  none,
  vprintf,
  assert_fail,
  malloc,
  aligned_malloc,
  free
};

/// One call instruction: the places of its arguments and results in the caller.
struct CallSite {
  static constexpr uint32_t kIndirect = ~uint32_t{0};
  struct Value {
    bool in_register = false;
    Src src{};           // the register; otherwise 64-bit lanes with the .param variable's address in local memory
    uint32_t bytes = 0;  // size of the register or variable
  };
  std::vector<Value> args, results;
  uint32_t callee = kIndirect;  // index into Program::functions
  Builtin builtin = Builtin::none;
};

/// A loop that only the answers of its mbarrier waits and the values of its loads can end (sim/exec/closed_waits.h).
struct ClosedWait {
  std::vector<uint32_t> body;          // pcs, rising
  std::vector<uint32_t> waits, loads;  // among them
};

struct Program {
  const isa::Module* module = nullptr;
  const isa::Function* function = nullptr;  // the kernel
  std::vector<FunctionCode> functions;      // [0] is the kernel
  std::vector<CallSite> calls;              // payload::Call is an index into them
  std::vector<uint32_t> targets;            // branch targets of brx.idx: pcs; payload::IndexedBranch
  std::vector<DecodedOp> code;
  std::vector<Src> slots;          // vector operands
  std::vector<uint8_t> constants;  // broadcast to 32 lanes
  uint32_t static_smem = 0;        // bytes after the reserved part
  uint32_t dynamic_smem_align = 1;
  uint32_t param_bytes = 0;
  uint32_t most_registers = 0;       // the largest setmaxnreg.inc; 0: none
  bool sets_registers = false;       // has setmaxnreg
  bool ordered_across_ctas = false;  // results depend on the order of CTAs (sums that round, old values): the launch uses no host threads
  // Registers that an instruction reads and writes (byte offsets), for scoreboards: a range in reg_lists.
  struct RegUse {
    uint32_t first = 0;
    uint16_t reads = 0, writes = 0;
  };
  std::vector<RegUse> reg_use;
  std::vector<uint32_t> reg_lists;
  std::vector<bool> polling;   // by pc: in a loop that only polls memory (sim/exec/polling_loops.h); empty if there is none
  std::vector<bool> may_poll;  // by pc: in a loop that may only poll memory, through functions; empty if there is none
  std::vector<ClosedWait> closed_waits;
  std::vector<uint32_t> closed_wait_at;  // by pc: one more than the index of the smallest one around it; 0: none. Empty if there is none
  std::vector<std::string> unsupported;  // reasons why an instruction cannot run; payload::Unsupported is an index into them

  const FunctionCode& kernel() const { return functions[0]; }
  const isa::Function& function_of(const DecodedOp& op) const { return *functions[op.function].function; }
  const isa::Instruction& instruction(const DecodedOp& op) const { return function_of(op).body[op.instr]; }
};

/// The smallest such loop around the place; nullptr: there is none.
inline const ClosedWait* closed_wait(const Program& p, uint32_t pc) {
  const uint32_t at = pc < p.closed_wait_at.size() ? p.closed_wait_at[pc] : 0;
  return at == 0 ? nullptr : &p.closed_waits[at - 1];
}

/// Targets of a branch, without the next instruction.
std::span<const uint32_t> branch_targets(const Program& p, const DecodedOp& op);

}  // namespace drywell::sim
