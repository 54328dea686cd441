#include "drywell/sim/inspect/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "drywell/core/source_path.h"
#include "drywell/sim/arch_config.h"
#include "sim/events/hub.h"
#include "sim/state/program.h"

namespace drywell::sim {
namespace {

constexpr size_t kMostLevels = 24000;
constexpr size_t kMostOperations = 20000;

const char* const kUnits[] = {"TMA", "tensor core", "TMEM port", "cluster", "cp.async"};  // by AsyncUnit

struct Named {
  const char* what;
  uint32_t mbar = 0;  // signalled at completion; 0: none
};

struct Describe {
  Named operator()(const TensorCopy& t) const {
    static constexpr const char* kWhat[] = {"tensor load", "tensor store", "tensor reduce"};
    return {kWhat[static_cast<size_t>(t.direction)], t.direction == TensorCopy::Direction::load ? t.mbar : 0};
  }
  Named operator()(const BulkCopy& b) const { return {"bulk copy", b.mbar}; }
  Named operator()(const Umma&) const { return {"tcgen05.mma"}; }
  Named operator()(const TmemCopy&) const { return {"tcgen05.cp"}; }
  Named operator()(const TmemShift&) const { return {"tcgen05.shift"}; }
  Named operator()(const Commit& c) const { return {"commit", c.mbar}; }
  Named operator()(const TmemLdSt& t) const { return {t.load ? "tcgen05.ld" : "tcgen05.st"}; }
  Named operator()(const AsyncCopy& a) const { return {a.lanes.empty() ? "cp.async arrival" : "cp.async", a.mbar}; }
  Named operator()(const Wgmma&) const { return {"wgmma"}; }
  Named operator()(const RemoteStore& r) const { return {"remote store", r.mbar}; }
  Named operator()(const RemoteArrive& r) const { return {"remote arrival", r.mbar}; }
  Named operator()(const TryCancel& t) const { return {"try_cancel", t.mbar}; }
};

}  // namespace

class TimelineRecorder::Impl : public Listener {
 public:
  Impl(Dim3 cta, size_t most_spans) : most_spans_(most_spans) { t_.cta = cta; }

  void launch_started(const Launch&) override {
    t_ = {.cta = t_.cta};
    t_.units.assign(std::begin(kUnits), std::end(kUnits));
    cta_ = nullptr;
  }
  void launch_finished() override {
    done_.push_back(std::move(t_));
    t_ = {.cta = done_.back().cta};
  }

  void cta_started(const Cta& cta) override {
    if (!(cta.index.x == t_.cta.x && cta.index.y == t_.cta.y && cta.index.z == t_.cta.z)) return;
    const Launch& launch = *cta.cluster->launch;
    t_ = {.cta = t_.cta, .seen = true, .from = cta.cluster->now, .to = cta.cluster->now, .smem_capacity = launch.arch->smem.bytes, .units = t_.units};
    cta_ = &cta;
    program_ = launch.program;
    lines_.clear();
    in_flight_.clear();
    unwaited_.clear();
    bytes_of_.clear();
    level_ = {};
    t_.warps.resize(cta.warps.size());
    for (size_t w = 0; w < t_.warps.size(); ++w) t_.warps[w].role = role_of(w);
    line_.assign(t_.warps.size(), 0);
    line_number("");
  }

  void cta_finished(const Cta& cta) override {
    if (cta_ == nullptr) return;
    if (const auto it = bytes_of_.find(cta.serial); it != bytes_of_.end()) {
      level_.smem -= it->second;
      bytes_of_.erase(it);
      set_level(cta.cluster->now);
    }
    if (&cta == cta_) cta_ = nullptr;
  }

  void instruction(const Warp& w, const DecodedOp& op, LaneMask) override {
    if (cta_ == nullptr || w.cta->sm != cta_->sm) return;
    const uint64_t now = w.cta->cluster->now;
    if (bytes_of_.try_emplace(w.cta->serial, w.cta->smem.size()).second) {
      level_.smem += w.cta->smem.size();
      set_level(now);
    }
    if (op.sync == isa::SyncRole::tmem_alloc || op.sync == isa::SyncRole::tmem_dealloc) count_columns(*w.cta);
    if (w.cta != cta_) return;
    line_[w.index] = line_of(op);
    add(w.index, Stall::issued, now, now + 1);
  }

  void stalled(const Warp& w, Stall reason, uint64_t from, uint64_t to) override {
    if (w.cta == cta_) add(w.index, reason, from, to);
  }

