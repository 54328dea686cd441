// A folder that ends with the object that made it.
#pragma once

#include <filesystem>
#include <string>

namespace drywell::tools {

class TemporaryFolder {
 public:
  /// Makes a folder whose name is `stem`, a dash or dot of its own included, and six more characters. Throws InputError E4008.
  explicit TemporaryFolder(const std::filesystem::path& stem);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace drywell::tools
