#include "support/twins.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "drywell/isa/parse.h"
#include "drywell/isa/validate.h"
#include "support/ptxas.h"

namespace drywell::test {
namespace {

std::string module_around(const Twin& t) {
  return ".version 9.0\n.target " + t.target +
         "\n.address_size 64\n.extern .shared .align 128 .b8 smem[];\n.entry twin(.param .u64 p)\n.maxntid 128\n{\n"
         ".reg .b32 %r<300>;\n.reg .b64 %rd<140>;\n.reg .b16 %rs<40>;\n.reg .f32 %f<300>;\n.reg .f64 %fd<40>;\n"
         ".reg .pred %p<20>;\n.reg .b128 %rq<10>;\n" +
         t.instruction + ";\nret;\n}\n";
}

}  // namespace

void check_twins(const std::vector<Twin>& twins) {
  for (const Twin& t : twins) {
    SCOPED_TRACE(t.instruction + " on " + t.target);
    isa::ParseResult r = isa::parse_ptx(module_around(t), "twin.ptx");
    std::string said = r.diagnostics.to_string();
    if (!r.diagnostics.has_errors()) said += isa::validate(r.module).to_string();
    if (!t.code.has_value()) {
      EXPECT_EQ(said, "");
    } else {
      EXPECT_NE(said.find(fmt::format("error {}", code_name(*t.code))), std::string::npos) << "said: " << said;
    }
    if (!t.ptxas_too) continue;
    if (const auto judged = run_ptxas(module_around(t), t.target); judged.has_value()) {
      EXPECT_EQ(judged->accepted, !t.code.has_value()) << judged->output;
    }
  }
}

}  // namespace drywell::test
