#include "drywell/sim/inspect/banks.h"

#include <fmt/format.h>

#include <bit>
#include <map>
#include <optional>
#include <set>

#include "drywell/core/error.h"
#include "drywell/core/whole_number.h"
#include "drywell/isa/layout/checks.h"
#include "drywell/isa/layout/expression.h"
#include "sim/inspect/short_names.h"

namespace drywell::sim {
namespace {

/// Recursive descent over C's binary operators, lowest precedence first.
class Arithmetic {
 public:
  Arithmetic(std::string_view text, int64_t lane) : text_(text), lane_(lane) {}
  int64_t run() {
    const int64_t v = level(0);
    if (skip(); at_ != text_.size()) bad("unexpected text");
    return v;
  }

 private:
  static constexpr std::string_view kLevels[][3] = {{"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};
  static constexpr size_t kDeepest = std::size(kLevels), kMaxNesting = 64;

  [[noreturn]] void bad(const char* what) const {
    throw InputError(Code::E1801, fmt::format("address expression, column {}: {}", at_ + 1, what), "arithmetic on `lane`, e.g. lane*128 ^ (lane%8*16)");
  }
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool accept(std::string_view t) {
    skip();
    if (t.empty() || text_.substr(at_, t.size()) != t) return false;
    at_ += t.size();
    return true;
  }
  int64_t apply(std::string_view op, int64_t a, int64_t b) const {
    if ((op == "/" || op == "%") && b == 0) bad("division by zero");
    const auto wrap = [](auto f, int64_t x, int64_t y) { return static_cast<int64_t>(f(static_cast<uint64_t>(x), static_cast<uint64_t>(y))); };
    switch (op[0]) {
      case '|': return a | b;
      case '^': return a ^ b;
      case '&': return a & b;
      case '<': return wrap([](uint64_t x, uint64_t y) { return x << (y & 63); }, a, b);
      case '>': return a >> (b & 63);
      case '+': return wrap(std::plus<>(), a, b);
      case '-': return wrap(std::minus<>(), a, b);
      case '*': return wrap(std::multiplies<>(), a, b);
      case '/': return b == -1 ? wrap(std::minus<>(), 0, a) : a / b;
      default: return b == -1 ? 0 : a % b;
    }
  }
  int64_t level(size_t depth) {
    if (depth == kDeepest) return factor();
    int64_t v = level(depth + 1);
    for (bool found = true; found;) {
      found = false;
      for (const std::string_view op : kLevels[depth]) {
        if (!accept(op)) continue;
        v = apply(op, v, level(depth + 1));
        found = true;
        break;
      }
    }
    return v;
  }
  int64_t factor() {
    if (++nesting_ > kMaxNesting) bad("nested too deeply");
    int64_t v = 0;
    if (accept("(")) {
      v = level(0);
      if (!accept(")")) bad("expected ')'");
    } else if (accept("-")) {
      v = apply("-", 0, factor());
    } else if (accept("lane")) {
      v = lane_;
    } else {
      v = number();
    }
    --nesting_;
    return v;
  }
  int64_t number() {
    skip();
    const bool hex = text_.substr(at_).starts_with("0x");
    std::string_view rest = text_.substr(at_ + (hex ? 2 : 0));
    const std::optional<int64_t> v = rest.starts_with('-') ? std::nullopt : leading_number<int64_t>(rest, hex ? 16 : 10);
    if (!v.has_value()) bad("expected a number, lane or '('");
    at_ = text_.size() - rest.size();
    return *v;
  }

  std::string_view text_;
  int64_t lane_;
  size_t at_ = 0, nesting_ = 0;
};

uint32_t lanes_together(uint32_t bytes) { return bytes <= 4 ? kWarpSize : std::max(1u, 128 / bytes); }

}  // namespace

LaneAddresses lane_addresses(std::string_view expression, uint32_t bytes, uint32_t lanes) {
  LaneAddresses a{};
  a.bytes = bytes;
  a.mask = lanes >= kWarpSize ? kFullMask : (1u << lanes) - 1;
  std::vector<int64_t> at(lanes);
  if (expression.find(':') != std::string_view::npos) {
    const layout::Evaluation e = layout::evaluate(expression);
    const int64_t size = layout::size(e.layout().layout()).value;
    if (size < lanes) throw InputError(Code::E1804, fmt::format("the layout has {} elements for {} lanes", size, lanes));
    const std::vector<int64_t> all = layout::all_indices(e.layout());
    at.assign(all.begin(), all.begin() + lanes);
  } else {
    for (uint32_t lane = 0; lane < lanes; ++lane) at[lane] = Arithmetic(expression, lane).run();
  }
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    if (at[lane] < 0) throw InputError(Code::E1803, fmt::format("lane {}: address {} is below zero", lane, at[lane]));
    a.at[lane] = static_cast<uint64_t>(at[lane]);
  }
  return a;
}

AccessForm access_form(std::string_view instruction) {
  using isa::MemoryRole;
  const auto has = [&](std::string_view word) {
    for (size_t at = instruction.find(word); at != std::string_view::npos; at = instruction.find(word, at + 1)) {
      const size_t end = at + word.size();
      if (at > 0 && instruction[at - 1] == '.' && (end == instruction.size() || instruction[end] == '.')) return true;
    }
    return false;
  };
  if (some_row(instruction, [](const isa::InstrSpec& row) { return row.memory == MemoryRole::matrix_load || row.memory == MemoryRole::matrix_store; })) {
    const uint32_t rows = has("m16n16") ? 16 : 8;
    return {16, std::min(kWarpSize, rows * (has("x4") ? 4 : has("x2") ? 2
                                                                      : 1))};
  }
  uint32_t bits = 0;
  for (const uint32_t width : {8u, 16u, 32u, 64u, 128u})
    for (const char letter : {'b', 'u', 's', 'f'})
      if (has(fmt::format("{}{}", letter, width))) bits = width;
  const bool known = some_row(instruction, [](const isa::InstrSpec& row) {
    return row.memory == MemoryRole::load || row.memory == MemoryRole::store || row.memory == MemoryRole::atomic || row.memory == MemoryRole::reduction;
  });
  if (!known || bits == 0)
    throw InputError(Code::E4306, fmt::format("'{}' is no access of shared memory", instruction), "ld.v4.b32, st.b64, ldmatrix.x4, stmatrix.x2");
  return {bits / 8 * (has("v8") ? 8 : has("v4") ? 4
                                  : has("v2")   ? 2
                                                : 1),
          kWarpSize};
}

LaneAddresses swizzled(LaneAddresses a, isa::Swizzle s) {
  for (uint64_t& at : a.at) at = (at & ~uint64_t{0xFFFFFFFF}) | isa::swizzle_address(s, static_cast<uint32_t>(at));
  return a;
}

layout::Grid bank_picture(const LaneAddresses& a) {
  const uint32_t together = lanes_together(a.bytes), groups = kWarpSize / together;
  layout::Grid g;
  g.title = fmt::format("{} bytes a lane: {} passes through the banks, {} without conflicts", a.bytes, smem_wavefronts(a), smem_ideal_wavefronts(a));
  g.key_name = "words of the bank";
  g.row_name = "together";
  g.column_name = "bank of 4 bytes";
  g.rows = groups;
  g.columns = 32;
  g.cells.resize(g.rows * g.columns);
  for (uint32_t b = 0; b < 32; ++b) g.column_labels.push_back(fmt::format("{}", b));
  for (uint32_t group = 0; group < groups; ++group) {
    g.row_labels.push_back(fmt::format("lanes {}-{}", group * together, group * together + together - 1));
    std::map<uint32_t, std::map<uint64_t, std::string>> banks;  // bank -> word -> lanes
    for (uint32_t lane = group * together; lane < (group + 1) * together; ++lane) {
      if ((a.mask >> lane & 1) == 0) continue;
      for (uint64_t w = a.at[lane] / 4; w <= (a.at[lane] + a.bytes - 1) / 4; ++w) {
        std::string& who = banks[static_cast<uint32_t>(w % 32)][w];
        who += fmt::format("{}{}", who.empty() ? "" : ",", lane);
      }
    }
    for (const auto& [bank, words] : banks) {
      layout::Cell& cell = g.at(group, bank);
      cell.text = fmt::format("{}", words.size());
      cell.key = static_cast<int>(words.size()) - 1;
      g.key_count = std::max(g.key_count, cell.key + 1);
      for (const auto& [word, who] : words) cell.tip += fmt::format("{}word {:#x}: lanes {}", cell.tip.empty() ? "" : "; ", word * 4, who);
    }
  }
  for (int k = 0; k < g.key_count; ++k) g.key_labels.push_back(k == 0 ? "1 word" : fmt::format("{} words: {} passes", k + 1, k + 1));
  return g;
}

}  // namespace drywell::sim
