#include "drywell/core/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "drywell/core/error.h"
#include "launch/bf16.h"
#include "support/paths.h"

namespace drywell {
namespace {

const std::string kData = test::source_path("tests/data/npy/");

std::optional<Code> error_code(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& e) {
    return e.code();
  }
  return std::nullopt;
}

std::vector<std::byte> bytes_of(std::string_view text) {
  std::vector<std::byte> out(text.size());
  std::memcpy(out.data(), text.data(), text.size());
  return out;
}

/// A version 1.0 file with this header dict and this many zero bytes of data.
std::vector<std::byte> file_with(const std::string& header, size_t data_bytes) {
  std::string text = "\x93NUMPY";
  text += '\1';
  text += '\0';
  text += static_cast<char>(header.size() & 0xFF);
  text += static_cast<char>(header.size() >> 8);
  text += header;
  text.append(data_bytes, '\0');
  return bytes_of(text);
}

/// An empty directory that goes away with the test.
class Scratch : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = std::filesystem::temp_directory_path() /
           (std::string("drywell-") + testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(dir_);
    std::filesystem::create_directories(dir_);
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }
  size_t file_count() const {
    size_t n = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(dir_)) ++n;
    return n;
  }
  std::filesystem::path dir_;
};
class NpyWriter : public Scratch {};

TEST(NpyReader, ReadsWhatNumpyWrote) {
  for (const char* name : {"float32_2x3.npy", "float32_version2.npy", "float32_version3.npy"}) {
    const NpyArray a = read_npy(kData + name);
    EXPECT_EQ(a.dtype, "<f4");
    EXPECT_EQ(a.shape, (std::vector<uint64_t>{2, 3}));
    const auto v = a.values<float>();
    EXPECT_EQ(std::vector<float>(v.begin(), v.end()), (std::vector<float>{1.5f, -2, 0.25f, 3, 4, -1e30f}));
    EXPECT_EQ(a.describe(), "float32[2, 3]");
  }
  EXPECT_EQ(read_npy(kData + "uint16_scalar.npy").values<uint16_t>()[0], 0xBEEF);
  EXPECT_EQ(read_npy(kData + "uint16_scalar.npy").shape.size(), 0u);
  EXPECT_EQ(read_npy(kData + "int64_empty.npy").count(), 0u);
  EXPECT_EQ(read_npy(kData + "uint8_4.npy").values<uint8_t>()[3], 3);
}

TEST(NpyReader, TurnsFloatArraysIntoBf16Bits) {
  using Bits = std::vector<uint16_t>;
  EXPECT_EQ(kernels::bf16_bits(read_npy(kData + "bfloat16_2x2.npy")), (Bits{0x3F80, 0xC000, 0x3F00, 0x4049}));
  EXPECT_EQ(kernels::bf16_bits(read_npy(kData + "float16_3.npy")), (Bits{0x3F80, 0xBF00, 0x4780}));
  EXPECT_EQ(kernels::bf16_bits(read_npy(kData + "uint16_scalar.npy")), Bits{0xBEEF});
  EXPECT_EQ(kernels::bf16_bits(read_npy(kData + "float32_2x3.npy")).front(), 0x3FC0);
  EXPECT_EQ(error_code([] { kernels::bf16_bits(read_npy(kData + "uint8_4.npy")); }), Code::E4007);
}

TEST(NpyReader, RefusesFortranOrderBigEndianAndStructures) {
  EXPECT_EQ(error_code([] { read_npy(kData + "float32_fortran.npy"); }), Code::E4004);
  EXPECT_EQ(error_code([] { read_npy(kData + "float64_big_endian.npy"); }), Code::E4005);
  EXPECT_EQ(error_code([] { read_npy(kData + "structured.npy"); }), Code::E4005);
  EXPECT_EQ(error_code([] { read_npy(kData + "float32_2x3.npy").values<uint16_t>(); }), Code::E4007);
}

TEST(NpyReader, RefusesWhatCannotBeRead) {
  EXPECT_EQ(error_code([] { read_npy(kData + "absent.npy"); }), Code::E4001);
  EXPECT_EQ(error_code([] { read_npy(kData); }), Code::E4001);
  EXPECT_EQ(error_code([] { read_npy("/dev/zero"); }), Code::E4001);
  EXPECT_EQ(error_code([] { read_npy(kData + "README.md"); }), Code::E4002);
  EXPECT_EQ(error_code([] { parse_npy({}, "empty"); }), Code::E4002);
}

struct BadHeader {
  const char* what;
  const char* header;
  size_t data_bytes;
  Code code;
};
class NpyHeader : public testing::TestWithParam<BadHeader> {};

