#include "sim/timing/early_loads.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <vector>

#include "sim/timing/timed_program.h"

namespace drywell::sim {
namespace {

using isa::Flow;
using isa::Instruction;
using isa::MemoryRole;
using isa::Mod;
using isa::Operand;
using isa::RegId;

// Registers that loads may fill before the instruction that uses them: ptxas weighs this against occupancy.
constexpr uint32_t kWordsAhead = 32;

enum class Motion : uint8_t {
  pure,   // registers to registers: may move up if a load needs it
  load,   // moves up
  store,  // stays; loads of other places move over it
  fixed,  // stays; loads move over it
  wall,   // stays, and nothing moves over it
};

bool is_weak(const Instruction& i) {
  for (const Mod m : {Mod::volatile_, Mod::relaxed, Mod::acquire, Mod::release, Mod::mmio, Mod::cv}) {
    if (i.has(m)) return false;
  }
  return true;
}

// Parameters and constants are operands of other instructions in the machine: there is nothing to wait for.
bool is_constant(const Instruction& i) {
  const Mod space = i.mod(isa::Slot::space);
  return space == Mod::param || space == Mod::param_entry || space == Mod::const_;
}

Motion motion_of(const isa::Function& f, const Instruction& i) {
  const isa::InstrSpec& row = isa::spec(i.op);
  if (row.flow != Flow::next || row.sync != isa::SyncRole::none || row.completion != isa::Completion::sync)
    return Motion::wall;
  switch (row.memory) {
    case MemoryRole::load: return is_constant(i) ? Motion::pure : is_weak(i) ? Motion::load : Motion::wall;
    case MemoryRole::matrix_load:
    case MemoryRole::fragment_load: return Motion::load;
    case MemoryRole::store:
    case MemoryRole::matrix_store:
    case MemoryRole::fragment_store: return is_weak(i) ? Motion::store : Motion::wall;
    case MemoryRole::none: break;
    case MemoryRole::atomic:
    case MemoryRole::reduction:
    case MemoryRole::fill:
    case MemoryRole::async_store:
    case MemoryRole::multimem: return Motion::wall;
  }
  if (timing_class(f, i) == isa::TimingClass::clock) return Motion::wall;
  if (row.engine != isa::Engine::alu && row.engine != isa::Engine::none) return Motion::fixed;
  return row.issue == isa::Issue::lane && !row.convergent ? Motion::pure : Motion::fixed;
}

/// The registers of one instruction.
struct Registers {
  std::vector<RegId> reads, writes;
};

class Namer {
 public:
  explicit Namer(const isa::Function& f) : f_(f) {}
  Registers of(const Instruction& i) const {
    Registers r;
    const isa::InstrSpec& row = isa::spec(i.op);
    const auto positions = isa::operand_positions(f_, i);
    for (size_t k = 0; k < isa::kMaxOperands && row.operands[k].name != nullptr; ++k) {
      if (positions[k] < 0) continue;
      const Operand& o = f_.operands(i)[static_cast<size_t>(positions[k])];
      if (row.operands[k].access != isa::Access::write) add(o, r.reads);
      if (row.operands[k].access != isa::Access::read) add(o, r.writes);
    }
    if (i.guard == isa::kNoReg) return r;
    r.reads.push_back(i.guard);
    r.reads.insert(r.reads.end(), r.writes.begin(), r.writes.end());  // without the guard the old value stays
    return r;
  }

 private:
  void add(const Operand& o, std::vector<RegId>& to) const {
    if (o.kind == Operand::Kind::reg || (o.kind == Operand::Kind::addr && o.base == Operand::Base::reg))
      to.push_back(o.index);
    if (o.kind == Operand::Kind::vec || o.kind == Operand::Kind::tensor || o.kind == Operand::Kind::pair ||
        o.kind == Operand::Kind::args) {
      for (const Operand& e : f_.elements(o)) add(e, to);
    }
  }
  const isa::Function& f_;
};

/// The memory that an instruction names: a base, and bytes from an offset on.
struct Place {
  Mod space = Mod::none;  // none: generic
  Operand::Base base = Operand::Base::none;
  uint32_t index = 0;  // register or symbol
  int64_t offset = 0;
  uint32_t bytes = 0;
  std::optional<uint32_t> root;  // the variable that the address is in, if it is known
  bool constant = false;         // nothing writes there while the kernel runs
};

class Places {
 public:
  Places(const isa::Function& f, const std::vector<Registers>& registers) : f_(f), defs_(f.regs.size()) {
    for (uint32_t i = 0; i < registers.size(); ++i) {
      for (const RegId r : registers[i].writes) {
        ++defs_[r].count;
        defs_[r].at = i;
      }
    }
  }

