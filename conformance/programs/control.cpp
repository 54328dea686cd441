// Fences (PTX ISA 9.7.13.4), cache control (9.7.9.15-18), edited tensor maps (9.7.9.28, 9.7.13.16), cluster launch control and
// dependent grids (9.7.13.13, 9.7.13.17-18).
#include <fmt/format.h>

#include <algorithm>

#include "conformance/programs/async_text.h"
#include "conformance/programs/families.h"

namespace drywell::kernels::conformance {
namespace {

// ---- fences

/// Each thread writes a word; after the fence and a barrier it reads another thread's word.
void add_generic_fences(std::vector<ProgramSpec>& out) {
  std::vector<uint32_t> want;
  for (uint32_t t = 0; t < kTextThreads; ++t) want.push_back((t + 37) % kTextThreads * 5);
  for (const char* space : {"global", "shared"}) {
    for (const char* fence : {"fence.sc.cta", "fence.acq_rel.cta", "fence.sc.cluster", "fence.acq_rel.cluster", "fence.sc.gpu", "fence.acq_rel.gpu", "fence.sc.sys",
                              "fence.acq_rel.sys", "fence.proxy.alias", "membar.cta", "membar.gl", "membar.sys", "membar.proxy.alias"}) {
      const std::string address = space[0] == 'g' ? "mad.wide.u32 %d10, %r10, 4, %b0;\n" : "mad.lo.u32 %r12, %r10, 4, %area;\n", at = space[0] == 'g' ? "[%d10]" : "[%r12]";
      const std::string body = "mov.b32 %r10, %thread;\nmul.lo.u32 %r11, %thread, 5;\n" + address + fmt::format("st.{}.b32 {}, %r11;\n{};\nbar.sync 0;\n", space, at, fence) +
                               "add.u32 %r10, %thread, 37;\nand.b32 %r10, %r10, 127;\n" + address + fmt::format("ld.{}.b32 %r11, {};\n", space, at) + store_words("%b1", "%r11");
      out.push_back(text_program("fence", fmt::format("{}/{}", fence, space), {body, {input(Bytes(4 * kTextThreads)), output(bytes_of(want))}}));
    }
  }
}

/// Ordinary stores to shared memory, a fence, a bulk copy that reads them.
void add_proxy_fences(std::vector<ProgramSpec>& out) {
  std::vector<uint32_t> want;
  for (uint32_t t = 0; t < kTextThreads; ++t) want.push_back(t * 9 + 1);
  for (const char* space : {"", ".shared::cta", ".shared::cluster"}) {
    const std::string body = "mad.lo.u32 %r10, %thread, 4, %area;\nmad.lo.u32 %r11, %thread, 9, 1;\nst.shared.b32 [%r10], %r11;\n" +
                             fmt::format("fence.proxy.async{};\nbar.sync 0;\n", space) +
                             "@%first cp.async.bulk.global.shared::cta.bulk_group [%b0], [%area], 512;\n@%first cp.async.bulk.commit_group;\n@%first cp.async.bulk.wait_group 0;\n";
    out.push_back(text_program("fence", fmt::format("fence.proxy.async{}", space), {body, {output(bytes_of(want))}}));
  }
  const std::string body = "mad.wide.u32 %d10, %thread, 4, %b0;\nmad.lo.u32 %r11, %thread, 9, 1;\n" + init_bar() + expect_bytes(512) +
                           "st.global.b32 [%d10], %r11;\nfence.proxy.async.global;\nbar.sync 0;\n"
                           "@%first cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%area], [%b0], 512, [%bar];\n" +
                           wait_bar() + "mad.lo.u32 %r10, %thread, 4, %area;\nld.shared.b32 %r11, [%r10];\n" + store_words("%b1", "%r11");
  out.push_back(text_program("fence", "fence.proxy.async.global", {body, {input(Bytes(512)), output(bytes_of(want))}}));
}

// ---- cache control

void add_cache(std::vector<ProgramSpec>& out) {
  const Bytes source = random_bytes(4 * kTextThreads, 1300);
  const auto add = [&](const char* name, const std::string& hint, const char* load) {
    out.push_back(text_program("cache", name,
                               {"mad.wide.u32 %d10, %thread, 4, %b0;\n" + hint + fmt::format("ld.global{} %r10, [%d10]{};\n", load, *load == '.' && load[1] == 'L' ? ", %d11" : "") +
                                    store_words("%b1", "%r10"),
                                {{.initial = source, .expected = source}, output(source)}}));
  };
  for (const char* hint : {"prefetch.global.L1 [%b0]", "prefetch.L2 [%b0]", "prefetch.global.L2::evict_last [%b0]", "prefetch.global.L2::evict_normal [%b0]", "prefetchu.L1 [%b0]",
                           "applypriority.global.L2::evict_normal [%b0+128], 128"}) {
    add(std::string(hint).substr(0, std::string(hint).find(' ')).c_str(), std::string(hint) + ";\n", ".b32");
  }
  for (const char* policy : {"fractional.L2::evict_last.L2::evict_unchanged.b64 %d11, 0.5", "fractional.L2::evict_first.b64 %d11",
                             "range.global.L2::evict_last.L2::evict_unchanged.b64 %d11, [%b0], 128, 256", "cvt.L2.b64 %d11, 65536"}) {
    add(("createpolicy." + std::string(policy).substr(0, std::string(policy).find(' '))).c_str(), fmt::format("createpolicy.{};\n", policy), ".L2::cache_hint.b32");
  }
  // Discarded words are written again before they are read.
  std::vector<uint32_t> want;
  for (uint32_t t = 0; t < kTextThreads; ++t) want.push_back(t * 3);
  out.push_back(text_program("cache", "discard.global.L2",
                             {"and.b32 %r10, %thread, 31;\nsetp.eq.u32 %p2, %r10, 0;\nmad.wide.u32 %d10, %thread, 4, %b0;\n@%p2 discard.global.L2 [%d10], 128;\nbar.sync 0;\n"
                              "mul.lo.u32 %r11, %thread, 3;\nst.global.b32 [%d10], %r11;\n",
                              {{.initial = source, .expected = bytes_of(want)}}}));
}

// ---- tensor maps

/// A map of 8 rows of 16 words is edited to a map of 3 rows, 256 bytes later, and then loads rows 1 to 4.
void add_tensormap(std::vector<ProgramSpec>& out) {
  isa::TensorMapFields f;
  f.type = isa::TensorType::u32;
  f.rank = 2;
  f.dim = {16, 8, 1, 1, 1};
  f.stride = {64};
  f.box = {16, 2, 1, 1, 1};
  const Bytes source = random_bytes(4096, 1400);
  Bytes want(kArea, kAreaFill), mask(kArea, 0);
  std::fill_n(mask.begin(), 1024, uint8_t{1});  // the rest of the map's bytes is opaque
  for (uint32_t row = 0; row < 4; ++row) {
    for (uint32_t i = 0; i < 16; ++i) {
      const uint32_t at = row * 64 + i * 4;  // 64-byte swizzle: 16-byte chunk ^= 128-byte line mod 4
      put_value(want, (at ^ (at >> 7 & 3) << 4) / 4, row + 1 < 3 ? value_at<uint32_t>(source, 64 + (row + 1) * 16 + i) : 0u);
    }
  }
  for (const bool shared : {true, false}) {
    const char* space = shared ? "shared::cta" : "global";
    const char* map = shared ? "%r10" : "%b1";
    std::string body = fill_area() + init_bar() + "add.u32 %r10, %area, 1024;\n@!%first bra EDITED;\n";
    for (int i = 0; i < 16; ++i) body += fmt::format("ld.b64 %d10, [%map+{0}];\nst.{1}.b64 [{2}+{0}], %d10;\n", 8 * i, shared ? "shared" : "global", map);
    body += "add.u64 %d11, %b0, 256;\nmov.b32 %r11, 3;\nmov.b64 %d12, 64;\n";
    for (const char* edit : {"global_address.{}.b1024.b64 [{}], %d11", "rank.{}.b1024.b32 [{}], 1", "global_dim.{}.b1024.b32 [{}], 1, %r11", "box_dim.{}.b1024.b32 [{}], 1, 4",
                             "global_stride.{}.b1024.b64 [{}], 0, %d12", "element_stride.{}.b1024.b32 [{}], 1, 1", "elemtype.{}.b1024.b32 [{}], 2",
                             "interleave_layout.{}.b1024.b32 [{}], 0", "swizzle_mode.{}.b1024.b32 [{}], 2", "fill_mode.{}.b1024.b32 [{}], 0"}) {
      body += "tensormap.replace.tile." + fmt::format(fmt::runtime(edit), space, map) + ";\n";
    }
    if (!shared) body += "fence.proxy.tensormap::generic.release.gpu;\n";
    body += "EDITED:\nbar.sync 0;\nsetp.ge.u32 %p2, %thread, 32;\n@%p2 bra PUBLISHED;\n";
    if (shared) body += "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%b1], [%r10], 128;\n";
    body += "PUBLISHED:\nbar.sync 0;\nfence.proxy.tensormap::generic.acquire.gpu [%b1], 128;\nmov.b32 %r12, 0;\nmov.b32 %r13, 1;\n" + expect_bytes(256) +
            "@%first cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%area], [%b1, {%r12, %r13}], [%bar];\n" + wait_bar() + dump_area("%b2");
    out.push_back(text_program("tensormap", fmt::format("tensormap.replace/{}", shared ? "shared" : "global"),
                               {body, {input(source), input(Bytes(128)), {.initial = Bytes(kArea), .expected = want, .mask = mask}}, {{f, 0, 0}}}));
  }
}

// ---- grids

/// Every CTA works on its own item and on those of clusters that it cancels: each item is done once, by any CTA.
std::string persistent(bool multicast, uint32_t cluster) {
  const std::string sync = cluster > 1 ? cluster_sync() : "bar.sync 0;\n";
  return init_bar() + (cluster > 1 ? cluster_sync() : "") +
         "mov.u32 %r1, %ctaid.x;\nsub.u32 %r1, %r1, %rank;\nmov.b32 %r2, 0;\nsetp.eq.and.u32 %p2, %rank, 0, %first;\n"
         "WORK:\nadd.u32 %r3, %r1, %rank;\nmad.wide.u32 %d10, %r3, 4, %b0;\n@%first red.global.add.u32 [%d10], 1;\n"
         "@%first mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [%bar], 16;\n" +
         sync +
         fmt::format("@{} clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes{}.b128 [%area], [%bar];\n", multicast ? "%p2" : "%first",
                     multicast ? ".multicast::cluster::all" : "") +
         "AGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 %p3, [%bar], %r2;\n@!%p3 bra AGAIN;\nxor.b32 %r2, %r2, 1;\nld.shared.b128 %q0, [%area];\n"
         "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q0;\n" +
         sync +
         "@!%p1 bra END;\nclusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r1, %r4, %r5, _}, %q0;\n"
         "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r1, %q0;\n"
         "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;\nfence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;\n"
         "fence.release.sync_restrict::shared::cta.cluster;\nfence.acquire.sync_restrict::shared::cluster.cluster;\nbra WORK;\nEND:\n";
}

void add_grid(std::vector<ProgramSpec>& out) {
  constexpr uint32_t kItems = 40;
  for (const auto& [multicast, cluster] : {std::pair{false, 1u}, std::pair{true, 1u}, std::pair{true, 2u}, std::pair{true, 4u}}) {
    out.push_back(text_program("grid", fmt::format("clusterlaunchcontrol{}/{}", multicast ? ".multicast" : "", cluster),
                               {persistent(multicast, cluster), {{.initial = Bytes(4 * kItems), .expected = bytes_of(std::vector<uint32_t>(kItems, 1))}}, {}, kItems, cluster}));
  }
  out.push_back(text_program("grid", "griddepcontrol",
                             {std::string("griddepcontrol.wait;\n") + store_words("%b0", "%thread") + "griddepcontrol.launch_dependents;\n", {output([] {
                                std::vector<uint32_t> v(kTextThreads);
                                for (uint32_t t = 0; t < kTextThreads; ++t) v[t] = t;
                                return bytes_of(v);
                              }())}}));
}

}  // namespace

void add_control(std::vector<ProgramSpec>& out) {
  add_generic_fences(out);
  add_proxy_fences(out);
  add_cache(out);
  add_tensormap(out);
  add_grid(out);
}

}  // namespace drywell::kernels::conformance
