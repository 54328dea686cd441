// Whole programs under `drywell exec`, compiled by nvcc where there is one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <regex>

#include "support/paths.h"
#include "support/process.h"

namespace drywell::test {
namespace {

namespace fs = std::filesystem;

/// nvcc's path, or nothing.
std::string nvcc() {
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* home = std::getenv(variable); home != nullptr && fs::exists(std::string(home) + "/bin/nvcc")) return std::string(home) + "/bin/nvcc";
  }
  return fs::exists("/usr/local/cuda/bin/nvcc") ? "/usr/local/cuda/bin/nvcc" : "";
}

Finished drywell(std::vector<std::string> arguments) { return run_process(binary_path(), arguments); }

class CompiledProgram : public testing::Test {
 protected:
  void SetUp() override {
    if (nvcc().empty()) GTEST_SKIP() << "no nvcc: CUDA programs are not compiled";
  }
  /// Compiles programs/`name`.cu by `drywell nvcc` once; its path.
  std::string program(const std::string& name, const std::vector<std::string>& flags = {}) {
    const std::string out = directory_.file(name);
    std::vector<std::string> words = {"nvcc", "-O1", "-std=c++17", "-o", out, source_path("tests/cudart/programs/" + name + ".cu")};
    words.insert(words.end(), flags.begin(), flags.end());
    const Finished f = drywell(words);
    EXPECT_EQ(f.exit_code, 0) << f.out << f.err;
    return out;
  }
  TemporaryDirectory directory_;
};

TEST_F(CompiledProgram, ProgramsVerifyThemselvesUnderEveryDriver) {
  for (const char* name : {"axpy", "tma_copy", "gemm_bf16", "gemm_mxf8", "streams"}) {
    const std::string path = program(name);
    for (const char* driver : {"eager", "lazy", "shuffled:3", "timed"}) {
      const Finished f = drywell({"exec", std::string("--driver=") + driver, "--", path});
      EXPECT_EQ(f.exit_code, 0) << name << " " << driver << "\n" << f.out << f.err;
      EXPECT_NE(f.out.find("Passed"), std::string::npos) << name << " " << driver << "\n" << f.out << f.err;
    }
  }
}

TEST_F(CompiledProgram, OutputOfKernelsIsInItsPlace) {
  const Finished f = drywell({"exec", "--summary", "--", program("axpy")});
  EXPECT_EQ(f.out, "axpy of 3000\naxpy of 3000\nno clock\nPassed: 3000 values\n");
  EXPECT_NE(f.err.find("2 launches"), std::string::npos) << f.err;
}

TEST_F(CompiledProgram, ACorruptByteIsFound) {
  const std::string path = program("gemm_bf16");
  for (const char* byte : {"0+1", "0+1001", "1+65", "2+3"}) {
    const Finished f = drywell({"exec", "--kernel=gemm_bf16", std::string("--corrupt=") + byte, "--", path});
    EXPECT_EQ(f.exit_code, 1) << byte << f.out << f.err;
    EXPECT_NE(f.out.find("Failed"), std::string::npos) << byte << f.out;
  }
  const Finished none = drywell({"exec", "--corrupt=90+0", "--", path});
  EXPECT_NE(none.err.find("E4605"), std::string::npos) << none.err;
}

TEST_F(CompiledProgram, PredictedTimeIsTheSameTwice) {
  const std::string path = program("gemm_bf16");
  const std::vector<std::string> words = {"exec", "--driver=timed", "--", path, "256", "256", "512"};
  const Finished first = drywell(words), second = drywell(words);
  EXPECT_EQ(first.out, second.out);
  std::smatch m;
  ASSERT_TRUE(std::regex_search(first.out, m, std::regex("([0-9.]+) TFLOP/s"))) << first.out;
  const double tflops = std::stod(m[1]);
  EXPECT_GT(tflops, 0);
  EXPECT_LT(tflops, 2500);  // the chip's bf16 peak is 2.25 PFLOP/s
}