  Place of(const Instruction& i) const {
    Place p;
    p.space = i.mod(isa::Slot::space);
    p.constant = is_constant(i) || i.has(Mod::nc);
    uint32_t elements = 1;
    for (const Operand& o : f_.operands(i)) {
      if (o.kind == Operand::Kind::vec) elements = std::max<uint32_t>(elements, o.count);
      if (o.kind != Operand::Kind::addr) continue;
      p.base = o.base;
      p.index = o.index;
      p.offset = o.value;
      p.root = o.base == Operand::Base::symbol ? std::optional(o.index)
               : o.base == Operand::Base::reg  ? root(o.index, 0)
                                               : std::nullopt;
    }
    const bool plain =
        isa::spec(i.op).memory == MemoryRole::load || isa::spec(i.op).memory == MemoryRole::store;
    p.bytes = plain ? elements * std::max(8u, isa::type_bits(i.mod(isa::Slot::type))) / 8 : 0;
    return p;
  }

  /// May a store to `s` write what `l` reads? The base register has the same value at both.
  static bool may_meet(const Place& l, const Place& s, bool same_base_value) {
    if (l.constant) return false;
    if (l.space != Mod::none && s.space != Mod::none && is_shared(l.space) != is_shared(s.space))
      return false;
    if (l.root.has_value() && s.root.has_value() && *l.root != *s.root) return false;
    if (!same_base_value || l.base != s.base || l.index != s.index || l.bytes == 0 || s.bytes == 0)
      return true;
    return l.offset < s.offset + s.bytes && s.offset < l.offset + l.bytes;
  }

 private:
  struct Def {
    uint32_t count = 0, at = 0;
  };
  static bool is_shared(Mod m) {
    return m == Mod::shared || m == Mod::shared_cta || m == Mod::shared_cluster;
  }

  // The variable whose address a register was made from by moves and sums.
  std::optional<uint32_t> root(RegId r, unsigned depth) const {
    constexpr unsigned kDeepest = 8;
    if (depth == kDeepest || r >= defs_.size() || defs_[r].count != 1) return std::nullopt;
    const Instruction& i = f_.body[defs_[r].at];
    const isa::InstrSpec& row = isa::spec(i.op);
    const auto operands = f_.operands(i);
    const bool move = row.timing == isa::TimingClass::move,
               sum = row.fold == isa::Fold::sum || row.fold == isa::Fold::product;
    if (row.memory != MemoryRole::none || (!move && !sum)) return std::nullopt;
    for (size_t k = 1; k < operands.size(); ++k) {
      if (operands[k].kind == Operand::Kind::symbol) return operands[k].index;
      if (operands[k].kind != Operand::Kind::reg) continue;
      if (const auto found = root(operands[k].index, depth + 1); found.has_value()) return found;
    }
    return std::nullopt;
  }

  const isa::Function& f_;
  std::vector<Def> defs_;
};

/// The order of one block's instructions.
class Block {
 public:
  Block(const isa::Function& f, const std::vector<Registers>& registers, const Places& places, uint32_t first,
        uint32_t last)
      : f_(f),
        registers_(registers),
        places_(places),
        first_(first),
        count_(last - first),
        motion_(count_),
        needs_(count_),
        followers_(count_),
        wanted_(count_),
        words_(count_) {
    for (uint32_t i = 0; i < count_; ++i) describe(i);
    for (uint32_t i = count_; i-- > 0;) {
      if (motion_[i] == Motion::load) want(i);
    }
  }

  /// Indices in the function's body, in the new order.
  std::vector<uint32_t> order() {
    std::vector<uint32_t> out;
    std::vector<uint32_t> open(count_);
    std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;  // wanted, by place
    std::vector<uint8_t> done(count_);
    for (uint32_t i = 0; i < count_; ++i) {
      open[i] = static_cast<uint32_t>(needs_[i].size());
      if (open[i] == 0 && wanted_[i] != 0) ready.push(i);
    }
    uint32_t next = 0, ahead = 0;  // the first that has not been placed; words loaded beyond it
    const auto place = [&](uint32_t i) {
      done[i] = 1;
      out.push_back(first_ + i);
      for (const uint32_t f : followers_[i]) {
        if (--open[f] == 0 && wanted_[f] != 0) ready.push(f);
      }
    };
    while (next < count_) {
      while (!ready.empty() && done[ready.top()] != 0) ready.pop();
      if (done[next] != 0) {
        ahead -= std::min(ahead, words_[next]);
        ++next;
      } else if (!ready.empty() && ahead + words_[ready.top()] <= kWordsAhead) {
        const uint32_t i = ready.top();
        ready.pop();
        ahead += words_[i];
        place(i);
      } else {
        place(next);
        ++next;
      }
    }
    return out;
  }

