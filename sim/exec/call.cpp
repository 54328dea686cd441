#include "sim/exec/call.h"
#include "drywell/isa/opcode.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "drywell/core/host_memory.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/thread_stack.h"
#include "sim/state/payload/call.h"

namespace drywell::sim {

void run_groups(Warp& w, std::span<const LaneGroup> groups) {
  for (const LaneGroup& g : groups.subspan(1)) w.waiting.push_back(g);
  w.pc = groups[0].pc;
  w.active = groups[0].lanes;
  w.backward = groups[0].backward;
  w.enter_frame(groups[0].frame);
}

void write_frame_addresses(Warp& w, uint32_t index, const FunctionCode& code) {
  const CallFrame& f = w.frames[index];
  for (const FunctionCode::FrameAddress& a : code.frame_addresses) {
    const uint32_t value = a.offset + (a.space == isa::Mod::shared ? cluster_address(w.cta->rank, 0) : f.local);
    uint8_t* at = w.register_file.data() + f.registers + a.slot;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      const uint64_t wide = value;
      if (a.wide) {
        std::memcpy(at + 8 * lane, &wide, 8);
      } else {
        std::memcpy(at + 4 * lane, &value, 4);
      }
    }
  }
}

uint8_t* local_pointer(Warp& w, uint32_t lane, uint64_t address, uint64_t bytes) {
  if (address >= kStackBase) return stack_pointer(w, lane, address, bytes);
  const uint32_t end = w.frames[w.frame].local_end;
  if (address > end || bytes > end - address) return nullptr;
  if (w.local.empty()) w.local.resize(kWarpSize);
  std::vector<uint8_t>& memory = w.local[lane];
  if (memory.size() < end) memory.resize(end, 0xFF);
  return memory.data() + address;
}

uint8_t* call_value(Warp& w, const CallSite::Value& v, uint32_t lane) {
  uint8_t* at = w.bank[v.src.bank] + v.src.offset;
  if (v.in_register) return at + (v.bytes <= 4 ? 4 : 8) * lane;
  uint64_t address;
  std::memcpy(&address, at, 8);  // the same in every lane
  return local_pointer(w, lane, address, v.bytes);
}

uint64_t call_argument(Warp& w, const CallSite& site, size_t index, uint32_t lane) {
  uint64_t v = 0;
  const CallSite::Value& value = site.args[index];
  if (const uint8_t* p = call_value(w, value, lane); p != nullptr) std::memcpy(&v, p, std::min(value.bytes, 8u));
  return v;
}

void set_call_result(Warp& w, const CallSite& site, uint32_t lane, uint64_t value) {
  if (site.results.empty()) return;
  const CallSite::Value& result = site.results[0];
  if (uint8_t* r = call_value(w, result, lane); r != nullptr) std::memcpy(r, &value, std::min(result.bytes, 8u));
}

