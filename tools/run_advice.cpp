#include "tools/run_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "drywell/core/source_path.h"

namespace drywell::tools {
namespace {

using Row = std::pair<std::string_view, std::string_view>;

/// By unit: what its work is, and what makes it less.
constexpr Row kUnits[] = {
    {"hbm",
     "bytes of device memory: read and write each once, in whole sectors of 32 bytes, and keep what several "
     "CTAs need in the L2"},
    {"l2", "bytes through the L2: larger tiles and multicast read each operand less often"},
    {"tma_load",
     "bytes that TMA brings to shared memory: larger tiles use each of them more often, multicast brings "
     "them once a cluster"},
    {"tma_store", "bytes that TMA stores"},
    {"tma_issue", "copies that TMA starts: larger boxes need fewer"},
    {"tensor",
     "instructions of the tensor core: this is the limit to reach; only fewer or cheaper products are "
     "faster"},
    {"smem",
     "passes through shared memory: drywell smem banks shows conflicts; operands of the tensor core count, "
     "too"},
    {"lsu",
     "wavefronts of loads and stores: lanes next to each other should access bytes next to each other, or "
     "TMA should move the tile"},
    {"tmem_port",
     "columns of tensor memory that tcgen05.ld and st move: wider loads need fewer instructions"},
    {"issue", "instructions: unroll, hoist addresses out of loops, use wider loads and packed arithmetic"},
    {"alu", "integer and logic instructions: addresses and predicates that a loop makes again can be kept"},
    {"fma", "floating-point instructions: packed f32x2 and half types do two at once"},
    {"xu", "conversions and special functions: packed conversions do two or four at once"},
    {"control", "branches and barriers: unrolled loops have fewer"},
};

/// By stall: what the warps wait for, and what shortens it.
constexpr Row kStalls[] = {
    {"mbarrier", "data or space in a ring: more stages, or an earlier issue, hide the latency"},
    {"named_barrier", "other warps of the CTA at bar.sync: fewer or smaller groups wait less"},
    {"cluster_barrier", "other CTAs of the cluster"},
    {"register_dependency", "results of their own instructions: independent work in between hides them"},
    {"memory", "loads: issue them earlier, or prefetch them into shared memory"},
    {"pipe_busy", "a unit that takes instructions slower than they come"},
    {"tmem_wait", "tcgen05.ld or st: issue the next one before the wait for this one"},
    {"tmem_alloc", "tensor memory that another CTA holds"},
    {"bulk_wait", "bulk copies that read shared memory: a second buffer lets them finish later"},
    {"warp_sync", "lanes of their own warp that took another path"},
    {"issue_cost", "instructions that take several issue cycles"},
};

std::string_view text_of(std::span<const Row> rows, std::string_view name) {
  const auto it = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.first == name; });
  return it == rows.end() ? std::string_view() : it->second;
}

std::string limit_sentence(const sim::Limit& l) {
  const std::string_view why = text_of(kUnits, l.name);
  const std::string_view verb = l.name.ends_with("warps") ? "bind" : "binds";
  return fmt::format("{} {}: the kernel reaches {:.0f} % of this limit ({}).{}", l.name, verb,
                     100 * l.fraction, l.what, why.empty() ? "" : fmt::format(" Its work is {}.", why));
}

std::string wait_sentence(const sim::RoleTime& role) {
  size_t most = 0;
  for (size_t i = 0; i < sim::kStallCount; ++i)
    if (static_cast<sim::Stall>(i) != sim::Stall::finished &&
        static_cast<sim::Stall>(i) != sim::Stall::issued && (role.cycles[most] < role.cycles[i] || most == 0))
      most = i;
  const std::string_view name = sim::stall_name(static_cast<sim::Stall>(most)), why = text_of(kStalls, name);
  return fmt::format("The warps of '{}' spend {:.0f} % of their cycles on {}{}.", role.name,
                     100 * role.cycles[most] / std::max(role.total(), 1.0), name,
                     why.empty() ? "" : fmt::format(": they wait for {}", why));
}

double share_of(const sim::TimingReport& r, std::string_view unit) {
  const auto it = std::find_if(r.limits.begin(), r.limits.end(), [&](const sim::Limit& l) { return l.name == unit; });
  return it == r.limits.end() ? 0 : it->fraction;
}

/// The units that an access needs too many of are busy enough to matter.
bool matters(const sim::TimingReport& r, const sim::AccessPattern& a) {
  constexpr double kBusy = 0.25;
  return share_of(r, a.shared ? "smem" : "lsu") >= kBusy || (!a.shared && (share_of(r, "l2") >= kBusy || share_of(r, "hbm") >= kBusy));
}

std::string apart(const sim::AccessPattern& a) {
  if (a.uneven) return "with uneven distances";
  return fmt::format("{} bytes apart", a.stride < 0 ? -a.stride : a.stride);
}

std::string access_sentence(const sim::InstructionCost& c) {
  const sim::AccessPattern& a = c.access;
  const double least = static_cast<double>(a.least) / static_cast<double>(a.count);
  return fmt::format("{}:{}: {}-byte {} {} {} {:.3g} {} an instruction; lanes with neighbouring bytes need {:.3g}.", base_name(c.file), c.line, a.bytes,
                     a.store ? "stores" : "loads", apart(a), a.shared ? "take" : "touch", a.per_access(), a.shared ? "passes through the banks" : "sectors", least);
}

/// Accesses that need at least twice the units of their bytes, those with most units too many first, a line once.
std::vector<std::string> access_sentences(const sim::TimingReport& r, const sim::LaunchCosts& costs) {
  constexpr size_t kMost = 3;
  std::vector<const sim::InstructionCost*> bad;
  for (const sim::InstructionCost& c : costs.instructions)
    if (c.access.count != 0 && c.access.excess() >= 2 && matters(r, c.access)) bad.push_back(&c);
  std::stable_sort(bad.begin(), bad.end(), [](const auto* a, const auto* b) { return a->access.units - a->access.least > b->access.units - b->access.least; });
  std::vector<std::string> out;
  for (const sim::InstructionCost* c : bad) {
    const std::string s = access_sentence(*c);
    if (out.size() < kMost && std::find(out.begin(), out.end(), s) == out.end()) out.push_back(s);
  }
  return out;
}

}  // namespace

std::vector<std::string> advice(const sim::TimingReport& r, const sim::LaunchCosts& costs) {
  constexpr double kBinds = 0.6;  // of a limit: above it, other changes gain little
  std::vector<std::string> out;
  if (r.limits.empty()) return out;
  const sim::Limit& first = r.limits.front();
  if (first.fraction >= kBinds)
    out.push_back(limit_sentence(first));
  else
    out.push_back(
        fmt::format("No unit binds: the kernel reaches {:.0f} % of its tightest limit, {}. Latency does.",
                    100 * first.fraction, first.name));
  for (std::string& sentence : access_sentences(r, costs)) out.push_back(std::move(sentence));
  for (const sim::RoleTime& role : r.roles) out.push_back(wait_sentence(role));
  double all = 0;
  for (const sim::LineTime& l : r.lines) all += l.cycles;
  if (!r.lines.empty())
    out.push_back(fmt::format("The most expensive line is {}:{}, with {:.0f} % of the warps' cycles.",
                              base_name(r.lines[0].file), r.lines[0].line,
                              100 * r.lines[0].cycles / std::max(all, 1.0)));
  if (r.sms_used < r.sms)
    out.push_back(
        fmt::format("{} of {} SMs have a CTA: more, smaller tiles or split sums would use the others.",
                    r.sms_used, r.sms));
  return out;
}

}  // namespace drywell::tools
