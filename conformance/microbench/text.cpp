#include "conformance/microbench/text.h"

#include <fmt/format.h>

namespace drywell::kernels::microbench {

std::string substitute(std::string_view pattern, std::string_view mark, std::string_view with) {
  std::string out;
  while (true) {
    const size_t hit = pattern.find(mark);
    out += pattern.substr(0, hit);
    if (hit == std::string_view::npos) return out;
    out += with;
    pattern.remove_prefix(hit + mark.size());
  }
}

std::string repeat(unsigned n, std::string_view pattern, unsigned first, unsigned step) {
  std::string out;
  for (unsigned i = 0; i < n; ++i) out += substitute(substitute(pattern, "{n}", std::to_string(i)), "{i}", std::to_string(first + i * step));
  return out;
}

// ptxas must not unroll the loop: the simulator runs the text as written.
std::string counted_loop(std::string_view label, std::string_view counter, std::string_view body) {
  return fmt::format(
      "mov.u32 {1}, %r1;\n.pragma \"nounroll\";\n{0}:\n{2}sub.u32 {1}, {1}, 1;\nsetp.ne.u32 %p6, {1}, 0;\n@%p6 bra {0};\n", label,
      counter, body);
}

std::string init_barriers(unsigned n, unsigned arrivals) {
  return fmt::format("@%others bra INITIALISED;\n{}fence.mbarrier_init.release.cluster;\nINITIALISED:\nbar.sync 0;\n",
                     repeat(n, fmt::format("mbarrier.init.shared::cta.b64 [%r3+{{i}}], {};\n", arrivals), 0, 8));
}

std::string wait(std::string_view label, std::string_view address, std::string_view parity) {
  return fmt::format("{0}:\nmbarrier.try_wait.parity.shared::cta.b64 %p5, {1}, {2};\n@!%p5 bra {0};\n", label, address, parity);
}

std::string kernel_text(const KernelText& k) {
  const std::string area = k.dynamic_smem ? "" : fmt::format(".shared .align 1024 .b8 area[{}];\n", k.smem_bytes);
  const std::string head = k.dynamic_smem ? ".extern .shared .align 1024 .b8 area[];\n" : "";
  const char* clock = k.nanoseconds ? "%globaltimer" : "%clock64";
  return head +
         fmt::format(".visible .entry bench(.param .u64 out, .param .u32 count, .param .u64 memory{})\n.reqntid {}\n{{\n",
                     k.has_map ? ", .param .align 64 .b8 map[128]" : "", k.threads) +
         ".reg .pred %first, %others, %warp0, %p<8>, %q<32>;\n.reg .b16 %h<32>;\n.reg .b32 %r<64>, %f<300>, %va<64>, %vb<64>, %vc<64>, %vd<64>;\n.reg .b64 %rd<64>, %fd<32>;\n" + area +
         ".shared .align 8 .b64 bars[16];\nmov.u32 %r0, %tid.x;\nld.param.u32 %r1, [count];\nmov.u32 %r2, area;\nmov.u32 %r3, bars;\n"
         "shr.u32 %r4, %r1, 24;\nmov.b32 %f0, %r4;\nld.param.u64 %rd0, [out];\nld.param.u64 %rd1, [memory];\n" +
         (k.has_map ? "mov.b64 %rd2, map;\ncvta.param.u64 %rd2, %rd2;\n" : "") +
         "setp.eq.u32 %first, %r0, 0;\nsetp.ne.u32 %others, %r0, 0;\nsetp.lt.u32 %warp0, %r0, 32;\n" + k.setup +
         fmt::format("bar.sync 0;\nmov.u64 %rd3, {};\n", clock) + counted_loop("TIMED", "%r5", k.loop) +
         fmt::format("mov.u64 %rd4, {};\n", clock) +
         k.finish +
         // The compiler cannot prove that the value is unused.
         (k.keep.empty() ? "" : fmt::format("setp.eq.u32 %p7, %r1, 0xFFFFFFFF;\n@%p7 st.global.b32 [%rd0], {};\n", k.keep)) +
         "and.b32 %r6, %r0, 31;\nsetp.ne.u32 %others, %r6, 0;\n@%others bra DONE;\nsub.u64 %rd5, %rd4, %rd3;\n"
         "mov.u32 %r6, %ctaid.x;\nshl.b32 %r6, %r6, 5;\nshr.u32 %r7, %r0, 5;\nadd.u32 %r6, %r6, %r7;\nmul.wide.u32 %rd6, %r6, 8;\nadd.u64 %rd6, %rd0, %rd6;\n"
         "st.global.u64 [%rd6], %rd5;\nDONE:\nret;\n}\n";
}

Microbench microbench(std::string name, std::string family, bool fitted, Unit unit, double work, const KernelText& k) {
  Microbench b;
  b.name = std::move(name);
  b.family = std::move(family);
  b.fitted = fitted;
  b.unit = unit;
  b.work = work;
  b.text = kernel_text(k);
  b.launch.block.x = k.threads;
  return b;
}

// Every word has bits that depend on its place: the power of a load depends on its data. As bf16 no word is infinite or a NaN.
std::string fill_area(unsigned threads, unsigned bytes) {
  return fmt::format(
      "mov.u32 %r20, %r0;\nFILL:\nmul.lo.u32 %r21, %r20, 0x9E3779B1;\nand.b32 %r21, %r21, 0xBFBFBFBF;\nshl.b32 %r22, %r20, 2;\nadd.u32 %r22, %r22, %r2;\n"
      "st.shared.u32 [%r22], %r21;\nadd.u32 %r20, %r20, {};\nsetp.lt.u32 %p0, %r20, {};\n@%p0 bra FILL;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n",
      threads, bytes / 4);
}

std::string operand_descriptors(bool of_tcgen05) {
  const char* const fields = of_tcgen05 ? "0x4000404000010000" : "0x4000004000010000";
  return fmt::format("cvt.u64.u32 %rd10, %r2;\nshr.u64 %rd10, %rd10, 4;\nadd.u64 %rd11, %rd10, 1024;\nor.b64 %rd10, %rd10, {0};\nor.b64 %rd11, %rd11, {0};\n", fields);
}

std::string tmem_allocation() {
  return "@!%warp0 bra ALLOCATED;\ntcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r3+64], 512;\nALLOCATED:\nbar.sync 0;\n"
         "tcgen05.fence::after_thread_sync;\nld.shared.u32 %r10, [%r3+64];\nadd.u32 %r12, %r10, 256;\nmov.u32 %r11, 0;\n";
}

std::string tmem_release() {
  return "bar.sync 0;\n@!%warp0 bra RELEASED;\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 512;\n"
         "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\nRELEASED:\n";
}

std::string issued_by_first_thread(const std::string& issue) {
  return "@%others bra ISSUED;\n" + issue + "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r3];\n" + wait("COMMITTED", "[%r3]", "%r11") +
         "xor.b32 %r11, %r11, 1;\nISSUED:\n";
}

}  // namespace drywell::kernels::microbench
