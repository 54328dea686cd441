#include "sim/exec/register_sharing.h"

#include <algorithm>
#include <bit>
#include <queue>
#include <utility>
#include <vector>

#include "drywell/isa/spec.h"

namespace drywell::sim {
namespace {

using isa::Operand;

/// The registers that an instruction names. Apart: other instructions or operations may use them at another time. Late: the write is
/// visible at the latest when a tcgen05.wait::ld returns.
struct Named {
  std::vector<isa::RegId> reads, writes, apart, late;
};

void add_operand(const isa::Function& f, const Operand& o, std::vector<isa::RegId>& out) {
  switch (o.kind) {
    case Operand::Kind::reg:
      if (f.regs[o.index].type != isa::Mod::pred) out.push_back(o.index);
      break;
    case Operand::Kind::addr:
      if (o.base == Operand::Base::reg) out.push_back(o.index);
      break;
    case Operand::Kind::vec:
    case Operand::Kind::tensor:
    case Operand::Kind::pair:
    case Operand::Kind::args:
      for (const Operand& e : f.elements(o)) add_operand(f, e, out);
      break;
    default: break;
  }
}

Named named_by(const isa::Function& f, const isa::Instruction& i) {
  Named n;
  const isa::InstrSpec& row = isa::spec(i.op);
  const auto positions = isa::operand_positions(f, i);
  // Fragments of wgmma belong to the operation. A shuffle may read a lane that is at another instruction: undefined (PTX ISA 9.7.9.6), but
  // the result must be the same with and without listeners. All other asynchronous operations capture their operands at issue.
  const bool apart = row.completion == isa::Completion::wgmma_group || row.timing == isa::TimingClass::shfl;
  for (size_t k = 0; k < isa::kMaxOperands && row.operands[k].name != nullptr; ++k) {
    if (positions[k] < 0) continue;
    const Operand& o = f.operands(i)[static_cast<size_t>(positions[k])];
    // The address itself is always read, whatever the access to the memory at that address.
    const bool address = o.kind == Operand::Kind::addr;
    if (address || row.operands[k].access != isa::Access::write) add_operand(f, o, n.reads);
    if (!address && row.operands[k].access != isa::Access::read) add_operand(f, o, n.writes);
    if (apart) add_operand(f, o, n.apart);
  }
  if (row.completion == isa::Completion::wait_ld) n.late = n.writes;
  return n;
}

/// Consecutive instructions [first, last), and the blocks that may follow.
struct Block {
  uint32_t first = 0, last = 0;
  std::vector<uint32_t> next;
};

/// True if control may continue at an instruction other than the next one.
bool ends_block(const isa::Instruction& i) {
  switch (isa::spec(i.op).flow) {
    case isa::Flow::branch:
    case isa::Flow::return_:
    case isa::Flow::end: return true;
    case isa::Flow::next:
    case isa::Flow::call: return false;
  }
  return true;
}

std::vector<uint32_t> labels_of(const isa::Function& f, const isa::Instruction& i) {
  if (isa::spec(i.op).flow != isa::Flow::branch) return {};
  for (const Operand& o : f.operands(i)) {
    if (o.kind == Operand::Kind::label) return {o.index};
    if (o.kind != Operand::Kind::symbol) continue;
    const isa::SymbolRef& list = f.symbols[o.index];
    if (list.kind == isa::SymbolRef::Kind::branch_targets) return f.branch_targets[list.index];
  }
  return {};
}

std::vector<Block> blocks_of(const isa::Function& f) {
  const auto n = static_cast<uint32_t>(f.body.size());
  std::vector<uint8_t> starts(n + 1, 0);
  starts[0] = 1;
  for (uint32_t i = 0; i < n; ++i) {
    if (ends_block(f.body[i])) starts[i + 1] = 1;
    for (const uint32_t l : labels_of(f, f.body[i])) starts[f.labels[l].position] = 1;
  }
  std::vector<Block> blocks;
  std::vector<uint32_t> block_at(n + 1, ~0u);  // block index by first instruction; ~0u at the end of the body
  for (uint32_t i = 0; i < n; ++i) {
    if (starts[i] != 0) {
      block_at[i] = static_cast<uint32_t>(blocks.size());
      blocks.push_back({i, i, {}});
    }
    blocks.back().last = i + 1;
  }
  for (Block& b : blocks) {
    const isa::Instruction& end = f.body[b.last - 1];
    for (const uint32_t l : labels_of(f, end)) b.next.push_back(block_at[f.labels[l].position]);
    if (!ends_block(end) || end.guard != isa::kNoReg) b.next.push_back(block_at[b.last]);
    std::erase(b.next, ~0u);
  }
  return blocks;
}

class RegisterSet {
 public:
  explicit RegisterSet(size_t registers) : words_((registers + 63) / 64) {}
  void add(isa::RegId r) { words_[r / 64] |= uint64_t{1} << (r % 64); }
  void remove(isa::RegId r) { words_[r / 64] &= ~(uint64_t{1} << (r % 64)); }
  void add(const RegisterSet& o) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= o.words_[i];
  }
  template <class F>
  void for_each(F f) const {
    for (size_t i = 0; i < words_.size(); ++i) {
      for (uint64_t w = words_[i]; w != 0; w &= w - 1) f(static_cast<isa::RegId>(i * 64 + static_cast<size_t>(std::countr_zero(w))));
    }
  }
  bool operator==(const RegisterSet&) const = default;

