// Writes a run as line text: every line starts with its owner, so that it greps alone (format:
// traces/README.md).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_map>

#include "drywell/core/source_path.h"
#include "drywell/isa/print.h"
#include "drywell/sim/run.h"
#include "drywell/sim/trace.h"
#include "sim/events/hub.h"
#include "sim/state/program.h"

namespace drywell::sim {
namespace {

std::string dots(Dim3 d) { return fmt::format("{}.{}.{}", d.x, d.y, d.z); }

// Units that take asynchronous work; operations are numbered per warp and unit, which no interleaving
// changes.
constexpr std::array<std::string_view, 5> kQueueNames = {"tma", "tc", "tmem", "cluster", "cp"};  // by AsyncUnit

// An operation as fields of its B record.
struct Describe {
  std::string operator()(const TensorCopy& t) const {
    static constexpr std::string_view kWhat[] = {"tensor_load", "tensor_store", "tensor_reduce"};
    std::string at;
    for (uint32_t i = 0; i < t.rank; ++i) at += fmt::format("{}{}", i == 0 ? "" : ",", t.coord[i]);
    std::string out = fmt::format("{} at={} smem={:#x}", kWhat[static_cast<size_t>(t.direction)], at, t.smem);
    if (t.direction == TensorCopy::Direction::load) out += fmt::format(" mbar={:#x}", t.mbar);
    if (t.multicast != 0) out += fmt::format(" mask={:#x}", t.multicast);
    return out;
  }
  std::string operator()(const Umma& u) const {
    return fmt::format("mma kind={} d={:#x} a={:#x} b={:#x} idesc={:#x} acc={} ctas={}",
                       isa::mod_text(u.kind), u.d, u.a, u.b, u.idesc, u.accumulate ? 1 : 0, u.cta_group);
  }
  std::string operator()(const TmemCopy& t) const {
    return fmt::format("tmem_copy shape={} taddr={:#x} desc={:#x}", isa::mod_text(t.shape), t.taddr, t.desc);
  }
  std::string operator()(const TmemShift& t) const { return fmt::format("tmem_shift taddr={:#x}", t.taddr); }
  std::string operator()(const Commit& c) const {
    return fmt::format("commit mbar={:#x}{}", c.mbar,
                       c.multicast != 0 ? fmt::format(" mask={:#x}", c.multicast) : "");
  }
  std::string operator()(const TmemLdSt& t) const {
    return fmt::format("{} shape={}.x{} taddr={:#x}", t.load ? "tmem_ld" : "tmem_st", isa::mod_text(t.shape),
                       t.num, t.taddr);
  }
  std::string operator()(const BulkCopy& b) const {
    return fmt::format("bulk_copy src={:#x} dst={:#x} bytes={}", b.src, b.dst, b.bytes);
  }
  std::string operator()(const RemoteStore& r) const {
    return fmt::format("remote_store dst={:#x} mbar={:#x}", r.dst, r.mbar);
  }
  std::string operator()(const RemoteArrive& r) const {
    const bool expects = r.what == MbarrierOp::expect_tx || r.what == MbarrierOp::arrive_expect_tx ||
                         r.what == MbarrierOp::arrive_drop_expect_tx;
    const bool completes = r.what == MbarrierOp::complete_tx;
    const bool arrives = r.what != MbarrierOp::expect_tx && !completes;
    return fmt::format("remote_arrive mbar={:#x} count={} expect={} complete={}", r.mbar,
                       !arrives  ? 0
                       : expects ? 1
                                 : r.amount,
                       expects ? r.amount : 0, completes ? r.amount : 0);
  }
  std::string operator()(const AsyncCopy& a) const {
    return a.lanes.empty() ? fmt::format("cp_arrive mbar={:#x}", a.mbar)
                           : fmt::format("cp lanes={}", a.lanes.size());
  }
  std::string operator()(const Wgmma& m) const {
    return fmt::format("wgmma n={} k={} {}*{} a={} b={:#x} acc={}", m.n, m.k, isa::mod_text(m.a_type), isa::mod_text(m.b_type),
                       m.a_in_registers ? "registers" : fmt::format("{:#x}", m.a), m.b, m.accumulate ? 1 : 0);
  }
  std::string operator()(const TryCancel& t) const {
    return fmt::format("try_cancel response={:#x} mbar={:#x}", t.response, t.mbar);
  }
};

std::string_view event_name(MbarrierEvent e) {
  static constexpr std::string_view kNames[] = {"init", "inval", "expect_tx", "complete_tx",
                                                "arrive", "complete", "wait"};
  return kNames[static_cast<size_t>(e)];
}

// A value all lanes share, or a digest (FNV-1a) of theirs. `width`: bytes of a lane.
std::string lane_digest(const uint8_t* lanes, uint32_t width, LaneMask mask) {
  uint64_t hash = 0xCBF29CE484222325ull, shared = 0;
  bool first = true, uniform = true;
  for (uint32_t i = 0; i < kWarpSize; ++i) {
    if (((mask >> i) & 1) == 0) continue;
    uint64_t v = 0;
    std::memcpy(&v, lanes + i * width, width);
    uniform = uniform && (first || v == shared);
    shared = v;
    first = false;
    for (uint32_t b = 0; b < width; ++b) hash = (hash ^ ((v >> (8 * b)) & 0xFF)) * 0x100000001B3ull;
  }
  return uniform ? fmt::format("{:#x}", shared)
                 : fmt::format("~{:08x}", static_cast<uint32_t>(hash ^ (hash >> 32)));
}

}  // namespace

class TraceWriter::Impl : public Listener {
 public:
  Impl(TraceSink& sink, TraceOptions options) : sink_(sink), options_(std::move(options)) {}
  void finish(const RunResult& result);

