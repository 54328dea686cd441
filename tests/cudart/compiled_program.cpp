#include "compiled_program.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

namespace drywell::test {
namespace {

namespace fs = std::filesystem;

bool has_nvcc() {
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* home = std::getenv(variable); home != nullptr && fs::exists(std::string(home) + "/bin/nvcc")) return true;
  }
  return fs::exists("/usr/local/cuda/bin/nvcc");
}

/// Whether `program` was made after every source, and after the `drywell` that compiled it.
bool is_fresh(const fs::path& program) {
  if (!fs::exists(program)) return false;
  const auto made = fs::last_write_time(program);
  for (const char* folder : {"tests/cudart/programs", "tests/cudart/hazard_pairs", "examples/cuda"}) {
    for (const auto& source : fs::directory_iterator(source_path(folder))) {
      if (source.last_write_time() > made) return false;
    }
  }
  return true;
}

}  // namespace

void CompiledProgram::SetUp() {
  if (binary_path().empty()) GTEST_SKIP() << "the tools are not built";
  if (!has_nvcc()) GTEST_SKIP() << "no nvcc: CUDA programs are not compiled";
}

std::string CompiledProgram::program(const std::string& name, const std::vector<std::string>& units, const std::vector<std::string>& flags) {
  std::string words = name;
  for (const std::string& f : flags) words += " " + f;
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path() / "compiled";
  fs::create_directories(folder);
  const fs::path out = folder / (name + "-" + std::to_string(std::hash<std::string>()(words)));
  if (is_fresh(out)) return out;
  const std::string fresh = out.string() + "." + std::to_string(::getpid());  // tests run beside each other
  std::vector<std::string> arguments = {"nvcc", "-O1", "-std=c++17", "-o", fresh};
  for (const std::string& u : units) arguments.push_back(source_path("tests/cudart/programs/" + u + ".cu"));
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  const Finished f = drywell(arguments);
  EXPECT_EQ(f.exit_code, 0) << f.out << f.err;
  fs::rename(fresh, out);
  return out;
}

Finished CompiledProgram::exec(const std::vector<std::string>& options, const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"exec"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", program});
  words.insert(words.end(), arguments.begin(), arguments.end());
  return drywell(words);
}

}  // namespace drywell::test
