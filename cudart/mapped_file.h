// A file's bytes, mapped: libraries have hundreds of megabytes, of which a look at their headers needs few.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace drywell::cudart {

class MappedFile {
 public:
  /// A file that cannot be read has no bytes.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

/// A view of records in a file; empty if the file does not contain all of them, or not at addresses of their
/// alignment.
template <class T>
std::span<const T> records(std::span<const std::byte> file, uint64_t offset, uint64_t count) {
  if (offset > file.size() || count > (file.size() - offset) / sizeof(T)) return {};
  if (reinterpret_cast<uintptr_t>(file.data() + offset) % alignof(T) != 0) return {};
  return {reinterpret_cast<const T*>(file.data() + offset), count};
}

}  // namespace drywell::cudart
