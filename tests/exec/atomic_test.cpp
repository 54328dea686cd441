// atom and red: every operation, type and space against host arithmetic, and order between lanes.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <functional>

#include "drywell/core/error.h"
#include "support/ptx_run.h"
#include "support/warp_run.h"

namespace drywell::test {
namespace {

unsigned bits_of(const std::string& type) {
  if (type == "f16x2" || type == "bf16x2") return 32;
  return static_cast<unsigned>(std::stoul(type.substr(type.find_first_of("0123456789"))));
}

/// One atomic of one thread on a memory word with value `old`; returns {returned value, new memory}.
struct Shot {
  uint64_t returned, memory;
};
Shot shoot(const std::string& op, const std::string& type, uint64_t old, uint64_t b, uint64_t c = 0, const std::string& space = ".global", bool red = false) {
  const unsigned bits = bits_of(type);
  const char* r = bits == 64 ? "d" : bits == 32 ? "w"
                                                : "h";
  const std::string noftz = type.find("f16") != std::string::npos ? ".noftz" : "";
  std::string body = "  .shared .align 16 .b8 cell[16];\n";
  const bool shared = space == ".shared";
  // The memory cell is the second output column's slot in global memory, or `cell`.
  body += shared ? fmt::format("  mov.u64 d9, cell;\n  st.shared.b{} [cell], {}0;\n", bits, r)
                 : fmt::format("  ld.param.u64 d9, [column1];\n  st.global.b{} [d9], {}0;\n", bits, r);
  const std::string operands = op == "cas" ? fmt::format("{0}1, {0}2", r) : fmt::format("{}1", r);
  body += red ? fmt::format("  red{}.{}{}.{} [d9], {};\n", space, op, noftz, type, operands)
              : fmt::format("  atom{}.{}{}.{} {}3, [d9], {};\n", space, op, noftz, type, r, operands);
  body += fmt::format("  ld{}.b{} {}4, [d9];\n", space, bits, r);
  const auto out = run_lanes(body, {std::string(r) + "3", std::string(r) + "4"}, {std::string(r) + "0", std::string(r) + "1", std::string(r) + "2"},
                             {{old}, {b}, {c}}, {"d9"});
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  return {out[0][0] & mask, out[1][0] & mask};
}

struct Case {
  std::string op, type;
  std::function<uint64_t(uint64_t, uint64_t)> result;
};

template <class T, class F>
std::function<uint64_t(uint64_t, uint64_t)> on(F f) {
  return [f](uint64_t old, uint64_t b) { return static_cast<uint64_t>(static_cast<std::make_unsigned_t<T>>(f(static_cast<T>(old), static_cast<T>(b)))); };
}

std::vector<Case> integer_cases() {
  const auto add = [](auto a, auto b) { return a + b; };
  const auto least = [](auto a, auto b) { return a < b ? a : b; };
  const auto most = [](auto a, auto b) { return a > b ? a : b; };
  const auto both = [](auto a, auto b) { return a & b; };
  const auto either = [](auto a, auto b) { return a | b; };
  const auto differ = [](auto a, auto b) { return a ^ b; };
  const auto second = [](auto, auto b) { return b; };
  const auto up = [](auto a, auto b) { return a >= b ? 0 : a + 1; };
  const auto down = [](auto a, auto b) { return a == 0 || a > b ? b : a - 1; };
  return {{"and", "b32", on<uint32_t>(both)}, {"or", "b32", on<uint32_t>(either)}, {"xor", "b32", on<uint32_t>(differ)}, {"and", "b64", on<uint64_t>(both)}, {"or", "b64", on<uint64_t>(either)}, {"xor", "b64", on<uint64_t>(differ)}, {"exch", "b32", on<uint32_t>(second)}, {"exch", "b64", on<uint64_t>(second)}, {"add", "u32", on<uint32_t>(add)}, {"add", "s32", on<uint32_t>(add)}, {"add", "u64", on<uint64_t>(add)}, {"inc", "u32", on<uint32_t>(up)}, {"dec", "u32", on<uint32_t>(down)}, {"min", "u32", on<uint32_t>(least)}, {"min", "s32", on<int32_t>(least)}, {"min", "u64", on<uint64_t>(least)}, {"min", "s64", on<int64_t>(least)}, {"max", "u32", on<uint32_t>(most)}, {"max", "s32", on<int32_t>(most)}, {"max", "u64", on<uint64_t>(most)}, {"max", "s64", on<int64_t>(most)}};
}

TEST(Atomic, IntegersInEverySpace) {
  for (const Case& c : integer_cases()) {
    const unsigned bits = bits_of(c.type);
    const Column values = integer_values(bits, 24, 5), others = integer_values(bits, 24, 11);
    for (const std::string space : {".global", ".shared", ""}) {
      for (size_t i = 0; i < 6; ++i) {
        const uint64_t old = values[4 * i], b = others[4 * i + 1], want = c.result(old, b);
        const Shot s = shoot(c.op, c.type, old, b, 0, space);
        EXPECT_EQ(s.returned, old) << c.op << c.type << space;
        EXPECT_EQ(s.memory, want) << c.op << c.type << space << " of " << old << " and " << b;
        if (c.op == "exch") continue;  // red has none
        EXPECT_EQ(shoot(c.op, c.type, old, b, 0, space, true).memory, want) << c.op << c.type << space;
      }
    }
  }
}

TEST(Atomic, CompareAndSwap) {
  for (const char* type : {"b16", "b32", "b64"}) {
    const uint64_t old = 0x1234567812345678ull & (bits_of(type) == 64 ? ~uint64_t{0} : (uint64_t{1} << bits_of(type)) - 1);
    EXPECT_EQ(shoot("cas", type, old, old, 7).memory, 7u);
    EXPECT_EQ(shoot("cas", type, old, old ^ 1, 7).memory, old);
    EXPECT_EQ(shoot("cas", type, old, old ^ 1, 7).returned, old);
    EXPECT_EQ(shoot("cas", type, old, old, 7, ".shared").memory, 7u);
  }
}

uint64_t word(float v) { return std::bit_cast<uint32_t>(v); }
uint64_t word(double v) { return std::bit_cast<uint64_t>(v); }

// PTX ISA 9.7.13.3: .f32 flushes subnormals in global memory and keeps them in shared memory; the others keep them.
TEST(Atomic, FloatSums) {
  EXPECT_EQ(shoot("add", "f32", word(1.5f), word(0x1p-24f)).memory, word(1.5f));
  EXPECT_EQ(shoot("add", "f32", word(1.5f), word(3 * 0x1p-24f)).memory, word(1.5f + 0x1p-22f));
  EXPECT_EQ(shoot("add", "f32", 1, word(0x1p-126f)).memory, word(0x1p-126f));
  EXPECT_EQ(shoot("add", "f32", 1, 2).memory, 0u);
  EXPECT_EQ(shoot("add", "f32", 1, 2, 0, ".shared").memory, 3u);
  EXPECT_EQ(shoot("add", "f32", 0x7F800000, 0xFF800000).memory, 0x7FFFFFFFu);
  EXPECT_EQ(shoot("add", "f64", word(1.0), word(0x1p-52)).memory, word(1.0 + 0x1p-52));
  EXPECT_EQ(shoot("add", "f64", 1, 2).memory, 3u);
  EXPECT_EQ(shoot("add", "f16", 0x3C00, 0x1000).memory, 0x3C00u);  // 1 + 2^-11, tie to even
  EXPECT_EQ(shoot("add", "f16", 0x3C01, 0x1000).memory, 0x3C02u);
  EXPECT_EQ(shoot("add", "f16", 0x0001, 0x0001).memory, 0x0002u);
  EXPECT_EQ(shoot("add", "f16x2", 0x3C007BFF, 0x3C004C00).memory, 0x40007C00u);
  EXPECT_EQ(shoot("add", "bf16", 0x3F80, 0x3B80).memory, 0x3F80u);  // 1 + 2^-8, tie to even
  EXPECT_EQ(shoot("add", "bf16", 0x3F81, 0x3B80).memory, 0x3F82u);
  EXPECT_EQ(shoot("add", "bf16x2", 0x3F804000, 0x3F804000).memory, 0x40004080u);
}

TEST(Atomic, WideExchangeAndSwap) {
  WarpProgram p;
  p.bits = 64;
  p.inputs = 4;
  p.outputs = 4;
  p.body =
      "  .reg .b128 %q<4>;\n  mov.b128 %q0, {%i0, %i1};\n  mov.b128 %q1, {%i2, %i3};\n  mad.lo.u32 %t0, %lane, 16, %s;\n"
      "  st.shared.b128 [%t0], %q0;\n  atom.shared.cas.b128 %q2, [%t0], %q0, %q1;\n  atom.shared.exch.b128 %q3, [%t0], %q2;\n"
      "  mov.b128 {%o0, %o1}, %q2;\n  mov.b128 {%o2, %o3}, %q3;";
  std::vector<uint64_t> in(128);
  Words words(1);
  for (uint64_t& v : in) v = words.next();
  const WarpResult r = run_warps(p, in);
  EXPECT_EQ(r.registers, in);  // cas returned the old pair, exch the new one
}

// Vectors in global memory: element by element.
TEST(Atomic, Vectors) {
  const auto run = [](const std::string& op, const std::string& type, unsigned n, unsigned bits, const std::vector<uint64_t>& old, const std::vector<uint64_t>& b) {
    const char* r = bits == 32 ? "w" : "h";
    std::string names, others, stores, loads;
    std::vector<std::string> in, out;
    std::vector<Column> values;
    for (unsigned k = 0; k < n; ++k) {
      names += fmt::format("{}{}{}", k == 0 ? "" : ", ", r, 20 + k);
      others += fmt::format("{}{}{}", k == 0 ? "" : ", ", r, 40 + k);
      stores += fmt::format("  st.global.b{} [d9+{}], {}{};\n", bits, k * bits / 8, r, 20 + k);
      loads += fmt::format("  ld.global.b{} {}{}, [d9+{}];\n", bits, r, 60 + k, k * bits / 8);
      in.push_back(fmt::format("{}{}", r, 20 + k));
      out.push_back(fmt::format("{}{}", r, 60 + k));
    }
    for (unsigned k = 0; k < n; ++k) in.push_back(fmt::format("{}{}", r, 40 + k));
    for (uint64_t v : old) values.push_back({v, v});
    for (uint64_t v : b) values.push_back({v, v});
    // Two threads; the first works on 16 bytes of the first output column.
    const auto columns = run_lanes("  setp.ne.u32 p1, index, 0;\n  @p1 bra SKIP;\n  ld.param.u64 d9, [column0];\n" + stores + fmt::format("  red.global.{}.v{}.{} [d9], {{{}}};\n", op, n, type, others) + loads + "SKIP:\n",
                                   out, in, values, {"d9", "p1"});
    std::vector<uint64_t> memory;
    for (const Column& c : columns) memory.push_back(c[0] & ((uint64_t{1} << bits) - 1));
    return memory;
  };
  EXPECT_EQ(run("add", "f32", 4, 32, {word(1.0f), word(2.0f), word(-3.0f), word(0.5f)}, {word(1.0f), word(1.0f), word(1.0f), word(0.25f)}),
            (std::vector<uint64_t>{word(2.0f), word(3.0f), word(-2.0f), word(0.75f)}));
  EXPECT_EQ(run("min.noftz", "f16", 8, 16, {1, 2, 3, 4, 0x8000, 0x7FFF, 0x3C00, 0xBC00}, {4, 3, 2, 1, 0, 0x3C00, 0x7FFF, 0x8000}),
            (std::vector<uint64_t>{1, 2, 2, 1, 0x8000, 0x3C00, 0x3C00, 0xBC00}));
  EXPECT_EQ(run("max.noftz", "bf16x2", 2, 32, {0x3F804000, 0xC000BF80}, {0x40003F80, 0x00008000}), (std::vector<uint64_t>{0x40004000, 0x00008000}));
}

// Lanes take turns from the lowest: atom.add of 1 hands out 0 … 31 in lane order.
TEST(Atomic, LanesTakeTurns) {
  WarpProgram p;
  p.outputs = 1;
  p.smem = std::vector<uint8_t>(128, 0);
  p.body = "  atom.shared.add.u32 %o0, [%s], 1;";
  const WarpResult r = run_warps(p, {});
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(r.registers[i], i);
}

// Sums of floats over many CTAs depend on the order: it is the same for any number of host threads.
TEST(Atomic, ManyCtasInAFixedOrder) {
  const std::string text =
      ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry test(.param .u64 sum) {\n.reg .b64 %rd<2>; .reg .b32 %r<4>; .reg .f32 %f<4>;\n"
      "ld.param.u64 %rd1, [sum];\nmov.u32 %r1, %ctaid.x;\nmad.lo.u32 %r1, %r1, 12345, 0x3F800000;\nmov.b32 %f1, %r1;\n"
      "red.global.add.f32 [%rd1], %f1;\nret;\n}\n";
  float want = 0;
  for (unsigned cta = 0; cta < 500; ++cta) {
    for (unsigned lane = 0; lane < 32; ++lane) want += std::bit_cast<float>(0x3F800000u + 12345 * cta);
  }
  for (const unsigned threads : {1u, 2u, 8u}) {
    sim::Device d;
    const GmemAddr sum = d.allocate(4);
    d.fill(sum, 0, 4);
    const sim::RunResult r = d.launch(d.load(parse_or_throw(text)), "test", {.grid = {500}, .block = {32}}, sim::Args().add(sum), {.threads = threads});
    ASSERT_TRUE(r.ok());
    float got;
    d.read(&got, sum, 4);
    EXPECT_EQ(got, want) << threads << " threads";
  }
}

TEST(Atomic, MisalignedFaults) {
  WarpProgram p;
  p.outputs = 1;
  p.body = "  atom.shared.add.u32 %o0, [%s+2], 1;";
  try {
    run_warps(p, {});
    FAIL() << "no fault";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find(code_name(Code::F3002)), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace drywell::test
