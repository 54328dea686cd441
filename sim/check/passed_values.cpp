#include "sim/check/passed_values.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "sim/check/local_accesses.h"
#include "sim/exec/exec.h"
#include "sim/state/payload/call.h"

namespace drywell::sim::check {
namespace {

/// Lanes of a call or a return, in the frame to which it took them.
struct Arrived {
  uint32_t frame = 0, pc = 0;
  LaneMask lanes = 0;
};

std::vector<Arrived> arrived(const Warp& w, LaneMask mask) {
  std::vector<Arrived> all;
  const auto add = [&](uint32_t frame, uint32_t pc, LaneMask lanes) {
    if ((lanes & mask) != 0) all.push_back({frame, pc, lanes & mask});
  };
  add(w.frame, w.pc, w.active);
  for (const LaneGroup& g : w.waiting) add(g.frame, g.pc, g.lanes);
  return all;
}

/// The variable's place in local memory, the same in every lane.
uint64_t place_of(const Warp& w, uint32_t frame, const Src& s) {
  const uint8_t* const at = s.bank == 0 ? w.register_file.data() + w.frames[frame].registers + s.offset : w.bank[s.bank] + s.offset;
  uint64_t place = 0;
  std::memcpy(&place, at, sizeof place);
  return place;
}

/// f(place in the caller, place in the callee, bytes) for each value of a call; what is in registers is left out.
template <class F>
void each_value(const Warp& w, uint32_t caller, uint32_t callee, const std::vector<CallSite::Value>& values, const std::vector<uint32_t>& offsets, const std::vector<isa::Variable>& formals, F f) {
  const uint32_t local = w.frames[callee].local;
  for (size_t k = 0; k < std::min(values.size(), offsets.size()); ++k) {
    const auto bytes = static_cast<uint32_t>(std::min<uint64_t>(values[k].bytes, formals[k].bytes()));
    f(values[k].in_register ? nullptr : &values[k].src, uint64_t{local} + offsets[k], bytes, caller);
  }
}

void pass_arguments(const Program& p, const Warp& w, const CallSite& site, const Arrived& a, WarpState& state) {
  const CallFrame& f = w.frames[a.frame];
  const FunctionCode& code = p.functions[f.function];
  each_value(w, f.parent, a.frame, site.args, code.param_offset, code.function->params, [&](const Src* from, uint64_t to, uint32_t bytes, uint32_t caller) {
    if (from == nullptr) return state.local.write(to, bytes, a.lanes);
    state.local.copy(place_of(w, caller, *from), to, bytes, a.lanes);
    pass_number(state.passed_numbers, place_of(w, caller, *from), to, a.lanes);
  });
}

/// A function that Drywell implements gives all of its results.
void write_results(const Warp& w, const CallSite& site, LaneMask mask, WarpState& state) {
  for (const CallSite::Value& v : site.results)
    if (!v.in_register) state.local.write(place_of(w, w.frame, v.src), v.bytes, mask);
}

void call(const Program& p, const Warp& w, const DecodedOp& op, LaneMask mask, WarpState& state) {
  const CallSite& site = p.calls[op.as<payload::Call>().site];
  if (site.builtin != Builtin::none) return write_results(w, site, mask, state);
  for (const Arrived& a : arrived(w, mask)) pass_arguments(p, w, site, a, state);
}

std::optional<uint32_t> frame_of(const Warp& w, uint32_t function, uint32_t caller) {
  for (uint32_t i = caller + 1; i < w.frames.size(); ++i)
    if (w.frames[i].parent == caller && w.frames[i].function == function) return i;
  return std::nullopt;
}

void give_back(const Program& p, const Warp& w, const DecodedOp& op, LaneMask mask, WarpState& state) {
  const FunctionCode& code = p.functions[op.function];
  for (const Arrived& a : arrived(w, mask)) {
    const auto callee = frame_of(w, op.function, a.frame);
    if (!callee.has_value()) continue;
    const CallSite& site = p.calls[p.code[a.pc - 1].as<payload::Call>().site];
    each_value(w, a.frame, *callee, site.results, code.return_offset, code.function->returns, [&](const Src* to, uint64_t from, uint32_t bytes, uint32_t caller) {
      if (to == nullptr) return;
      state.local.copy(from, place_of(w, caller, *to), bytes, a.lanes);
      pass_number(state.passed_numbers, from, place_of(w, caller, *to), a.lanes);
    });
  }
}

const isa::Variable* variable_of(const isa::Function& f, const isa::Operand& o) {
  if (o.kind != isa::Operand::Kind::addr || o.base != isa::Operand::Base::symbol) return nullptr;
  const isa::SymbolRef& s = f.symbols[o.index];
  if (s.kind == isa::SymbolRef::Kind::local) return &f.variables[s.index];
  if (s.kind != isa::SymbolRef::Kind::param) return nullptr;
  return s.index < f.params.size() ? &f.params[s.index] : &f.returns[s.index - f.params.size()];
}

}  // namespace

void pass_values(ClusterParts& parts, const Warp& w, const DecodedOp& op, LaneMask mask) {
  const Program& p = *parts.launch.program;
  WarpState& state = parts.state_of(w);
  if (op.flow == isa::Flow::call) return call(p, w, op, mask, state);
  if (op.flow == isa::Flow::return_ && op.function != 0) give_back(p, w, op, mask, state);
}

bool passes_structure(const Program& p, const DecodedOp& op) {
  if (!names_param(p, op)) return false;
  const isa::Function& f = p.function_of(op);
  const auto operands = f.operands(p.instruction(op));
  return std::any_of(operands.begin(), operands.end(), [&](const isa::Operand& o) {
    const isa::Variable* const v = variable_of(f, o);
    return v != nullptr && v->is_array;
  });
}

}  // namespace drywell::sim::check