 private:
  void after(uint32_t i, uint32_t earlier) {
    if (std::find(needs_[i].begin(), needs_[i].end(), earlier) != needs_[i].end()) return;
    needs_[i].push_back(earlier);
    followers_[earlier].push_back(i);
  }

  void describe(uint32_t i) {
    const Instruction& instr = f_.body[first_ + i];
    motion_[i] = motion_of(f_, instr);
    const Registers& r = registers_[first_ + i];
    for (const RegId x : r.reads) {
      if (const auto w = writer_.find(x); w != writer_.end()) after(i, w->second);
    }
    for (const RegId x : r.writes) {
      if (const auto w = writer_.find(x); w != writer_.end()) after(i, w->second);
      for (const uint32_t reader : readers_[x]) after(i, reader);
      readers_[x].clear();
      writer_[x] = i;
    }
    for (const RegId x : r.reads) {
      if (const auto w = writer_.find(x); w == writer_.end() || w->second != i) readers_[x].push_back(i);
    }
    if (motion_[i] == Motion::load) {
      words_[i] = static_cast<uint32_t>(r.writes.size());
      order_load(i, instr);
    } else if (motion_[i] == Motion::wall) {
      wall_ = i;
      stores_.clear();
    } else if (motion_[i] == Motion::store) {
      stores_.push_back({i, places_.of(instr)});
    }
    if (motion_[i] != Motion::load && motion_[i] != Motion::pure) {
      if (fixed_.has_value()) after(i, *fixed_);
      fixed_ = i;
    }
  }

  void order_load(uint32_t i, const Instruction& instr) {
    const Place place = places_.of(instr);
    if (wall_.has_value() && !place.constant) after(i, *wall_);
    for (const auto& [at, written] : stores_) {
      const auto w = written.base == Operand::Base::reg ? writer_.find(written.index) : writer_.end();
      if (Places::may_meet(place, written, w == writer_.end() || w->second < at)) after(i, at);
    }
  }

  // The instruction moves up, and so does the arithmetic that it needs.
  void want(uint32_t i) {
    if (wanted_[i] != 0) return;
    wanted_[i] = 1;
    for (const uint32_t n : needs_[i]) {
      if (motion_[n] == Motion::pure) want(n);
    }
  }

  const isa::Function& f_;
  const std::vector<Registers>& registers_;
  const Places& places_;
  uint32_t first_, count_;
  std::vector<Motion> motion_;
  std::vector<std::vector<uint32_t>> needs_, followers_;
  std::vector<uint8_t> wanted_;
  std::vector<uint32_t> words_;
  std::map<RegId, uint32_t> writer_;
  std::map<RegId, std::vector<uint32_t>> readers_;
  std::optional<uint32_t> wall_, fixed_;
  std::vector<std::pair<uint32_t, Place>> stores_;  // since the wall
};

// A block starts at a label and after an instruction that may go elsewhere; pragmas keep their place, too.
std::vector<uint32_t> block_starts(const isa::Function& f) {
  std::vector<uint32_t> starts{0};
  for (const isa::Label& l : f.labels) starts.push_back(l.position);
  for (uint32_t i = 0; i < f.body.size(); ++i) {
    if (isa::spec(f.body[i].op).flow != Flow::next) starts.push_back(i + 1);
  }
  starts.push_back(static_cast<uint32_t>(f.body.size()));
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  return starts;
}

void reorder(isa::Function& f) {
  std::vector<Registers> registers;
  const Namer namer(f);
  for (const Instruction& i : f.body) registers.push_back(namer.of(i));
  const Places places(f, registers);
  const std::vector<uint32_t> starts = block_starts(f);
  std::vector<Instruction> body;
  body.reserve(f.body.size());
  for (size_t b = 0; b + 1 < starts.size(); ++b) {
    for (const uint32_t i : Block(f, registers, places, starts[b], starts[b + 1]).order())
      body.push_back(f.body[i]);
  }
  f.body = std::move(body);
}

}  // namespace

isa::Module with_early_loads(isa::Module module) {
  for (isa::Function& f : module.functions) {
    if (!f.is_prototype) reorder(f);
  }
  return module;
}

}  // namespace drywell::sim
