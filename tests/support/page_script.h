// The script of a page of `drywell tmem show` or `smem show`, run by node as a browser runs it.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "support/process.h"

namespace drywell::test {

/// Runs `expression` of JavaScript with the functions of the page's model.
inline nlohmann::json evaluate(const std::string& page, const std::string& expression) {
  const std::string script =
      "const html = require('fs').readFileSync('" + page +
      "', 'utf8'), from = html.indexOf('<script>') + 8, m = {exports: {}};"
      "new Function('module', 'require', html.slice(from, html.indexOf('</script>', from)))(m, require);"
      "const {describe, differing, find, moments, barriersAt, D} = m.exports; console.log(JSON.stringify(" +
      expression + "));";
  const Finished f = run_process("/usr/bin/env", {"node", "-e", script});
  EXPECT_EQ(f.exit_code, 0) << f.err;
  return f.exit_code == 0 ? nlohmann::json::parse(f.out) : nlohmann::json();
}

/// Tests that run the page's script.
class PageScript : public testing::Test {
 protected:
  void SetUp() override {
    static const bool has_node = run_process("/usr/bin/env", {"node", "--version"}).exit_code == 0;
    if (!has_node) GTEST_SKIP() << "no node: the page's script is not run";
  }
};

}  // namespace drywell::test
