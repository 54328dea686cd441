// What the command says of a mistake on its command line: one message on standard error.
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

/// Returns what came, for what else a test expects.
inline Finished expect_one_message(const Mistake& m) {
  Finished f = drywell(m.arguments);
  EXPECT_EQ(f.exit_code, m.exit_code) << f.err;
  EXPECT_THAT(f.err, testing::StartsWith("drywell: "));
  EXPECT_THAT(f.err, testing::HasSubstr(m.message));
  return f;
}

}  // namespace drywell::test
