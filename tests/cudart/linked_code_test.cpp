// Code of CUDA that is linked into libraries, or that compiles while a program runs: programs under `drywell
// exec`.
#include <cstdlib>
#include <filesystem>

#include "compiled_program.h"
#include "cudart/function_symbols.h"
#include "cudart/mapped_file.h"
#include "cudart/redirect.h"
#include "cudart/runtime_archive.h"

namespace drywell::test {
namespace {

namespace fs = std::filesystem;

std::string cuda_library(const std::string& name) {
  const char* home = std::getenv("CUDA_HOME");
  return std::string(home != nullptr ? home : "/usr/local/cuda") + "/lib64/" + name;
}

class LoadedLibrary : public CompiledProgram {
 protected:
  std::string plugin(const std::vector<std::string>& more) {
    std::vector<std::string> flags = {"-shared", "-Xcompiler=-fPIC", "-cudart=static"};
    flags.insert(flags.end(), more.begin(), more.end());
    return program("plugin", flags);
  }
  Finished load(const std::string& library, const std::string& ptx = "100") {
    return exec({"--summary"}, program("loads", {"-x=c++", "-cudart=none", "-ldl"}), {library, ptx});
  }
};

// Its constructors register device code: the stand-in has to be in place before they run.
TEST_F(LoadedLibrary, HasARuntimeOfItsOwnThatGivesWay) {
  const Finished f = load(plugin({}));
  EXPECT_EQ(f.exit_code, 0) << f.out << f.err;
  EXPECT_EQ(f.out, "Passed: 64 values\n");
  EXPECT_NE(f.err.find("1 launch,"), std::string::npos) << f.err;
}

TEST_F(LoadedLibrary, WithoutSymbolsIsNamedWithTheRemedy) {
  const std::string library = plugin({"-Xlinker=-s"});
  const Finished f = load(library);
  EXPECT_NE(f.exit_code, 0) << f.out;
  EXPECT_NE(f.err.find(fs::path(library).filename().string() + " has a CUDA runtime linked into it"),
            std::string::npos)
      << f.err;
  EXPECT_NE(f.err.find(cudart::kArchivesVariable), std::string::npos) << f.err;
}

TEST_F(LoadedLibrary, WithoutSymbolsIsServedWithTheArchiveOfItsRuntime) {
  const std::string archive = cuda_library("libcudart_static.a");
  if (!fs::exists(archive)) GTEST_SKIP() << "no " << archive;
  const std::string library = plugin({"-Xlinker=-s"});
  ::setenv(cudart::kArchivesVariable, ("/no/such/archive.a:" + archive).c_str(), 1);
  const Finished f = load(library);
  ::unsetenv(cudart::kArchivesVariable);
  EXPECT_EQ(f.exit_code, 0) << f.out << f.err;
  EXPECT_EQ(f.out, "Passed: 64 values\n");
}

// PTX for an older chip runs on every later one, and says which it was compiled for: CUB chooses its tuning
// by that.
TEST_F(LoadedLibrary, MayHavePtxForAnOlderChip) {
  const Finished f = load(plugin({"-gencode=arch=compute_75,code=compute_75"}), "75");
  EXPECT_EQ(f.exit_code, 0) << f.out << f.err;
}

// The same functions as the symbol table of the library that still has one; one changed byte of code, and
// there are none.
TEST_F(LoadedLibrary, IsSearchedForAllOfTheArchivesCode) {
  const std::string path = cuda_library("libcudart_static.a");
  if (!fs::exists(path)) GTEST_SKIP() << "no " << path;
  const cudart::MappedFile library(plugin({})), archive(path);
  const auto found = cudart::find_runtime(library.bytes(), archive.bytes());
  std::map<std::string, uint64_t> symbols;
  cudart::for_each_function(library.bytes(), cudart::SymbolTable::linker,
                            [&](const cudart::FunctionSymbol& s) { symbols[s.name] = s.address; });
  size_t public_names = 0;
  for (const auto& [name, address] : found) {
    if (!name.starts_with("cuda")) continue;
    ++public_names;
    EXPECT_EQ(symbols[name], address) << name;
  }
  EXPECT_GT(public_names, 300u);
  std::vector<std::byte> changed(library.bytes().begin(), library.bytes().end());
  const auto code =
      std::find_if(found.begin(), found.end(), [](const auto& f) { return f.first == "cudaMalloc"; });
  ASSERT_NE(code, found.end());
  changed[code->second] ^= std::byte{1};  // the first segment is mapped at its offset, and the code's, too
  EXPECT_TRUE(cudart::find_runtime(changed, archive.bytes()).empty());
  // Members begin at even addresses, not at those that records of ELF need.
  const std::string magic = "!<arch>\n", member = "x/" + std::string(46, ' ') + "2" + std::string(9, ' ') + "`\n\n\n";
  std::vector<std::byte> moved;
  for (const char c : magic + member) moved.push_back(static_cast<std::byte>(c));
  moved.insert(moved.end(), archive.bytes().begin() + static_cast<ptrdiff_t>(magic.size()), archive.bytes().end());
  EXPECT_EQ(cudart::find_runtime(library.bytes(), moved), found);
  EXPECT_TRUE(cudart::find_runtime(library.bytes(), archive.bytes().first(100)).empty());
  EXPECT_TRUE(cudart::find_runtime(library.bytes().first(1000), archive.bytes()).empty());
}

// On a host with other machine code nothing is overwritten, and the sentence says so.
TEST(LinkedRuntime, StaysWhereCodeCannotBeReplaced) {
  EXPECT_EQ(cudart::runtime_stays("libx.so", true), "libx.so has a CUDA runtime linked into it, and no symbol table that would let Drywell's take its place");
  EXPECT_EQ(cudart::runtime_stays("libx.so", false),
            "libx.so has a CUDA runtime linked into it, and Drywell's cannot take its place on this kind of host, which is not x86-64");
}

TEST_F(CompiledProgram, CompilersAndLinkersAtRunTimeGivePtx) {
  if (!fs::exists(cuda_library("libnvrtc.so")) || !fs::exists(cuda_library("libnvJitLink.so")))
    GTEST_SKIP() << "no NVRTC or nvJitLink";
  const std::string path =
      program("compilers", {"-lnvrtc", "-lnvJitLink", "-L" + cuda_library("stubs"), "-lcuda"});
  for (const char* driver : {"--driver=eager", "--driver=timed"}) {
    const Finished f = exec({driver, "--check"}, path);
    EXPECT_EQ(f.exit_code, 0) << f.out << f.err;
    EXPECT_EQ(f.out, "Passed: 128 values\n");
  }
}

}  // namespace
}  // namespace drywell::test