  void instruction(const Warp& w, const DecodedOp& op, LaneMask mask) override;
  void mbarrier(const Cta& cta, uint32_t offset, const Mbarrier& b, MbarrierEvent e, int64_t amount) override;
  void async(const Cluster& c, const AsyncOp& op, AsyncMoment m) override;
  void stalled(const Warp& w, Stall reason, uint64_t from, uint64_t to) override;
  void launch_started(const Launch&) override;
  void cta_started(const Cta& cta) override;

 private:
  struct WarpState {
    std::string owner;  // "cta=0.0.0 w=1"
    uint64_t instructions = 0;
    std::array<uint64_t, kQueueNames.size()> issued{};
    std::string queued;  // " q=tma:3" of the instruction in progress
  };
  struct ClusterState {
    std::vector<std::vector<WarpState>> warps;            // [CTA rank][warp]
    std::vector<std::string> ctas;                        // "cta=0.0.0"
    std::unordered_map<uint64_t, std::string> in_flight;  // operation id → owner
    std::unordered_map<uint32_t, uint64_t> phases;        // rank << 24 | offset → phase
  };

  void begin(const Launch& launch);
  ClusterState& state(const Cluster& c) { return clusters_[&c]; }
  WarpState& state(const Warp& w) { return state(*w.cta->cluster).warps[w.cta->rank][w.index]; }
  void values(const Warp& w, const DecodedOp& op, LaneMask mask, const WarpState& s);
  std::string cycle(uint64_t now) const {
    return options_.profile == TraceProfile::cycle ? fmt::format(" c={}", now) : "";
  }
  template <class... A>
  void line(fmt::format_string<A...> format, A&&... args) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<A>(args)...);
    buffer_.push_back('\n');
    if (buffer_.size() > (1u << 20)) flush();
  }
  void flush() {
    sink_.write(buffer_);
    buffer_.clear();
  }

  TraceSink& sink_;
  TraceOptions options_;
  std::string buffer_;
  const Launch* launch_ = nullptr;
  bool header_ = false;
  std::vector<std::string> code_;  // per pc: "I tcgen05.mma pc=17"
  std::unordered_map<const Cluster*, ClusterState> clusters_;
};

