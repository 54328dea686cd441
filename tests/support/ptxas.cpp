#include "support/ptxas.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace drywell::test {
namespace {

namespace fs = std::filesystem;

/// A directory that goes away with it.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string name = (fs::temp_directory_path() / "drywell-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

}  // namespace

std::string find_ptxas() {
  std::string directories;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* home = std::getenv(variable); home != nullptr) directories += std::string(home) + "/bin:";
  }
  if (const char* path = std::getenv("PATH"); path != nullptr) directories += std::string(path) + ":";
  directories += "/usr/local/cuda/bin";
  std::istringstream in(directories);
  for (std::string directory; std::getline(in, directory, ':');) {
    const std::string candidate = directory + "/ptxas";
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

std::optional<PtxasResult> run_ptxas(const std::string& ptx, const std::string& target) {
  const std::string ptxas = find_ptxas();
  if (ptxas.empty()) return std::nullopt;
  const ScratchDirectory scratch;
  std::ofstream(scratch / "in.ptx", std::ios::binary) << ptx;
  const std::string command = fmt::format("'{}' -O0 -arch={} '{}' -o '{}' 2>&1", ptxas, target,
                                          (scratch / "in.ptx").string(), (scratch / "out.cubin").string());
  PtxasResult result;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  std::array<char, 4096> buffer;
  while (const size_t n = fread(buffer.data(), 1, buffer.size(), pipe)) {
    result.output.append(buffer.data(), n);
  }
  result.accepted = pclose(pipe) == 0;
  return result;
}

}  // namespace drywell::test
