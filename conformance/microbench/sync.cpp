// Barriers, mbarriers and fences.
#include <fmt/format.h>

#include "conformance/microbench/microbench.h"
#include "conformance/microbench/text.h"

namespace drywell::kernels::microbench {
namespace {

Microbench bench(std::string name, bool fitted, const KernelText& k, double work) {
  return microbench(std::move(name), "sync", fitted, Unit::cycles, work, k);
}

Microbench named_barrier(unsigned warps, bool fitted) {
  KernelText k;
  k.threads = warps * 32;
  k.loop = repeat(8, "bar.sync 1;\n");
  return bench(fmt::format("bar.sync.warps-{}", warps), fitted, k, 8);
}

// Half of the warps arrive at one barrier and wait at the other; the other half does the opposite.
Microbench hand_over(unsigned warps) {
  KernelText k;
  k.threads = warps * 32;
  k.setup = fmt::format("setp.lt.u32 %p0, %r0, {};\n", warps * 16);
  k.loop = fmt::format("@%p0 bra PRODUCER;\nbar.sync 1, {0};\nbar.arrive 2, {0};\nbra JOIN;\nPRODUCER:\nbar.arrive 1, {0};\nbar.sync 2, {0};\nJOIN:\n", warps * 32);
  return bench(fmt::format("bar.arrive-sync.warps-{}", warps), false, k, 1);
}

// One thread arrives and waits: its own arrival completes the phase.
Microbench round_trip() {
  KernelText k;
  k.setup = init_barriers(1, 1) + "@%others bra DONE;\n";
  k.loop = repeat(2, "mbarrier.arrive.shared::cta.b64 _, [%r3];\n" + wait("OWN{i}", "[%r3]", "{i}"));
  return bench("mbarrier.arrive-wait", false, k, 2);
}

// A phase that is complete: only the wait and its branch.
Microbench completed_wait(const char* form, bool fitted) {
  KernelText k;
  k.setup = init_barriers(1, 1) + "@%others bra DONE;\n";
  k.loop = repeat(8, fmt::format("AGAIN{{i}}:\nmbarrier.{}.parity.shared::cta.b64 %p5, [%r3], 1;\n@!%p5 bra AGAIN{{i}};\n", form));
  return bench(fmt::format("mbarrier.{}.completed", form), fitted, k, 8);
}

Microbench arrivals(const char* form, bool fitted) {
  KernelText k;
  k.setup = init_barriers(1, 1000000) + "@%others bra DONE;\n";
  k.loop = repeat(16, fmt::format("{}\n", form));
  const std::string name = std::string(form).find("expect_tx") != std::string::npos ? "expect_tx" : "arrive";
  return bench("mbarrier." + name + ".issue", fitted, k, 16);
}

// Two warps: one arrives at the first barrier and waits for the second; the other does the opposite.
Microbench ping_pong() {
  KernelText k;
  k.threads = 64;
  k.setup = init_barriers(2, 1) + "mov.u32 %r9, 0;\nand.b32 %r10, %r0, 31;\nsetp.eq.u32 %p0, %r10, 0;\n";
  k.loop = "@%warp0 bra PING;\n" + wait("W0", "[%r3]", "%r9") + "@%p0 mbarrier.arrive.shared::cta.b64 _, [%r3+8];\nbra JOIN;\nPING:\n" +
           "@%p0 mbarrier.arrive.shared::cta.b64 _, [%r3];\n" + wait("W1", "[%r3+8]", "%r9") + "JOIN:\nxor.b32 %r9, %r9, 1;\n";
  return bench("mbarrier.ping-pong", true, k, 1);
}

Microbench fence(const char* name, const char* text, bool fitted) {
  KernelText k;
  k.loop = repeat(16, fmt::format("{}\n", text));
  return bench(name, fitted, k, 16);
}

}  // namespace

void add_sync(std::vector<Microbench>& out) {
  for (const unsigned w : {1u, 2u, 4u, 8u, 16u, 32u}) out.push_back(named_barrier(w, w == 1 || w == 4 || w == 16));
  out.push_back(hand_over(4));
  out.push_back(hand_over(8));
  out.push_back(round_trip());
  out.push_back(completed_wait("try_wait", true));
  out.push_back(completed_wait("test_wait", false));
  out.push_back(arrivals("mbarrier.arrive.shared::cta.b64 _, [%r3];", true));
  out.push_back(arrivals("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 0;", false));
  out.push_back(ping_pong());
  out.push_back(fence("fence.cta", "fence.acq_rel.cta;", true));
  out.push_back(fence("fence.gpu", "fence.acq_rel.gpu;", true));
  out.push_back(fence("fence.proxy.async.smem", "fence.proxy.async.shared::cta;", true));
  out.push_back(fence("bar.warp.sync", "bar.warp.sync -1;", false));
}

}  // namespace drywell::kernels::microbench
