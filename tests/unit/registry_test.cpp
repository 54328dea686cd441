// The table of kernels: rows the command line can work with.
#include "kernels/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "drywell/core/text.h"
#include "drywell/isa/validate.h"
#include "launch/golden.h"

namespace drywell::kernels {
namespace {

TEST(Registry, NamesAreUniqueAndPlain) {
  std::set<std::string_view> seen;
  for (const Kernel& k : all_kernels()) {
    EXPECT_TRUE(seen.insert(k.name).second) << k.name;
    EXPECT_EQ(k.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string_view::npos)
        << k.name;
    EXPECT_FALSE(k.doc.empty()) << k.name;
    EXPECT_EQ(k.doc.find('\n'), std::string_view::npos) << k.name;
  }
}

TEST(Registry, ParametersDoNotHideOptionsOfTheCommand) {
  for (const Kernel& k : all_kernels()) {
    for (const Parameter& p : k.parameters) {
      for (const std::string_view taken :
           {"arch", "driver", "verify", "json", "trace", "trace-profile", "trace-values", "input", "save",
            "threads", "report", "report-cta", "max-instructions", "no-values", "help", "output", "no-source"}) {
        EXPECT_NE(p.name, taken) << k.name;
      }
      EXPECT_FALSE(p.doc.empty()) << k.name << " --" << p.name;
    }
  }
}

TEST(Registry, DefaultsAreValuesAndBuildLegalKernels) {
  const sim::ArchConfig arch = sim::load_arch("sm_100a");
  for (const Kernel& k : all_kernels()) {
    const Params p(k.name, k.parameters, {});
    const Diagnostics d = isa::validate(k.build(p, arch));
    EXPECT_FALSE(d.has_errors()) << k.name << ": " << d.to_string();
  }
}

TEST(Params, ReportEveryMistakeAtOnce) {
  const std::vector<Parameter> known = {
      {.name = "rows", .default_value = "4", .doc = "rows", .least = 1},
      {.name = "fast", .type = ParamType::flag, .default_value = "false", .doc = "fast"}};
  const std::vector<std::pair<std::string, std::string>> given = {
      {"rows", "0"}, {"colums", "3"}, {"fast", "maybe"}};
  try {
    Params("k", known, given);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.diagnostics().error_count(), 3u) << e.what();
  }
}

TEST(Params, GiveTypedValues) {
  const std::vector<Parameter> known = {
      {.name = "rows", .default_value = "4", .doc = "rows"},
      {.name = "fast", .type = ParamType::flag, .default_value = "false", .doc = "fast"},
      {.name = "scale", .type = ParamType::real, .default_value = "1.5", .doc = "scale"},
      {.name = "mode",
       .type = ParamType::choice,
       .default_value = "a",
       .doc = "mode",
       .allowed = {"a", "b"}}};
  const std::vector<std::pair<std::string, std::string>> given = {
      {"rows", "0x10"}, {"fast", ""}, {"mode", "b"}};
  const Params p("k", known, given);
  EXPECT_EQ(p.integer("rows"), 16);
  EXPECT_TRUE(p.flag("fast"));
  EXPECT_EQ(p.real("scale"), 1.5);
  EXPECT_EQ(p.text("mode"), "b");
  EXPECT_TRUE(p.given("rows"));
  EXPECT_FALSE(p.given("scale"));
  EXPECT_THROW(p.integer("mode"), InternalError);
}

TEST(RunSpec, RoundTripsDrivers) {
  for (const char* text : {"eager", "lazy", "shuffled:0", "shuffled:9223372036854775807", "parted:9223372036854775807", "timed"}) {
    sim::RunOptions o;
    parse_driver(text, o);
    EXPECT_EQ(print_driver(o), text);
  }
  sim::RunOptions o;
  for (const char* text : {"shuffled:9223372036854775808", "parted:18446744073709551615", "eager:1", "parted:"}) EXPECT_THROW(parse_driver(text, o), InputError) << text;
}

TEST(Text, NearestIsNearEnoughOrNothing) {
  const std::vector<std::string_view> names = {"rows", "columns", "swizzle"};
  EXPECT_EQ(nearest("row", names), "rows");
  EXPECT_EQ(nearest("colunms", names), "columns");
  EXPECT_EQ(nearest("frobnicate", names), "");
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("ab", "ba"), 1u);
}

}  // namespace
}  // namespace drywell::kernels