namespace {

/// A function that Drywell implements. Allocations have an order across CTAs, so that a launch always has the same addresses.
struct KnownFunction {
  Builtin builtin;
  std::string_view name;
  size_t args;
  Effect (*run)(Warp&, const CallSite&, LaneMask);
  bool ordered;
};
constexpr KnownFunction kKnown[] = {
    {Builtin::vprintf, "vprintf", 2, exec_vprintf, false},
    {Builtin::assert_fail, "__assertfail", 5, exec_assert_fail, false},
    {Builtin::malloc, "malloc", 1, exec_malloc, true},
    {Builtin::aligned_malloc, "__nv_aligned_device_malloc", 2, exec_malloc, true},
    {Builtin::free, "free", 1, exec_free, true},
};

/// From this number of frames on, a warp gives up those in which no lane is.
constexpr size_t kManyFrames = 256;
/// A warp asks for the memory that the process holds once for so many frames.
constexpr size_t kFewFrames = 64;

const Program& program_of(const Warp& w) { return *w.cta->cluster->launch->program; }

bool frames_hold_too_much(const Warp& w) { return resident_bytes() > w.cta->cluster->launch->frames_until; }

/// The frames in which some lane is, or to which it will return.
std::vector<bool> frames_in_use(const Warp& w) {
  std::vector<bool> used(w.frames.size(), false);
  const auto mark = [&](uint32_t frame) {
    for (; !used[frame]; frame = w.frames[frame].parent) used[frame] = true;  // the kernel's frame is its own parent
  };
  mark(w.frame);
  for (const LaneGroup& g : w.waiting) mark(g.frame);
  return used;
}

// Frames stay for the next call on the same path; without this, their number would be that of the call paths of the program. A load in
// flight may still write registers of a frame that its lanes have left.
void give_up_frames(Warp& w) {
  if (w.frames.size() < kManyFrames || !std::has_single_bit(w.frames.size())) return;  // seldom, so that deep recursion is not quadratic
  if (w.pending_ld != 0 || w.pending_wgmma != 0) return;
  const std::vector<bool> used = frames_in_use(w);
  size_t keep = used.size();
  while (!used[keep - 1]) --keep;
  if (keep == used.size()) return;
  w.register_file.resize(w.frames[keep].registers);
  w.predicate_file.resize(w.frames[keep].preds);
  w.frames.resize(keep);
  w.enter_frame(w.frame);
}

// The frame of `function` called from the running frame, created on first use; nullopt if the stack is
// exhausted.
std::optional<uint32_t> child_frame(Warp& w, uint32_t function) {
  for (uint32_t i = w.frame + 1; i < w.frames.size(); ++i) {
    if (w.frames[i].parent == w.frame && w.frames[i].function == function) return i;
  }
  const FunctionCode& code = program_of(w).functions[function];
  CallFrame f;
  f.registers = static_cast<uint32_t>(w.register_file.size());
  f.preds = static_cast<uint32_t>(w.predicate_file.size());
  f.local = w.frames[w.frame].local_end;
  f.local_end = f.local + code.local_bytes;  // no overflow: both are at most kMaxLocalBytes
  f.function = function;
  f.parent = w.frame;
  f.depth = w.frames[w.frame].depth + 1;
  if (f.local_end + f.depth * kCallBytes > kMaxLocalBytes) return std::nullopt;
  if (w.register_file.size() + uint64_t{code.frame_bytes} > kMaxRegisterBytes) return std::nullopt;
  if (w.frames.size() % kFewFrames == 0 && frames_hold_too_much(w)) return std::nullopt;
  w.register_file.resize(w.register_file.size() + code.frame_bytes, 0xFF);
  w.predicate_file.resize(w.predicate_file.size() + code.pred_count, 0);
  w.predicate_file[f.preds] = kFullMask;
  const auto index = static_cast<uint32_t>(w.frames.size());
  w.frames.push_back(f);
  write_frame_addresses(w, index, code);
  w.enter_frame(w.frame);  // the register file may have moved
  return index;
}

// Copies a value between the running frame and the other frame of a call, lane by lane.
template <class F>
void for_values(Warp& w, const std::vector<CallSite::Value>& values, const std::vector<uint32_t>& offsets,
                const std::vector<isa::Variable>& formals, uint32_t caller, uint32_t callee,
                LaneMask lanes_of_call, F copy) {
  const size_t n = std::min(values.size(), offsets.size());
  for (size_t k = 0; k < n; ++k) {
    const auto bytes = static_cast<uint32_t>(std::min<uint64_t>(values[k].bytes, formals[k].bytes()));
    for_lanes(lanes_of_call, [&](uint32_t lane) {
      w.enter_frame(callee);  // enter the callee's frame first: this may grow the lane's memory
      uint8_t* formal = local_pointer(w, lane, w.frames[callee].local + offsets[k], bytes);
      w.enter_frame(caller);
      copy(call_value(w, values[k], lane), formal, bytes, values[k].in_register);
    });
  }
}

bool stack_reaches(const Warp& w, uint32_t frame) {
  const CallFrame& f = w.frames[frame];
  return !w.stacks.empty() && f.local_end + f.depth * kCallBytes + deepest_stack(w) > kMaxLocalBytes;
}

// Enters `function` with the lanes of `mask`. Sets `out` to the group that runs there, or records a fault.
Effect enter(Warp& w, const CallSite& site, uint32_t function, LaneMask mask, LaneGroup& out) {
  const auto child = child_frame(w, function);
  if (!child.has_value() || stack_reaches(w, *child)) {
    return fault(w, Code::F3005,
                 fmt::format("stack overflow: {} calls deep, {} bytes of local memory; a thread has {}, and a call takes {} beside its variables{}",
                             w.frames[w.frame].depth + 1, w.frames[w.frame].local_end + deepest_stack(w), kMaxLocalBytes, kCallBytes, frames_hold_too_much(w) ? "; the frames of all warps take more of the host's memory than they may" : ""));
  }
  const FunctionCode& code = program_of(w).functions[function];
  for_values(
      w, site.args, code.param_offset, code.function->params, w.frame, *child, mask,
      [](const uint8_t* value, uint8_t* formal, uint32_t bytes, bool) { std::memcpy(formal, value, bytes); });
  auto* return_pc =
      reinterpret_cast<uint32_t*>(w.register_file.data() + w.frames[*child].registers + code.return_pc);
  for_lanes(mask, [&](uint32_t lane) { return_pc[lane] = w.pc + 1; });
  out = {code.first, mask, *child, 0};
  return Effect::jumped;
}

void keep_rest(const Warp& w, LaneMask mask, std::vector<LaneGroup>& groups) {
  if (const LaneMask rest = w.active & ~mask; rest != 0)
    groups.push_back({w.pc + 1, rest, w.frame, w.backward});
}

Effect call_direct(Warp& w, const DecodedOp& op, LaneMask mask) {
  give_up_frames(w);
  const CallSite& site = program_of(w).calls[op.as<payload::Call>().site];
  std::vector<LaneGroup> groups(1);
  if (const Effect e = enter(w, site, site.callee, mask, groups[0]); e == Effect::fault) return e;
  keep_rest(w, mask, groups);
  run_groups(w, groups);
  return Effect::jumped;
}

Effect call_indirect(Warp& w, const DecodedOp& op, LaneMask mask) {
  give_up_frames(w);
  const Program& p = program_of(w);
  const CallSite& site = p.calls[op.as<payload::Call>().site];
  std::vector<LaneGroup> groups;
  for (LaneMask left = mask; left != 0;) {
    const uint64_t address = lanes<uint64_t>(w, op.src[0])[std::countr_zero(left)];
    LaneMask same = 0;
    for_lanes(left, [&](uint32_t lane) {
      same |= LaneMask{lanes<uint64_t>(w, op.src[0])[lane] == address} << lane;
    });
    const auto callee = std::find_if(p.functions.begin() + 1, p.functions.end(), [&](const FunctionCode& c) {
      return window::function_address(c.module_index) == address;
    });
    if (callee == p.functions.end())
      return fault(
          w, Code::F3006,
          fmt::format("lanes {:#010x} call {:#x}, which is not the address of a function", same, address));
    groups.emplace_back();
    if (const Effect e =
            enter(w, site, static_cast<uint32_t>(callee - p.functions.begin()), same, groups.back());
        e == Effect::fault)
      return e;
    left &= ~same;
  }
  keep_rest(w, mask, groups);
  run_groups(w, groups);
  return Effect::jumped;
}

Effect call_builtin(Warp& w, const DecodedOp& op, LaneMask mask) {
  const CallSite& site = program_of(w).calls[op.as<payload::Call>().site];
  return std::find_if(std::begin(kKnown), std::end(kKnown), [&](const KnownFunction& k) { return k.builtin == site.builtin; })->run(w, site, mask);
}

CallSite::Value value_of(Decoder& d, const isa::Operand& o, bool result) {
  CallSite::Value v;
  if (o.kind == isa::Operand::Kind::symbol) {
    const isa::SymbolRef& s = d.function().symbols[o.index];
    if (s.kind != isa::SymbolRef::Kind::local || d.function().variables[s.index].space != isa::Mod::param)
      throw Unsupported(fmt::format("'{}' as an argument of a call", s.name));
    v.src = d.symbol(o.index, 0, 64);
    v.bytes = static_cast<uint32_t>(d.function().variables[s.index].bytes());
    return v;
  }
  v.in_register = true;
  const unsigned bits = o.kind == isa::Operand::Kind::reg ? d.register_bits(o) : 64;
  if (bits > 64 || bits == 1) throw Unsupported("a 128-bit register or a predicate as an argument of a call");
  v.src = result ? Src{d.dest(o), 0} : d.source(o, bits);
  v.bytes = bits / 8;
  return v;
}

std::vector<CallSite::Value> values_of(Decoder& d, const isa::Operand* list, bool result) {
  std::vector<CallSite::Value> out;
  if (list == nullptr) return out;
  for (const isa::Operand& o : d.elements(*list)) {
    if (o.kind == isa::Operand::Kind::sink) throw Unsupported("_ as an argument of a call");
    out.push_back(value_of(d, o, result));
  }
  return out;
}

const KnownFunction* known_function(std::string_view name, size_t args) {
  const auto* const it = std::find_if(std::begin(kKnown), std::end(kKnown), [&](const KnownFunction& k) { return k.name == name && k.args == args; });
  return it == std::end(kKnown) ? nullptr : it;
}

/// What a call of an undefined function is for, where its name says so.
std::string_view purpose(std::string_view name) {
  const bool launches = name.find("LaunchDevice") != name.npos || name.find("GetParameterBuffer") != name.npos;
  return launches ? " (dynamic parallelism: kernels that launch kernels are not modelled)" : "";
}

void check_arity(const CallSite& site, const isa::Function& callee) {
  if (site.args.size() != callee.params.size() || site.results.size() > callee.returns.size()) {
    throw Unsupported(fmt::format("'{}' takes {} arguments and returns {} values", callee.name,
                                  callee.params.size(), callee.returns.size()));
  }
}

}  // namespace

