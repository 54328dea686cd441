// Checks that the command reports a mistake on its command line with one message on standard error.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/process.h"

namespace drywell::test {

struct Mistake {
  const char* name;
  std::vector<std::string> arguments;
  int exit_code;
  const char* message;
};

/// Returns the output for further checks.
inline Finished expect_one_message(const Mistake& m) {
  Finished f = drywell(m.arguments);
  EXPECT_EQ(f.exit_code, m.exit_code) << f.err;
  EXPECT_THAT(f.err, testing::StartsWith("drywell: "));
  EXPECT_THAT(f.err, testing::HasSubstr(m.message));
  return f;
}

}  // namespace drywell::test
