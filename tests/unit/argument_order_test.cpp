// A compiler evaluates the arguments of a call in any order. A kernel in the DSL whose call has two arguments that emit instructions would have
// another PTX with another compiler: such arguments have names.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "support/paths.h"

namespace drywell::test {
namespace {

namespace fs = std::filesystem;

using Names = std::set<std::string>;

/// Comments are blank, and text has no parentheses and commas.
std::string code_of(std::string text) {
  const std::regex aside("//[^\n]*|\"(\\\\.|[^\"\\\\\n])*\"");
  std::string out;
  auto rest = text.cbegin();
  for (std::sregex_iterator i(text.begin(), text.end(), aside), end; i != end; ++i) {
    out.append(rest, (*i)[0].first);
    out += (*i)[0].str().front() == '"' ? "\"\"" : "";
    rest = (*i)[0].second;
  }
  return out.append(rest, text.cend());
}

/// The functions that return registers: they emit instructions, or may one day.
void add_emitting(const std::string& code, Names& names) {
  const std::regex declared("\\b(?:Reg|RegArray)\\s+(?:\\w+::)*(\\w+)\\s*\\(");
  for (std::sregex_iterator i(code.begin(), code.end(), declared), end; i != end; ++i) names.insert((*i)[1]);
}

/// Reads code and collects the calls of which two arguments emit.
class Calls {
 public:
  Calls(const std::string& code, const Names& emitting) : code_(code), emitting_(emitting) {}

  std::vector<std::string> ambiguous() {
    for (at_ = 0; at_ < code_.size(); ++at_) step();
    return found_;
  }

 private:
  struct Bracket {
    char kind;
    size_t begin, argument = 0;
    std::set<size_t> emit = {};  // arguments that do
  };

  void step() {
    const char c = code_[at_];
    if (c == '(' || c == '[' || c == '{') {
      open_.push_back({c, at_});
    } else if (c == ')' || c == ']' || c == '}') {
      close();
    } else if (c == ',' && !open_.empty()) {
      ++open_.back().argument;
    } else if (word_begins() && is_emitting_call()) {
      emits();
    }
  }

  static bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
  bool word_begins() const { return in_word(code_[at_]) && (at_ == 0 || !in_word(code_[at_ - 1])); }

  bool is_emitting_call() const {
    size_t end = at_;
    while (end < code_.size() && in_word(code_[end])) ++end;
    if (end == code_.size() || code_[end] != '(' || !emitting_.contains(code_.substr(at_, end - at_))) return false;
    size_t before = at_;  // "Reg name(" declares
    while (before > 0 && code_[before - 1] == ' ') --before;
    return before == at_ || before < 3 || code_.compare(before - 3, 3, "Reg") != 0;
  }

  void emits() {
    if (!open_.empty()) open_.back().emit.insert(open_.back().argument);
  }

  void close() {
    if (open_.empty()) return;
    const Bracket closed = open_.back();
    open_.pop_back();
    if (closed.kind == '(' && closed.emit.size() > 1) found_.push_back(code_.substr(closed.begin, at_ + 1 - closed.begin));
    // What the body of a lambda emits is not emitted by the call that has it as an argument. Elements of braces are evaluated in order.
    if (!closed.emit.empty() && !(closed.kind == '{' && is_body(closed.begin))) emits();
  }

  bool is_body(size_t brace) const {
    const size_t before = code_.find_last_not_of(" \n", brace - 1);
    return before != std::string::npos && (code_[before] == ')' || code_[before] == ']');
  }

  const std::string& code_;
  const Names& emitting_;
  size_t at_ = 0;
  std::vector<Bracket> open_;
  std::vector<std::string> found_;
};

std::vector<std::string> ambiguous(const std::string& text, const Names& emitting) {
  const std::string code = code_of(text);
  return Calls(code, emitting).ambiguous();
}

const Names kBuilder = {"def", "emit_def", "load_param"};

TEST(ArgumentOrder, TwoArgumentsThatEmitAreFound) {
  EXPECT_EQ(ambiguous("x = k.def(\"add\", k.def(\"mov\", 1), k.def(\"mov\", 2));", kBuilder).size(), 1u);
  EXPECT_EQ(ambiguous("k(\"st\", mem(k.def(\"add\", a, b)), k.load_param(p, u32));", kBuilder).size(), 1u);
  EXPECT_EQ(ambiguous("load({0, k.def(\"shr\", m, 7)}, stage(1), k.def(\"mov\", 1));", kBuilder).size(), 1u);
  EXPECT_EQ(ambiguous("k.def(\"add\", stage_at(x), k.def(\"mov\", 2));", {"def", "stage_at"}).size(), 1u);
}

TEST(ArgumentOrder, OtherCallsAreNot) {
  const char* const fine[] = {"x = k.def(\"add\", k.def(\"mov\", f(1, 2)), 3);",           // one
                              "x = k.def(\"add, k.def(\", a), y = k.def(\"mov\", 2);",     // one after the other; text
                              "v = {k.def(\"mov\", 1), k.def(\"mov\", 2)};",               // braces have an order
                              "f(k.def(\"mov\", 1), [&] { return k.def(\"mov\", 2); });",  // a lambda's body runs later
                              "f(k.def(\"mov\", 1));  // g(k.def(\"mov\", 1), k.def(\"mov\", 2))",
                              "Reg def(Reg def(), Reg load_param());"};
  for (const char* text : fine) EXPECT_EQ(ambiguous(text, kBuilder), std::vector<std::string>()) << text;
}

std::string text_of(const fs::path& p) {
  std::ifstream in(p, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<fs::path> sources_of(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const auto& e : fs::recursive_directory_iterator(folder)) {
    const std::string ending = e.path().extension().string();
    if (ending == ".cpp" || ending == ".h") found.push_back(e.path());
  }
  return found;
}

class EveryKernel : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Folders, EveryKernel, testing::Values("kernels", "conformance", "examples"));

TEST_P(EveryKernel, EmitsInOneOrder) {
  const std::vector<fs::path> files = sources_of(source_path(GetParam()));
  Names emitting = kBuilder;
  for (const fs::path& p : files) add_emitting(code_of(text_of(p)), emitting);
  for (const fs::path& p : files) {
    const std::string text = text_of(p);
    if (text.find(".def(") == std::string::npos) continue;  // no kernel is built in it
    for (const std::string& call : ambiguous(text, emitting)) ADD_FAILURE() << p << ": which argument emits first? " << call;
  }
}

}  // namespace
}  // namespace drywell::test