TEST_F(CompiledProgram, AFaultIsToldOnceAndTheProgramGetsItsNumber) {
  const Finished f = drywell({"exec", "--", program("fault")});
  EXPECT_EQ(f.exit_code, 3) << f.out << f.err;
  EXPECT_EQ(f.out, "cudaErrorIllegalAddress\n");
  EXPECT_NE(f.err.find("F3001"), std::string::npos) << f.err;
  EXPECT_NE(f.err.find("fault.cu:4"), std::string::npos) << f.err;  // its line
  EXPECT_EQ(f.err.find("F3001"), f.err.rfind("F3001")) << f.err;
}

TEST_F(CompiledProgram, HazardsAreToldAndChangeTheExitStatus) {
  const std::string path = program("race");
  EXPECT_EQ(drywell({"exec", "--", path}).exit_code, 0);
  const Finished f = drywell({"exec", "--check", "--summary", "--", path});
  EXPECT_EQ(f.exit_code, 1) << f.err;
  EXPECT_EQ(f.out, "done\n");
  EXPECT_NE(f.err.find("race.cu:7"), std::string::npos) << f.err;
  EXPECT_NE(f.err.find("hazards"), std::string::npos) << f.err;
  EXPECT_EQ(drywell({"exec", "--check", "--kernel=other", "--", path}).exit_code, 0);
  const Finished clean = drywell({"exec", "--check", "--", program("gemm_bf16")});
  EXPECT_EQ(clean.exit_code, 0) << clean.err;
}

TEST_F(CompiledProgram, EveryCompressionAndTheDriversLibraryBesideTheRuntime) {
  for (const char* mode : {"-compress-mode=none", "-compress-mode=speed", "-compress-mode=size", "--default-stream=per-thread"}) {
    const Finished f = drywell({"exec", "--", program("tma_copy", {mode, "-L/usr/local/cuda/lib64/stubs", "-lcuda"})});
    EXPECT_EQ(f.exit_code, 0) << mode << f.out << f.err;
  }
}

TEST_F(CompiledProgram, AStaticRuntimeIsRefusedWithTheRemedy) {
  const Finished f = drywell({"exec", "--", program("axpy", {"-cudart=static"})});
  EXPECT_EQ(f.exit_code, 3);
  EXPECT_NE(f.err.find("E4612"), std::string::npos) << f.err;
  EXPECT_NE(f.err.find("-cudart shared"), std::string::npos) << f.err;
}

TEST_F(CompiledProgram, MachineCodeAloneIsRefusedWithTheRemedy) {
  const Finished f = drywell({"exec", "--", program("axpy", {"-gencode=arch=compute_100a,code=sm_100a"})});
  EXPECT_NE(f.exit_code, 0);
  EXPECT_NE(f.err.find("E4603"), std::string::npos) << f.err;
  EXPECT_NE(f.err.find("drywell nvcc"), std::string::npos) << f.err;
}

TEST_F(CompiledProgram, ReportsAndTracesAreWrittenAtTheEnd) {
  const std::string path = program("axpy");
  const Finished f = drywell({"exec", "--driver=timed", "--report=" + directory_.file("r.json"), "--trace=" + directory_.file("t.zst"), "--", path});
  ASSERT_EQ(f.exit_code, 0) << f.err;
  EXPECT_TRUE(fs::exists(directory_.file("r.json")));
  EXPECT_EQ(drywell({"trace", "show", directory_.file("t.zst")}).exit_code, 0);
}

TEST(Exec, WhatCannotRunIsSaidAtOnce) {
  if (binary_path().empty()) GTEST_SKIP() << "the tools are not built";
  EXPECT_NE(drywell({"exec"}).err.find("which program"), std::string::npos);
  EXPECT_NE(drywell({"exec", "--", "/no/such/program"}).err.find("E4610"), std::string::npos);
  EXPECT_EQ(drywell({"exec", "--driver=slow", "--", "/bin/true"}).exit_code, 2);
  EXPECT_EQ(drywell({"exec", "--arch=sm_1", "--", "/bin/true"}).exit_code, 3);
}

TEST(Exec, AProgramWithoutCudaIsLeftAlone) {
  if (binary_path().empty()) GTEST_SKIP() << "the tools are not built";
  const Finished f = drywell({"exec", "--summary", "--", "/bin/echo", "--driver=x", "hello"});
  EXPECT_EQ(f.exit_code, 0);
  EXPECT_EQ(f.out, "--driver=x hello\n");
}

}  // namespace
}  // namespace drywell::test