void TraceWriter::Impl::begin(const Launch& launch) {
  launch_ = &launch;
  const Program& p = *launch.program;
  if (!header_) {
    line("# trace 1");
    line("# profile {}", trace_profile_name(options_.profile));
    line("# values {}", options_.values ? "yes" : "no");
    if (!options_.run.empty()) line("# run {}", options_.run);
    line("# arch {}", options_.arch);
    line("# seed {}", options_.seed);
    line("# columns owner (cta= [w=] [q=] [mbar=]), n= per warp, c= cycle, kind (I B A E M S W F), fields");
    header_ = true;
  }
  line("# kernel {} grid={} block={} cluster={}", p.function->name, dots(launch.grid), dots(launch.block),
       dots(launch.cluster));
  for (const isa::WarpRole& r : p.function->roles) line("# role {}-{} {}", r.first, r.last, r.name);
  code_.clear();
  for (size_t pc = 0; pc < p.code.size(); ++pc) {
    const DecodedOp& op = p.code[pc];
    const isa::Function& f = p.function_of(op);
    // Decoding appends a return to every function.
    if (pc + 1 == p.code.size() || p.code[pc + 1].function != op.function) {
      code_.push_back(fmt::format("I (end) pc={}", pc));
      continue;
    }
    const isa::Instruction& i = f.body[op.instr];
    const std::string where = i.source.file != 0
                                  ? fmt::format("{}:{}", from_repository(p.module->files[i.source.file]), i.source.line)
                              : i.ptx_line != 0 ? fmt::format("ptx:{}", i.ptx_line)
                                                : "-";
    line("# code {} {} {}", pc, where, isa::print_instruction(f, i));
    code_.push_back(fmt::format("I {} pc={}", isa::spec(i.op).mnemonic, pc));
  }
}

// A host program may launch several kernels in one run: what belonged to the last one's clusters is gone.
void TraceWriter::Impl::launch_started(const Launch&) {
  launch_ = nullptr;
  clusters_.clear();
}

void TraceWriter::Impl::cta_started(const Cta& cta) {
  const Cluster& c = *cta.cluster;
  if (launch_ == nullptr) begin(*c.launch);
  if (cta.rank == 0) clusters_[&c] = {};
  ClusterState& s = state(c);
  s.ctas.push_back("cta=" + dots(cta.index));
  s.warps.emplace_back(cta.warps.size());
  for (size_t w = 0; w < cta.warps.size(); ++w)
    s.warps.back()[w].owner = fmt::format("{} w={}", s.ctas.back(), w);
}

void TraceWriter::Impl::instruction(const Warp& w, const DecodedOp& op, LaneMask mask) {
  WarpState& s = state(w);
  const size_t pc = static_cast<size_t>(&op - launch_->program->code.data());
  line("{} n={}{} {}{}{}", s.owner, s.instructions, cycle(w.cta->cluster->now), code_[pc],
       mask == kFullMask ? "" : fmt::format(" lanes={:08x}", mask), s.queued);
  s.queued.clear();
  if (options_.values) values(w, op, mask, s);
  ++s.instructions;
}

// Registers written by synchronous instructions. What asynchronous ones write comes later, and control flow
// writes none.
void TraceWriter::Impl::values(const Warp& w, const DecodedOp& op, LaneMask mask, const WarpState& s) {
  const Program& p = *launch_->program;
  const isa::Function& f = p.function_of(op);
  const isa::InstrSpec& row = isa::spec(op.opcode);
  if (row.completion != isa::Completion::sync || row.engine == isa::Engine::control ||
      op.instr >= f.body.size())
    return;
  const isa::Instruction& i = f.body[op.instr];
  std::string out;
  const auto put = [&](const isa::Operand& o) {
    if (o.kind != isa::Operand::Kind::reg) return;
    const isa::RegDecl& r = f.regs[o.index];
    if (r.type == isa::Mod::pred) {
      out += fmt::format(" {}={:08x}", r.name, w.preds[p.functions[op.function].reg_offset[o.index]] & mask);
    } else {
      out += fmt::format(
          " {}={}", r.name,
          lane_digest(w.bank[0] + p.functions[op.function].reg_offset[o.index], isa::type_bits(r.type) <= 32 ? 4 : 8, mask));
    }
  };
  const auto positions = isa::operand_positions(f, i);
  const auto operands = f.operands(i);
  for (size_t k = 0; k < isa::kMaxOperands && row.operands[k].name != nullptr; ++k) {
    if (row.operands[k].access == isa::Access::read || positions[k] < 0) continue;
    const isa::Operand& o = operands[static_cast<size_t>(positions[k])];
    put(o);
    if (o.kind == isa::Operand::Kind::vec || o.kind == isa::Operand::Kind::pair) {
      for (const isa::Operand& e : f.elements(o)) put(e);
    }
  }
  if (!out.empty()) line("{} n={}{} W{}", s.owner, s.instructions, cycle(w.cta->cluster->now), out);
}

