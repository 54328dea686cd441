#include "tools/typed_forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <vector>

#include "drywell/isa/opcode.h"
#include "drywell/isa/spec.h"

namespace drywell::tools {
namespace {

using isa::InstrSpec;
using isa::Mod;

// By enumerator: the enumerator's own name.
constexpr std::string_view kMods[] = {
    "none",
#define MOD(OP_, TEXT_) #OP_,
#include "drywell/isa/table/mods.inc"
#undef MOD
};
constexpr std::string_view kRows[] = {
#define INSTR(OP_, ...) #OP_,
#include "drywell/isa/table/all.inc"
#undef INSTR
};
constexpr std::string_view kSlots[] = {
    "type", "atype", "btype", "ctype", "rnd", "ftz", "sat", "relu", "approx", "half", "carry", "nan", "xorsign", "clamp", "cmp", "boolop", "op", "mode", "scaled",
    "space", "space2", "dst_space", "src_space", "sem", "scope", "proxy", "cop", "l1", "l2", "l2_prefetch", "hint", "vec", "volatile_",
    "uni", "sync", "aligned", "dim", "tile_mode", "completion", "multicast", "cta_group", "kind", "block_scale", "scale_vec", "collector",
    "ashift", "shape", "num", "trans", "pack", "fmt", "fmt_src", "layout_a", "layout_b", "field", "state", "mask_mode", "noinc", "satfinite", "abs", "level", "read", "sp", "stype", "dtype", "oob", "evict", "exclusive", "lhs", "rhs"};
static_assert(std::size(kSlots) == static_cast<size_t>(isa::Slot::rhs) + 1);

std::string mod_name(Mod m) { return fmt::format("Mod::{}", kMods[static_cast<size_t>(m)]); }

/// The words that C++ and its headers have themselves, with an underscore.
std::string identifier(std::string_view name) {
  static constexpr std::string_view kWords[] = {"and", "or", "not", "xor", "new", "default", "switch", "class", "register", "volatile", "union", "do", "if", "for", "case", "alloca"};
  std::string out;
  for (const char c : name) out += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out[0])) != 0) out = "x" + out;
  return std::find(std::begin(kWords), std::end(kWords), out) == std::end(kWords) ? out : out + "_";
}

/// A name for the first time as it is, then with a number.
class Names {
 public:
  std::string fresh(std::string_view name) {
    const std::string base = identifier(name);
    const int n = ++seen_[base];
    return n == 1 ? base : fmt::format("{}{}", base, n);
  }

 private:
  std::map<std::string, int> seen_;
};

/// The fields of a row's form, and how the text of the opcode is made of them.
struct Form {
  std::vector<std::string> fields, parts;
  bool needed = false;  // some field has no default

  explicit Form(const InstrSpec& s) {
    Names names;
    for (size_t i = 0; i < s.slot_count(); ++i) add(s.slots[i], names);
  }

 private:
  void add(const isa::SlotSpec& slot, Names& names) {
    if (slot.required && slot.count == 1) {
      parts.push_back(mod_name(slot.mods[0]));
      return;
    }
    const std::string name = names.fresh(slot.count == 1 ? kMods[static_cast<size_t>(slot.mods[0])] : kSlots[static_cast<size_t>(slot.slot)]);
    parts.push_back("f." + name);
    if (slot.count == 1) {
      fields.push_back(fmt::format("Flag<{}> {} = {{}};", mod_name(slot.mods[0]), name));
      return;
    }
    std::string all;
    for (const Mod m : slot.values()) all += fmt::format("{}{}", all.empty() ? "" : ", ", mod_name(m));
    needed = needed || slot.required;
    fields.push_back(slot.required ? fmt::format("OneOf<{}> {};", all, name) : fmt::format("Maybe<{}> {} = {{}};", all, name));
  }
};

struct Parameters {
  std::string declared, passed;
};

/// The operands from `first` on. Those at the end that may be left out have a default.
Parameters parameters(const InstrSpec& s, size_t first) {
  Parameters p;
  Names names;
  size_t needed = s.operand_count();
  const auto may_lack = [&](const isa::OperandSpec& o) { return o.optional || o.when != Mod::none; };
  while (needed > first && may_lack(s.operands[needed - 1])) --needed;
  for (const std::string_view taken : {"f", "w"}) names.fresh(taken);
  for (size_t i = first; i < s.operand_count(); ++i) {
    const std::string name = names.fresh(s.operands[i].name);
    p.declared += fmt::format("const Operand& {}{}, ", name, i >= needed ? " = {}" : "");
    p.passed += fmt::format("{}{}", p.passed.empty() ? "" : ", ", name);
  }
  return p;
}

std::string joined(const std::vector<std::string>& words, std::string_view between) { return fmt::format("{}", fmt::join(words, between)); }

/// The row's result can be a new register.
bool defines(const InstrSpec& s) {
  return s.operand_count() != 0 && s.operands[0].access == isa::Access::write && (s.operands[0].shapes & isa::kReg) != 0 && !s.operands[0].optional && s.operands[0].when == Mod::none;
}

std::string method(const InstrSpec& s, const Form& form, std::string_view row, std::string_view name, bool makes_register) {
  const Parameters p = parameters(s, makes_register ? 1 : 0);
  const std::string by_form = form.fields.empty() ? "" : fmt::format("typed::{}_form f{}, ", row, form.needed || !p.declared.empty() ? "" : " = {}");
  return fmt::format("  {} {}({}{}Where w = Where::current()) {{ {}(\"{}\", {{{}}}, {{{}}}, w); }}\n", makes_register ? "Reg" : "void", name, by_form, p.declared,
                     makes_register ? "return def" : "emit", s.mnemonic, joined(form.parts, ", "), p.passed);
}

}  // namespace

std::string typed_forms() {
  const std::string head = "// The rows of the instruction table as functions (drywell/isa/typed.h). Made by `drywell isa --typed`; do not edit. One generated table, so one long file.\n";
  std::string forms, methods;
  for (size_t i = 0; i < isa::kOpcodeCount; ++i) {
    const InstrSpec& s = isa::spec(static_cast<isa::Opcode>(i));
    if (s.operand_count() != 0 && std::any_of(s.operands.begin(), s.operands.begin() + static_cast<ptrdiff_t>(s.operand_count()), [](const isa::OperandSpec& o) { return (o.shapes & isa::kArgs) != 0; }))
      continue;  // calls: KernelBuilder has functions for them
    const Form form(s);
    const std::string row = std::string(kRows[i]);
    if (!form.fields.empty()) forms += fmt::format("struct {}_form {{ {} }};\n", row, joined(form.fields, " "));
    methods += fmt::format("  /// {}\n", s.doc);
    const bool result = defines(s);
    if (result) methods += method(s, form, row, identifier(row), true);
    methods += method(s, form, row, result ? row + (row.ends_with('_') ? "to" : "_to") : identifier(row), false);
  }
  return head + "#ifdef DRYWELL_TYPED_FORMS\n" + forms + "#else\n" + methods + "#endif\n";
}

}  // namespace drywell::tools
