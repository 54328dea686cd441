#include "sim/timing/block_schedule.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <vector>

#include "sim/timing/block_motion.h"
#include "sim/timing/lanes_apart.h"
#include "sim/timing/register_room.h"
#include "sim/timing/timed_program.h"

namespace drywell::sim {
namespace {

using isa::Instruction;
using isa::Operand;
using isa::RegId;

// Registers that loads may fill before the instruction that uses them: ptxas weighs this against occupancy.
constexpr uint32_t kWordsAhead = 32;
// Registers of the block's values that may wait for a reader, if PTX's own order does not need more and the kernel is not kept to few registers
// (register_room.h): beyond so many, arithmetic stays where PTX has it.
constexpr int32_t kLive = 20;
// The next instruction is chosen among so many from the first unplaced one on: chains.fma.of-4 of docs/lab/calibration.md are interleaved.
constexpr uint32_t kWindow = 32;

// Cycles that ptxas leaves for a load from global memory, if it has other work: the four loads of a pass of tile_wide stand before the first store of one
// (tiles.cu of tests/corpus/timing/mechanisms).
constexpr uint32_t kGlobalLoad = 200;

/// The order of one block's instructions.
class Block {
 public:
  Block(const isa::Function& f, const std::vector<Registers>& registers, const LanesApart& lanes, const Places& places, const std::vector<LiveRange>& ranges, const ArchConfig& arch,
        std::optional<uint32_t> room, uint32_t first, uint32_t last)
      : f_(f),
        registers_(registers),
        lanes_(lanes),
        places_(places),
        ranges_(ranges),
        arch_(arch),
        kept_(room.has_value()),
        first_(first),
        count_(last - first),
        motion_(count_),
        open_(count_),
        needs_(count_),
        followers_(count_),
        wanted_(count_),
        done_(count_),
        of_first_exchange_(count_),
        words_(count_),
        height_(count_),
        earliest_(count_),
        defines_(count_),
        reads_(count_) {
    for (uint32_t i = 0; i < count_; ++i) describe(i);
    for (uint32_t i = count_; i-- > 0;) {
      if (motion_[i] == Motion::load) want(i);
    }
    keep_between_walls();
    most_live_ = std::max(room.has_value() ? static_cast<int32_t>(*room) : kLive + live_, most_in_order());
    for (uint32_t i = count_; i-- > 0;) measure(i);
  }

  /// Indices in the function's body, in the new order.
  std::vector<uint32_t> order() {
    for (uint32_t i = 0; i < count_; ++i) {
      open_[i] = static_cast<uint32_t>(needs_[i].size());
      if (open_[i] == 0 && wanted_[i] != 0) ready_.push(i);
    }
    while (out_.size() < count_) place(next());
    return std::move(out_);
  }

 private:
  struct Edge {
    uint32_t to;
    uint32_t cycles;  // from the issue of the earlier one to that of the later one
  };

  void after(uint32_t i, uint32_t earlier, uint32_t cycles = 0) {
    if (i == earlier) return;  // an instruction may write one register twice: setp.lt.u32 %p1|%p1
    for (const uint32_t n : needs_[i]) {
      if (n != earlier) continue;
      auto& edges = followers_[earlier];
      const auto known = std::find_if(edges.begin(), edges.end(), [&](const Edge& e) { return e.to == i; });
      known->cycles = std::max(known->cycles, cycles);
      return;
    }
    needs_[i].push_back(earlier);
    followers_[earlier].push_back({i, cycles});
  }

  // ptxas does not count on the L1: what does not need a load comes before what does.
  uint32_t latency(uint32_t i) const {
    const isa::TimingClass t = timing_class(f_, f_.body[first_ + i]);
    return t == isa::TimingClass::ld_global ? kGlobalLoad : static_cast<uint32_t>(arch_.cost(t).latency);
  }
  uint32_t until_value(uint32_t i, RegId r, uint32_t writer) const {
    const uint32_t guarded = f_.body[first_ + i].guard == r ? extra_of_guards(arch_) : 0;
    return latency(writer) + guarded;
  }

  // Before a block's first exchange ptxas looks whether lanes are apart. No load moves over it, nor over the exchanges of its result.
  void meet(uint32_t i) {
    if (met_ && of_first_exchange_[i] == 0) return;
    if (lanes_.apart[first_ + i] != 0) motion_[i] = Motion::wall;
    of_first_exchange_[i] = 1;
    met_ = true;
  }
  static bool exchanges(const Instruction& i) { return isa::spec(i.op).issue != isa::Issue::lane || isa::spec(i.op).convergent; }

