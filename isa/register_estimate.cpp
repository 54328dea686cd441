#include "drywell/isa/register_estimate.h"

#include <algorithm>
#include <vector>

#include "drywell/core/bits.h"

namespace drywell::isa {
namespace {

constexpr uint32_t kUnit = 8, kFewest = 16,
                   kGreatest = 255;  // CUDA C++ Programming Guide: allocation per warp, registers per thread
constexpr uint32_t kReserved = 4;    // the stack pointer and addresses that ptxas keeps

/// The part of the text between the first and the last place that names a register.
struct Range {
  size_t first = SIZE_MAX, last = 0;
  bool used() const { return first != SIZE_MAX; }
};

class Ranges {
 public:
  explicit Ranges(const Function& f) : f_(f), ranges_(f.regs.size()) {
    for (size_t i = 0; i < f.body.size(); ++i) name_all(i);
    while (extend_over_loops()) {
    }
  }
  uint32_t most_words() const {
    std::vector<int64_t> change(f_.body.size() + 1);
    for (size_t r = 0; r < ranges_.size(); ++r) {
      if (!ranges_[r].used()) continue;
      change[ranges_[r].first] += words(r);
      change[ranges_[r].last + 1] -= words(r);
    }
    int64_t now = 0, most = 0;
    for (const int64_t c : change) most = std::max(most, now += c);
    return static_cast<uint32_t>(most);
  }

 private:
  struct Loop {
    size_t first, last;
  };

  int64_t words(size_t r) const {
    const unsigned bits = type_bits(f_.regs[r].type);
    return bits == 1 ? 0 : (bits + 31) / 32;  // predicates have registers of their own
  }
  void name(uint32_t r, size_t at) {
    if (r >= ranges_.size()) return;
    ranges_[r].first = std::min(ranges_[r].first, at);
    ranges_[r].last = std::max(ranges_[r].last, at);
  }
  void name(const Operand& o, size_t at) {
    using Kind = Operand::Kind;
    if (o.kind == Kind::reg || (o.kind == Kind::addr && o.base == Operand::Base::reg)) name(o.index, at);
    if (o.kind == Kind::vec || o.kind == Kind::tensor || o.kind == Kind::pair || o.kind == Kind::args) {
      for (const Operand& e : f_.elements(o)) name(e, at);
    }
    if (o.kind == Kind::label && f_.labels[o.index].position <= at)
      loops_.push_back({f_.labels[o.index].position, at});
  }
  void name_all(size_t at) {
    const Instruction& i = f_.body[at];
    if (i.guard != isa::kNoReg) name(i.guard, at);
    for (const Operand& o : f_.operands(i)) name(o, at);
  }
  /// A value from before a loop that is read in it is needed until the loop ends.
  bool extend_over_loops() {
    bool changed = false;
    for (const Loop& l : loops_) {
      for (Range& r : ranges_) {
        if (!r.used() || r.first >= l.first || r.last < l.first || r.last >= l.last) continue;
        r.last = l.last;
        changed = true;
      }
    }
    return changed;
  }

  const Function& f_;
  std::vector<Range> ranges_;
  std::vector<Loop> loops_;
};

}  // namespace

uint32_t estimated_registers(const Function& f) {
  const uint32_t rounded = round_up(Ranges(f).most_words() + kReserved, kUnit);
  return std::clamp(rounded, kFewest, kGreatest);
}

}  // namespace drywell::isa