 private:
  std::vector<uint64_t> words_;
};

/// From the first to the last instruction of the text at which a register is written or holds a value that may be read.
struct Life {
  uint32_t first = ~0u, last = 0;
  void touch(uint32_t at) {
    first = std::min(first, at);
    last = std::max(last, at);
  }
};

class Lives {
 public:
  explicit Lives(const isa::Function& f) : f_(f), blocks_(blocks_of(f)), entry_(blocks_.size(), RegisterSet(f.regs.size())), lives_(f.regs.size()) {
    named_.reserve(f.body.size());
    for (const isa::Instruction& i : f.body) named_.push_back(named_by(f, i));
  }
  std::vector<Life> find() {
    for (bool grew = true; grew;) {
      grew = false;
      for (size_t b = blocks_.size(); b-- > 0;) {
        RegisterSet live = before(blocks_[b], exit_of(blocks_[b]));
        if (live == entry_[b]) continue;
        entry_[b] = std::move(live);
        grew = true;
      }
    }
    measure();
    return std::move(lives_);
  }

 private:
  RegisterSet exit_of(const Block& b) const {
    RegisterSet live(f_.regs.size());
    for (const uint32_t next : b.next) live.add(entry_[next]);
    return live;
  }
  // Registers that are live at the entry of a block, given those at its exit. A guarded write keeps the old value in some lanes.
  RegisterSet before(const Block& b, RegisterSet live) const {
    for (uint32_t i = b.last; i-- > b.first;) {
      if (f_.body[i].guard == isa::kNoReg) {
        for (const isa::RegId r : named_[i].writes) live.remove(r);
      }
      for (const isa::RegId r : named_[i].reads) live.add(r);
    }
    return live;
  }
  void measure() {
    const auto end = static_cast<uint32_t>(f_.body.size());
    const auto always = [&](isa::RegId r) { lives_[r] = {0, end}; };
    for (size_t b = 0; b < blocks_.size(); ++b) {
      entry_[b].for_each([&](isa::RegId r) { lives_[r].touch(blocks_[b].first); });
      exit_of(blocks_[b]).for_each([&](isa::RegId r) { lives_[r].touch(blocks_[b].last - 1); });
    }
    for (uint32_t i = 0; i < end; ++i) {
      for (const isa::RegId r : named_[i].reads) lives_[r].touch(i);
      for (const isa::RegId r : named_[i].writes) lives_[r].touch(i);
      for (const isa::RegId r : named_[i].apart) always(r);
    }
    measure_pending();
    if (!blocks_.empty()) entry_[0].for_each(always);
  }