Effect exec_return(Warp& w, const DecodedOp&, LaneMask mask) {
  if (w.frames[w.frame].depth == 0) {
    w.alive &= ~mask;
    w.active &= ~mask;
    w.cta->cluster->wake(*w.cta);
    if (w.active == 0) return Effect::exited;
    ++w.pc;  // a guarded return: the other lanes continue
    return Effect::jumped;
  }
  free_stack(w, mask);
  const Program& p = program_of(w);
  const uint32_t callee = w.frame, caller = w.frames[callee].parent;
  const FunctionCode& code = p.functions[w.frames[callee].function];
  std::vector<LaneGroup> groups;
  keep_rest(w, mask, groups);
  const auto return_pc = [&](uint32_t lane) {
    uint32_t pc;
    std::memcpy(&pc, w.register_file.data() + w.frames[callee].registers + code.return_pc + 4 * lane, 4);
    return pc;
  };
  for (LaneMask left = mask; left != 0;) {
    const uint32_t pc = return_pc(static_cast<uint32_t>(std::countr_zero(left)));
    LaneMask same = 0;
    for_lanes(left, [&](uint32_t lane) { same |= LaneMask{return_pc(lane) == pc} << lane; });
    const CallSite& site = p.calls[p.code[pc - 1].as<payload::Call>().site];
    for_values(w, site.results, code.return_offset, code.function->returns, caller, callee, same,
               [](uint8_t* value, const uint8_t* formal, uint32_t bytes, bool in_register) {
                 if (in_register && bytes < 4) std::memset(value, 0, 4);  // narrow values are zero-extended in the register
                 std::memcpy(value, formal, bytes);
               });
    groups.push_back({pc, same, caller, 0});
    left &= ~same;
  }
  run_groups(w, groups);
  return Effect::jumped;
}

