// drywell isa: the instruction table as a reference, and the coverage page that is made from it.
#include <fmt/format.h>

#include <map>
#include <set>

#include "conformance/programs/program.h"
#include "drywell/core/terminal.h"
#include "drywell/core/text.h"
#include "drywell/isa/opcode.h"
#include "drywell/sim/arch_config.h"
#include "tools/common/command.h"
#include "tools/opcode_grammar.h"
#include "tools/typed_forms.h"

namespace drywell::tools {
namespace {

using isa::InstrSpec;
using isa::Opcode;

std::string_view fidelity(const InstrSpec& s) {
  if (s.status == isa::Status::unsupported) return "unsupported";
  switch (s.fidelity) {
    case isa::Fidelity::exact: return "exact";
    case isa::Fidelity::documented: return "documented";
    case isa::Fidelity::inferred: return "inferred";
    case isa::Fidelity::approximate: return "approximate";
  }
  return "?";
}

/// Returns "ld{.weak|.relaxed}{.global|…}.v4": optional slots in braces.
std::string grammar(const InstrSpec& s) {
  std::string out(s.mnemonic);
  for (size_t i = 0; i < s.slot_count(); ++i) {
    const isa::SlotSpec& slot = s.slots[i];
    std::string tokens;
    for (const isa::Mod m : slot.values()) tokens += fmt::format("{}.{}", tokens.empty() ? "" : "|", isa::mod_text(m));
    const bool several = slot.count > 1;
    out += slot.required ? (several ? "(" + tokens + ")" : tokens) : "{" + tokens + "}";
  }
  return out;
}

std::string operands(const InstrSpec& s) {
  std::string out;
  for (size_t i = 0; i < s.operand_count(); ++i) {
    const isa::OperandSpec& o = s.operands[i];
    const std::string name = (o.shapes & (isa::kAddr | isa::kTensor)) != 0 && (o.shapes & isa::kReg) == 0 ? fmt::format("[{}]", o.name) : o.name;
    const bool maybe = o.optional || o.when != isa::Mod::none;
    out += fmt::format("{}{}{}{}", out.empty() ? "" : ", ", maybe ? "{" : "", name, maybe ? "}" : "");
  }
  return out;
}

/// Returns the number of conformance programs that use each row.
std::map<Opcode, size_t> programs_per_row() {
  std::map<Opcode, size_t> count;
  for (const auto& s : kernels::conformance::suite()) {
    for (const Opcode op : kernels::conformance::rows_of(s)) ++count[op];
  }
  return count;
}

std::string version(isa::PtxVersion v) { return fmt::format("{}.{}", v.major, v.minor); }

std::string escaped(std::string text) {
  for (size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.replace(at, 1, "\\|");
  return text;
}

/// "yes | yes | | yes": the machines whose target has the row.
std::string on_machines(const InstrSpec& s, const std::vector<std::string_view>& machines) {
  std::string out;
  for (const std::string_view name : machines) {
    isa::Target target;
    if (!isa::parse_target(name, target)) throw InternalError("a machine is named after its target");
    out += fmt::format("{}{}", out.empty() ? "" : " | ", isa::has_feature(target, s.needs) ? "yes" : "-");
  }
  return out;
}

std::string coverage_markdown() {
  const std::vector<std::string_view> machines = sim::builtin_arch_names();
  std::string rules;
  for (size_t i = 0; i < machines.size(); ++i) rules += " --- |";
  const std::map<Opcode, size_t> programs = programs_per_row();
  std::map<std::string_view, std::vector<Opcode>> families;
  std::map<std::string_view, size_t> totals;
  for (size_t i = 0; i < isa::kOpcodeCount; ++i) {
    const auto op = static_cast<Opcode>(i);
    families[isa::opcode_family(op)].push_back(op);
    ++totals[fidelity(isa::spec(op))];
  }
  std::string out =
      "# Instruction coverage\n\nMade by `drywell isa --coverage`; do not edit. A row is one instruction form of the table in\n"
      "`include/drywell/isa/table`: braces are optional modifiers, parentheses a choice. *Result* says how far a simulated result can be\n"
      "trusted: **exact** (bit for bit by PTX or measured), **documented** (PTX defines it, hardware was not compared), **inferred**\n"
      "(from vendor code or one measurement), **approximate** (within PTX's error bound, other bits than hardware's), **unsupported**\n"
      "(parses and validates; faults by name when reached). A column for each machine of `drywell arch` says if its ptxas target has the row;\n"
      "modifiers of a row may need more (E1210 names the target). *Programs* counts the conformance programs in which the row runs.\n\n";
  for (const auto& [name, n] : totals) out += fmt::format("- {}: {} rows\n", name, n);
  for (const auto& [family, rows] : families) {
    out += fmt::format("\n## {}\n\n| form | operands | result | PTX | {} | programs |\n| --- | --- | --- | --- |{} --- |\n", family, fmt::join(machines, " | "), rules);
    for (const Opcode op : rows) {
      const InstrSpec& s = isa::spec(op);
      const auto found = programs.find(op);
      out += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", escaped(grammar(s)), operands(s), fidelity(s), version(s.since), on_machines(s, machines),
                         found == programs.end() ? 0 : found->second);
    }
  }
  return out;
}

void describe(const CommandContext& c, Opcode op) {
  const InstrSpec& s = isa::spec(op);
  print(fmt::format("{} {}\n    {}\n    {}; PTX {}, {}; result {}; {}\n    e.g. {};\n", paint(grammar(s), Colour::bold, c.colour_out), operands(s), s.doc,
                    isa::opcode_family(op), version(s.since), isa::feature_name(s.needs), fidelity(s), isa::timing_class_name(s.timing), s.example));
}

ExitCode isa_command(const CommandContext& c, const std::string& mnemonic, bool coverage, bool grammar, bool typed) {
  if (coverage) {
    print(coverage_markdown());
    return ExitCode::ok;
  }
  if (typed) {
    print(typed_forms());
    return ExitCode::ok;
  }
  if (grammar) {
    print(opcode_grammar());
    return ExitCode::ok;
  }
  size_t shown = 0;
  for (size_t i = 0; i < isa::kOpcodeCount; ++i) {
    const auto op = static_cast<Opcode>(i);
    const std::string_view name = isa::spec(op).mnemonic;
    if (!mnemonic.empty() && name != mnemonic && !(name.starts_with(mnemonic) && name[mnemonic.size()] == '.')) continue;
    describe(c, op);
    ++shown;
  }
  if (shown == 0) throw InputError(Code::E4306, fmt::format("no instruction '{}'", mnemonic), isa::nearest_mnemonic(mnemonic).empty() ? "drywell isa lists all" : fmt::format("did you mean '{}'?", isa::nearest_mnemonic(mnemonic)));
  return ExitCode::ok;
}

}  // namespace

void register_isa(Command& app, CommandContext& context) {
  struct Options {
    std::string mnemonic;
    bool coverage = false, grammar = false, typed = false;
  };
  auto o = std::make_shared<Options>();
  Command* sub = add_command(app, "isa");
  sub->add_option("MNEMONIC", o->mnemonic, "only this instruction, e.g. tcgen05.mma or ld; without it: all");
  sub->add_flag("--coverage", o->coverage, "the whole table as the page docs/coverage.md");
  sub->add_flag("--grammar", o->grammar, "the table as the compiler reads it to check opcodes: include/drywell/isa/table/opcode_grammar.inc");
  sub->add_flag("--typed", o->typed, "the rows as C++ functions: include/drywell/isa/table/typed_forms.inc");
  sub->callback([o, &context] { context.action = [o, &context] { return isa_command(context, o->mnemonic, o->coverage, o->grammar, o->typed); }; });
}

}  // namespace drywell::tools