TEST_P(NpyHeader, IsRefusedWithItsCode) {
  const auto file = file_with(GetParam().header, GetParam().data_bytes);
  EXPECT_EQ(error_code([&] { parse_npy(file, "x.npy"); }), GetParam().code) << GetParam().what;
}

INSTANTIATE_TEST_SUITE_P(
    Bad, NpyHeader,
    testing::Values(
        BadHeader{"not a dict", "[1, 2]", 0, Code::E4003},
        BadHeader{"key missing", "{'descr': '<f4', 'fortran_order': False}", 4, Code::E4003},
        BadHeader{"key twice", "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}", 4,
                  Code::E4003},
        BadHeader{"unknown key", "{'descr': '<f4', 'fortran_order': False, 'shape': (), 'x': 1}", 4, Code::E4003},
        BadHeader{"unterminated", "{'descr': '<f4", 4, Code::E4003},
        BadHeader{"negative extent", "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", 4, Code::E4003},
        BadHeader{"trailing text", "{'descr': '<f4', 'fortran_order': False, 'shape': ()} x", 4, Code::E4003},
        BadHeader{"not a boolean", "{'descr': '<f4', 'fortran_order': 0, 'shape': ()}", 4, Code::E4003},
        BadHeader{"complex", "{'descr': '<c8', 'fortran_order': False, 'shape': ()}", 8, Code::E4005},
        BadHeader{"object", "{'descr': '|O', 'fortran_order': False, 'shape': ()}", 8, Code::E4005},
        BadHeader{"extent beyond 64 bits",
                  "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", 4, Code::E4003},
        BadHeader{"product beyond 63 bits",
                  "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", 4, Code::E4006},
        BadHeader{"too little data", "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 7, Code::E4006},
        BadHeader{"too much data", "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 9, Code::E4006}));

TEST(NpyReader, NeverTakesAPrefixOrCrashesOnADamagedHeader) {
  const NpyArray whole = read_npy(kData + "float32_2x3.npy");
  const std::vector<std::byte> file = format_npy(whole);
  for (size_t n = 0; n < file.size(); ++n) {
    const std::optional<Code> code = error_code([&] { parse_npy({file.data(), n}, "prefix"); });
    EXPECT_TRUE(code == Code::E4002 || code == Code::E4003 || code == Code::E4006) << n;
  }
  for (size_t at = 0; at < 128; ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::vector<std::byte> damaged = file;
      damaged[at] ^= std::byte(1u << bit);
      error_code([&] { parse_npy(damaged, "damaged"); });  // either reads it or throws InputError
    }
  }
}

TEST(NpyReader, NamesTheFileInItsMessages) {
  try {
    read_npy(kData + "float32_fortran.npy");
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("float32_fortran.npy: error E4004: the array is in Fortran"),
              std::string::npos);
  }
}

TEST_F(NpyWriter, WritesTheBytesNumpyWrites) {
  for (const char* name : {"float32_2x3.npy", "uint16_scalar.npy", "int64_empty.npy", "uint8_4.npy",
                           "float16_3.npy", "bfloat16_2x2.npy"}) {
    const std::string out = dir_ / name;
    write_npy(out, read_npy(kData + name));
    std::ifstream a(kData + name, std::ios::binary), b(out, std::ios::binary);
    EXPECT_TRUE(std::equal(std::istreambuf_iterator<char>(a), {}, std::istreambuf_iterator<char>(b), {}))
        << name;
  }
  EXPECT_EQ(file_count(), 6u);
}

TEST_F(NpyWriter, MakesArraysFromValues) {
  const std::vector<int32_t> v = {1, -2, 3, 4, 5, 6};
  const NpyArray a = NpyArray::of<int32_t>(v, {3, 2});
  EXPECT_EQ(parse_npy(format_npy(a), "x").values<int32_t>()[1], -2);
  EXPECT_EQ(error_code([&] { NpyArray::of<int32_t>(v, {4, 2}); }), Code::E4006);
}

TEST_F(NpyWriter, ReplacesAFileOnlyWhenTheNewOneIsWhole) {
  const std::string path = dir_ / "a.npy";
  const NpyArray a = read_npy(kData + "uint8_4.npy");
  write_npy(path, a);
  write_npy(path, read_npy(kData + "float16_3.npy"));
  EXPECT_EQ(read_npy(path).dtype, "<f2");
  EXPECT_EQ(file_count(), 1u);
  // A directory in the place of the file, and a directory that is not there.
  EXPECT_EQ(error_code([&] { write_npy(dir_, a); }), Code::E4008);
  EXPECT_EQ(error_code([&] { write_npy(dir_ / "absent" / "a.npy", a); }), Code::E4008);
  EXPECT_EQ(error_code([&] { write_npy("/dev/full", a); }), Code::E4008);
  EXPECT_EQ(file_count(), 1u);
}

}  // namespace
}  // namespace drywell
