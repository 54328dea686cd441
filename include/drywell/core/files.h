// Whole files, read and written with one clear message when that fails.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace drywell {

/// Throws InputError E4001 if `path` is not a regular file or cannot be read.
std::vector<std::byte> read_file(const std::string& path);
std::string read_text_file(const std::string& path);

/// A file on its way: until commit() puts it in place it has no name or, where the file system knows no such files, lies
/// beside `path` under another. Without commit it is gone, and `path` is what it was. Made before lengthy work, it tells
/// early that `path` cannot be written. If `path` is a link, what it names is written.
class PendingFile {
 public:
  /// Throws InputError E4008 if `path` cannot be written.
  explicit PendingFile(std::string path);
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  const std::string& path() const { return path_; }
  /// Throw InputError E4008.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  void commit();

 private:
  [[noreturn]] void fail(int error);
  std::string path_, beside_;  // beside_: empty while the file has no name
  int fd_ = -1;
};

/// Writes beside `path` and renames, so that `path` is either the whole new file or what it was before.
/// Throws InputError E4008 (cannot be written).
void write_file_atomically(const std::string& path, std::span<const std::byte> bytes);
void write_file_atomically(const std::string& path, std::string_view text);

}  // namespace drywell
