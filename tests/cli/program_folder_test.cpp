#include "tools/common/program_folder.h"

#include <gtest/gtest.h>

namespace drywell::tools {
namespace {

// A root may have no /proc (chroot).
TEST(ProgramFolder, IsKnownWithoutProc) {
  const std::filesystem::path folder = program_folder();
  EXPECT_TRUE(std::filesystem::exists(folder / "drywell_cli_test")) << folder;
  EXPECT_EQ(program_folder("/nowhere/exe"), folder);
}

}  // namespace
}  // namespace drywell::tools
