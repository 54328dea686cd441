// The registers that loads, stores and vectors of mov take: tables of ptxas 13.0's answers, asked again where there is a ptxas.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "drywell/isa/parse.h"
#include "drywell/isa/validate.h"
#include "support/ptxas.h"

namespace drywell::isa {
namespace {

using Words = std::vector<std::string>;

Words words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

const Words kRegisters = words("b16 u16 s16 f16 b32 u32 s32 f32 f16x2 b64 u64 s64 f64");

/// Types of registers by the type of the access.
const std::map<std::string, std::string>& taken() {
  static const std::string any16 = "b16 u16 s16 b32 u32 s32 f16x2 b64 u64 s64", any32 = "b32 u32 s32 f16x2 b64 u64 s64", any64 = "b64 u64 s64";
  static const std::map<std::string, std::string> all = {
      {"b8", any16 + " f16 f32 f64"}, {"u8", any16}, {"s8", any16}, {"b16", any16 + " f16 f32 f64"}, {"u16", any16}, {"s16", any16}, {"b32", any32 + " f32 f64"}, {"u32", any32}, {"s32", any32}, {"f32", "f32 b32 b64"}, {"b64", any64 + " f64"}, {"u64", any64}, {"s64", any64}, {"f64", "f64 b64"}};
  return all;
}

std::set<int> lines_in(const std::string& messages, const std::regex& position) {
  std::set<int> lines;
  for (std::sregex_iterator i(messages.begin(), messages.end(), position), end; i != end; ++i) lines.insert(std::stoi((*i)[1]));
  return lines;
}

/// A kernel with an instruction a line, and the lines that must be refused.
class Program {
 public:
  Program() {
    for (const std::string& r : kRegisters) text_ += fmt::format(".reg .{0} %{0}a, %{0}b; ", r);
    text_ += "\n";
  }
  void add(const std::string& instruction, bool legal) {
    text_ += instruction + ";\n";
    if (!legal) refused_.insert(line_);
    ++line_;
  }
  /// Expects Drywell, and ptxas where there is one, to refuse those lines and no other.
  void judge() {
    const std::string text = text_ + "ret;\n}\n";
    ASSERT_FALSE(refused_.empty());
    const ParseResult r = parse_ptx(text, "kinds.ptx");
    ASSERT_FALSE(r.diagnostics.has_errors()) << r.diagnostics.to_string();
    EXPECT_EQ(lines_in(validate(r.module).to_string(), std::regex("kinds\\.ptx:(\\d+)")), refused_) << text;
    if (const auto asked = test::run_ptxas(text, "sm_100a")) {
      EXPECT_EQ(lines_in(asked->output, std::regex("line (\\d+); error")), refused_) << asked->output;
    }
  }

 private:
  std::string text_ = ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k() {\n.reg .b64 %a;\n";
  std::set<int> refused_;
  int line_ = 7;
};

TEST(RegisterKinds, OfLoadsAndStores) {
  for (const char* form : {"ld.global.{0} %{1}a, [%a]", "st.global.{0} [%a], %{1}a", "ldu.global.{0} %{1}a, [%a]", "ld.volatile.shared.{0} %{1}a, [%a]"}) {
    Program p;
    for (const auto& [type, some] : taken()) {
      const Words legal = words(some);
      for (const std::string& r : kRegisters) p.add(fmt::format(fmt::runtime(form), type, r), std::find(legal.begin(), legal.end(), r) != legal.end());
    }
    p.judge();
  }
}

int bits_of(const std::string& type) { return type == "f16x2" ? 32 : std::stoi(type.substr(1)); }

/// Registers that may stand together in a vector: of one width, untyped ones with any, integers with integers.
bool together(const std::string& a, const std::string& b) {
  const auto integer = [](const std::string& t) { return t[0] != 'f'; };
  return bits_of(a) == bits_of(b) && (a == b || a[0] == 'b' || b[0] == 'b' || (integer(a) && integer(b)));
}

TEST(RegisterKinds, OfVectorsInMemory) {
  for (const char* type : {"b8", "u8", "b16", "s16", "b32", "u32", "f32", "b64", "s64", "f64"}) {
    const Words legal = words(taken().at(type));
    const auto is_legal = [&](const std::string& r) { return std::find(legal.begin(), legal.end(), r) != legal.end(); };
    Program p;
    for (const std::string& a : kRegisters) {
      for (const std::string& b : kRegisters) {
        // A vector of several types is untyped, and one of integers is for an access of floats of their width.
        const std::string as_untyped = fmt::format("b{}", bits_of(a));
        const bool integers = std::string(type)[0] == 'f' && a[0] != 'f' && bits_of(a) == bits_of(type);
        p.add(fmt::format("ld.global.v2.{} {{%{}a, %{}b}}, [%a]", type, a, b), together(a, b) && is_legal(a != b || integers ? as_untyped : a));
      }
    }
    p.judge();
  }
}

TEST(RegisterKinds, OfNeighboursInAVector) {
  Program p;
  const std::string kinds = "bfu";
  for (const char* type : {"b32", "u32", "f32"}) {
    for (unsigned n = 0; n < 81; ++n) {
      std::string of;
      for (unsigned k = 0, rest = n; k < 4; ++k, rest /= 3) of += kinds[rest % 3];
      const bool apart = of.find("fu") == std::string::npos && of.find("uf") == std::string::npos;
      const bool legal = apart && (of != "ffff" || type[0] != 'u');
      p.add(fmt::format("st.global.v4.{} [%a], {{%{}32a, %{}32a, %{}32a, %{}32a}}", type, of[0], of[1], of[2], of[3]), legal);
    }
  }
  p.judge();
}

TEST(RegisterKinds, OfPackedVectors) {
  for (const auto& [type, element] : std::map<std::string, std::string>{{"b32", "16"}, {"b64", "32"}, {"u32", "16"}, {"f32", "16"}, {"s64", "32"}, {"f64", "32"}}) {
    Program p;
    for (const std::string& a : kRegisters) {
      for (const std::string& b : kRegisters) {
        const auto fits = [&](const std::string& r) { return r == "f16x2" ? element == "32" : r.substr(1) == element; };
        const bool legal = type[0] == 'b' && fits(a) && fits(b) && together(a, b);
        p.add(fmt::format("mov.{0} %{0}a, {{%{1}a, %{2}b}}", type, a, b), legal);
        p.add(fmt::format("mov.{0} {{%{1}a, %{2}b}}, %{0}a", type, a, b), legal);
      }
    }
    p.judge();
  }
}

}  // namespace
}  // namespace drywell::isa
