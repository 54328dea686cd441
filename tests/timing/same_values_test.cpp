// Random kernels of arithmetic, carries, predicates, exchanges between lanes and memory have the same values under the timed driver, which
// orders the instructions of a block, unrolls loops and predicates skips, as under the eager one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "drywell/sim/device.h"

namespace drywell::sim {
namespace {

constexpr int kRegisters = 10, kPredicates = 4;
constexpr uint32_t kThreads = 32, kWordsOut = 16;

/// In a template R is a register, P a predicate, D a 64-bit register, S a word of shared memory, G one of global memory of the thread.
constexpr const char* kTemplates[] = {
    "add.u32 R, R, R;", "mul.lo.u32 R, R, R;", "mad.lo.u32 R, R, R, R;", "xor.b32 R, R, R;", "shf.l.wrap.b32 R, R, R, R;", "div.u32 R, R, R;", "popc.b32 R, R;",
    "add.cc.u32 R, R, R;", "addc.u32 R, R, R;", "addc.cc.u32 R, R, R;", "sub.cc.u32 R, R, R;", "subc.u32 R, R, R;", "mad.hi.cc.u32 R, R, R, R;", "madc.lo.u32 R, R, R, R;",
    "setp.lt.u32 P, R, R;", "setp.gt.s32.and P|P, R, R, P;", "selp.b32 R, R, R, P;", "mul.wide.u32 D, R, R;", "add.s64 D, D, D;", "cvt.u32.u64 R, D;",
    "mov.b64 D, {R, R};", "mov.b64 {R, R}, D;", "shfl.sync.bfly.b32 R, R, 1, 31, -1;", "vote.sync.ballot.b32 R, P, -1;", "redux.sync.add.u32 R, R, -1;",
    "@P add.u32 R, R, R;", "@!P mov.u32 R, R;", "@P st.shared.u32 [S], R;", "st.shared.u32 [S], R;", "ld.shared.u32 R, [S];", "atom.shared.add.u32 R, [S], R;",
    "ld.shared.v2.u32 {R, R}, [%s];", "ld.global.u32 R, [G];", "@P st.global.u32 [G], R;"};

class Kernel {
 public:
  explicit Kernel(uint32_t seed) : random_(seed) {}
  std::string text() {
    std::string t =
        ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .b32 %r<16>, %t, %s, %c<8>;\n.reg .b64 %d<8>, %g, %o;\n"
        ".reg .pred %p<4>, %q;\n.shared .align 16 .b8 memory[2048];\nmov.u32 %t, %tid.x;\nld.param.u64 %g, [in];\nld.param.u64 %o, [out];\nmul.wide.u32 %d0, %t, 64;\n"
        "add.u64 %g, %g, %d0;\nadd.u64 %o, %o, %d0;\nmov.u32 %s, memory;\nmad.lo.u32 %s, %t, 64, %s;\n";
    for (int i = 0; i < kRegisters; ++i) t += fmt::format("mad.lo.u32 %r{}, %t, {}, {};\n", i, random_() | 1, random_());
    for (int i = 0; i < 4; ++i) t += fmt::format("mul.wide.u32 %d{}, %r{}, %r{};\nsetp.lt.u32 %p{}, %t, {};\nst.shared.v4.u32 [%s+{}], {{%t, %t, %t, %t}};\n", i, i, i + 1, i, pick(33), 16 * i);
    for (int block = 0; block < 3; ++block) t += this->block(block);
    for (int i = 0; i < kRegisters; ++i) t += fmt::format("st.global.u32 [%o+{}], %r{};\n", 4 * i, i);
    return t + "selp.u32 %r0, 1, 0, %p0;\nst.global.u32 [%o+60], %r0;\nret;\n}\n";
  }

