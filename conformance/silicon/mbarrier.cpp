// mbarrier accounting: random sequences of operations by one thread; after each operation the parity tests, at the end the
// word that mbarrier.inval leaves (docs/facts/tma-mbarrier.md §1.6).
#include <fmt/format.h>

#include "conformance/silicon/probes.h"

namespace drywell::kernels::silicon {
namespace {

/// The thread's model of the barrier, so that the sequence avoids faults.
struct Model {
  uint32_t expected = 0, pending = 0;
  int64_t tx = 0;
  void settle() {
    if (pending == 0 && tx == 0) pending = expected;
  }
};

std::string draw_operation(Draw& d, Model& m) {
  while (true) {
    const uint32_t what = d.below(7), n = 1 + d.below(3);
    const auto bytes = static_cast<uint32_t>(16 * (1 + d.below(8)));
    std::string out;
    switch (what) {
      case 0:
      case 1:
        if (m.pending < n) continue;
        m.pending -= n;
        out = fmt::format("mbarrier.arrive.shared::cta.b64 _, [%r2], {};\n", n);
        break;
      case 2:
        if (m.pending < 1) continue;
        m.tx += bytes;
        m.pending -= 1;
        out = fmt::format("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], {};\n", bytes);
        break;
      case 3:
        m.tx += bytes;
        out = fmt::format("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], {};\n", bytes);
        break;
      case 4:
      case 5:
        m.tx -= bytes;
        out = fmt::format("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r2], {};\n", bytes);
        break;
      default:
        if (m.pending < 1 || m.expected < 2) continue;
        m.pending -= 1;
        m.expected -= 1;
        out = "mbarrier.arrive_drop.shared::cta.b64 _, [%r2];\n";
        break;
    }
    m.settle();
    return out;
  }
}

}  // namespace

void add_mbarrier(std::vector<Probe>& out) {
  constexpr uint32_t kSteps = 40;
  for (uint32_t i = 0; i < 32; ++i) {
    Draw d(7000 + i);
    Model m;
    m.expected = m.pending = 1 + d.below(6);
    const uint32_t count = m.expected;
    std::string steps;
    for (uint32_t s = 0; s < kSteps; ++s) {
      // With pending bytes and no arrival left, the rest of the sequence could not continue: complete the bytes.
      std::string operation = draw_operation(d, m);
      if (m.pending == 0 && m.tx != 0) {
        operation += fmt::format("mbarrier.{}.relaxed.cta.shared::cta.b64 [%r2], {};\n", m.tx > 0 ? "complete_tx" : "expect_tx", m.tx > 0 ? m.tx : -m.tx);
        m.tx = 0;
        m.settle();
      }
      steps += operation;
      steps += fmt::format(
          "mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r2], 0;\nmbarrier.test_wait.parity.shared::cta.b64 %p3, [%r2], 1;\n"
          "selp.b32 %r10, 1, 0, %p2;\nselp.b32 %r11, 2, 0, %p3;\nor.b32 %r10, %r10, %r11;\nst.global.u32 [%rd1+{}], %r10;\n",
          4 * s);
    }
    steps += fmt::format("mbarrier.inval.shared::cta.b64 [%r2];\nld.shared.u64 %rd10, [%r2];\nst.global.u64 [%rd1+{}], %rd10;\n", 4 * kSteps);
    const std::string text = kernel_head(512, false) + init_barrier(count) + by_first(steps, "DONE") + "ret;\n}\n";
    out.push_back(probe("mbarrier", fmt::format("mbarrier.sequence.{}", i), {text, {{1}, {128}}, {std::vector<uint8_t>(8), std::vector<uint8_t>(4 * kSteps + 8)}, {}}));
  }
}

}  // namespace drywell::kernels::silicon
