#include "sim/debug/describe.h"

#include <fmt/format.h>

#include <algorithm>

#include "drywell/isa/smem_descriptor.h"
#include "sim/debug/view.h"
#include "sim/schedule/functional.h"
#include "sim/schedule/warp_runner.h"

namespace drywell::sim {
namespace {

std::string commas(uint32_t n, const int32_t* v) {
  std::string out;
  for (uint32_t i = 0; i < n; ++i) out += fmt::format("{}{}", i == 0 ? "" : ", ", v[i]);
  return out;
}

std::string describe_descriptor(uint64_t word) {
  const isa::SmemDescriptor d = isa::SmemDescriptor::decode(word);
  return fmt::format("SMEM {:#x}", d.start);
}

std::string to_barrier(uint32_t mbar, uint32_t own) { return fmt::format(", then mbarrier {}", describe_smem(mbar, own)); }

/// The parameter's name for a tensor map that is a kernel parameter, otherwise the place in global memory.
std::string describe_map(const Session& s, uint64_t address) {
  const FunctionCode& k = s.program().kernel();
  for (size_t i = 0; address >> 32 == window::kParamHigh && i < k.function->params.size(); ++i) {
    const isa::Variable& v = k.function->params[i];
    const uint64_t offset = address & 0xFFFFFFFF;
    if (offset >= k.param_offset[i] && offset < k.param_offset[i] + v.bytes()) return v.name;
  }
  return describe_gmem(*s.launch().gmem, address);
}

struct Describe {
  const Session& s;
  const WarpRef& issuer;
  const Gmem& gmem() const { return *s.launch().gmem; }

