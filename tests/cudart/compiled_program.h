// Programs of tests/cudart/programs, compiled by `drywell nvcc` where there is an nvcc, and run under `drywell exec`.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/paths.h"
#include "support/process.h"

namespace drywell::test {

class CompiledProgram : public testing::Test {
 protected:
  /// Skips where there is no nvcc.
  void SetUp() override;
  /// Path of programs/`name`.cu, compiled. It is kept beside the tests until a source is newer.
  static std::string program(const std::string& name, const std::vector<std::string>& flags = {}) { return program(name, {name}, flags); }
  /// The same of several translation units.
  static std::string program(const std::string& name, const std::vector<std::string>& units, const std::vector<std::string>& flags);

  /// `drywell exec OPTIONS -- PROGRAM ARGUMENTS`
  static Finished exec(const std::vector<std::string>& options, const std::string& program, const std::vector<std::string>& arguments = {});
  TemporaryDirectory directory_;
};

}  // namespace drywell::test
