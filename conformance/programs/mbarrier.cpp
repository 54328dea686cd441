// mbarrier objects (PTX ISA 9.7.13.15): accounting of arrivals and bytes, parities, states, waits.
#include <fmt/format.h>

#include <algorithm>

#include "conformance/programs/async_text.h"
#include "conformance/programs/families.h"
#include "drywell/launch/generate.h"

namespace drywell::kernels::conformance {
namespace {

/// The counts of PTX ISA 9.7.13.15.2: a phase is complete when neither arrivals nor bytes are pending.
struct Counts {
  uint32_t expected = 0, pending = 0, tx = 0, phase = 0;
  void settle() {
    if (pending != 0 || tx != 0) return;
    ++phase;
    pending = expected;
  }
};

/// Returns an operation that is legal now, and applies its effect. At least one arrival is always pending here.
std::string draw_operation(uint64_t word, Counts& c) {
  const uint32_t n = 1 + static_cast<uint32_t>(word >> 8) % std::min(c.pending, 3u), bytes = 16 * (1 + static_cast<uint32_t>(word >> 16) % 8);
  const bool may_drop = c.expected > 1;  // one participant stays
  switch (word % 8) {
    case 0:
      c.pending -= n;
      return fmt::format("mbarrier.arrive.shared::cta.b64 _, [%bar], {};\n", n);
    case 1:
      c.tx += bytes;
      c.pending -= 1;
      return fmt::format("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], {};\n", bytes);
    case 2:
      c.tx += bytes;
      return fmt::format("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%bar], {};\n", bytes);
    case 3:
    case 4: {
      if (c.tx == 0) break;
      const uint32_t some = std::min(c.tx, bytes);
      c.tx -= some;
      return fmt::format("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%bar], {};\n", some);
    }
    case 5:
      if (!may_drop) break;
      c.pending -= 1;
      c.expected -= 1;
      return "mbarrier.arrive_drop.shared::cta.b64 _, [%bar];\n";
    case 6:
      if (!may_drop) break;
      c.tx += bytes;
      c.pending -= 1;
      c.expected -= 1;
      return fmt::format("mbarrier.arrive_drop.expect_tx.shared::cta.b64 _, [%bar], {};\n", bytes);
    default: break;
  }
  c.pending -= 1;
  return "mbarrier.arrive.release.cluster.shared::cta.b64 _, [%bar];\n";
}

/// Which parities' phases are complete after each of the operations of one thread: bit p for parity p (9.7.13.15.16).
void add_sequences(std::vector<ProgramSpec>& out) {
  constexpr uint32_t kSteps = 40;
  for (uint32_t s = 0; s < 8; ++s) {
    Counts c;
    c.expected = c.pending = 1 + s;
    std::string steps;
    std::vector<uint32_t> want;
    for (uint32_t i = 0; i < kSteps; ++i) {
      steps += draw_operation(random_word(700 + s, i), c);
      if (c.pending == 0 && c.tx != 0) {
        // No thread may arrive before the pending bytes are complete.
        steps += fmt::format("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%bar], {};\n", c.tx);
        c.tx = 0;
      }
      c.settle();
      steps += fmt::format(
          "mbarrier.test_wait.parity.shared::cta.b64 %p2, [%bar], 0;\nmbarrier.test_wait.parity.shared::cta.b64 %p3, [%bar], 1;\n"
          "selp.b32 %r10, 1, 0, %p2;\nselp.b32 %r11, 2, 0, %p3;\nor.b32 %r10, %r10, %r11;\nst.global.b32 [%b0+{}], %r10;\n",
          4 * i);
      want.push_back((c.phase & 1) != 0 ? 1 : 2);
    }
    AsyncText t{init_bar(1 + s) + "@!%first bra DONE;\n" + steps + "mbarrier.inval.shared::cta.b64 [%bar];\nDONE:\n", {output(bytes_of(want))}};
    out.push_back(text_program("mbarrier", fmt::format("mbarrier.sequence.{}", s), std::move(t)));
  }
}

/// States: the arrivals pending before a .noComplete operation; whether the phase of an arrival is complete.
void add_states(std::vector<ProgramSpec>& out) {
  std::string body = init_bar(9) + "@!%first bra DONE;\n";
  std::vector<uint32_t> want;
  const auto keep = [&](uint32_t value) {
    body += fmt::format("st.global.b32 [%b0+{}], %r10;\n", 4 * want.size());
    want.push_back(value);
  };
  uint32_t pending = 9;
  for (const uint32_t count : {2u, 3u, 1u}) {
    body += fmt::format("mbarrier.arrive.noComplete.shared::cta.b64 %d10, [%bar], {};\nmbarrier.pending_count.b64 %r10, %d10;\n", count);
    keep(pending);
    pending -= count;
  }
  body += "mbarrier.arrive_drop.noComplete.shared::cta.b64 %d10, [%bar], 1;\nmbarrier.pending_count.b64 %r10, %d10;\n";
  keep(pending);
  pending -= 1;
  body += "mbarrier.arrive.shared::cta.b64 %d10, [%bar];\n";
  pending -= 1;
  for (const bool complete : {false, true}) {
    if (complete) body += fmt::format("mbarrier.arrive.shared::cta.b64 %d11, [%bar], {};\n", pending);
    for (const char* wait : {"test_wait", "try_wait"}) {
      body += fmt::format("mbarrier.{}.shared::cta.b64 %p2, [%bar], %d10;\nselp.b32 %r10, 1, 0, %p2;\n", wait);
      keep(complete ? 1 : 0);
    }
  }
  out.push_back(text_program("mbarrier", "mbarrier.states", {body + "DONE:\n", {output(bytes_of(want))}}));
}

/// All threads arrive in every phase; afterwards the others' words are visible. Then the same on a newly initialised barrier.
void add_waits(std::vector<ProgramSpec>& out) {
  constexpr uint32_t kPhases = 4;
  for (const char* wait : {"test_wait.parity.shared::cta.b64", "try_wait.parity.shared::cta.b64", "try_wait.parity.acquire.cluster.shared::cta.b64"}) {
    std::string body = init_bar(kTextThreads) + "mov.b32 %r10, %thread;\n";
    std::vector<uint32_t> want(kTextThreads);
    for (uint32_t t = 0; t < kTextThreads; ++t) want[t] = t;
    const auto phases = [&](const char* label) {
      for (uint32_t i = 0; i < kPhases; ++i) {
        // The two halves of the area alternate, so that no thread writes a word that another thread may still read.
        body += fmt::format(
            "shl.b32 %r11, %thread, 2;\nadd.u32 %r11, %r11, %area;\nst.shared.b32 [%r11+{0}], %r10;\nmbarrier.arrive.shared::cta.b64 _, [%bar];\n"
            "{1}{2}:\nmbarrier.{3} %p1, [%bar], {4};\n@!%p1 bra {1}{2};\n"
            "add.u32 %r12, %thread, {5};\nand.b32 %r12, %r12, 127;\nshl.b32 %r12, %r12, 2;\nadd.u32 %r12, %r12, %area;\nld.shared.b32 %r10, [%r12+{0}];\n"
            "mad.lo.u32 %r10, %r10, 3, %thread;\n",
            i % 2 * 512, label, i, wait, i & 1, 17 * (i + 1));
        std::vector<uint32_t> next(kTextThreads);
        for (uint32_t t = 0; t < kTextThreads; ++t) next[t] = want[(t + 17 * (i + 1)) % kTextThreads] * 3 + t;
        want = next;
      }
    };
    phases("FIRST");
    body += "bar.sync 0;\n@%first mbarrier.inval.shared::cta.b64 [%bar];\n" + init_bar(kTextThreads);
    phases("SECOND");
    body += store_words("%b0", "%r10");
    out.push_back(text_program("mbarrier", fmt::format("mbarrier.{}", wait), {body, {output(bytes_of(want))}}));
  }
}

}  // namespace

void add_mbarrier(std::vector<ProgramSpec>& out) {
  add_sequences(out);
  add_states(out);
  add_waits(out);
}

}  // namespace drywell::kernels::conformance
