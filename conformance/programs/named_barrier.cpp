// Barriers among the threads of a CTA and of a warp (PTX ISA 9.7.13.1-2): data exchange, predicate reductions, warps and lanes
// that arrive at different times.
#include <fmt/format.h>

#include "conformance/programs/async_text.h"
#include "conformance/programs/families.h"

namespace drywell::kernels::conformance {
namespace {

constexpr uint32_t kHalf = kTextThreads / 2;
const std::string kSlot = "mad.lo.u32 %r10, %thread, 4, %area;\n";  // address of the thread's word

template <class F>
Bytes per_thread(F f) {
  std::vector<uint32_t> v(kTextThreads);
  for (uint32_t t = 0; t < kTextThreads; ++t) v[t] = f(t);
  return bytes_of(v);
}

void add(std::vector<ProgramSpec>& out, std::string name, std::string body, std::vector<ProgramBuffer> buffers) {
  out.push_back(text_program("named_barrier", std::move(name), {std::move(body), std::move(buffers)}));
}

// Two warps write and arrive, two wait and read.
void hand_over(std::vector<ProgramSpec>& out, const char* stem, const char* aligned, const char* number) {
  add(out, fmt::format("{}.arrive{}/{}", stem, aligned, number[0] == '%' ? "register" : "immediate"),
      kSlot + fmt::format("mov.b32 %r13, 5;\nmov.b32 %r14, {4};\nmov.b32 %r12, 1;\nsetp.ge.u32 %p2, %thread, {3};\n@%p2 bra CONSUME;\n"
                          "mad.lo.u32 %r11, %thread, 7, 3;\nst.shared.b32 [%r10], %r11;\n{0}.arrive{1} {2}, {5};\nbra DONE;\n"
                          "CONSUME:\n{0}.sync{1} {2}, {5};\nld.shared.b32 %r12, [%r10+{6}];\nDONE:\n",
                          stem, aligned, number, kHalf, kTextThreads, number[0] == '%' ? "%r14" : "128", -4 * static_cast<int>(kHalf)) +
          store_words("%b0", "%r12"),
      {output(per_thread([](uint32_t t) { return t < kHalf ? 1 : (t - kHalf) * 7 + 3; }))});
}

// Four rounds of a predicate: true for no thread, all threads, all but one, a random half. Bit i of the result belongs to round i.
constexpr uint32_t kRounds = 4;
bool holds(uint32_t round, uint32_t thread) {
  const uint32_t random = thread * 2654435761u >> 17;
  return round == 1 || (round == 2 && thread != 77) || (round == 3 && (random & 1) != 0);
}
Bytes predicates() {
  return per_thread([](uint32_t t) {
    uint32_t bits = 0;
    for (uint32_t r = 0; r < kRounds; ++r) bits |= static_cast<uint32_t>(holds(r, t)) << r;
    return bits;
  });
}
const std::string kLoadPredicates = "mad.wide.u32 %at, %thread, 4, %b0;\nld.global.b32 %r15, [%at];\nmov.b32 %r12, 0;\n";
std::string round_predicate(uint32_t round) { return fmt::format("and.b32 %r11, %r15, {};\nsetp.ne.u32 %p2, %r11, 0;\n", 1u << round); }

void reductions(std::vector<ProgramSpec>& out, const char* stem, const char* aligned) {
  for (const char* how : {"and", "or"}) {
    for (const bool negated : {false, true}) {
      std::string body = kLoadPredicates;
      uint32_t want = 0;
      for (uint32_t round = 0; round < kRounds; ++round) {
        const char* threads = round % 2 == 0 ? "" : " 128,";
        body += round_predicate(round) + fmt::format("{}.red.{}{}.pred %p3, {},{} {}%p2;\nselp.b32 %r13, {}, 0, %p3;\nor.b32 %r12, %r12, %r13;\n", stem, how, aligned, round + 1,
                                                     threads, negated ? "!" : "", 1u << round);
        bool all = true, any = false;
        for (uint32_t t = 0; t < kTextThreads; ++t) {
          all = all && holds(round, t) != negated;
          any = any || holds(round, t) != negated;
        }
        want |= static_cast<uint32_t>(how[0] == 'a' ? all : any) << round;
      }
      add(out, fmt::format("{}.red.{}{}.pred{}", stem, how, aligned, negated ? "/negated" : ""), body + store_words("%b1", "%r12"),
          {input(predicates()), output(per_thread([want](uint32_t) { return want; }))});
    }
  }
}

// The count of one round in each byte, first of all threads, then with only the two middle warps participating.
void counts(std::vector<ProgramSpec>& out, const char* stem, const char* aligned) {
  for (const bool some_warps : {false, true}) {
    const uint32_t first = some_warps ? 32 : 0, last = some_warps ? 96 : kTextThreads;
    std::string body = kLoadPredicates + fmt::format("setp.lt.u32 %p4, %thread, {};\n@%p4 bra OUT;\nsetp.ge.u32 %p4, %thread, {};\n@%p4 bra OUT;\n", first, last);
    uint32_t want = 0;
    for (uint32_t round = 0; round < kRounds; ++round) {
      body += round_predicate(round) + fmt::format("{}.red.popc{}.u32 %r13, {},{} %p2;\nshl.b32 %r13, %r13, {};\nadd.u32 %r12, %r12, %r13;\n", stem, aligned, round,
                                                   some_warps ? " 64," : "", 8 * round);
      for (uint32_t t = first; t < last; ++t) want += static_cast<uint32_t>(holds(round, t)) << 8 * round;
    }
    add(out, fmt::format("{}.red.popc{}.u32/{}", stem, aligned, some_warps ? "two-warps" : "all"), body + "OUT:\n" + store_words("%b1", "%r12"),
        {input(predicates()), output(per_thread([=](uint32_t t) { return t >= first && t < last ? want : 0; }))});
  }
}

// Even and odd lanes execute two different instructions, each in its own branch: only forms without .aligned allow that.
void divergent(std::vector<ProgramSpec>& out) {
  add(out, "barrier.sync/divergent-lanes",
      kSlot +
          "mad.lo.u32 %r11, %thread, 11, 5;\nst.shared.b32 [%r10], %r11;\nand.b32 %r11, %thread, 1;\nsetp.eq.u32 %p2, %r11, 0;\n@%p2 bra EVEN;\nbarrier.sync 2, 128;\nbra READ;\n"
          "EVEN:\nbarrier.sync 2, 128;\nREAD:\nadd.u32 %r11, %thread, 65;\nand.b32 %r11, %r11, 127;\nmad.lo.u32 %r10, %r11, 4, %area;\nld.shared.b32 %r12, [%r10];\n" +
          store_words("%b0", "%r12"),
      {output(per_thread([](uint32_t t) { return (t + 65) % kTextThreads * 11 + 5; }))});
}

// Lanes exchange words through shared memory.
void warp_barriers(std::vector<ProgramSpec>& out) {
  const auto exchange = [](const char* sync, uint32_t flip) {
    return fmt::format("mad.lo.u32 %r11, %thread, 13, 1;\nst.shared.b32 [%r10], %r11;\n{}xor.b32 %r11, %thread, {};\nmad.lo.u32 %r10, %r11, 4, %area;\nld.shared.b32 %r12, [%r10];\n", sync, flip);
  };
  for (const uint32_t flip : {1u, 5u, 31u}) {
    add(out, fmt::format("bar.warp.sync/flip{}", flip), kSlot + exchange("bar.warp.sync 0xFFFFFFFF;\n", flip) + store_words("%b0", "%r12"),
        {output(per_thread([flip](uint32_t t) { return (t ^ flip) * 13 + 1; }))});
  }
  // Two groups of lanes, each with its own mask, at different instructions.
  add(out, "bar.warp.sync/two-groups",
      kSlot + "and.b32 %r13, %thread, 1;\nsetp.eq.u32 %p2, %r13, 0;\n@%p2 bra EVEN;\n" + exchange("mov.b32 %r14, 0xAAAAAAAA;\nbar.warp.sync %r14;\n", 4) + "bra JOIN;\nEVEN:\n" +
          exchange("bar.warp.sync 0x55555555;\n", 2) + "JOIN:\n" + store_words("%b0", "%r12"),
      {output(per_thread([](uint32_t t) { return (t ^ (t % 2 == 0 ? 2 : 4)) * 13 + 1; }))});
}

}  // namespace

void add_named_barrier(std::vector<ProgramSpec>& out) {
  struct Stem {
    const char *text, *aligned;
  };
  for (const Stem s : {Stem{"bar", ""}, Stem{"bar.cta", ""}, Stem{"barrier", ""}, Stem{"barrier", ".aligned"}, Stem{"barrier.cta", ".aligned"}}) {
    for (const char* number : {"6", "%r13"}) hand_over(out, s.text, s.aligned, number);
    reductions(out, s.text, s.aligned);
    counts(out, s.text, s.aligned);
  }
  divergent(out);
  warp_barriers(out);
}

}  // namespace drywell::kernels::conformance
