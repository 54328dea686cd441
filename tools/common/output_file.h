// Output files of long commands.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

namespace drywell::tools {

/// Called before the work: throws InputError E4008 for the first of `paths` (empty: not requested) that cannot be
/// written.
void expect_writable(std::initializer_list<std::string> paths);

/// The same for files in the folder `path`.
void expect_writable_folder(const std::string& path);

struct OutputOption {
  const char* option;
  const std::string& path;  // empty: not requested; "-": standard output
};
/// The files of a command: an output is neither an input nor another output, by whatever path, link or hard link.
class CommandFiles {
 public:
  explicit CommandFiles(std::string command) : command_(std::move(command)) {}
  /// `what` names the file in a message: an option, or "the file". Empty paths and "-" are no files.
  void reads(const std::string& what, const std::string& path);
  /// Throws UsageError if the file is read, or written for another option.
  void writes(const std::string& what, const std::string& path);

 private:
  struct Use {
    std::string what;
    bool written = false;
  };
  std::string command_;
  std::map<std::string, Use> taken_;  // by identity
};
/// Throws UsageError if two options of `command` name the same file, also by different paths.
void expect_different(std::initializer_list<OutputOption> outputs, std::string_view command);

}  // namespace drywell::tools
