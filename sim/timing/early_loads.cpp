#include "sim/timing/early_loads.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <vector>

#include "sim/timing/block_motion.h"

namespace drywell::sim {
namespace {

using isa::Instruction;
using isa::Operand;
using isa::RegId;

// Registers that loads may fill before the instruction that uses them: ptxas weighs this against occupancy.
constexpr uint32_t kWordsAhead = 32;

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

void reorder(isa::Function& f) {
  const std::vector<Registers> registers = registers_of(f);
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
