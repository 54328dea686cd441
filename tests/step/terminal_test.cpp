// drywell step on a terminal: completion, editing, history, and Ctrl-C while a command runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "drywell/core/files.h"
#include "support/paths.h"
#include "support/process.h"

namespace drywell::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The command on a terminal of 80 x 24 with an empty home directory.
class Terminal {
 public:
  Terminal(const std::vector<std::string>& words, const std::string& home) {
    winsize size{};
    size.ws_row = 24;
    size.ws_col = 80;
    pid_ = ::forkpty(&fd_, nullptr, nullptr, &size);
    if (pid_ != 0) return;
    ::setenv("TERM", "xterm", 1);
    ::setenv("XDG_STATE_HOME", home.c_str(), 1);
    ::setenv("HOME", home.c_str(), 1);
    std::vector<char*> argv;
    for (const std::string& w : words) argv.push_back(const_cast<char*>(w.c_str()));
    argv.push_back(nullptr);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ~Terminal() {
    if (::waitpid(pid_, nullptr, WNOHANG) == 0) {  // not left
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(fd_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Types `keys` and waits until the terminal shows `until`. Returns the output since the last call.
  std::string type(const std::string& keys, const std::string& until, int patience_s = 30) {
    if (::write(fd_, keys.data(), keys.size()) != static_cast<ssize_t>(keys.size())) return "cannot type";
    std::string shown;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(patience_s);
    while (shown.find(until) == std::string::npos && std::chrono::steady_clock::now() < end) {
      pollfd p{fd_, POLLIN, 0};
      if (::poll(&p, 1, 200) <= 0) continue;
      char bytes[4096];
      const ssize_t n = ::read(fd_, bytes, sizeof(bytes));
      if (n <= 0) break;
      shown.append(bytes, static_cast<size_t>(n));
    }
    return shown;
  }
  /// The exit code after `quit`.
  int leave() {
    type("quit\r", "\x01");  // reads to the end of the output
    int status = 0;
    return ::waitpid(pid_, &status, 0) == pid_ ? WEXITSTATUS(status) : -1;
  }

 private:
  int fd_ = -1;
  pid_t pid_ = -1;
};

class OnATerminal : public testing::Test {
 protected:
  void SetUp() override {
    if (binary_path().empty()) GTEST_SKIP() << "no drywell command in this build";
    if (run_process("/bin/sh", {"-c", "grep -q libedit.so.2 $(dirname " + binary_path() + ")/drywell-debug"}).exit_code != 0) GTEST_SKIP() << "this build has no libedit";
  }
  TemporaryDirectory home_;
};

TEST_F(OnATerminal, CompletesEditsAndRemembers) {
  {
    Terminal t({binary_path(), "step", "tma-copy", "--rows=64", "--columns=64"}, home_.path());
    t.type("", "(drywell) ");
    EXPECT_THAT(t.type("inf\t", "o "), HasSubstr("o "));
    EXPECT_THAT(t.type("la\t\r", "(drywell) "), HasSubstr("tma_copy: grid (2,1,1)"));
    // Two candidates are listed; the cursor goes back and corrects a word.
    EXPECT_THAT(t.type("info m\t", "(drywell) info m"), HasSubstr("mbarriers  memory"));
    EXPECT_THAT(t.type("\x15"
                       "infox warps\x1b"
                       "b\x1b"
                       "b\x06\x06\x06\x06\x04\r",
                       "instr"),
                HasSubstr("CTA (0,0,0)"));
    // A command before: once up, and the one before that.
    EXPECT_THAT(t.type("\x1b[A\x1b[A\r", "grid (2,1,1)"), HasSubstr("launch"));
    // An empty line repeats.
    EXPECT_THAT(t.type("\r", "grid (2,1,1)"), HasSubstr("grid (2,1,1)"));
    EXPECT_EQ(t.leave(), 0);
  }
  EXPECT_THAT(read_text_file(home_.file("drywell_history")), HasSubstr("info"));
  Terminal again({binary_path(), "step", "tma-copy", "--rows=64", "--columns=64"}, home_.path());
  again.type("", "(drywell) ");
  EXPECT_THAT(again.type("\x1b[A\x1b[A", "info"), HasSubstr("info"));
}

TEST_F(OnATerminal, AnInterruptEndsTheCommandThatRuns) {
  write_file_atomically(home_.file("k.ptx"), std::string_view(".version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry k() {\n.reg .b32 %r;\nmov.u32 %r, 0;\nagain:\n"
                                                              "add.u32 %r, %r, 1;\nbra again;\n}\n"));
  Terminal t({binary_path(), "step", home_.file("k.ptx"), "--block=32"}, home_.path());
  t.type("", "(drywell) ");
  // At the prompt it drops the line.
  EXPECT_THAT(t.type("fly away\x03", "^C"), HasSubstr("^C"));
  EXPECT_THAT(t.type("info launch\r", "grid"), Not(HasSubstr("no command")));
  std::string shown;
  for (int i = 0; i < 20 && shown.find("interrupted") == std::string::npos; ++i) {
    t.type("continue\r", "\x01", 1);  // it may not have begun before
    shown += t.type("\x03", "interrupted", 1);
  }
  EXPECT_THAT(shown, HasSubstr("interrupted"));
  EXPECT_EQ(t.leave(), 0);
}

// Long commands show their progress; without a terminal they do not (tests/error/cli_test.cpp).
TEST_F(OnATerminal, LongCommandsTellHowFarTheyAre) {
  Terminal t({binary_path(), "conformance"}, home_.path());
  EXPECT_THAT(t.type("", " s"), HasSubstr("program "));
}

}  // namespace
}  // namespace drywell::test
