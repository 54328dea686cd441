#include <fmt/format.h>

#include <bit>

#include "drywell/core/source_path.h"
#include "drywell/isa/print.h"
#include "sim/events/hub.h"
#include "sim/schedule/functional.h"
#include "sim/schedule/spins.h"
#include "sim/schedule/warp_runner.h"
#include "sim/state/program.h"

namespace drywell::sim {

namespace {

// Returns ", inlined at kernel.cu:12" for each call. Templates nest deeply: of a long chain only both ends are listed.
std::string call_chain(const std::vector<SourcePos>& calls) {
  constexpr size_t kInnermost = 2, kOutermost = 2;
  std::string out;
  for (size_t k = 0; k < calls.size(); ++k) {
    if (k == kInnermost && calls.size() > kInnermost + kOutermost + 1) {
      k = calls.size() - kOutermost;
      out += ", ...";
    }
    out += fmt::format(", inlined at {}:{}", calls[k].file, calls[k].line);
  }
  return out;
}

}  // namespace

std::string GuestPlace::to_string() const {
  std::string out = fmt::format("{}{} CTA ({},{},{})", kernel, function.empty() ? "" : " in " + function, cta.x, cta.y, cta.z);
  if (ptx.empty()) return out;  // the place is not one warp's: a deadlock
  out += fmt::format(" warp {} lanes {:#010x}: {}", warp, lanes, ptx);
  if (!source.file.empty()) out += fmt::format("\n    at {}:{}{}", source.file, source.line, call_chain(called_from));
  return out;
}

std::string Fault::to_string() const { return fmt::format("fault {}: {}\n    in {}", code_name(code), message, where.to_string()); }

std::unique_ptr<Cluster> make_cluster(const Launch& launch, uint64_t index, uint64_t now) {
  auto c = std::make_unique<Cluster>();
  c->launch = &launch;
  c->index = index;
  c->now = now;
  const Dim3 clusters{launch.grid.x / launch.cluster.x, launch.grid.y / launch.cluster.y, launch.grid.z / launch.cluster.z};
  const Dim3 at = clusters.at(index);
  const auto threads = static_cast<uint32_t>(launch.block.count());
  const uint32_t warps = (threads + kWarpSize - 1) / kWarpSize;
  for (uint32_t rank = 0; rank < launch.cluster.count(); ++rank) {
    const Dim3 r = launch.cluster.at(rank);
    auto cta = std::make_unique<Cta>();
    cta->cluster = c.get();
    cta->rank = rank;
    cta->index = {at.x * launch.cluster.x + r.x, at.y * launch.cluster.y + r.y, at.z * launch.cluster.z + r.z};
    cta->serial = index * launch.cluster.count() + rank;
    cta->sm = static_cast<uint32_t>(cta->serial % launch.sm_count);
    cta->smem.reset(launch.smem_bytes, launch.memory);
    cta->own_tmem = std::make_unique<Tmem>(launch.memory);
    cta->tmem = cta->own_tmem.get();
    cta->warps.resize(warps);
    for (uint32_t w = 0; w < warps; ++w) {
      const uint32_t left = threads - w * kWarpSize;
      start_warp(cta->warps[w], *cta, w, *launch.program, left >= kWarpSize ? kFullMask : (1u << left) - 1);
    }
    cta->live_warps = warps;
    cta->started = true;
    c->ctas.push_back(std::move(cta));
  }
  if (launch.observers != nullptr) {
    for (auto& cta : c->ctas) launch.observers->cta_started(*cta);
  }
  return c;
}

void locate(GuestPlace& g, const Program& p, uint32_t pc) {
  const DecodedOp& op = p.code[pc];
  const isa::Function& f = p.function_of(op);
  g.kernel = p.function->name;
  g.instruction = op.instr;
  if (f.body.empty()) return;
  if (&f != p.function) g.function = f.name;
  const isa::Instruction& i = p.instruction(op);
  g.ptx = isa::print_instruction_briefly(f, i);
  std::vector<SourcePos> lines = isa::InstructionRef{*p.module, f, i}.author_lines();
  if (!lines.empty()) {
    g.source = lines.front();
    g.called_from.assign(lines.begin() + 1, lines.end());
  } else if (i.ptx_line != 0) {
    g.source = {p.module->files[0].empty() ? "<ptx>" : p.module->files[0], i.ptx_line, 0};
  }
}

GuestPlace place_of(const Warp& w, uint32_t pc, LaneMask lanes) {
  GuestPlace g;
  g.cta = w.cta->index;
  g.warp = w.index;
  g.lanes = lanes;
  locate(g, *w.cta->cluster->launch->program, pc);
  return g;
}

GuestPlace place_of_first(const Cluster& c) {
  for (const auto& cta : c.ctas) {
    for (const Warp& w : cta->warps) {
      if (!w.finished()) return place_of(w, w.pc, w.active != 0 ? w.active : w.alive);
    }
  }
  GuestPlace g;
  g.kernel = c.launch->program->function->name;
  return g;
}

std::string bytes_owed(int64_t tx) {
  return tx < 0 ? fmt::format("{} bytes delivered and not expected", -tx) : fmt::format("{} bytes expected and not delivered", tx);
}

Fault fault_of(const Warp& w) { return {w.fault_code, w.fault_message, place_of(w, w.pc, w.active)}; }

Fault fault_of(const Cluster& c, const Issuer& issuer, const GuestError& e) {
  const Warp& w = c.ctas[issuer.cta]->warps[issuer.warp];
  return {e.code, e.message, place_of(w, issuer.pc, 1u << issuer.lane)};
}

namespace {

uint32_t cluster_arrivals(const Cluster& c) {
  uint32_t n = 0;
  for (const auto& cta : c.ctas) {
    for (const Warp& w : cta->warps) n += static_cast<uint32_t>(std::popcount(w.cluster_arrived));
  }
  return n;
}

}  // namespace

std::string describe_mbarrier(const Cluster& c, uint32_t address, uint32_t parity) {
  const Mbarrier* m = c.ctas.at(shared_rank(address))->smem.find_mbarrier(shared_offset(address));
  if (m == nullptr) return "an mbarrier that no longer exists";
  return fmt::format("mbarrier {:#x} of CTA rank {}: parity {} (phase {} is incomplete: {} of {} arrivals missing, {}; so far {} arrivals, {} bytes expected, {} delivered)",
                     shared_offset(address), shared_rank(address), parity, m->phase, m->pending, m->expected, bytes_owed(m->tx), m->arrivals, m->tx_expected, m->tx_completed);
}

std::string describe_wait(const Cluster& c, const Warp& w) {
  const BlockInfo& b = w.block;
  switch (b.reason) {
    case BlockReason::mbarrier: return describe_mbarrier(c, b.address, b.parity);
    case BlockReason::named_barrier: {
      const NamedBarrier& n = w.cta->barriers[b.address & 15];
      return fmt::format("named barrier {}: {} of {} threads have arrived", b.address, n.arrived, n.expected);
    }
    case BlockReason::cluster_barrier: return fmt::format("barrier.cluster: {} threads have arrived", cluster_arrivals(c));
    case BlockReason::setmaxnreg: return fmt::format("setmaxnreg: {} registers, {} are in the CTA's pool", b.address, w.cta->register_pool);
    case BlockReason::tmem_alloc: return fmt::format("tcgen05.alloc of {} columns", b.address);
    case BlockReason::warp_sync: return "lanes of its own warp that are elsewhere";
    case BlockReason::none: return "what it polls";
    default: return block_reason_name(b.reason);
  }
}

// Warps that run and poll: what the checker knows of barriers does not say what they look at.
std::string describe_running(const Cluster& c) {
  std::string out;
  for (const auto& cta : c.ctas) {
    for (const Warp& w : cta->warps)
      if (const std::string spins = w.finished() || w.block.reason != BlockReason::none ? "" : describe_spins(w); !spins.empty()) out += spins + "\n";
  }
  return out;
}

std::string describe_deadlock(const Cluster& c) {
  std::string out;
  if (c.launch->observers != nullptr) out = c.launch->observers->explain_hang(c);
  if (!out.empty()) return out + describe_running(c);
  for (const auto& cta : c.ctas) {
    for (const Warp& w : cta->warps) {
      if (w.finished()) continue;
      if (w.block.reason == BlockReason::none) continue;
      const GuestPlace p = place_of(w, w.pc, w.active);
      out += fmt::format("  CTA ({},{},{}) warp {} waits at '{}'", cta->index.x, cta->index.y, cta->index.z, w.index, p.ptx);
      if (!p.source.file.empty()) out += fmt::format(" ({}:{})", base_name(p.source.file), p.source.line);
      out += fmt::format(" for {}\n", describe_wait(c, w));
    }
  }
  return out + describe_running(c);
}

Fault deadlock_of(const Cluster& c) {
  GuestPlace p;
  p.kernel = c.launch->program->function->name;
  p.cta = c.ctas[0]->index;
  return {Code::F3601, "deadlock: no warp can go on and no operation is in flight\n" + describe_deadlock(c), p};
}

std::optional<Fault> check_finished(Cluster& c) {
  for (auto& cta : c.ctas) {
    if (c.launch->observers != nullptr) c.launch->observers->cta_finished(*cta);
    if (cta->tmem->owns_any(cta->serial + 1)) {
      GuestPlace p;
      p.kernel = c.launch->program->function->name;
      p.cta = cta->index;
      return Fault{Code::F3214, "the CTA ended with tensor memory still allocated (PTX ISA 9.7.16.7)", p};
    }
  }
  return std::nullopt;
}

}  // namespace drywell::sim
