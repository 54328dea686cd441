// Whole programs under `drywell exec`, compiled by nvcc where there is one.
#include <cstring>
#include <filesystem>
#include <regex>

#include "compiled_program.h"
#include "drywell/core/files.h"
#include "drywell/core/npy.h"

namespace drywell::test {
namespace {

namespace fs = std::filesystem;

TEST_F(CompiledProgram, ProgramsVerifyThemselvesUnderEveryDriver) {
  for (const char* name : {"axpy", "tma_copy", "gemm_bf16", "gemm_mxf8", "gemm_nvf4", "streams"}) {
    const std::string path = program(name);
    for (const char* driver : {"eager", "lazy", "shuffled:3", "timed"}) {
      const Finished f = drywell({"exec", std::string("--driver=") + driver, "--", path});
      EXPECT_EQ(f.exit_code, 0) << name << " " << driver << "\n"
                                << f.out << f.err;
      EXPECT_NE(f.out.find("Passed"), std::string::npos) << name << " " << driver << "\n"
                                                         << f.out << f.err;
    }
  }
}

TEST_F(CompiledProgram, OutputOfKernelsIsInItsPlace) {
  const Finished f = drywell({"exec", "--summary", "--", program("axpy")});
  EXPECT_EQ(f.out, "axpy of 3000\naxpy of 3000\nno clock\nPassed: 3000 values\n");
  EXPECT_NE(f.err.find("2 launches"), std::string::npos) << f.err;
}

// The digest of memory after a launch: the same under every driver, different with a wrong byte.
TEST_F(CompiledProgram, TheSummaryTellsWhereValuesPart) {
  const std::string path = program("gemm_bf16");
  const auto values = [&](const std::string& option) {
    const Finished f = exec({"--summary", option}, path);
    std::smatch m;
    EXPECT_TRUE(std::regex_search(f.err, m, std::regex("gemm_bf16 .* values ([0-9a-f]{8})"))) << f.err;
    return m.str(1);
  };
  const std::string eager = values("--driver=eager");
  for (const char* driver : {"--driver=lazy", "--driver=shuffled:9", "--driver=timed"}) EXPECT_EQ(values(driver), eager) << driver;
  EXPECT_NE(values("--corrupt=0+1"), eager);
}

// The kernel that is named has a clock, the others run as before; without values it leaves wrong results.
TEST_F(CompiledProgram, OneKernelOfAProgramIsTimed) {
  const std::string path = program("gemm_bf16");
  const auto seconds = [&](const std::vector<std::string>& options) {
    const Finished f = exec(options, path);
    std::smatch m;
    EXPECT_TRUE(std::regex_search(f.err, m, std::regex("gemm_bf16 .* ([0-9]+) cycles"))) << f.err;
    return m.str(1);
  };
  const std::string all = seconds({"--summary", "--driver=timed"});
  EXPECT_EQ(seconds({"--summary", "--time=gemm"}), all);
  EXPECT_EQ(seconds({"--summary", "--time=gemm", "--no-values"}), all);
  const Finished other = exec({"--summary", "--time=other"}, path);
  EXPECT_EQ(other.exit_code, 2) << other.err;
  EXPECT_NE(other.err.find("drywell: error: --time=other matches no kernel that the program launched"), std::string::npos) << other.err;
  EXPECT_EQ(other.err.find(" cycles "), std::string::npos) << "no launch had a clock\n"
                                                           << other.err;
  EXPECT_EQ(exec({"--time=gemm"}, path).exit_code, 0);
  EXPECT_EQ(exec({"--time=gemm", "--no-values"}, path).exit_code, 1) << "the program looks at its results";
}

// A launch of the program, repeated by the command: y, read from the dump, becomes 3 x + (y + 0.5) with the constants that the host wrote.
TEST_F(CompiledProgram, LaunchesAreDumpedAsLaunchFiles) {
  const TemporaryDirectory d;
  const Finished f = exec({"--dump=" + d.file("dump")}, program("axpy"));
  ASSERT_EQ(f.exit_code, 0) << f.out << f.err;
  ASSERT_TRUE(fs::exists(d.file("dump/000-axpy/launch.toml"))) << f.err;
  const Finished ran = drywell({"run", d.file("dump/001-axpy/launch.toml"), "--check", "--save", "b0=" + d.file("y.npy")});
  ASSERT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  const NpyArray y = read_npy(d.file("y.npy"));
  ASSERT_EQ(y.data.size(), 12000u);
  for (size_t i = 0; i < 3000; ++i) {
    float value = 0;
    std::memcpy(&value, y.data.data() + 4 * i, 4);
    ASSERT_EQ(value, 8.0f * static_cast<float>(i) + 1) << i << ": after the second launch";
  }
  const Finished none = exec({"--dump=" + d.file("none"), "--kernel=other"}, program("axpy"));
  EXPECT_EQ(none.exit_code, 2) << none.err;
  EXPECT_FALSE(fs::exists(d.file("none"))) << "no kernel of that name";
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

TEST_F(CompiledProgram, AllocationsAreListedWithTheirFirstWriters) {
  const Finished f = exec({"--corrupt=list", "--leaks"}, program("gemm_bf16"));
  EXPECT_EQ(f.exit_code, 0) << f.err;
  EXPECT_TRUE(std::regex_search(f.err, std::regex("[0-9]+ bytes  first written by the host"))) << f.err;
  EXPECT_TRUE(std::regex_search(f.err, std::regex("[0-9]+ bytes  first written by launch 0, gemm_bf16"))) << f.err;
  EXPECT_NE(f.err.find("4 allocations with"), std::string::npos) << f.err;  // two operands, a bias and the result
}

TEST_F(CompiledProgram, AProgramThatCallsNothingOfCudaIsExplained) {
  const Finished f = drywell({"exec", "--", "/bin/true"}), used = exec({}, program("axpy"));
  EXPECT_EQ(f.exit_code, 0);
  EXPECT_NE(f.err.find("no CUDA function"), std::string::npos) << f.err;
  EXPECT_EQ(used.err.find("no CUDA function"), std::string::npos) << used.err;
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

TEST_F(CompiledProgram, HazardsAreToldAndChangeTheExitStatus) {
  const std::string path = program("race");
  EXPECT_EQ(drywell({"exec", "--", path}).exit_code, 0);
  const Finished f = drywell({"exec", "--check", "--summary", "--", path});
  EXPECT_EQ(f.exit_code, 1) << f.err;
  EXPECT_EQ(f.out, "done\n");
  EXPECT_NE(f.err.find("race.cu:7"), std::string::npos) << f.err;
  EXPECT_NE(f.err.find("hazards"), std::string::npos) << f.err;
  const Finished other = drywell({"exec", "--check", "--kernel=other", "--", path});
  EXPECT_EQ(other.exit_code, 2) << "nothing was checked";
  EXPECT_EQ(other.err, "drywell: error: --kernel=other matches no kernel that the program launched; --summary lists the launches\n");
  EXPECT_EQ(drywell({"exec", "--kernel=other", "--", "/bin/true"}).exit_code, 2) << "nothing was launched";
  EXPECT_EQ(drywell({"exec", "--", "/bin/true"}).exit_code, 0);
  const Finished clean = drywell({"exec", "--check", "--", program("gemm_bf16")});
  EXPECT_EQ(clean.exit_code, 0) << clean.err;
}

// The first launch of the program comes after main, the second after everything that it made is gone.
TEST_F(CompiledProgram, LaunchesAfterMain) {
  const Finished f = exec({}, program("at_exit"));
  EXPECT_EQ(f.exit_code, 0) << f.err;
  EXPECT_EQ(f.out, "handler 0\ndestructor 0 42\n") << f.err;
}

TEST_F(CompiledProgram, NothingRanNeverLooksLikePassed) {
  const Finished f = exec({}, program("poison"));
  EXPECT_EQ(f.exit_code, 1);
  EXPECT_EQ(f.out, "Failed: 512 of 512 values differ\n");
}

// Barriers over the grid need every CTA to run; a grid that does not fit is refused, and one that is not cooperative stopped.
TEST_F(CompiledProgram, CooperativeGridsMeetUnderEveryDriver) {
  const std::string path = program("grid_sync");
  for (const char* driver : {"eager", "lazy", "shuffled:3", "timed"}) {
    const Finished f = exec({std::string("--driver=") + driver}, path);
    EXPECT_EQ(f.exit_code, 0) << driver << "\n"
                              << f.out << f.err;
    EXPECT_NE(f.err.find("a cooperative grid of"), std::string::npos) << f.err;
  }
  const Finished checked = exec({"--check", "--kernel=hand_round|sum_of_tiles"}, path);
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
}

TEST_F(CompiledProgram, DynamicParallelismIsRefusedByName) {
  const Finished f = exec({}, program("nested", {"-rdc=true"}));
  EXPECT_EQ(f.exit_code, 0) << f.err;
  EXPECT_EQ(f.out, "without: 2, cudaSuccess\nwith: cudaErrorNotSupported\n") << f.err;
  EXPECT_NE(f.err.find("dynamic parallelism"), std::string::npos) << f.err;
}

TEST_F(CompiledProgram, TranslationUnitsAreLinked) {
  const std::string path = program("linked", {"linked_main", "linked_part"}, {"-rdc=true"});
  for (const char* driver : {"eager", "shuffled:3", "timed"}) {
    const Finished f = exec({std::string("--driver=") + driver}, path);
    EXPECT_EQ(f.exit_code, 0) << driver << "\n"
                              << f.out << f.err;
  }
}

TEST_F(CompiledProgram, GraphsHaveConditionsAndLinkedGridsABarrier) {
  const std::string path = program("conditions", {"-rdc=true", "-lcudadevrt"});
  for (const char* driver : {"eager", "shuffled:3", "timed"}) {
    const Finished f = exec({std::string("--driver=") + driver, "--check"}, path);
    EXPECT_EQ(f.exit_code, 0) << driver << "\n"
                              << f.out << f.err;
    EXPECT_EQ(f.out, "Passed: 4 values\n");
  }
}

TEST_F(CompiledProgram, WhatIsNotServedIsNamedOnce) {
  const Finished f = exec({}, program("refused"));
  EXPECT_EQ(f.exit_code, 0) << f.out << f.err;
  for (const char* name : {"cudaMallocArray", "cudaMalloc3DArray", "cudaMallocMipmappedArray", "cudaCreateTextureObject", "cudaCreateSurfaceObject",
                           "cudaIpcGetMemHandle", "cudaIpcOpenMemHandle", "cudaIpcGetEventHandle", "cudaImportExternalMemory"}) {
    const std::string line = std::string("drywell: ") + name + " is not served\n";
    EXPECT_NE(f.err.find(line), std::string::npos) << name << "\n"
                                                   << f.err;
    EXPECT_EQ(f.err.find(line), f.err.rfind(line)) << f.err;
  }
  EXPECT_NE(f.err.find("U5001: textures and surfaces ('tex.2d"), std::string::npos) << f.err;
  EXPECT_NE(f.err.find("U5001: textures and surfaces ('sust.b.2d"), std::string::npos) << f.err;
}

TEST_F(CompiledProgram, ALaunchIsStepped) {
  write_file_atomically(directory_.file("script"), "step\nprint %tid.x\nback\nquit\n");
  const std::string script = "--script=" + directory_.file("script");
  const Finished first = exec({"--break", script}, program("axpy"));
  EXPECT_EQ(first.exit_code, 0) << first.out << first.err;
  EXPECT_NE(first.out.find("(drywell) step"), std::string::npos) << first.out;
  EXPECT_NE(first.out.find("Passed"), std::string::npos) << first.out;  // left before its end, it ran on
  EXPECT_LT(first.out.find("(drywell)"), first.out.find("axpy of 3000"));
  const Finished second = exec({"--break=1", script}, program("axpy"));
  EXPECT_EQ(second.exit_code, 0) << second.out << second.err;
  EXPECT_GT(second.out.find("(drywell)"), second.out.find("axpy of 3000"));
  EXPECT_NE(second.out.find("Passed"), std::string::npos) << second.out;
  EXPECT_EQ(exec({"--break", "--kernel=other", script}, program("axpy")).out.find("(drywell)"), std::string::npos);
  EXPECT_EQ(drywell({"exec", "--break=now", "--", "/bin/true"}).exit_code, 2);
}

TEST_F(CompiledProgram, OfManyHazardsAScreenIsToldPerLaunch) {
  const Finished f = exec({"--check"}, program("many_races"));
  EXPECT_EQ(f.exit_code, 1);
  EXPECT_LE(std::count(f.err.begin(), f.err.end(), '\n'), 60) << f.err;
  EXPECT_NE(f.err.find("drywell: error H7401"), std::string::npos) << f.err;
  EXPECT_TRUE(std::regex_search(f.err, std::regex("drywell: and [0-9]+ more: H7401|the same at many_races.cu"))) << f.err;
}

TEST_F(CompiledProgram, EveryCompressionAndTheDriversLibraryBesideTheRuntime) {
  for (const char* mode : {"-compress-mode=none", "-compress-mode=speed", "-compress-mode=size", "--default-stream=per-thread"}) {
    const Finished f = drywell({"exec", "--", program("tma_copy", {mode, "-L/usr/local/cuda/lib64/stubs", "-lcuda"})});
    EXPECT_EQ(f.exit_code, 0) << mode << f.out << f.err;
  }
}

TEST_F(CompiledProgram, AStaticRuntimeGivesWayToTheStandIn) {
  for (const char* name : {"axpy", "streams", "copies", "launches"}) {
    const Finished own = exec({}, program(name, {"-cudart=static"})), shared = exec({}, program(name));
    EXPECT_EQ(own.exit_code, 0) << name << own.out << own.err;
    EXPECT_EQ(own.out, shared.out) << name;
  }
  const Finished f = exec({"--summary"}, program("axpy", {"-cudart=static"}));
  EXPECT_NE(f.err.find("launches"), std::string::npos) << f.err;
}

TEST_F(CompiledProgram, AStaticRuntimeWithoutSymbolsIsRefusedWithTheRemedy) {
  const Finished f = drywell({"exec", "--", program("axpy", {"-cudart=static", "-Xlinker=-s"})});
  EXPECT_EQ(f.exit_code, 3);
  EXPECT_NE(f.err.find("E4612"), std::string::npos) << f.err;
  EXPECT_NE(f.err.find("-cudart shared"), std::string::npos) << f.err;
}

TEST_F(CompiledProgram, TheCommandLineOfNvccIsKept) {
  const std::string source = source_path("tests/cudart/programs/fault.cu");
  const Finished ptx = drywell({"nvcc", "--target", "sm_90a", "-ptx", "-o", directory_.file("x.ptx"), source});
  ASSERT_EQ(ptx.exit_code, 0) << ptx.err;
  EXPECT_NE(read_text_file(directory_.file("x.ptx")).find(".target sm_90a"), std::string::npos);
  EXPECT_NE(drywell({"nvcc", "--version"}).out.find("Cuda compilation tools"), std::string::npos);
  EXPECT_NE(drywell({"nvcc", "-no-such-option", source}).exit_code, 0);
  // A program compiled for another chip runs only on that chip.
  const std::string path = program("axpy", {"-gencode=arch=compute_90a,code=compute_90a"});
  EXPECT_EQ(exec({"--arch=sm_90a"}, path).exit_code, 0);
  EXPECT_NE(exec({}, path).err.find("E4603"), std::string::npos);
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
  const std::string report = read_text_file(directory_.file("r.json"));
  EXPECT_NE(report.find("axpy"), std::string::npos) << report;
  EXPECT_TRUE(std::regex_search(report, std::regex("\"mangled\": \"_Z[0-9]*axpy"))) << report;
  EXPECT_NE(report.find("cycles"), std::string::npos) << report;
  const Finished trace = drywell({"trace", "show", directory_.file("t.zst")});
  EXPECT_EQ(trace.exit_code, 0);
  EXPECT_NE(trace.out.find("axpy"), std::string::npos) << trace.out.substr(0, 2000);
  // As text, and of no kernel.
  const Finished none = drywell({"exec", "--driver=timed", "--kernel=other", "--report=" + directory_.file("r.txt"), "--", path});
  EXPECT_EQ(none.exit_code, 2) << none.err;
  EXPECT_NE(read_text_file(directory_.file("r.txt")).find("axpy"), std::string::npos);
  EXPECT_LT(fs::file_size(directory_.file("r.txt")), report.size());
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

// A dependent launch may begin before the one ahead of it has ended; the checker knows which launches are.
TEST_F(CompiledProgram, DependentLaunchesWaitBeforeTheyRead) {
  const std::string path = program("dependent", {"-arch=sm_100a"});
  for (const char* wrong : {"early", "never"}) {
    const Finished f = exec({"--check"}, path, {wrong});
    EXPECT_EQ(f.exit_code, 1) << wrong << f.err;
    EXPECT_NE(f.err.find("error H7701"), std::string::npos) << wrong << f.err;
    EXPECT_NE(f.err.find("dependent.cu:"), std::string::npos) << wrong << f.err;
  }
  for (const char* right : {"late", "plain", "between", "synchronised", "whole"}) {
    const Finished f = exec({"--check"}, path, {right});
    EXPECT_EQ(f.exit_code, 0) << right << f.err;
    EXPECT_EQ(f.err.find(" H7"), std::string::npos) << right << f.err;
  }
}

}  // namespace
}  // namespace drywell::test
