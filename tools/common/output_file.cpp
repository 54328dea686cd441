#include "tools/common/output_file.h"

#include <fmt/format.h>

#include <sys/stat.h>

#include <filesystem>

#include "drywell/core/files.h"
#include "tools/common/command.h"

namespace drywell::tools {

void expect_writable(std::initializer_list<std::string> paths) {
  for (const std::string& path : paths) {
    if (!path.empty()) const PendingFile probe(path);
  }
}

void expect_writable_folder(const std::string& path) try {
  const PendingFile probe((std::filesystem::path(path) / "drywell-probe").string());
} catch (const InputError& e) {
  Diagnostic problem = e.diagnostics().list().front();
  problem.where.file = path;  // not the probe's name
  Diagnostics out;
  out.add(std::move(problem));
  throw InputError(std::move(out));
}

namespace {

bool is_file(const std::string& path) { return !path.empty() && path != "-"; }

/// Names a file independently of the path to it: its number on its device if it exists, else the path without links.
std::string identity(const std::string& path) {
  namespace fs = std::filesystem;
  struct stat st {};
  if (::stat(path.c_str(), &st) == 0) return fmt::format("{}:{}", st.st_dev, st.st_ino);
  std::error_code unknown;
  const fs::path file = fs::weakly_canonical(fs::absolute(path, unknown), unknown);
  return unknown ? path : file.string();
}

}  // namespace

void CommandFiles::reads(const std::string& what, const std::string& path) {
  if (is_file(path)) taken_.try_emplace(identity(path), Use{what, false});
}

void CommandFiles::writes(const std::string& what, const std::string& path) {
  if (!is_file(path)) return;
  const auto [other, fresh] = taken_.try_emplace(identity(path), Use{what, true});
  if (fresh) return;
  const Use& use = other->second;
  throw UsageError(use.written ? fmt::format("{} and {} would write the same file, {}", use.what, what, path) : fmt::format("{} would overwrite {}, {}", what, use.what, path), command_);
}

void expect_different(std::initializer_list<OutputOption> outputs, std::string_view command) {
  CommandFiles files{std::string(command)};
  for (const auto& [option, path] : outputs) files.writes(option, path);
}

}  // namespace drywell::tools
