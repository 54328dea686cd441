// drywell dap under clients that were not written for it: Emacs' dap-mode (Debian: emacs-nox, elpa-dap-mode), Neovim's nvim-dap.
#include <gtest/gtest.h>

#include <cstdlib>

#include "support/paths.h"
#include "support/process.h"

namespace drywell::test {
namespace {

TEST(Editor, EmacsStepsAKernelForwardAndBack) {
  if (binary_path().empty()) GTEST_SKIP() << "no drywell command in this build";
  const Finished there = run_process("/bin/sh", {"-c", "emacs --batch --eval '(progn (package-initialize) (require (quote dap-mode)))'"});
  if (there.exit_code != 0) GTEST_SKIP() << "no Emacs with dap-mode here (Debian: emacs-nox, elpa-dap-mode)";
  const TemporaryDirectory home;
  ASSERT_EQ(::setenv("DRYWELL", binary_path().c_str(), 1), 0);
  ASSERT_EQ(::setenv("SOURCES", source_path("").c_str(), 1), 0);
  ASSERT_EQ(::setenv("HOME", home.path().c_str(), 1), 0);
  const Finished f = run_process("/bin/sh", {"-c", "timeout 100 emacs --batch -l \"$0\" 2>&1", source_path("tests/step/dap_emacs.el")});
  EXPECT_EQ(f.exit_code, 0) << f.out;
  EXPECT_NE(f.out.find("passed"), std::string::npos) << f.out;
}

// Debian 12 has Neovim 0.7.2, which takes nvim-dap up to 0.5.0 (github.com/mfussenegger/nvim-dap).
TEST(Editor, NeovimStepsAKernelForwardAndBack) {
  if (binary_path().empty()) GTEST_SKIP() << "no drywell command in this build";
  const char* plugin = std::getenv("DRYWELL_NVIM_DAP");
  if (plugin == nullptr) GTEST_SKIP() << "DRYWELL_NVIM_DAP is not the folder of nvim-dap";
  if (run_process("/bin/sh", {"-c", "nvim --version"}).exit_code != 0) GTEST_SKIP() << "no nvim here (Debian: neovim)";
  ASSERT_EQ(::setenv("DRYWELL", binary_path().c_str(), 1), 0);
  ASSERT_EQ(::setenv("SOURCES", source_path("").c_str(), 1), 0);
  const Finished f = run_process("/bin/sh", {"-c", R"(timeout 100 nvim --headless -u NONE --cmd "set rtp+=$DRYWELL_NVIM_DAP" -c "luafile $0" 2>&1)", source_path("tests/step/dap_nvim.lua")});
  EXPECT_EQ(f.exit_code, 0) << f.out;
  EXPECT_NE(f.out.find("passed"), std::string::npos) << f.out;
}

}  // namespace
}  // namespace drywell::test
