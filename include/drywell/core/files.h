// Reads and writes whole files, with one clear message on failure. Functions may be called at the same time for
// different paths.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace drywell {

/// Throws InputError E4001 if `path` is not a regular file or cannot be read.
std::vector<std::byte> read_file(const std::string& path);
/// The same as text; bytes are not checked.
std::string read_text_file(const std::string& path);

/// A file that is not visible under its path yet. Until commit() the file has no name or, on file systems without
/// nameless files, a temporary name beside `path`. Without commit the file is deleted, and `path` is unchanged. Created
/// before lengthy work, it reports early that `path` cannot be written. If `path` is a link, the link's target is
/// written. One thread uses it at a time.
class PendingFile {
 public:
  /// Throws InputError E4008 if `path` cannot be written.
  explicit PendingFile(std::string path);
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  /// The path that commit() makes visible.
  const std::string& path() const { return path_; }
  /// These throw InputError E4008.
  void write(std::span<const std::byte> bytes);
  /// Appends text. Throws InputError E4008.
  void write(std::string_view text);
  /// Makes the file visible under its path. Throws InputError E4008.
  void commit();

 private:
  [[noreturn]] void fail(int error);
  bool name();                 // gives a nameless file its path; false: errno is the reason
  std::string path_, beside_;  // beside_: empty while the file has no name
  int fd_ = -1;
};

/// Writes a temporary file and renames it, so that `path` is either the whole new file or unchanged. Throws InputError
/// E4008 (cannot be written).
void write_file_atomically(const std::string& path, std::span<const std::byte> bytes);
/// The same with text.
void write_file_atomically(const std::string& path, std::string_view text);

}  // namespace drywell
