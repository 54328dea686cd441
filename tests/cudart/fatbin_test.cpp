// Fat binaries made by CUDA 13.0 (tests/data/fatbin: one kernel for compute_90a, _100, _100a and _100f, in every compression
// mode nvcc has) and damaged ones.
#include "cudart/fatbin.h"

#include <gtest/gtest.h>

#include <cstring>

#include "cudart/lz4.h"
#include "drywell/core/error.h"
#include "drywell/core/files.h"
#include "support/paths.h"

namespace drywell::cudart {
namespace {

class Compressed : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { bytes_ = read_file(test::source_path(std::string("tests/data/fatbin/") + GetParam() + ".fatbin")); }
  std::vector<std::byte> bytes_;
};

TEST_P(Compressed, EveryImageIsReadAndSaysItsTarget) {
  const auto images = read_fatbin(bytes_.data(), bytes_.size());
  ASSERT_EQ(images.size(), 4u);
  for (const FatbinImage& i : images) {
    EXPECT_EQ(i.kind, ImageKind::ptx);
    const std::string text = i.ptx();
    EXPECT_NE(text.find(".target sm_" + i.target().substr(8)), std::string::npos) << i.target() << "\n"
                                                                                  << text;
    EXPECT_NE(text.find(".visible .entry fill("), std::string::npos);
    EXPECT_EQ(text.back(), '\n');
  }
}

TEST_P(Compressed, TheNearestTargetIsChosen) {
  const auto images = read_fatbin(bytes_.data(), bytes_.size());
  EXPECT_EQ(best_image(images, isa::Target::sm_100a).target(), "compute_100a");
  EXPECT_EQ(best_image(images, isa::Target::sm_90a).target(), "compute_90a");
  EXPECT_EQ(best_image(images, isa::Target::sm_103a).target(), "compute_100f");  // the family's, not another chip's
  EXPECT_EQ(best_image(images, isa::Target::sm_120a).target(), "compute_100");
}

TEST_P(Compressed, DamageIsSaidAndNothingIsReadBeyondTheEnd) {
  for (size_t cut = 0; cut < bytes_.size(); ++cut) {
    const std::vector<std::byte> part(bytes_.begin(), bytes_.begin() + static_cast<ptrdiff_t>(cut));  // a separate block for sanitizers
    EXPECT_THROW(read_fatbin(part.data(), part.size()), InputError) << cut;
  }
  for (size_t at = 16; at < bytes_.size(); at += 3) {
    std::vector<std::byte> changed = bytes_;
    changed[at] ^= std::byte{0x5A};
    try {
      for (const FatbinImage& i : read_fatbin(changed.data(), changed.size())) i.ptx();
    } catch (const InputError& e) {
      EXPECT_TRUE(e.code() == Code::E4601 || e.code() == Code::E4602) << e.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, Compressed, testing::Values("none", "speed", "balance", "size"), [](const auto& p) { return std::string(p.param); });

TEST(Fatbin, MachineCodeAloneCannotRun) {
  const auto bytes = read_file(test::source_path("tests/data/fatbin/machine_code.fatbin"));
  const auto images = read_fatbin(bytes.data(), bytes.size());
  try {
    best_image(images, isa::Target::sm_100a);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.code(), Code::E4603);
    EXPECT_NE(std::string(e.what()).find("sm_100a"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("code=compute_100a"), std::string::npos) << e.what();
  }
}

TEST(Fatbin, AProgramForAnotherMachineIsToldWhichOne) {
  FatbinImage geforce;
  geforce.kind = ImageKind::ptx;
  geforce.sm = 120;
  geforce.variant = 'a';
  const std::vector<FatbinImage> images = {geforce};
  EXPECT_EQ(best_image(images, isa::Target::sm_120a).target(), "compute_120a");
  EXPECT_EQ(best_image(images, isa::Target::sm_120a).sm, 120u);
  try {
    best_image(images, isa::Target::sm_100a);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.code(), Code::E4603);
    EXPECT_NE(std::string(e.what()).find("--arch=sm_120a"), std::string::npos) << e.what();
  }
}

TEST(Fatbin, BarePtxIsAnImageOfItsOwn) {
  const char text[] = "//\n.version 9.0\n.target sm_100a\n.address_size 64\n";
  const auto images = read_fatbin(text);
  ASSERT_EQ(images.size(), 1u);
  EXPECT_EQ(best_image(images, isa::Target::sm_100a).ptx(), text);
  EXPECT_THROW(read_fatbin("nonsense"), InputError);
}

// Blocks written by hand after lz4_Block_format.md.
TEST(Lz4, LiteralsMatchesAndLongLengths) {
  const auto decode = [](std::initializer_list<int> block, size_t bytes) {
    std::vector<uint8_t> b;
    for (int v : block) b.push_back(static_cast<uint8_t>(v));
    const auto out = lz4_block(b, bytes);
    return out.has_value() ? std::string(out->begin(), out->end()) : "damaged";
  };
  EXPECT_EQ(decode({0x30, 'a', 'b', 'c'}, 3), "abc");
  // "ab", then 6 bytes from 2 back, then "z".
  EXPECT_EQ(decode({0x22, 'a', 'b', 2, 0, 0x10, 'z'}, 9),
            "abababab"
            "z");
  // "x", then 4 + 15 + 6 from 1 back, then "y".
  EXPECT_EQ(decode({0x1F, 'x', 1, 0, 6, 0x10, 'y'}, 27), std::string(26, 'x') + "y");
  EXPECT_EQ(decode({0x30, 'a', 'b'}, 3), "damaged");               // fewer literals than said
  EXPECT_EQ(decode({0x10, 'a', 2, 0}, 5), "damaged");              // before the beginning
  EXPECT_EQ(decode({0x10, 'a', 0, 0}, 5), "damaged");              // no distance at all
  EXPECT_EQ(decode({0x30, 'a', 'b', 'c'}, 4), "damaged");          // shorter than said
  EXPECT_EQ(decode({0x1F, 'x', 1, 0, 255, 255}, 600), "damaged");  // a length without an end
}

}  // namespace
}  // namespace drywell::cudart
