#include "drywell/sim/inspect/cost_recorder.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

#include "drywell/isa/mma_shape.h"
#include "drywell/isa/print.h"
#include "drywell/sim/access.h"
#include "sim/engine/umma_form.h"
#include "sim/events/hub.h"
#include "sim/exec/exec.h"
#include "sim/state/program.h"

namespace drywell::sim {
namespace {

constexpr uint32_t kSector = 32;

double product(double m, double n, double k) { return 2 * m * n * k; }

double operations_of(const Umma& u) {
  UmmaForm f;
  if (decode_form(u, f).has_value()) return 0;
  return product(f.idesc.m, f.idesc.n, f.b.k);
}

double operations_of(const Wgmma& w) { return product(64, w.n, w.sparse ? 2.0 * w.k : w.k); }

struct AsyncOperations {
  double operator()(const Umma& u) const { return operations_of(u); }
  double operator()(const Wgmma& w) const { return operations_of(w); }
  template <class Other>
  double operator()(const Other&) const {
    return 0;
  }
};

bool is_arithmetic(isa::TimingClass t) {
  using T = isa::TimingClass;
  return t == T::fma || t == T::fma2 || t == T::half || t == T::f64;
}

/// Of one lane: a multiplication with an addition counts twice, packed types for each of their numbers.
double lane_operations(const isa::Function& f, const isa::Instruction& i) {
  const isa::InstrSpec& row = isa::spec(i.op);
  const isa::Mod type = i.mod(isa::Slot::type);
  if (!is_arithmetic(row.timing) || !isa::is_float_type(type)) return 0;
  size_t reads = 0;
  for (const isa::OperandSpec& o : std::span(row.operands).first(f.operands(i).size())) reads += o.access == isa::Access::read ? 1 : 0;
  return (reads >= 3 ? 2.0 : 1.0) * (isa::mod_text(type).ends_with("x2") ? 2 : 1);
}

/// Of one warp: mma.sync. Shapes of other instructions are not in the table of mma_shape.
double warp_operations(const isa::Instruction& i) {
  if (isa::spec(i.op).timing != isa::TimingClass::mma_sync) return 0;
  const isa::MmaShape s = isa::mma_shape(i.mod(isa::Slot::shape));
  return product(s.m, s.n, s.k);
}

LaneAddresses addresses_of(const Warp& w, const DecodedOp& op, LaneMask mask, uint32_t bytes) {
  LaneAddresses a;
  a.mask = mask;
  a.bytes = bytes;
  for_lanes(mask, [&](uint32_t lane) { a.at[lane] = lane_address(w, op, lane); });
  return a;
}

bool is_shared(Space space, uint64_t address) {
  if (space == Space::generic) return address >> 32 == window::kSharedHigh;
  return space == Space::shared_cta || space == Space::shared_cluster;
}

bool is_global(Space space, uint64_t address) {
  const uint64_t high = address >> 32;
  if (space == Space::generic) return high != window::kSharedHigh && high != window::kLocalHigh && high != window::kParamHigh;
  return space == Space::global;
}

/// Bytes from a lane to the next active one, if all are equal.
std::optional<int64_t> stride_of(const LaneAddresses& a) {
  std::optional<int64_t> stride;
  for (uint32_t lane = 1; lane < kWarpSize; ++lane) {
    if ((a.mask >> (lane - 1) & 3) != 3) continue;
    const auto step = static_cast<int64_t>(a.at[lane] - a.at[lane - 1]);
    if (stride.has_value() && *stride != step) return std::nullopt;
    stride = step;
  }
  return stride.value_or(0);
}

/// In the copies of a round of a loop that runs unrolled, registers have other names (sim/timing).
bool is_renamed(const InstructionCost& c) { return c.ptx.find("%unrolled") != std::string::npos; }

std::string_view opcode_of(const InstructionCost& c) {
  const std::string_view text = c.ptx;
  const size_t guard = text.starts_with('@') ? text.find(' ') + 1 : 0;
  return text.substr(guard, text.find(' ', guard) - guard);
}

/// The two are one instruction of the author's.
bool is_copy(const InstructionCost& a, const InstructionCost& b) {
  if (a.line != b.line || a.file != b.file) return false;
  return a.ptx == b.ptx || ((is_renamed(a) || is_renamed(b)) && opcode_of(a) == opcode_of(b));
}

}  // namespace

class CostRecorder::Impl : public Listener {
 public:
  bool wants_waits() const override { return false; }
  bool wants_skipped(const Program&, const DecodedOp&) const override { return true; }

  void launch_started(const Launch& launch) override {
    program_ = launch.program;
    now_ = {};
    ops_.assign(program_->code.size(), {});
    waited_.clear();
  }

  void launch_finished() override {
    std::vector<std::pair<InstructionCost, Op>> sums;
    for (size_t pc = 0; pc < ops_.size(); ++pc) {
      if (ops_[pc].executed == 0) continue;
      InstructionCost c = described(program_->code[pc]);
      const auto same = std::find_if(sums.begin(), sums.end(), [&](const auto& s) { return is_copy(s.first, c); });
      auto& sum = same != sums.end() ? *same : sums.emplace_back(c, Op{});
      if (is_renamed(sum.first)) sum.first.ptx = c.ptx;
      sum.second.add(ops_[pc]);
    }
    for (auto& [c, sum] : sums) {
      c.executed = sum.executed;
      c.cycles = static_cast<double>(sum.cycles);
      c.access = sum.access;
      now_.instructions.push_back(std::move(c));
    }
    launches_.push_back(std::move(now_));
  }

