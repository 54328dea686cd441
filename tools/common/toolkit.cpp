#include "tools/common/toolkit.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "launch/unavailable.h"

extern char** environ;

namespace drywell::tools {

std::string find_toolkit_program(const std::string& name) {
  std::string directories;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* home = std::getenv(variable); home != nullptr) directories += std::string(home) + "/bin:";
  }
  if (const char* path = std::getenv("PATH"); path != nullptr) directories += std::string(path) + ":";
  // If DRYWELL_CUDA_BIN names a directory, only that directory is searched.
  if (const char* only = std::getenv("DRYWELL_CUDA_BIN"); only != nullptr)
    directories = only;
  else
    directories += "/usr/local/cuda/bin";
  std::istringstream in(directories);
  for (std::string directory; std::getline(in, directory, ':');) {
    const std::string candidate = directory + "/" + name;
    if (!directory.empty() && ::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  throw kernels::Unavailable(Code::E4510, fmt::format("no {} on this machine", name), "set CUDA_HOME, or put CUDA 13.0's bin directory into PATH");
}

std::string find_ptxas() { return find_toolkit_program("ptxas"); }

ProcessResult run_program(const std::string& path, const std::vector<std::string>& arguments) {
  std::vector<char*> argv = {const_cast<char*>(path.c_str())};
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  int ends[2];
  DRYWELL_CHECK(::pipe(ends) == 0, "no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, path.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  ProcessResult out;
  if (error == 0) {
    char buffer[4096];
    for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;) out.output.append(buffer, static_cast<size_t>(n));
    int status = 0;
    ::waitpid(child, &status, 0);
    out.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  }
  ::close(ends[0]);
  return out;
}

}  // namespace drywell::tools
