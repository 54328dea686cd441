#include "support/ir_equal.h"

#include <fmt/format.h>

#include <algorithm>

#include "drywell/isa/print.h"

namespace drywell::test {
using namespace isa;
namespace {

// Call sites may be numbered differently.
bool same_instruction(const Instruction& a, const Instruction& b) {
  return a.op == b.op && a.guard_negated == b.guard_negated && a.operand_count == b.operand_count &&
         a.guard == b.guard && a.mods == b.mods && a.operands == b.operands && a.source == b.source;
}

// The first index at which two lists differ, or an empty string.
template <class T, class Same>
std::string compare(const std::vector<T>& a, const std::vector<T>& b, const char* what, Same same) {
  if (a.size() != b.size()) return fmt::format("{} {} against {}", a.size(), what, b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (!same(a[i], b[i])) return fmt::format("{} {}", what, i);
  }
  return {};
}

template <class T>
std::string compare(const std::vector<T>& a, const std::vector<T>& b, const char* what) {
  return compare(a, b, what, [](const T& x, const T& y) { return x == y; });
}

std::string function_difference(const Function& a, const Function& b) {
  if (a.name != b.name) return "name";
  if (a.is_entry != b.is_entry || a.is_prototype != b.is_prototype || a.linkage != b.linkage) {
    return "kind or linkage";
  }
  if (!(a.directives == b.directives)) return "directives";
  std::string why;
  const auto check = [&](std::string found) {
    if (why.empty()) why = std::move(found);
  };
  check(compare(a.params, b.params, "parameters"));
  check(compare(a.returns, b.returns, "return parameters"));
  check(compare(a.variables, b.variables, "variables"));
  check(compare(a.regs, b.regs, "registers"));
  check(compare(a.symbols, b.symbols, "symbols"));
  check(compare(a.labels, b.labels, "labels"));
  check(compare(a.branch_targets, b.branch_targets, "branch target lists"));
  check(compare(a.call_targets, b.call_targets, "call target lists"));
  check(compare(a.prototypes, b.prototypes, "prototypes"));
  check(compare(a.pool, b.pool, "operands"));
  check(compare(a.pragmas, b.pragmas, "pragmas"));
  check(compare(a.body, b.body, "instructions", same_instruction));
  return why;
}

// The lines of calls that were inlined, further out than the instruction's own line.
std::string call_difference(const Module& a, const Module& b, size_t function) {
  const Function &f = a.functions[function], &g = b.functions[function];
  for (size_t i = 0; i < f.body.size(); ++i) {
    if (InstructionRef{a, f, f.body[i]}.author_lines() != InstructionRef{b, g, g.body[i]}.author_lines()) return fmt::format("calls around instruction {}", i);
  }
  return {};
}

}  // namespace

std::string first_difference(const isa::Module& a, const isa::Module& b) {
  if (a.version != b.version || a.target != b.target || a.debug != b.debug) return "header";
  // files[0] is the text's own name.
  if (!std::equal(a.files.begin() + 1, a.files.end(), b.files.begin() + 1, b.files.end())) return "files";
  if (!(a.aliases == b.aliases)) return "aliases";
  if (a.pragmas != b.pragmas) return "module pragmas";
  if (std::string why = compare(a.variables, b.variables, "module variables"); !why.empty()) return why;
  if (a.functions.size() != b.functions.size()) return "number of functions";
  for (size_t i = 0; i < a.functions.size(); ++i) {
    std::string why = function_difference(a.functions[i], b.functions[i]);
    if (why.empty()) why = call_difference(a, b, i);
    if (!why.empty()) {
      return fmt::format("function {}: {}", a.functions[i].name, why);
    }
  }
  return {};
}

}  // namespace drywell::test
