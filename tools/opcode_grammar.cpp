#include "tools/opcode_grammar.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "drywell/isa/spec.h"

namespace drywell::tools {
namespace {

using isa::InstrSpec;
using isa::Mod;
using Numbers = std::vector<uint32_t>;

/// Texts in order, each with its number.
class Words {
 public:
  explicit Words(std::set<std::string_view> texts) : texts_(texts.begin(), texts.end()) {}
  uint32_t number(std::string_view text) const { return static_cast<uint32_t>(std::lower_bound(texts_.begin(), texts_.end(), text) - texts_.begin()); }
  const std::vector<std::string_view>& all() const { return texts_; }

 private:
  std::vector<std::string_view> texts_;
};

/// An array of numbers, in lines of at most 130 columns.
std::string array(std::string_view name, const Numbers& numbers) {
  std::string out = fmt::format("inline constexpr uint16_t {}[] = {{", name), line;
  for (const uint32_t n : numbers) {
    const std::string next = fmt::format("{},", n);
    if (line.empty() || line.size() + next.size() > 130) {
      out += line + "\n";
      line = "   ";
    }
    line += " " + next;
  }
  return out + line + "\n};\n";
}

/// One literal of all texts, and where each begins and the last ends.
std::string text_table(std::string_view name, const Words& words) {
  std::string out = fmt::format("inline constexpr char {}Text[] =", name), line;
  Numbers at = {0};
  for (const std::string_view w : words.all()) {
    at.push_back(at.back() + static_cast<uint32_t>(w.size()));
    if (line.size() + w.size() > 125) {
      out += fmt::format("\n    \"{}\"", line);
      line.clear();
    }
    line += w;
  }
  return out + fmt::format("\n    \"{}\";\n", line) + array(fmt::format("{}At", name), at);
}

Words tokens_of_rows() {
  std::set<std::string_view> all;
  for (const InstrSpec& s : isa::all_specs())
    for (size_t i = 0; i < s.slot_count(); ++i)
      for (const Mod m : s.slots[i].values()) all.insert(isa::mod_text(m));
  return Words(all);
}

Words mnemonics_of_rows() {
  std::set<std::string_view> all;
  for (const InstrSpec& s : isa::all_specs()) all.insert(s.mnemonic);
  return Words(all);
}

/// The rows as numbers; drywell/isa/opcode_check.h reads them.
class Encoder {
 public:
  void add(const InstrSpec& s) {
    Numbers when;
    uint32_t least = 0, most = 0;
    for (size_t i = 0; i < s.operand_count(); ++i) {
      const isa::OperandSpec& o = s.operands[i];
      if (o.when != Mod::none) {
        when.insert(when.end(), {tokens.number(isa::mod_text(o.when)), o.optional ? 0u : 1u});
        continue;
      }
      least += o.optional ? 0 : 1;
      ++most;
    }
    rows.insert(rows.end(), {static_cast<uint32_t>(s.slot_count()), static_cast<uint32_t>(when.size() / 2), least, most});
    for (size_t i = 0; i < s.slot_count(); ++i) rows.push_back(2 * set_of(s.slots[i]) + (s.slots[i].required ? 1 : 0));
    rows.insert(rows.end(), when.begin(), when.end());
  }

  const Words tokens = tokens_of_rows();
  Numbers rows, sets, set_at = {0};

 private:
  uint32_t set_of(const isa::SlotSpec& slot) {
    Numbers members;
    for (const Mod m : slot.values()) members.push_back(tokens.number(isa::mod_text(m)));
    const auto [found, fresh] = numbers_.try_emplace(members, static_cast<uint32_t>(numbers_.size()));
    if (fresh) {
      sets.insert(sets.end(), members.begin(), members.end());
      set_at.push_back(static_cast<uint32_t>(sets.size()));
    }
    return found->second;
  }

  std::map<Numbers, uint32_t> numbers_;
};

}  // namespace

std::string opcode_grammar() {
  const Words mnemonics = mnemonics_of_rows();
  Encoder rows;
  Numbers row_at;
  size_t words = 0;
  for (const std::string_view m : mnemonics.all()) {
    row_at.push_back(static_cast<uint32_t>(rows.rows.size()));
    words = std::max<size_t>(words, 1 + static_cast<size_t>(std::count(m.begin(), m.end(), '.')));
    for (const isa::Opcode op : isa::rows_of(m)) rows.add(isa::spec(op));
  }
  row_at.push_back(static_cast<uint32_t>(rows.rows.size()));
  Numbers types;
  for (size_t i = 1; i < static_cast<size_t>(Mod::count_); ++i) {
    const auto m = static_cast<Mod>(i);
    const uint32_t n = rows.tokens.number(isa::mod_text(m));
    if (isa::is_type(m) && n < rows.tokens.all().size() && rows.tokens.all()[n] == isa::mod_text(m)) types.push_back(n);
  }
  std::sort(types.begin(), types.end());
  return "// The instruction table for the compiler's check of opcodes (drywell/isa/opcode_check.h). Made by `drywell isa --grammar`; do not edit.\n" +
         fmt::format("inline constexpr int kMostWords = {};\n", words) + text_table("kMnemonic", mnemonics) + array("kRowAt", row_at) + array("kRow", rows.rows) +
         text_table("kToken", rows.tokens) + array("kTypeToken", types) + array("kSetAt", rows.set_at) + array("kSet", rows.sets);
}

}  // namespace drywell::tools