template <>
ExecFn bind<isa::row::call>(Decoder& d, DecodedOp& op) {
  CallSite site;
  site.results = values_of(d, d.operand(0), true);
  site.args = values_of(d, d.operand(2), false);
  const isa::Operand& target = *d.operand(1);
  ExecFn fn = call_indirect;
  if (target.kind == isa::Operand::Kind::reg) {
    op.src[0] = d.source(target, 64);
    if (d.register_bits(target) != 64) throw Unsupported("call through a 32-bit address");
  } else if (const auto callee = d.callee(target.index); callee.has_value()) {
    site.callee = *callee;
    check_arity(site, *d.program().functions[*callee].function);
    fn = call_direct;
  } else {
    const std::string& name = d.function().symbols[target.index].name;
    const KnownFunction* known = known_function(name, site.args.size());
    if (known == nullptr) throw Unsupported(fmt::format("call of '{}', which the module does not define{}", name, purpose(name)));
    site.builtin = known->builtin;
    if (known->ordered) d.program().ordered_across_ctas = true;
    fn = call_builtin;
  }
  op.emplace<payload::Call>({static_cast<uint32_t>(d.program().calls.size())});
  d.program().calls.push_back(std::move(site));
  return fn;
}
template <>
ExecFn bind<isa::row::ret>(Decoder&, DecodedOp&) {
  return exec_return;
}

}  // namespace drywell::sim