  std::string operator()(const TensorCopy& t) const {
    const std::string box = fmt::format("{} at ({})", describe_map(s, t.map_address), commas(t.rank, t.coord.data()));
    const std::string smem = describe_smem(t.smem, issuer.cta);
    if (t.direction != TensorCopy::Direction::load) return fmt::format("{} -> {}", smem, box);
    return fmt::format("{} -> {}{}{}", box, smem, t.multicast != 0 ? fmt::format(" of CTAs {:#x}", t.multicast) : "", to_barrier(t.mbar, issuer.cta));
  }
  std::string operator()(const Umma& u) const {
    const std::string a = u.a_in_tmem ? describe_tmem(static_cast<uint32_t>(u.a)) : describe_descriptor(u.a);
    std::string out = fmt::format(".{} {} {} {} * {}", isa::mod_text(u.kind), describe_tmem(u.d), u.accumulate ? "+=" : "=", a, describe_descriptor(u.b));
    if (u.scale_vec != 0) out += fmt::format(", scales {} and {}", describe_tmem(u.sfa), describe_tmem(u.sfb));
    if (u.cta_group == 2) out += ", CTA pair";
    return out;
  }
  std::string operator()(const TmemCopy& t) const { return fmt::format(".{} {} -> {}", isa::mod_text(t.shape), describe_descriptor(t.desc), describe_tmem(t.taddr)); }
  std::string operator()(const TmemShift& t) const { return describe_tmem(t.taddr) + " down by one lane"; }
  std::string operator()(const Commit& c) const {
    return fmt::format("arrives on mbarrier {}{} when the thread's tensor operations are done", describe_smem(c.mbar, issuer.cta),
                       c.multicast != 0 ? fmt::format(" of CTAs {:#x}", c.multicast) : "");
  }
  std::string operator()(const TmemLdSt& t) const {
    return fmt::format(".{}.x{} {} {} {} registers of warp {}", isa::mod_text(t.shape), t.num, describe_tmem(t.taddr), t.load ? "->" : "<-", t.regs.size(), issuer.warp);
  }
  std::string operator()(const BulkCopy& b) const {
    std::string src;
    if (b.from_global()) src = describe_gmem(gmem(), b.src) + " ";
    if (b.from_shared()) src = describe_smem(static_cast<uint32_t>(b.src), issuer.cta) + " ";
    const std::string dst = b.to_global() ? describe_gmem(gmem(), b.dst) : describe_smem(static_cast<uint32_t>(b.dst), issuer.cta);
    return fmt::format("{} bytes {}-> {}{}", b.bytes, src, dst, b.to_global() ? "" : to_barrier(b.mbar, issuer.cta));
  }
  std::string operator()(const RemoteStore& r) const {
    if (r.global) return fmt::format("{} bytes -> {}", r.bytes(), describe_gmem(gmem(), r.dst));
    return fmt::format("{} bytes -> {}{}", r.bytes(), describe_smem(static_cast<uint32_t>(r.dst), issuer.cta), to_barrier(r.mbar, issuer.cta));
  }
  std::string operator()(const RemoteArrive& r) const { return fmt::format("on mbarrier {}", describe_smem(r.mbar, issuer.cta)); }
  std::string operator()(const AsyncCopy& a) const {
    if (a.lanes.empty()) return fmt::format("arrives on mbarrier {} when the copies before it are done", describe_smem(a.mbar, issuer.cta));
    return fmt::format("{} lanes, the first {} -> {}", a.lanes.size(), describe_gmem(gmem(), a.lanes[0].gmem), describe_smem(a.lanes[0].smem, issuer.cta));
  }
  std::string operator()(const Wgmma& m) const {
    return fmt::format("m64n{}k{} {} * {}", m.n, m.k, m.a_in_registers ? "registers" : fmt::format("descriptor {:#x}", m.a), fmt::format("descriptor {:#x}", m.b));
  }
  std::string operator()(const TryCancel& t) const { return fmt::format("answer at {}{}", describe_smem(t.response, issuer.cta), to_barrier(t.mbar, issuer.cta)); }
};

}  // namespace

std::string_view kind_name(const AsyncOp::Payload& p) {
  struct Name {
    std::string_view operator()(const TensorCopy& t) const {
      return t.direction == TensorCopy::Direction::load ? "TMA load" : t.direction == TensorCopy::Direction::store ? "TMA store"
                                                                                                                   : "TMA reduce";
    }
    std::string_view operator()(const Umma&) const { return "UMMA"; }
    std::string_view operator()(const TmemCopy&) const { return "tcgen05.cp"; }
    std::string_view operator()(const TmemShift&) const { return "tcgen05.shift"; }
    std::string_view operator()(const Commit&) const { return "commit"; }
    std::string_view operator()(const TmemLdSt& t) const { return t.load ? "tcgen05.ld" : "tcgen05.st"; }
    std::string_view operator()(const BulkCopy&) const { return "bulk copy"; }
    std::string_view operator()(const RemoteStore&) const { return "remote store"; }
    std::string_view operator()(const RemoteArrive&) const { return "remote arrive"; }
    std::string_view operator()(const AsyncCopy& a) const { return a.lanes.empty() ? "cp.async arrive" : "cp.async"; }
    std::string_view operator()(const Wgmma&) const { return "wgmma"; }
    std::string_view operator()(const TryCancel&) const { return "try_cancel"; }
  };
  return std::visit(Name{}, p);
}

std::string describe_op(const Session& s, const AsyncOp::Payload& p, const WarpRef& issuer) {
  const std::string words = std::visit(Describe{s, issuer}, p);
  return fmt::format("{}{}{}", kind_name(p), words.starts_with('.') ? "" : " ", words);
}

std::string describe_stage(const Cluster& c, const AsyncOp& op) {
  std::string waits;
  for (uint64_t before : op.after) {
    const bool pending = std::any_of(c.pending.begin(), c.pending.end(), [&](const AsyncOp& p) { return p.id == before; });
    if (pending) waits += fmt::format("{}#{}", waits.empty() ? "after " : ", ", before);
  }
  if (op.stage == AsyncOp::Stage::read) return "operands read";
  return waits.empty() ? "ready" : waits;
}

std::string describe_gmem(const Gmem& g, uint64_t address) {
  const Gmem::Allocation* a = g.find(address);
  if (a == nullptr || a->name.empty()) return fmt::format("{:#x}", address);
  return address == a->base ? a->name : fmt::format("{}+{:#x}", a->name, address - a->base);
}

std::string describe_smem(uint32_t address, uint32_t own) {
  const std::string place = fmt::format("SMEM {:#x}", shared_offset(address));
  return shared_rank(address) == own ? place : fmt::format("{} of CTA rank {}", place, shared_rank(address));
}

std::string describe_tmem(uint32_t address) {
  const TmemAddr a(address);
  return a.lane() == 0 ? fmt::format("TMEM column {}", a.column()) : fmt::format("TMEM lane {} column {}", a.lane(), a.column());
}

WarpState state_of(const Warp& w, bool woken) {
  const Cluster& c = *w.cta->cluster;
  if (w.finished()) return {"finished", {}};
  if (w.block.reason == BlockReason::none) return {"ready", {}};
  std::string detail = describe_wait(c, w);
  const std::string reason = block_reason_name(w.block.reason);
  if (w.block.reason == BlockReason::mbarrier) {
    Smem& smem = w.cta->cluster->cta(shared_rank(w.block.address)).smem;
    const Mbarrier* b = smem.find_mbarrier(shared_offset(w.block.address));
    if (b != nullptr) {
      detail = fmt::format("{} parity {}: phase {} lacks {} of {} arrivals and {} bytes", describe_smem(w.block.address, w.cta->rank), w.block.parity, b->phase, b->pending, b->expected, b->tx);
    }
  }
  return {woken && may_wake(w) ? "woken" : reason, detail == reason ? std::string() : detail};
}

std::string_view role_of(const Program& p, uint32_t warp) {
  for (const isa::WarpRole& r : p.function->roles) {
    if (warp >= r.first && warp <= r.last) return r.name;
  }
  return {};
}

std::string describe_step(const Session& s, const StepRecord& r, const CodeMap& code) {
  std::string out;
  switch (r.kind) {
    case StepRecord::Kind::none: return "the launch begins";
    case StepRecord::Kind::end: return s.fault().has_value() ? s.fault()->to_string() : "the launch is over";
    case StepRecord::Kind::instruction: out = fmt::format("{} did {} at {}", name_of(s, r.who), code.at(r.pc).text, code.place(r.pc)); break;
    case StepRecord::Kind::moment:
      out = fmt::format("#{} {} ({} at {}): {}", r.op, r.moment == AsyncMoment::read ? "read its operands" : "is done", name_of(s, r.who), code.place(r.pc),
                        describe_op(s, r.payload, r.who));
  }
  for (const StepRecord::Phase& p : r.phases) out += fmt::format("\n    mbarrier {} completed phase {}", describe_smem(p.mbarrier, r.who.cta), p.now - 1);
  return out;
}

std::vector<const Warp*> waiters(const Cluster& c, uint32_t address) {
  std::vector<const Warp*> out;
  for (const auto& cta : c.ctas) {
    for (const Warp& w : cta->warps) {
      if (!w.finished() && w.block.reason == BlockReason::mbarrier && w.block.address == address && !may_wake(w)) out.push_back(&w);
    }
  }
  return out;
}

}  // namespace drywell::sim
