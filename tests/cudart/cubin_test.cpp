// Cubins: the envelope of PTX that the stand-in of ptxas writes, and machine code with PTX kept beside it.
#include "cudart/cubin.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "cudart/fatbin.h"
#include "drywell/core/error.h"
#include "drywell/core/files.h"

namespace drywell::cudart {
namespace {

const std::string kText = ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k() { ret; }\n";

TEST(Cubin, AnEnvelopeGivesItsText) {
  const std::string file = cubin_envelope(kText);
  EXPECT_TRUE(is_cubin(file.data(), file.size()));
  EXPECT_EQ(enveloped_ptx(file.data(), file.size()), kText);
  const auto images = read_fatbin(file.data(), file.size());
  ASSERT_EQ(images.size(), 1u);
  EXPECT_EQ(images[0].ptx(), kText);
}

TEST(Cubin, ACutOrChangedEnvelopeIsNotRead) {
  const std::string file = cubin_envelope(kText);
  for (size_t cut = 0; cut < file.size(); ++cut) {
    const std::vector<char> part(file.begin(), file.begin() + static_cast<ptrdiff_t>(cut));  // a separate block for sanitizers
    EXPECT_FALSE(enveloped_ptx(part.data(), part.size()).has_value()) << cut;
  }
  for (size_t at = 0; at + kText.size() < file.size(); ++at) {
    std::string changed = file;
    changed[at] = static_cast<char>(changed[at] ^ 0x5A);
    const auto text = enveloped_ptx(changed.data(), changed.size());
    EXPECT_TRUE(!text.has_value() || text->size() == kText.size()) << at;
  }
}

/// An ELF file of a GPU without sections.
std::string machine_code() {
  std::string file = cubin_envelope("");
  file[60] = file[61] = 0;  // e_shnum
  return file;
}

TEST(Cubin, MachineCodeSaysWhatItIs) {
  const std::string file = machine_code();
  EXPECT_TRUE(is_cubin(file.data(), file.size()));
  try {
    read_fatbin(file.data(), file.size());
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.code(), Code::E4603);
    EXPECT_NE(std::string(e.what()).find("this is a cubin"), std::string::npos) << e.what();
  }
}

TEST(Cubin, PtxIsFoundByTheBytesOfItsMachineCode) {
  const std::filesystem::path folder = testing::TempDir() + "drywell_kept";
  std::filesystem::create_directories(folder);
  std::string file = machine_code().substr(0, 64);
  for (size_t at = 40; at < 48; ++at) file[at] = 0;  // e_shoff
  ASSERT_EQ(::setenv(kKeptVariable, folder.c_str(), 1), 0);
  EXPECT_FALSE(kept_ptx(file.data()).has_value());
  write_file_atomically((folder / "k.cubin").string(), file);
  write_file_atomically((folder / "k.ptx").string(), kText);
  EXPECT_EQ(kept_ptx(file.data()), kText);
  file[50] = 1;  // another version of the kernel
  EXPECT_FALSE(kept_ptx(file.data()).has_value());
  ::unsetenv(kKeptVariable);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace drywell::cudart