 private:
  uint32_t pick(uint32_t n) { return random_() % n; }
  std::string block(int number) {
    std::string t;
    for (uint32_t n = 5 + pick(30); n != 0; --n) t += filled(kTemplates[pick(std::size(kTemplates))]) + "\n";
    if (pick(3) != 0) return t;
    return fmt::format("mov.u32 %c{0}, 0;\nL{0}:\n{1}add.u32 %c{0}, %c{0}, 1;\nsetp.lt.u32 %q, %c{0}, {2};\n@%q bra L{0};\n", number, t, 2 + pick(7));
  }
  std::string filled(const std::string& form) {
    std::string t;
    for (size_t i = 0; i < form.size(); ++i) {
      const bool alone = i + 1 == form.size() || !std::isalpha(static_cast<unsigned char>(form[i + 1]));
      switch (alone ? form[i] : ' ') {
        case 'R': t += fmt::format("%r{}", pick(kRegisters)); break;
        case 'P': t += fmt::format("%p{}", pick(kPredicates)); break;
        case 'D': t += fmt::format("%d{}", pick(4)); break;
        case 'S': t += fmt::format("%s+{}", 4 * pick(16)); break;
        case 'G': t += fmt::format("%g+{}", 4 * pick(16)); break;
        default: t += form[i];
      }
    }
    return t;
  }
  std::mt19937 random_;
};

std::vector<uint32_t> values(const std::string& text, DriverKind driver) {
  Device device({.arch = "sm_90a"});
  std::vector<uint32_t> in(kThreads * kWordsOut), words(2 * in.size());
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint32_t>(i * 2654435761u);
  const GmemAddr a = device.allocate(4 * in.size()), b = device.allocate(4 * in.size());
  device.write(a, in.data(), 4 * in.size());
  device.fill(b, 0, 4 * in.size());
  const RunResult r = device.launch(device.load_ptx(text), "k", {.grid = {1}, .block = {kThreads}}, Args().add(a).add(b), {.driver = driver});
  EXPECT_TRUE(r.ok()) << (r.ok() ? "" : r.fault->to_string());
  device.read(words.data(), a, 4 * in.size());
  device.read(words.data() + in.size(), b, 4 * in.size());
  return words;
}

TEST(TimedValues, AreThoseOfTheEagerDriver) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const std::string text = Kernel(seed).text();
    ASSERT_EQ(values(text, DriverKind::timed), values(text, DriverKind::eager)) << "seed " << seed << "\n"
                                                                                << text;
  }
}

// Lanes 16 to 31 pass by an exchange that lanes 0 to 15 execute, and wait behind it. An H100 hangs if the mask of a shfl.sync names them.
std::string half_a_warp_exchanges(const std::string& exchange, const std::string& mask) {
  return ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<3>;\n.reg .pred %p;\nmov.u32 %r1, %tid.x;\nsetp.ge.u32 %p, %r1, 16;\n"
         "@%p bra L;\n" +
         exchange + mask + ";\nL:\nbar.warp.sync -1;\nret;\n}\n";
}
std::string fault_of(const std::string& text, DriverKind driver) {
  Device device({.arch = "sm_90a"});
  const RunResult r = device.launch(device.load_ptx(text), "k", {.grid = {1}, .block = {kThreads}}, Args(), {.driver = driver});
  return r.ok() ? "" : r.fault->to_string();
}

TEST(TimedValues, AnExchangeWaitsForTheMembersThatPassItBy) {
  for (const char* exchange : {"shfl.sync.bfly.b32 %r2, %r1, 8, 31, ", "vote.sync.ballot.b32 %r2, %p, ", "redux.sync.add.u32 %r2, %r1, ", "match.any.sync.b32 %r2, %r1, "}) {
    for (const DriverKind driver : {DriverKind::eager, DriverKind::lazy, DriverKind::shuffled, DriverKind::timed}) {
      EXPECT_NE(fault_of(half_a_warp_exchanges(exchange, "-1"), driver).find("F3601"), std::string::npos) << exchange;
      EXPECT_EQ(fault_of(half_a_warp_exchanges(exchange, "65535"), driver), "") << exchange;
    }
  }
}

}  // namespace
}  // namespace drywell::sim
