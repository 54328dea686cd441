// Clusters: another CTA's shared memory, its barriers, multicast.
#include <fmt/format.h>

#include "conformance/microbench/microbench.h"
#include "conformance/microbench/text.h"

namespace drywell::kernels::microbench {
namespace {

constexpr char kMeet[] = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";

Microbench bench(std::string name, bool fitted, KernelText k, unsigned ctas, Unit unit, double work) {
  k.finish = kMeet + k.finish;  // no CTA ends while another uses its memory
  Microbench b = microbench(std::move(name), "cluster", fitted, unit, work, k);
  b.launch.grid.x = b.launch.cluster.x = ctas;
  b.per_cta = true;
  return b;
}

/// Every word of a CTA's area holds its own cluster address; %r10 is the address of this thread's word in the CTA of rank `whose`.
std::string addressed_area(const char* whose) {
  return fmt::format(
      "mov.u32 %r20, %cluster_ctarank;\nshl.b32 %r21, %r0, 2;\nadd.u32 %r22, %r2, %r21;\nmapa.shared::cluster.u32 %r23, %r22, %r20;\n"
      "st.shared.u32 [%r22], %r23;\n{}mapa.shared::cluster.u32 %r10, %r22, %r24;\n{}",
      whose, kMeet);
}
constexpr char kPeer[] = "xor.b32 %r24, %r20, 1;\n";
constexpr char kSelf[] = "mov.u32 %r24, %r20;\n";

Microbench load_latency(const char* name, const char* whose, bool fitted) {
  KernelText k;
  k.setup = addressed_area(whose);
  k.loop = repeat(16, "ld.shared::cluster.u32 %r10, [%r10];\n");
  k.keep = "%r10";
  return bench(name, fitted, k, 2, Unit::cycles, 16);
}

Microbench load_rate(unsigned warps, bool fitted) {
  KernelText k;
  k.threads = warps * 32;
  k.smem_bytes = warps * 512;
  k.setup = addressed_area(kPeer) + "mad.lo.u32 %r10, %r0, 12, %r10;\n";
  k.loop = repeat(8, "ld.volatile.shared::cluster.v4.u32 {%va{n}, %vb{n}, %vc{n}, %vd{n}}, [%r10];\n") + repeat(8, "xor.b32 %r20, %r20, %va{n};\n");
  k.keep = "%r20";
  return bench(fmt::format("dsmem.read.warps-{}", warps), fitted, k, 2, Unit::bytes_per_cycle, 8.0 * warps * 512);
}

Microbench store_rate(unsigned warps, bool fitted) {
  KernelText k;
  k.threads = warps * 32;
  k.smem_bytes = warps * 512;
  k.setup = addressed_area(kPeer) + "mad.lo.u32 %r10, %r0, 12, %r10;\n";
  k.loop = repeat(8, "st.volatile.shared::cluster.v4.u32 [%r10], {%r11, %r12, %r13, %r14};\n");
  k.setup += repeat(4, "mov.u32 %r{i}, %r4;\n", 11);
  return bench(fmt::format("dsmem.write.warps-{}", warps), fitted, k, 2, Unit::bytes_per_cycle, 8.0 * warps * 512);
}

Microbench barrier(unsigned ctas, bool relaxed, bool fitted) {
  KernelText k;
  k.threads = 128;
  k.loop = repeat(4, relaxed ? "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;\n" : kMeet);
  return bench(fmt::format("barrier.cluster{}.ctas-{}", relaxed ? ".relaxed" : "", ctas), fitted, k, ctas, Unit::cycles, 4);
}

// Each CTA arrives on the other's barrier and waits for its own: the two arrivals of an iteration are in flight at the same
// time, not one after the other.
Microbench remote_arrive(const char* name, const char* form, bool fitted) {
  KernelText k;
  k.setup = init_barriers(1, 1) + "mov.u32 %r9, 0;\nmov.u32 %r20, %cluster_ctarank;\nxor.b32 %r24, %r20, 1;\nmapa.shared::cluster.u32 %r10, %r3, %r24;\n" + kMeet;
  k.loop = fmt::format("@%first mbarrier.arrive.{}shared::cluster.b64 _, [%r10];\n", form) + wait("OWN", "[%r3]", "%r9") + "xor.b32 %r9, %r9, 1;\n";
  return bench(name, fitted, k, 2, Unit::cycles, 1);
}

// A ring of four: the first CTA loads a tile into both CTAs when both have signalled that the stage is free.
Microbench multicast(unsigned bytes, bool fitted) {
  constexpr unsigned kStages = 4, kRow = 128;
  const auto stages = [&](const std::string& text) { return repeat(kStages, text, 0, 8); };
  const std::string load = fmt::format(
      "add.u32 %r11, %r2, %r13;\n@%p2 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r11], [%rd2, {{0, %r4}}], [%r14], %h1;\n"
      "add.u32 %r13, %r13, {};\nadd.u32 %r14, %r14, 8;\n",
      bytes);
  const std::string expect = fmt::format("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3+{{i}}], {};\n", bytes);
  KernelText k;
  k.has_map = true;
  k.dynamic_smem = true;
  k.setup = "@%others bra INITIALISED;\n" + stages("mbarrier.init.shared::cta.b64 [%r3+{i}], 1;\nmbarrier.init.shared::cta.b64 [%r3+{i}+64], 2;\n") +
            "fence.mbarrier_init.release.cluster;\nINITIALISED:\nbar.sync 0;\nmov.u32 %r20, %cluster_ctarank;\nsetp.eq.u32 %p2, %r20, 0;\nmapa.shared::cluster.u32 %r10, %r3, %r4;\n"
            "mov.u16 %h1, 3;\nmov.u32 %r9, 0;\n" +
            std::string(kMeet) + "@%others bra DONE;\n" + stages(expect) + "mov.u32 %r13, 0;\nmov.u32 %r14, %r3;\n" + stages(load);
  k.loop = "mov.u32 %r13, 0;\nmov.u32 %r14, %r3;\n" +
           stages(wait("FULL{n}", "[%r3+{i}]", "%r9") + expect + "mbarrier.arrive.shared::cluster.b64 _, [%r10+{i}+64];\n@!%p2 bra NEXT{n};\n" +
                  wait("FREE{n}", "[%r3+{i}+64]", "%r9") + "NEXT{n}:\n" + load) +
           "xor.b32 %r9, %r9, 1;\n";
  k.finish = stages(wait("LAST{n}", "[%r3+{i}]", "%r9"));
  Microbench b = microbench(fmt::format("tma.multicast.{}KiB", bytes / 1024), "cluster", fitted, Unit::bytes_per_cycle, kStages * bytes, k);
  b.launch.grid.x = b.launch.cluster.x = 2;
  b.launch.dynamic_smem = kStages * bytes;
  b.per_cta = true;
  isa::TensorMapFields f;
  f.type = isa::TensorType::u8;
  f.rank = 2;
  f.dim[0] = f.stride[0] = f.box[0] = kRow;
  f.dim[1] = f.box[1] = bytes / kRow;
  f.swizzle = isa::Swizzle::b128;
  b.map = f;
  b.memory_bytes = bytes;
  return b;
}

}  // namespace

void add_cluster(std::vector<Microbench>& out) {
  out.push_back(load_latency("dsmem.latency", kPeer, true));
  out.push_back(load_latency("dsmem.latency.self", kSelf, true));
  out.push_back(load_rate(16, true));
  out.push_back(load_rate(8, false));
  out.push_back(store_rate(16, true));
  out.push_back(store_rate(8, false));
  for (const unsigned ctas : {2u, 4u, 8u}) {
    out.push_back(barrier(ctas, false, ctas == 4));
    out.push_back(barrier(ctas, true, ctas == 4));
  }
  for (const unsigned kib : {2u, 8u, 16u}) out.push_back(multicast(kib * 1024, kib == 2));
  out.push_back(remote_arrive("mbarrier.remote-arrive-wait", "", true));
  out.push_back(remote_arrive("mbarrier.remote-arrive-wait.release.cluster", "release.cluster.", false));
}

}  // namespace drywell::kernels::microbench
