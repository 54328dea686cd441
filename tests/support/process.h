// Runs the drywell binary as a user would.
#pragma once

#include <string>
#include <vector>

namespace drywell::test {

struct Finished {
  int exit_code = -1;
  std::string out, err;
};

/// Runs `program` with `arguments` (no shell) and waits for it.
Finished run_process(const std::string& program, const std::vector<std::string>& arguments);
/// The drywell command.
Finished drywell(const std::vector<std::string>& arguments);

/// A fresh directory that goes away with its owner.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace drywell::test
