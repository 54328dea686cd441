#include "sim/timing/predication.h"

#include <algorithm>
#include <string_view>

#include "sim/timing/block_motion.h"
#include "sim/timing/timed_program.h"

namespace drywell::sim {
namespace {

using isa::Instruction;
using isa::Operand;
using isa::RegId;

// ptxas 13.0 predicates skips of nine instructions (scan_blelloch of tests/corpus/timing).
constexpr uint32_t kLongestSkip = 10;

// It waits for the lanes of its member mask. A guard would let the lanes pass that took the branch; on an H100 a kernel hangs whose
// shfl.sync names lanes that took a short branch around it and wait at a bar.warp.sync.
bool waits_for_members(const Instruction& i) {
  const auto& operands = isa::spec(i.op).operands;
  return std::any_of(std::begin(operands), std::end(operands), [](const auto& o) { return o.name != nullptr && o.name == std::string_view("membermask"); });
}

class Predicator {
 public:
  explicit Predicator(isa::Function& f) : f_(f), registers_(registers_of(f)), last_read_(f.regs.size()), first_read_(f.regs.size(), ~0u), labelled_(f.body.size() + 1) {
    for (uint32_t i = 0; i < registers_.size(); ++i) {
      for (const RegId r : registers_[i].reads) {
        first_read_[r] = std::min(first_read_[r], i);
        last_read_[r] = i;
      }
    }
    for (const isa::Label& l : f.labels) labelled_[l.position] = 1;
  }

  void run() {
    std::vector<Instruction> body;
    std::vector<uint32_t> moved(f_.body.size() + 1);
    for (uint32_t i = 0; i < f_.body.size(); ++i) {
      moved[i] = static_cast<uint32_t>(body.size());
      const uint32_t end = skipped_until(i);
      if (end != 0)
        predicate(i, end);
      else
        body.push_back(f_.body[i]);
    }
    moved[f_.body.size()] = static_cast<uint32_t>(body.size());
    for (isa::Label& l : f_.labels) l.position = moved[l.position];
    for (isa::Annotation& a : f_.pragmas) a.position = moved[a.position];
    f_.body = std::move(body);
  }

 private:
  // The end of the instructions that the branch at `i` skips; 0: it is no such branch.
  uint32_t skipped_until(uint32_t i) const {
    const Instruction& b = f_.body[i];
    const auto operands = f_.operands(b);
    if (isa::spec(b.op).flow != isa::Flow::branch || b.guard == isa::kNoReg || operands.size() != 1 || operands[0].kind != Operand::Kind::label) return 0;
    const uint32_t end = f_.labels[operands[0].index].position;
    if (end <= i + 1 || end - i - 1 > kLongestSkip) return 0;
    for (uint32_t k = i + 1; k < end; ++k) {
      if (labelled_[k] != 0 || !may_be_predicated(k, b.guard)) return 0;
    }
    return end;
  }

  bool may_be_predicated(uint32_t k, RegId guard) const {
    const Instruction& instr = f_.body[k];
    const bool many = is_sequence(timing_class(f_, instr));
    const auto& written = registers_[k].writes;
    return instr.guard == isa::kNoReg && motion_of(f_, instr) != Motion::wall && !isa::spec(instr.op).convergent && !waits_for_members(instr) && !many &&
           std::find(written.begin(), written.end(), guard) == written.end();
  }

  // Arithmetic whose results only these instructions read needs no guard, unless it reads what a guarded instruction may not have written.
  void predicate(uint32_t branch, uint32_t end) {
    std::vector<RegId> guarded;
    for (uint32_t k = branch + 1; k < end; ++k) {
      Instruction& instr = f_.body[k];
      const auto& written = registers_[k].writes;
      // No earlier value is read here, and none of the new ones elsewhere.
      const bool inner = motion_of(f_, instr) == Motion::pure &&
                         std::all_of(written.begin(), written.end(), [&](RegId r) { return first_read_[r] > k && last_read_[r] < end; });
      const auto& read = registers_[k].reads;
      const bool defined = std::find_first_of(read.begin(), read.end(), guarded.begin(), guarded.end()) == read.end();
      if (inner && defined) continue;
      guarded.insert(guarded.end(), written.begin(), written.end());
      instr.guard = f_.body[branch].guard;
      instr.guard_negated = !f_.body[branch].guard_negated;
    }
  }

  isa::Function& f_;
  const std::vector<Registers> registers_;
  std::vector<uint32_t> last_read_, first_read_;
  std::vector<uint8_t> labelled_;
};

}  // namespace

isa::Module with_predicated_skips(isa::Module module) {
  for (isa::Function& f : module.functions) {
    if (!f.is_prototype) Predicator(f).run();
  }
  return module;
}

}  // namespace drywell::sim