  void describe(uint32_t i) {
    const Instruction& instr = f_.body[first_ + i];
    motion_[i] = motion_of(f_, instr);
    const Registers& r = registers_[first_ + i];
    for (const RegId x : r.reads) {
      if (const auto w = writer_.find(x); w != writer_.end() && of_first_exchange_[w->second] != 0) of_first_exchange_[i] = 1;
    }
    if (motion_[i] == Motion::fixed && exchanges(instr)) meet(i);
    for (const RegId x : r.reads) {
      if (const auto w = writer_.find(x); w != writer_.end()) {
        after(i, w->second, until_value(i, x, w->second));
        read(i, value_[x]);
      } else if (!kept_ && ends_here(x)) {
        if (value_.find(x) == value_.end()) bring(x);
        read(i, value_[x]);
      }
    }
    for (const RegId x : r.writes) {
      if (const auto w = writer_.find(x); w != writer_.end()) after(i, w->second);
      for (const uint32_t reader : readers_[x]) after(i, reader);
      readers_[x].clear();
      writer_[x] = i;
      define(i, x);
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
      loads_.clear();
    } else if (motion_[i] == Motion::store) {
      stores_.push_back({i, places_.of(instr)});
      for (const uint32_t l : loads_) after(i, l);
    }
    if (motion_[i] != Motion::load && motion_[i] != Motion::pure) {
      if (fixed_.has_value()) after(i, *fixed_);
      fixed_ = i;
    }
    if (isa::spec(instr.op).slot_index(isa::Slot::carry) >= 0) {  // CC.CF is no register of PTX: all that read or write it keep their order
      if (carry_.has_value()) after(i, *carry_);
      carry_ = i;
    }
  }

  void read(uint32_t i, uint32_t value) {
    auto& known = reads_[i];
    if (std::find(known.begin(), known.end(), value) != known.end()) return;
    known.push_back(value);
    ++unread_[value];
  }
  // A value from before the block that nothing reads behind it: its last reader leaves room for a value of the block.
  bool ends_here(RegId x) const { return ranges_[x].first < first_ && ranges_[x].last < first_ + count_; }
  void bring(RegId x) {
    name(x);
    live_ += registers_of_.back();
  }
  void define(uint32_t i, RegId x) {
    name(x);
    defines_[i].push_back(value_[x]);
  }
  void name(RegId x) {
    value_[x] = static_cast<uint32_t>(unread_.size());
    unread_.push_back(0);
    registers_of_.push_back(kept_ ? static_cast<int32_t>(words_of(f_, lanes_, x)) : 1);
  }
  // Registers of values that wait for a reader after the instruction, less those that did before.
  int32_t growth(uint32_t i) const {
    int32_t n = 0;
    for (const uint32_t v : defines_[i]) n += unread_[v] != 0 ? registers_of_[v] : 0;
    for (const uint32_t v : reads_[i]) n -= unread_[v] == 1 ? registers_of_[v] : 0;
    return n;
  }

  // The most registers of values that wait for a reader in PTX's order.
  int32_t most_in_order() const {
    std::vector<uint32_t> unread = unread_;
    int32_t live = live_, most = live_;
    for (uint32_t i = 0; i < count_; ++i) {
      for (const uint32_t v : defines_[i]) live += unread[v] != 0 ? registers_of_[v] : 0;
      most = std::max(most, live);
      for (const uint32_t v : reads_[i]) live -= --unread[v] == 0 ? registers_of_[v] : 0;
    }
    return most;
  }

