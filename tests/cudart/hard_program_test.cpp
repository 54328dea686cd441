// Programs that ask too much (tests/cudart/programs/hard.cu): each ends, with the answers of CUDA.
#include <cstdlib>

#include "compiled_program.h"

namespace drywell::test {
namespace {

class HardProgram : public CompiledProgram {
 protected:
  static Finished run(const std::vector<std::string>& options, const std::vector<std::string>& mode) { return exec(options, program("hard"), mode); }
};

// Error 4, cudaErrorCudartUnloading, is what a destructor may get from CUDA; 0 or 1 (freed before) are as good, and nothing hangs.
TEST_F(HardProgram, ADestructorAfterAReset) {
  const Finished f = run({}, {"reset_at_exit"});
  EXPECT_EQ(f.exit_code, 0) << f.err;
  EXPECT_EQ(f.out.find("handler: 0\ndestructor: free "), 0u) << f.out << f.err;
}

TEST_F(HardProgram, MemoryIsPromisedAsFarAsTheHostHasIt) {
  EXPECT_EQ(run({}, {"most_of_free"}).out, "0\n");
  EXPECT_EQ(run({}, {"exhaust"}).out, "2 2 2\n");
  EXPECT_EQ(run({}, {"many", "16000"}).out, "1\n") << "16,000 allocations, in time that grows with their number";
}

// 1 is cudaErrorInvalidValue, as an H200 answers (programs/errors.cu). The last grid is legal, and takes hours: its bound ends it with
// cudaErrorLaunchTimeout.
TEST_F(HardProgram, GridsOfAllSizes) {
  const Finished f = run({"--timeout=2"}, {"grids"});
  EXPECT_EQ(f.out, "1 1 1 1 1 702 702\n") << f.err;
  EXPECT_NE(f.err.find("F3605"), std::string::npos) << f.err;
}

TEST_F(HardProgram, EndlessKernelsEndAtEveryBound) {
  const std::pair<std::vector<std::string>, const char*> rows[] = {
      {{"--max-instructions=5000"}, "F3602"}, {{"--driver=timed", "--max-cycles=5000"}, "F3604"}, {{"--timeout=0.3"}, "F3605"}, {{"--memory=1M"}, "F3606"}};
  for (const auto& [options, code] : rows) {
    const Finished f = run(options, {"endless"});
    EXPECT_NE(f.err.find(code), std::string::npos) << code << f.err;
    EXPECT_NE(f.out, "0\n") << code;
  }
}

// The program's own numbers have a comma, those of a kernel never.
TEST_F(HardProgram, APrintingKernelKnowsNoLocale) {
  const std::string path = program("hard");
  if (run_process("/usr/bin/localedef", {"-i", "de_DE", "-f", "UTF-8", directory_.file("de_DE.UTF-8")}).exit_code > 1) GTEST_SKIP() << "no locale can be made here";
  const Finished f = run_process("/usr/bin/env", {"LOCPATH=" + directory_.path(), binary_path(), "exec", "--", path, "comma"});
  EXPECT_EQ(f.out, ",\n1234.50|  5.0e-01\n1,5\n") << f.err;
}

// A value with a line feed and what would be another option behind it.
TEST_F(HardProgram, ALineFeedBeginsNoOption) {
  const Finished f = run({"--kernel=none\nsummary=1", "--check"}, {"reset_at_exit"});
  EXPECT_EQ(f.exit_code, 2) << f.err;
  EXPECT_EQ(f.err.find("reset_at_exit"), std::string::npos) << f.err;
  EXPECT_EQ(f.err.find("Kernel"), std::string::npos) << f.err;
}

}  // namespace
}  // namespace drywell::test
