// Clusters of four: multicast loads, distributed shared memory, remote arrivals; barriers with reductions.
#include <fmt/format.h>

#include "conformance/silicon/probes.h"

namespace drywell::kernels::silicon {
namespace {

constexpr uint32_t kArea = 2048, kCtas = 4;
const sim::LaunchConfig kClusterOfFour{{kCtas, 1, 1}, {128, 1, 1}, {kCtas, 1, 1}, 0};

const std::string kClusterSync = "barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;\n";

/// Every CTA writes its area into its own part of the second buffer.
const std::string kOwnPart = fmt::format("mov.u32 %r20, %cluster_ctarank;\nmul.lo.u32 %r21, %r20, {};\ncvt.u64.u32 %rd20, %r21;\nadd.u64 %rd1, %rd1, %rd20;\n", kArea);

Probe cluster_probe(std::string name, uint64_t seed, const std::string& body) {
  Draw d(seed);
  const std::string text = kernel_head(kArea, false) + kOwnPart + fill_area(kArea, true) + body + kClusterSync + dump_area(kArea);
  return probe("cluster", std::move(name), {text, kClusterOfFour, {d.bytes(kArea), std::vector<uint8_t>(kCtas * kArea)}, {}});
}

// CTA 1 sends 512 bytes to the CTAs of the mask; those CTAs wait for the bytes.
void add_multicast(std::vector<Probe>& out) {
  for (const uint32_t mask : {0x1u, 0x2u, 0x5u, 0xEu, 0xFu}) {
    const std::string copy = fmt::format(
        "setp.ne.u32 %p2, %r20, 1;\n@%p2 bra ISSUED;\nmov.b16 %rs0, {};\nadd.u32 %r10, %r1, 256;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r10], [%rd0], 512, [%r2], %rs0;\n",
        mask);
    const std::string body = init_barrier(1) + by_first("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 512;\n", "EXPECTED") + kClusterSync +
                             by_first(copy, "ISSUED") +
                             fmt::format(
                                 "shl.b32 %r10, 1, %r20;\nand.b32 %r10, %r10, {};\nsetp.eq.u32 %p3, %r10, 0;\n@%p3 bra SKIP;\n"
                                 "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0;\n@!%p1 bra WAIT;\nSKIP:\nbar.sync 0;\n",
                                 mask);
    out.push_back(cluster_probe(fmt::format("cluster.multicast.{:x}", mask), 9000 + mask, body));
  }
}

/// %r30: the address of `local` in the next CTA of the ring.
std::string map_next(const std::string& local) {
  return fmt::format("add.u32 %r31, %r20, 1;\nand.b32 %r31, %r31, 3;\nmapa.shared::cluster.u32 %r30, {}, %r31;\n", local);
}

void add_remote_accesses(std::vector<Probe>& out) {
  const std::string mine = "shl.b32 %r10, %r0, 2;\nadd.u32 %r10, %r10, %r1;\nmad.lo.u32 %r11, %r20, 1000, %r0;\n";
  uint64_t seed = 9405;
  const auto remote = [&](const char* name, const std::string& access) {
    out.push_back(cluster_probe(fmt::format("cluster.{}", name), seed++, kClusterSync + mine + map_next("%r10") + access));
  };
  remote("store", "st.shared::cluster.u32 [%r30+1024], %r11;\n");
  remote("load", "ld.shared::cluster.u32 %r12, [%r30];\nst.shared.u32 [%r10+1024], %r12;\n");
  remote("atom.add", "atom.shared::cluster.add.u32 %r12, [%r30+1024], %r11;\nst.shared.u32 [%r10+512], %r12;\n");
  remote("red.max", "red.shared::cluster.max.s32 [%r30+1024], %r11;\n");
  remote("atom.cas", "atom.shared::cluster.cas.b32 %r12, [%r30+1024], %r11, %r0;\nst.shared.u32 [%r10+512], %r12;\n");
}

void add_remote_barriers(std::vector<Probe>& out) {
  // Every thread of every CTA arrives on the next CTA's barrier.
  out.push_back(cluster_probe("cluster.arrive", 9200,
                              init_barrier(128) + kClusterSync + map_next("%r2") + "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r30];\n" +
                                  wait_parity(0, "WAIT") + "st.shared.u32 [%r1], %r20;\n"));
  // st.async counts its bytes on the barrier next to its destination.
  out.push_back(cluster_probe(
      "cluster.st_async", 9201,
      init_barrier(1) + by_first("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 512;\n", "EXPECTED") + kClusterSync +
          "shl.b32 %r10, %r0, 2;\nadd.u32 %r10, %r10, %r1;\nmad.lo.u32 %r11, %r20, 1000, %r0;\n" + map_next("%r10") +
          "mapa.shared::cluster.u32 %r32, %r2, %r31;\nst.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r30+1024], %r11, [%r32];\n" +
          wait_parity(0, "WAIT")));
  // A bulk copy from one CTA's shared memory to the next CTA's.
  out.push_back(cluster_probe(
      "cluster.bulk", 9202,
      init_barrier(1) + by_first("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 256;\n", "EXPECTED") + kClusterSync +
          by_first(map_next("%r1") + "mapa.shared::cluster.u32 %r32, %r2, %r31;\nadd.u32 %r30, %r30, 1024;\n"
                                     "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r30], [%r1], 256, [%r32];\n",
                   "SENT") +
          wait_parity(0, "WAIT")));
}

void add_barriers(std::vector<Probe>& out) {
  const std::string value = "shl.b32 %r10, %r0, 2;\nadd.u32 %r10, %r10, %r1;\nld.shared.u32 %r11, [%r10];\nsetp.lt.s32 %p2, %r11, 0;\nbar.sync 0;\n";
  const std::string keep = "st.shared.u32 [%r10+512], %r12;\n";
  uint64_t seed = 9300;
  const auto add = [&](const char* name, const std::string& body) { out.push_back(cluster_probe(fmt::format("barrier.{}", name), seed++, value + body + keep)); };
  add("red.popc", "barrier.cta.red.popc.aligned.u32 %r12, 1, %p2;\n");
  add("red.and", "barrier.cta.red.and.aligned.pred %p3, 2, %p2;\nselp.b32 %r12, 1, 0, %p3;\n");
  add("red.or", "barrier.cta.red.or.aligned.pred %p3, 3, %p2;\nselp.b32 %r12, 1, 0, %p3;\n");
  add("red.popc.64", "mov.b32 %r12, 77;\nsetp.ge.u32 %p4, %r0, 64;\n@%p4 bra PAST;\nbarrier.cta.red.popc.aligned.u32 %r12, 4, 64, %p2;\nPAST:\n");
  add("arrive",
      "setp.lt.u32 %p4, %r0, 64;\n@%p4 bra ARRIVE;\nbarrier.cta.sync.aligned 5, 128;\nld.shared.u32 %r12, [%r10+768];\nbra PAST;\n"
      "ARRIVE:\nst.shared.u32 [%r10+1024], %r0;\nbarrier.cta.arrive.aligned 5, 128;\nmov.b32 %r12, 5;\nPAST:\n");
}

}  // namespace

void add_cluster(std::vector<Probe>& out) {
  add_multicast(out);
  add_remote_accesses(out);
  add_remote_barriers(out);
  add_barriers(out);
}

}  // namespace drywell::kernels::silicon
