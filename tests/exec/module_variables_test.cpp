// Module variables in device memory: initialisers byte for byte, addresses in them, declarations and definitions.
#include <gtest/gtest.h>

#include <string>

#include "drywell/sim/device.h"
#include "support/ptx_run.h"

namespace drywell::sim {
namespace {

constexpr std::string_view kHeader = ".version 9.0\n.target sm_100a\n.address_size 64\n";

struct Loaded {
  explicit Loaded(std::string_view text) : module(device.load_ptx(std::string(kHeader) + std::string(text) + "\n.entry k() { ret; }\n")) {}
  template <class T>
  T at(std::string_view name, uint64_t offset = 0) {
    T v{};
    device.read(&v, *module.symbol(name) + offset, sizeof v);
    return v;
  }
  Device device;
  LoadedModule module;
};

// Bytes as ptxas 13.0 puts them into .nv.global.init.
TEST(ModuleVariables, InitialisersHaveTheBytesPtxasGivesThem) {
  Loaded m(
      ".global .b32 a = 1.5;\n.global .b64 b = 1.5;\n.global .b64 c = 0f3F800000;\n.global .b32 d = 0d3FF0000000000000;\n"
      ".global .u32 e[2][2] = {{1}, {3}};\n.global .u32 f = 1 ? 2 : 3;\n.global .u8 g = 256 + 7;\n.global .s16 h = -2;");
  EXPECT_EQ(m.at<uint32_t>("a"), 0x3FC00000u);
  EXPECT_EQ(m.at<uint64_t>("b"), 0x3FF8000000000000u);
  EXPECT_EQ(m.at<uint32_t>("c"), 0x3F800000u);
  EXPECT_EQ(m.at<uint32_t>("d"), 0x3F800000u);
  EXPECT_EQ(m.at<uint32_t>("e", 4), 0u);
  EXPECT_EQ(m.at<uint32_t>("e", 8), 3u);
  EXPECT_EQ(m.at<uint32_t>("f"), 2u);
  EXPECT_EQ(m.at<uint8_t>("g"), 7u);
  EXPECT_EQ(m.at<int16_t>("h"), -2);
}

TEST(ModuleVariables, AddressesInInitialisers) {
  Loaded m(".global .u32 x[4];\n.global .u64 p[3] = {7, x+8, 9};");
  EXPECT_EQ(m.at<uint64_t>("p", 0), 7u);
  EXPECT_EQ(m.at<uint64_t>("p", 8), m.module.symbol("x")->value() + 8);
  EXPECT_EQ(m.at<uint64_t>("p", 16), 9u);
}

// A 64-bit address written into a .u32 would overwrite the element behind it.
TEST(ModuleVariables, AddressesDoNotFitIn32Bits) {
  try {
    Loaded m(".global .u32 x;\n.global .u32 p[2] = {x, 5};");
    FAIL();
  } catch (const Unsupported& e) {
    EXPECT_EQ(e.code(), Code::U5001);
  }
}

TEST(ModuleVariables, DeclarationsShareTheDefinitionsMemory) {
  Loaded m(".extern .global .u32 x;\n.global .u64 p = x;\n.visible .global .u32 x = 5;");
  EXPECT_EQ(m.at<uint32_t>("x"), 5u);
  EXPECT_EQ(m.at<uint64_t>("p"), m.module.symbol("x")->value());
}

TEST(ModuleVariables, AnExternWithoutDefinitionDoesNotLoad) {
  try {
    Loaded m(".extern .global .u32 x;");
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.code(), Code::E4113);
  }
}

}  // namespace
}  // namespace drywell::sim
