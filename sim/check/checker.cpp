// The observer: hands events to the monitor of their cluster.
#include <unordered_map>

#include "drywell/isa/opcode.h"
#include "sim/check/monitor.h"

namespace drywell::sim {
namespace check {
namespace {

Ordering ordering_of(const isa::Instruction& i) {
  using isa::Mod;
  using isa::Opcode;
  switch (i.op) {
    case Opcode::mbarrier_arrive: case Opcode::mbarrier_arrive_expect_tx: case Opcode::mbarrier_arrive_drop:
    case Opcode::mbarrier_arrive_drop_expect_tx: case Opcode::barrier_cluster_arrive: return {true, !i.has(Mod::relaxed), false};
    case Opcode::mbarrier_try_wait: case Opcode::mbarrier_test_wait: return {true, false, !i.has(Mod::relaxed)};
    case Opcode::atom: case Opcode::red:
      return {true, i.has(Mod::release) || i.has(Mod::acq_rel), i.has(Mod::acquire) || i.has(Mod::acq_rel)};
    case Opcode::ld: case Opcode::st: {
      const Mod sem = i.mod(isa::Slot::sem);
      return {sem != Mod::none && sem != Mod::weak, sem == Mod::release, sem == Mod::acquire};
    }
    default: return {};
  }
}

/// Threads of different CTAs may order each other through it.
bool synchronises(const isa::Instruction& i, const Ordering& o) {
  using isa::Opcode;
  if (i.op == Opcode::fence || i.op == Opcode::membar) return !i.has(isa::Mod::cta);
  if (i.op == Opcode::griddepcontrol) return true;
  const bool memory = i.op == Opcode::atom || i.op == Opcode::red || i.op == Opcode::ld || i.op == Opcode::st;
  const bool shared = i.has(isa::Mod::shared) || i.has(isa::Mod::shared_cta) || i.has(isa::Mod::shared_cluster);
  return memory && o.strong && !shared;
}

bool writes_unseen(const isa::Instruction& i) {
  const std::string_view name = isa::spec(i.op).mnemonic;
  return name.starts_with("wmma.store") || name.starts_with("st.bulk") || name.starts_with("multimem") || name.starts_with("tensormap");
}

}  // namespace

void LaunchState::begin(const Launch& launch) {
  program = launch.program;
  orderings.clear();
  synchronised = hidden_writes = false;
  for (const DecodedOp& op : program->code) {
    // The end of a function without a body of its own has no instruction.
    const bool real = op.instr < program->function_of(op).body.size();
    orderings.push_back(real ? ordering_of(program->instruction(op)) : Ordering{});
    if (!real) continue;
    synchronised = synchronised || synchronises(program->instruction(op), orderings.back());
    hidden_writes = hidden_writes || writes_unseen(program->instruction(op));
  }
  accesses.clear();
  states.clear();
  global.clear();
  reporter.begin(*program);
}

}  // namespace check

class HazardChecker::Impl : public Listener {
 public:
  explicit Impl(const CheckOptions& o) : launch_(o) {}

  void launch_started(const Launch& l) override {
    clusters_.clear();
    last_ = nullptr;
    launch_.begin(l);
  }
  void cta_started(const Cta& cta) override {
    auto& m = clusters_[cta.cluster];
    if (m.monitor == nullptr) m.monitor = std::make_unique<check::ClusterMonitor>(*cta.cluster, launch_, ++serial_);
    ++m.ctas;
  }
  void cta_finished(const Cta& cta) override {
    const auto m = clusters_.find(cta.cluster);
    if (m == clusters_.end()) return;
    m->second.monitor->finish(cta);
    if (--m->second.ctas != 0) return;
    clusters_.erase(m);
    last_ = nullptr;
  }
  void instruction(const Warp& w, const DecodedOp& op, LaneMask mask) override { monitor(*w.cta->cluster).instruction(w, op, mask); }
  void memory(const Warp& w, const DecodedOp& op, LaneMask mask, Space s, uint32_t bytes, bool store) override {
    monitor(*w.cta->cluster).memory(w, op, mask, s, bytes, store);
  }
  void mbarrier(const Cta& c, uint32_t offset, const Mbarrier& b, MbarrierEvent e, int64_t amount) override {
    monitor(*c.cluster).mbarrier(c, offset, b, e, amount);
  }
  void named_barrier(const Warp& w, uint32_t id, const NamedBarrier& b) override { monitor(*w.cta->cluster).named_barrier(w, id, b); }
  void async(const Cluster& c, const AsyncOp& op, AsyncMoment m) override { monitor(c).async(op, m); }

  std::string explain_hang(const Cluster& c) override { return monitor(c).explain_hang(); }

  const check::Reporter& reporter() const { return launch_.reporter; }

 private:
  struct Running {
    std::unique_ptr<check::ClusterMonitor> monitor;
    size_t ctas = 0;  // that have not finished
  };
  check::ClusterMonitor& monitor(const Cluster& c) {
    if (last_ != &c) {
      last_ = &c;
      current_ = clusters_.at(&c).monitor.get();
    }
    return *current_;
  }

  check::LaunchState launch_;
  std::unordered_map<const Cluster*, Running> clusters_;
  const Cluster* last_ = nullptr;
  check::ClusterMonitor* current_ = nullptr;
  uint64_t serial_ = 0;
};

HazardChecker::HazardChecker(CheckOptions options) : impl_(std::make_unique<Impl>(options)) {}
HazardChecker::~HazardChecker() = default;
Listener* HazardChecker::listener() { return impl_.get(); }
std::vector<Finding> HazardChecker::findings() const { return impl_->reporter().sorted(); }
size_t HazardChecker::count() const { return impl_->reporter().all().size(); }
Finding HazardChecker::finding(size_t i) const { return impl_->reporter().all().at(i); }

}  // namespace drywell::sim
