// Every end of a program: one clear message, no hang, no temporary files.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "compiled_program.h"
#include "drywell/core/files.h"

namespace drywell::test {
namespace {

namespace fs = std::filesystem;

size_t files_in(const std::string& directory) {
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(directory)) ++files;
  return files;
}

/// `drywell exec` of the endless kernel, with its report and trace asked for in `directory`.
class Endless {
 public:
  Endless(const std::string& program, const TemporaryDirectory& directory) : out_(directory.file("out")), err_(directory.file("err")) {
    const std::string report = "--report=" + directory.file("report.json"), trace = "--trace=" + directory.file("trace.zst"), drywell = binary_path();
    child_ = ::fork();
    if (child_ != 0) return;
    ::setenv("TMPDIR", directory.path().c_str(), 1);
    ::dup2(::open(out_.c_str(), O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
    ::dup2(::open(err_.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    ::execl(drywell.c_str(), "drywell", "exec", report.c_str(), trace.c_str(), "--", program.c_str(), nullptr);
    ::_exit(127);
  }
  ~Endless() {
    if (!ended_) kill(SIGKILL);
  }
  /// Waits until the kernel runs.
  bool started() const {
    for (int i = 0; i < 600; ++i) {
      if (fs::exists(out_) && read_text_file(out_) == "started\n") {
        ::usleep(200'000);
        return true;
      }
      ::usleep(50'000);
    }
    return false;
  }
  /// The signal the process ended by, or -1.
  int kill(int signal) {
    ::kill(child_, signal);
    int status = 0;
    ::waitpid(child_, &status, 0);
    ended_ = true;
    return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
  }
  std::string said() const { return read_text_file(err_); }

 private:
  std::string out_, err_;
  pid_t child_ = 0;
  bool ended_ = false;
};

using Endings = CompiledProgram;

TEST_F(Endings, ASignalSaysWhatItInterruptedAndEndsTheProcess) {
  const std::string path = program("endless");
  for (const auto& [signal, name] : {std::pair(SIGTERM, "SIGTERM"), std::pair(SIGINT, "SIGINT")}) {
    const TemporaryDirectory directory;
    Endless run(path, directory);
    ASSERT_TRUE(run.started());
    EXPECT_EQ(run.kill(signal), signal);
    EXPECT_EQ(run.said(), std::string("drywell: ended by ") + name + " during launch 0, 'wait_for_ever'; no report or trace is written\n");
    EXPECT_EQ(files_in(directory.path()), 2u);  // the outputs this test made: no report, no trace, nothing temporary
  }
}

// A killed program cannot print a message, but no process is left, either: the program replaces the process of `drywell exec`.
TEST_F(Endings, AKilledProgramLeavesNothing) {
  const std::string path = program("endless");
  const TemporaryDirectory directory;
  Endless run(path, directory);
  ASSERT_TRUE(run.started());
  EXPECT_EQ(run.kill(SIGKILL), SIGKILL);
  EXPECT_EQ(run.said(), "");
  EXPECT_EQ(files_in(directory.path()), 2u);
}

TEST_F(Endings, ARunawayKernelEndsWhereItIsTold) {
  const Finished f = exec({"--max-instructions=100000"}, program("endless"));
  EXPECT_EQ(f.exit_code, 1) << f.err;
  EXPECT_NE(f.err.find("F3602"), std::string::npos) << f.err;
  EXPECT_EQ(f.err.find("F3602"), f.err.rfind("F3602")) << f.err;
}

TEST_F(Endings, AFaultIsToldOnceAndTheProgramGetsItsNumber) {
  const Finished f = exec({}, program("fault"));
  EXPECT_EQ(f.exit_code, 3) << f.out << f.err;
  EXPECT_EQ(f.out, "cudaErrorIllegalAddress\n");
  EXPECT_NE(f.err.find("F3001"), std::string::npos) << f.err;
  EXPECT_NE(f.err.find("fault.cu:4"), std::string::npos) << f.err;  // its line
  EXPECT_EQ(f.err.find("F3001"), f.err.rfind("F3001")) << f.err;
}

TEST_F(Endings, AForkedChildHasNoDeviceAndDoesNotHang) {
  const Finished f = exec({}, program("forks"));
  EXPECT_EQ(f.exit_code, 0) << f.out << f.err;
  EXPECT_NE(f.err.find("does not survive a fork"), std::string::npos) << f.err;
}

// The loader's own message for this would come after the program started, or never.
TEST(MissingSymbol, IsNamedBeforeTheProgramStarts) {
  if (binary_path().empty()) GTEST_SKIP() << "the tools are not built";
  const std::string path = fs::read_symlink("/proc/self/exe").parent_path() / "drywell_linked_with_12";
  const Finished missing = drywell({"exec", "--", path + "_and_more"});
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_EQ(missing.out, "");
  EXPECT_NE(missing.err.find("E4613"), std::string::npos) << missing.err;
  EXPECT_NE(missing.err.find("cudaFunctionOfTomorrow"), std::string::npos) << missing.err;
  EXPECT_EQ(missing.err.find("cudaMalloc"), std::string::npos) << missing.err;
}

// A program of CUDA 12: another name of the library, and symbols of another version.
TEST(Cuda12, ProgramsFindTheLibraryAndTheVersionsTheyWereLinkedWith) {
  if (binary_path().empty()) GTEST_SKIP() << "the tools are not built";
  const std::string path = fs::read_symlink("/proc/self/exe").parent_path() / "drywell_linked_with_12";
  const Finished f = drywell({"exec", "--", path});
  EXPECT_EQ(f.exit_code, 0) << f.out << f.err;
  EXPECT_EQ(f.out, "compute capability 10.0, 148 SMs\n");
  EXPECT_EQ(f.err, "");
  EXPECT_EQ(drywell({"exec", "--arch=sm_90a", "--", path}).out, "compute capability 9.0, 132 SMs\n");
}

// A program that loads CUDA while it runs has the stand-ins preloaded. The runtime of a sanitizer ends a process whose first library it is
// not, and it is in that place by the program's own wish or by its user's.
TEST(Preloading, LeavesASanitizersRuntimeInItsPlace) {
  if (binary_path().empty()) GTEST_SKIP() << "the tools are not built";
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  const std::string own = folder / "drywell_sanitized_program", none = folder / "drywell_late_program";
  if (!fs::exists(own)) GTEST_SKIP() << "the compiler has no address sanitizer";
  const Finished f = drywell({"exec", "--", own});
  EXPECT_EQ(f.exit_code, 0) << f.err;
  EXPECT_EQ(f.out, "allocated\n");
  EXPECT_EQ(f.err, "");
#ifdef DRYWELL_ASAN_RUNTIME
  if (!fs::exists(DRYWELL_ASAN_RUNTIME)) return;  // clang's is linked statically
  const Finished wish = run_process("/usr/bin/env", {"LD_PRELOAD=" DRYWELL_ASAN_RUNTIME, "ASAN_OPTIONS=detect_leaks=0", binary_path(), "exec", "--", none});
  EXPECT_EQ(wish.exit_code, 0) << wish.err;
  EXPECT_EQ(wish.out, "allocated\n");
#endif
}

// What a program starts with an LD_LIBRARY_PATH of its own (Triton's test of compilation ahead of time does) has the stand-in, too.
TEST(Preloading, ReachesAChildWithAnotherLibraryPath) {
  if (binary_path().empty()) GTEST_SKIP() << "the tools are not built";
  const Finished f = drywell({"exec", "--", "/bin/sh", "-c", "LD_LIBRARY_PATH=/nowhere /bin/cat /proc/self/maps"});
  EXPECT_EQ(f.exit_code, 0) << f.err;
  EXPECT_NE(f.out.find("libdrywell_cudart.so"), std::string::npos) << f.out;
}

}  // namespace
}  // namespace drywell::test