  void mbarrier(const Cta& cta, uint32_t offset, const Mbarrier&, MbarrierEvent e, int64_t amount) override {
    if (&cta != cta_) return;
    const uint64_t now = cta.cluster->now;
    if (e == MbarrierEvent::expect_tx || e == MbarrierEvent::complete_tx) {
      const int64_t change = e == MbarrierEvent::expect_tx ? amount : -amount;
      level_.arriving = static_cast<uint64_t>(std::max<int64_t>(0, static_cast<int64_t>(level_.arriving) + change));
      set_level(now);
    }
    if (e != MbarrierEvent::wait_true) return;
    const auto it = unwaited_.find(offset);
    if (it == unwaited_.end()) return;
    for (const size_t i : it->second) {
      t_.operations[i].waiter = static_cast<int32_t>(amount);
      t_.operations[i].waited = now;
    }
    unwaited_.erase(it);
  }

  void async(const Cluster& c, const AsyncOp& op, AsyncMoment m) override {
    if (cta_ == nullptr || &c != cta_->cluster || op.issuer.cta != cta_->rank) return;
    if (m == AsyncMoment::issue) {
      if (t_.operations.size() >= kMostOperations) {
        t_.truncated = true;
        return;
      }
      const Named n = std::visit(Describe{}, op.payload);
      const Warp& w = cta_->warps[op.issuer.warp];
      in_flight_[op.id] = t_.operations.size();
      t_.operations.push_back({.unit = static_cast<uint32_t>(unit_of(op.payload)), .what = n.what, .warp = w.index, .line = line_of(program_->code[w.pc]), .issued = c.now, .started = c.now, .done = c.now});
      return;
    }
    const auto it = in_flight_.find(op.id);
    if (it == in_flight_.end()) return;
    Timeline::Operation& o = t_.operations[it->second];
    if (m == AsyncMoment::read) o.started = c.now;
    o.done = c.now;
    t_.to = std::max(t_.to, c.now);
    if (m != AsyncMoment::signal) return;
    if (const Named n = std::visit(Describe{}, op.payload); n.mbar != 0 && shared_rank(n.mbar) == cta_->rank) unwaited_[shared_offset(n.mbar)].push_back(it->second);
    in_flight_.erase(it);
  }

  std::vector<Timeline> done_;

 private:
  void add(uint32_t warp, Stall state, uint64_t from, uint64_t to) {
    auto& spans = t_.warps[warp].spans;
    t_.to = std::max(t_.to, to);
    if (!spans.empty() && spans.back().state == state && spans.back().to == from && spans.back().line == line_[warp]) {
      spans.back().to = to;
    } else if (spans.size() < most_spans_) {
      spans.push_back({from, to, state, line_[warp]});
    } else {
      t_.truncated = true;
    }
  }

  void set_level(uint64_t at) {
    level_.at = at;
    if (!t_.levels.empty() && t_.levels.back().at == at) t_.levels.back() = level_;
    else if (t_.levels.size() < kMostLevels)
      t_.levels.push_back(level_);
  }

  void count_columns(const Cta& cta) {
    uint64_t columns = 0;
    for (uint32_t c = 0; c < kTmemColumns; c += kTmemUnit) columns += cta.tmem->find_free_at(c, kTmemUnit) ? 0 : kTmemUnit;
    level_.tmem = columns;
    set_level(cta.cluster->now);
  }

  uint32_t line_number(const std::string& text) {
    const auto [it, fresh] = lines_.try_emplace(text, static_cast<uint32_t>(t_.lines.size()));
    if (fresh) t_.lines.push_back(text);
    return it->second;
  }

  uint32_t line_of(const DecodedOp& op) {
    const isa::Function& f = program_->function_of(op);
    if (op.instr >= f.body.size()) return 0;
    const isa::Instruction& i = f.body[op.instr];
    if (i.source.file == 0) return line_number(fmt::format("ptx:{}", i.ptx_line));
    const std::string& file = program_->module->files[i.source.file];
    return line_number(fmt::format("{}:{}", base_name(file), i.source.line));
  }

  std::string role_of(size_t warp) const {
    for (const isa::WarpRole& r : program_->function->roles) {
      if (warp >= r.first && warp <= r.last) return r.name;
    }
    return "";
  }

  size_t most_spans_;
  Timeline t_;
  const Cta* cta_ = nullptr;
  const Program* program_ = nullptr;
  std::map<std::string, uint32_t> lines_;
  std::vector<uint32_t> line_;                                  // per warp
  std::unordered_map<uint64_t, size_t> in_flight_;              // operation -> index
  std::unordered_map<uint32_t, std::vector<size_t>> unwaited_;  // mbarrier -> complete operations before the next wait
  std::unordered_map<uint64_t, uint64_t> bytes_of_;             // CTA serial -> its shared memory
  Timeline::Level level_;
};

TimelineRecorder::TimelineRecorder(Dim3 cta, size_t most_spans) : impl_(std::make_unique<Impl>(cta, most_spans)) {}
TimelineRecorder::~TimelineRecorder() = default;
Listener* TimelineRecorder::listener() { return impl_.get(); }
const std::vector<Timeline>& TimelineRecorder::timelines() const { return impl_->done_; }

}  // namespace drywell::sim