void TraceWriter::Impl::mbarrier(const Cta& cta, uint32_t offset, const Mbarrier& b, MbarrierEvent e,
                                 int64_t amount) {
  ClusterState& s = state(*cta.cluster);
  if (e == MbarrierEvent::wait_true) {
    const WarpState& w = s.warps[cta.rank][static_cast<size_t>(amount)];
    line("{} n={}{} M wait mbar={:#x}", w.owner, w.instructions, cycle(cta.cluster->now), offset);
    return;
  }
  // An event that completes the phase is announced after the barrier moved on: it still belongs to the old
  // phase.
  uint64_t& phase = s.phases[cluster_address(cta.rank, offset)];
  if (e == MbarrierEvent::init) phase = b.phase;
  const bool moved = b.phase != phase;
  line("{} mbar={:#x}{} M {} {} phase={} pending={} tx={}", s.ctas[cta.rank], offset, cycle(cta.cluster->now),
       event_name(e), amount, phase, moved ? 0 : b.pending, moved ? 0 : b.tx);
  if (e == MbarrierEvent::phase_complete) phase = b.phase;
}

void TraceWriter::Impl::async(const Cluster& c, const AsyncOp& op, AsyncMoment m) {
  ClusterState& s = state(c);
  if (m == AsyncMoment::issue) {
    WarpState& w = s.warps[op.issuer.cta][op.issuer.warp];
    const auto q = static_cast<size_t>(unit_of(op.payload));
    const std::string name = fmt::format(" q={}:{}", kQueueNames[q], w.issued[q]++);
    w.queued += name;
    const std::string& owner = s.in_flight[op.id] = w.owner + name;
    line("{}{} B {} lane={}", owner, cycle(c.now), std::visit(Describe{}, op.payload), op.issuer.lane);
    return;
  }
  const auto it = s.in_flight.find(op.id);
  if (it == s.in_flight.end()) return;  // made by an engine, not by an instruction
  switch (m) {
    case AsyncMoment::read: line("{}{} A read", it->second, cycle(c.now)); break;
    case AsyncMoment::write: line("{}{} A write", it->second, cycle(c.now)); break;
    default: line("{}{} E", it->second, cycle(c.now)); s.in_flight.erase(it);
  }
}

void TraceWriter::Impl::stalled(const Warp& w, Stall reason, uint64_t from, uint64_t to) {
  if (options_.profile != TraceProfile::cycle) return;
  const WarpState& s = state(w);
  line("{} n={} c={} S reason={} dur={}", s.owner, s.instructions, from, stall_name(reason), to - from);
}

void TraceWriter::Impl::finish(const RunResult& result) {
  if (result.fault.has_value()) {
    const Fault& f = *result.fault;
    const std::string message = f.message.substr(0, f.message.find('\n'));
    line("cta={} w={} F {} {}", dots(f.where.cta), f.where.warp, code_name(f.code), message);
  }
  launch_ = nullptr;
  clusters_.clear();
  flush();
}

TraceWriter::TraceWriter(TraceSink& sink, TraceOptions options)
    : impl_(std::make_unique<Impl>(sink, std::move(options))) {}
TraceWriter::~TraceWriter() = default;
Listener* TraceWriter::listener() { return impl_.get(); }
void TraceWriter::finish(const RunResult& result) { impl_->finish(result); }

std::string_view trace_profile_name(TraceProfile p) { return p == TraceProfile::arch ? "arch" : "cycle"; }

}  // namespace drywell::sim