  void cta_started(const Cta& cta) override {
    for (const Warp& w : cta.warps) waited_[&w] = 0;
  }

  void instruction(const Warp& w, const DecodedOp& op, LaneMask mask) override {
    Op& x = issue(w, op);
    if (x.executed == 1) count_arithmetic(op, x);
    now_.lane_operations += x.of_lane * std::popcount(mask);
    now_.matrix_operations += x.of_warp;
  }

  void skipped(const Warp& w, const DecodedOp& op) override { issue(w, op); }

  void stalled(const Warp& w, Stall reason, uint64_t from, uint64_t to) override {
    if (reason != Stall::finished) waited_[&w] += to - from;
  }

  void async(const Cluster&, const AsyncOp& op, AsyncMoment m) override {
    if (m == AsyncMoment::issue) now_.matrix_operations += std::visit(AsyncOperations{}, op.payload);
  }

  void memory(const Warp& w, const DecodedOp& op, LaneMask mask, Space space, uint32_t bytes, bool store) override {
    if (mask == 0) return;
    const LaneAddresses a = addresses_of(w, op, mask, bytes);
    const uint64_t first = a.at[static_cast<size_t>(std::countr_zero(mask))];
    const bool shared = is_shared(space, first);
    if (!shared && !is_global(space, first)) return;
    AccessPattern& p = ops_[index_of(op)].access;
    add_stride(p, a);
    ++p.count;
    p.bytes = bytes;
    p.store = store;
    p.shared = shared;
    p.most_lanes = std::max(p.most_lanes, static_cast<uint32_t>(std::popcount(mask)));
    p.units += shared ? smem_wavefronts(a) : sectors_of(a);
    p.least += shared ? smem_ideal_wavefronts(a) : (static_cast<uint64_t>(std::popcount(mask)) * bytes + kSector - 1) / kSector;
  }

  std::vector<LaunchCosts> launches_;

 private:
  struct Op {
    uint64_t executed = 0, cycles = 0;
    double of_lane = 0, of_warp = 0;
    AccessPattern access;

    void add(const Op& x) {
      executed += x.executed;
      cycles += x.cycles;
      add(x.access);
    }
    void add(const AccessPattern& x) {
      if (x.count == 0) return;
      AccessPattern sum = x;
      sum.uneven = x.uneven || (access.count != 0 && (access.uneven || access.stride != x.stride));
      sum.stride = sum.uneven ? 0 : x.stride;
      sum.count += access.count;
      sum.units += access.units;
      sum.least += access.least;
      sum.most_lanes = std::max(x.most_lanes, access.most_lanes);
      access = sum;
    }
  };

  size_t index_of(const DecodedOp& op) const { return static_cast<size_t>(&op - program_->code.data()); }

  Op& issue(const Warp& w, const DecodedOp& op) {
    Op& x = ops_[index_of(op)];
    uint64_t& waited = waited_[&w];
    ++x.executed;
    x.cycles += waited + 1;
    waited = 0;
    return x;
  }

  void count_arithmetic(const DecodedOp& op, Op& x) const {
    const isa::Instruction& i = program_->instruction(op);
    x.of_lane = lane_operations(program_->function_of(op), i);
    x.of_warp = warp_operations(i);
  }

  static void add_stride(AccessPattern& p, const LaneAddresses& a) {
    const std::optional<int64_t> stride = stride_of(a);
    p.uneven = p.uneven || !stride.has_value() || (p.count != 0 && *stride != p.stride);
    p.stride = p.uneven ? 0 : *stride;
  }

  uint64_t sectors_of(const LaneAddresses& a) {
    runs_.clear();
    gmem_sectors(a, runs_);
    uint64_t bytes = 0;
    for (const ByteRange& r : runs_) bytes += r.bytes;
    return bytes / kSector;
  }

  /// Its text and line.
  InstructionCost described(const DecodedOp& op) const {
    const isa::Function& f = program_->function_of(op);
    InstructionCost c;
    if (op.instr >= f.body.size()) return c;
    const isa::Instruction& i = f.body[op.instr];
    const bool known = i.source.file != 0;
    c.ptx = isa::print_instruction_briefly(f, i);
    c.file = known || !program_->module->files[0].empty() ? program_->module->files[i.source.file] : "<ptx>";
    c.line = known ? i.source.line : i.ptx_line;
    return c;
  }

  const Program* program_ = nullptr;
  std::vector<Op> ops_;                               // by program counter
  std::unordered_map<const Warp*, uint64_t> waited_;  // cycles since its last issue
  std::vector<ByteRange> runs_;                       // of the access at hand
  LaunchCosts now_;
};

CostRecorder::CostRecorder() : impl_(std::make_unique<Impl>()) {}
CostRecorder::~CostRecorder() = default;
Listener* CostRecorder::listener() { return impl_.get(); }
const std::vector<LaunchCosts>& CostRecorder::launches() const { return impl_->launches_; }

}  // namespace drywell::sim