  void order_load(uint32_t i, const Instruction& instr) {
    const Place place = places_.of(instr);
    loads_.push_back(i);
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

  // Nothing moves down over a wall, and up only what a load wants.
  void keep_between_walls() {
    std::optional<uint32_t> wall;
    for (uint32_t i = 0; i < count_; ++i) {
      if (motion_[i] == Motion::wall) {
        for (uint32_t k = wall.value_or(0); k < i; ++k) after(i, k);
        wall = i;
      } else if (wall.has_value() && wanted_[i] == 0) {
        after(i, *wall);
      }
    }
  }

  void measure(uint32_t i) {
    for (const Edge& e : followers_[i]) height_[i] = std::max(height_[i], e.cycles + height_[e.to]);
    ++height_[i];
  }

  bool fits(uint32_t i) const {
    const bool room = growth(i) <= std::max(0, most_live_ - live_);
    if (motion_[i] == Motion::load) return ahead_ + words_[i] <= kWordsAhead && (room || !kept_);
    return (wanted_[i] != 0 && !kept_) || room;
  }

  // A wanted instruction, else the one with most cycles behind it; of those whose operands are not there yet, the one that waits least.
  uint32_t next() {
    while (first_open_ < count_ && done_[first_open_] != 0) ahead_ -= std::min(ahead_, words_[first_open_++]);
    while (!ready_.empty() && done_[ready_.top()] != 0) ready_.pop();
    if (!ready_.empty() && fits(ready_.top()) && earliest_[ready_.top()] <= now_) return ready_.top();
    uint32_t best = !ready_.empty() && fits(ready_.top()) ? ready_.top() : count_;
    for (uint32_t i = first_open_; i < std::min(count_, first_open_ + kWindow); ++i) {
      const bool may = done_[i] == 0 && open_[i] == 0 && (i == first_open_ || fits(i));
      if (may && (best == count_ || better(i, best))) best = i;
    }
    return best;
  }
  bool better(uint32_t i, uint32_t than) const {
    const uint32_t a = std::max(now_, earliest_[i]), b = std::max(now_, earliest_[than]);
    return a != b ? a < b : height_[i] > height_[than];
  }

  void place(uint32_t i) {
    done_[i] = 1;
    out_.push_back(first_ + i);
    live_ += growth(i);
    for (const uint32_t v : reads_[i]) --unread_[v];
    if (i != first_open_) ahead_ += words_[i];
    now_ = std::max(now_, earliest_[i]);
    for (const Edge& e : followers_[i]) {
      earliest_[e.to] = std::max(earliest_[e.to], now_ + e.cycles);
      if (--open_[e.to] == 0 && wanted_[e.to] != 0) ready_.push(e.to);
    }
    ++now_;
  }

  const isa::Function& f_;
  const std::vector<Registers>& registers_;
  const LanesApart& lanes_;
  const Places& places_;
  const std::vector<LiveRange>& ranges_;
  const ArchConfig& arch_;
  bool kept_;  // to few registers
  bool met_ = false;
  uint32_t first_, count_;
  std::vector<Motion> motion_;
  std::vector<uint32_t> open_;
  std::vector<std::vector<uint32_t>> needs_;
  std::vector<std::vector<Edge>> followers_;
  std::vector<uint8_t> wanted_, done_, of_first_exchange_;
  std::vector<uint32_t> words_, height_, earliest_, loads_;
  std::vector<std::vector<uint32_t>> defines_, reads_;  // values of the block
  std::vector<uint32_t> unread_;                        // of each value: readers that are not placed
  std::vector<int32_t> registers_of_;                   // and its registers; 1 if the kernel may have as many as it needs
  std::map<RegId, uint32_t> writer_, value_;            // the last ones
  std::map<RegId, std::vector<uint32_t>> readers_;
  std::optional<uint32_t> wall_, fixed_, carry_;
  std::vector<std::pair<uint32_t, Place>> stores_;  // since the wall
  // The order as far as it is made.
  std::vector<uint32_t> out_;
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready_;  // wanted, by place
  uint32_t now_ = 0, first_open_ = 0, ahead_ = 0;                               // ahead_: words loaded beyond first_open_
  int32_t live_ = 0, most_live_ = 0;                                            // values that wait for a reader
};

void reorder(isa::Function& f, const ArchConfig& arch) {
  const std::vector<Registers> registers = registers_of(f);
  const LanesApart lanes = lanes_apart(f, registers);
  const Places places(f, registers);
  const std::vector<uint32_t> starts = block_starts(f);
  const std::vector<LiveRange> ranges = live_ranges(f, registers);
  const std::vector<std::optional<uint32_t>> room = register_room(f, ranges, lanes, starts);
  std::vector<Instruction> body;
  body.reserve(f.body.size());
  for (size_t b = 0; b + 1 < starts.size(); ++b) {
    for (const uint32_t i : Block(f, registers, lanes, places, ranges, arch, room[b], starts[b], starts[b + 1]).order())
      body.push_back(f.body[i]);
  }
  f.body = std::move(body);
}

}  // namespace

isa::Module with_scheduled_blocks(isa::Module module, const ArchConfig& arch) {
  for (isa::Function& f : module.functions) {
    if (!f.is_prototype) reorder(f, arch);
  }
  return module;
}

}  // namespace drywell::sim