  // A register that a tcgen05.ld in flight writes is live until every wait that control may reach, also around a loop, even if no
  // instruction reads the register.
  void measure_pending() {
    std::vector<RegisterSet> pending(blocks_.size(), RegisterSet(f_.regs.size()));  // at the entry of each block
    for (bool grew = true; grew;) {
      grew = false;
      for (size_t b = 0; b < blocks_.size(); ++b) {
        const RegisterSet out = after(blocks_[b], pending[b]);
        for (const uint32_t next : blocks_[b].next) {
          RegisterSet merged = pending[next];
          merged.add(out);
          if (merged == pending[next]) continue;
          pending[next] = std::move(merged);
          grew = true;
        }
      }
    }
  }
  /// Returns the registers that are pending at the end of a block, given those that are pending at its entry.
  RegisterSet after(const Block& b, RegisterSet pending) {
    pending.for_each([&](isa::RegId r) { lives_[r].touch(b.first); });
    for (uint32_t i = b.first; i < b.last; ++i) {
      if (isa::spec(f_.body[i].op).sync == isa::SyncRole::tmem_load_wait) {
        pending.for_each([&](isa::RegId r) { lives_[r].touch(i); });
        pending = RegisterSet(f_.regs.size());
      }
      for (const isa::RegId r : named_[i].late) pending.add(r);
    }
    pending.for_each([&](isa::RegId r) { lives_[r].touch(b.last - 1); });
    return pending;
  }

  const isa::Function& f_;
  std::vector<Block> blocks_;
  std::vector<Named> named_;
  std::vector<RegisterSet> entry_;  // per block: the registers that are live at its entry
  std::vector<Life> lives_;
};

/// Places of one size. A free place is reused at once, the last freed first, because the host's caches hold that place.
class Places {
 public:
  Places(uint32_t base, uint32_t bytes) : base_(base), bytes_(bytes) {}
  uint32_t take(const Life& life) {
    for (; !taken_.empty() && taken_.top().first < life.first; taken_.pop()) free_.push_back(taken_.top().second);
    uint32_t place = count_;
    if (free_.empty()) {
      ++count_;
    } else {
      place = free_.back();
      free_.pop_back();
    }
    taken_.emplace(life.last, place);
    return base_ + place * bytes_;
  }
  uint32_t end() const { return base_ + count_ * bytes_; }

 private:
  using Taken = std::pair<uint32_t, uint32_t>;  // last instruction that uses the place, and the place
  uint32_t base_, bytes_, count_ = 0;
  std::vector<uint32_t> free_;
  std::priority_queue<Taken, std::vector<Taken>, std::greater<>> taken_;
};

}  // namespace

void share_registers(FunctionCode& code) {
  const isa::Function& f = *code.function;
  const std::vector<Life> lives = Lives(f).find();
  std::vector<isa::RegId> order;
  for (isa::RegId r = 0; r < f.regs.size(); ++r) {
    if (f.regs[r].type != isa::Mod::pred && lives[r].first <= lives[r].last) order.push_back(r);
  }
  std::stable_sort(order.begin(), order.end(), [&](isa::RegId a, isa::RegId b) { return lives[a].first < lives[b].first; });
  code.reg_offset.assign(f.regs.size(), 0);  // a register that no instruction names keeps offset 0
  code.frame_bytes = 0;
  for (const unsigned bits : {32u, 64u, 128u}) {
    Places places(code.frame_bytes, register_bytes(bits));
    for (const isa::RegId r : order) {
      if (register_bytes(isa::type_bits(f.regs[r].type)) == register_bytes(bits)) code.reg_offset[r] = places.take(lives[r]);
    }
    code.frame_bytes = places.end();
  }
}

}  // namespace drywell::sim
