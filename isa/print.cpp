#include "drywell/isa/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "isa/source_lines.h"

namespace drywell::isa {
namespace {

using Out = std::string;

template <class... A>
void put(Out& out, fmt::format_string<A...> f, A&&... args) {
  fmt::format_to(std::back_inserter(out), f, std::forward<A>(args)...);
}

void put_number(Out& out, int64_t v) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, v).ptr;
  out.append(digits, static_cast<size_t>(end - digits));
}

// ---- operands

void put_imm(Out& out, const Operand& o) {
  switch (o.imm_kind) {
    case ImmKind::f32: return put(out, "0f{:08X}", static_cast<uint32_t>(o.value));
    case ImmKind::f64: return put(out, "0d{:016X}", static_cast<uint64_t>(o.value));
    case ImmKind::hex: return put(out, "0x{:X}", static_cast<uint64_t>(o.value));
    case ImmKind::warp_size: out += "WARP_SZ"; return;
    case ImmKind::decimal: return put_number(out, o.value);
  }
}

// ptxas accepts "+-4" but not "-4" behind an address's base.
void put_offset(Out& out, int64_t v) {
  if (v == 0) return;
  out += '+';
  put_number(out, v);
}

// "[base+offset", without the closing bracket.
void put_address(Out& out, const Function& f, const Operand& o) {
  out += '[';
  switch (o.base) {
    case Operand::Base::reg: out += f.regs[o.index].name; return put_offset(out, o.value);
    case Operand::Base::symbol: out += f.symbols[o.index].name; return put_offset(out, o.value);
    case Operand::Base::none: return put_number(out, o.value);
  }
}

void put_operand(Out& out, const Function& f, const Operand& o);

void put_elements(Out& out, const Function& f, std::span<const Operand> elements) {
  bool first = true;
  for (const Operand& e : elements) {
    if (!first) out += ", ";
    first = false;
    put_operand(out, f, e);
  }
}

void put_operand(Out& out, const Function& f, const Operand& o) {
  switch (o.kind) {
    case Operand::Kind::reg:
      if (o.negated) out += '!';
      if (o.minus) out += '-';
      out += f.regs[o.index].name;
      if (!o.part.whole()) out += '.' + subword_text(o.part);
      return;
    case Operand::Kind::imm: return put_imm(out, o);
    case Operand::Kind::addr:
      put_address(out, f, o);
      out += ']';
      return;
    case Operand::Kind::vec:
    case Operand::Kind::args:
      out += o.kind == Operand::Kind::vec ? '{' : '(';
      put_elements(out, f, f.elements(o));
      out += o.kind == Operand::Kind::vec ? '}' : ')';
      return;
    case Operand::Kind::label: out += f.labels[o.index].name; return;
    case Operand::Kind::symbol: out += f.symbols[o.index].name; return put_offset(out, o.value);
    case Operand::Kind::sink: out += '_'; return;
    case Operand::Kind::tensor: {  // the map's address, then one or two vectors
      const auto e = f.elements(o);
      put_address(out, f, e[0]);
      out += ", ";
      put_elements(out, f, e.subspan(1));
      out += ']';
      return;
    }
    case Operand::Kind::pair: {
      const auto e = f.elements(o);
      put_operand(out, f, e[0]);
      out += '|';
      return put_operand(out, f, e[1]);
    }
    case Operand::Kind::special: out += special_reg_text(static_cast<SpecialReg>(o.index)); return;
    case Operand::Kind::none: break;
  }
  out += "<none>";
}

void put_opcode(Out& out, const Instruction& i) {
  const InstrSpec& row = spec(i.op);
  out += row.mnemonic;
  for (size_t s = 0; s < kMaxSlots && row.slots[s].count != 0; ++s) {
    if (i.mods[s] == 0) continue;
    out += '.';
    out += mod_text(row.slots[s].mods[i.mods[s] - 1]);
  }
}

void put_instruction(Out& out, const Function& f, const Instruction& i) {
  if (i.guard != kNoReg) {
    out += i.guard_negated ? "@!" : "@";
    out += f.regs[i.guard].name;
    out += ' ';
  }
  put_opcode(out, i);
  const auto operands = f.operands(i);
  if (!operands.empty()) {
    out += ' ';
    put_elements(out, f, operands);
  }
  out += ';';
}

// ---- declarations

std::string_view linkage_text(Linkage l) {
  switch (l) {
    case Linkage::visible: return ".visible ";
    case Linkage::external: return ".extern ";
    case Linkage::weak: return ".weak ";
    case Linkage::common: return ".common ";
    case Linkage::internal: return "";
  }
  return "";
}

unsigned width_of(const Variable& v) { return std::max(1u, type_bits(v.type) / 8); }

void put_value(Out& out, const Variable& v, uint64_t offset) {
  uint64_t e = 0;
  for (unsigned b = 0; b < std::min(8u, width_of(v)) && offset + b < v.init.size(); ++b) {
    e |= uint64_t{v.init[offset + b]} << (8 * b);
  }
  if (v.type == Mod::f32) return put(out, "0f{:08X}", e);
  if (v.type == Mod::f64) return put(out, "0d{:016X}", e);
  put(out, "{}", e);
}

void put_address_constant(Out& out, const Variable::Reloc& r) {
  out += r.generic ? "generic(" : "";
  out += r.symbol;
  out += r.generic ? ")" : "";
  put_offset(out, r.addend);
}

// Prints elements of the variable's width. A pointer in a byte array is printed byte by byte with masks, as nvcc does.
// Vectors of an array are complete and have their own braces.
void put_initialiser(Out& out, const Variable& v) {
  const unsigned width = width_of(v), vector = width * v.vec;
  const bool grouped = v.is_array && v.vec > 1;
  auto reloc = v.relocations.begin();
  const uint64_t given = v.relocations.empty()
                             ? v.init.size()
                             : std::max<uint64_t>(v.init.size(), v.relocations.back().offset + 1);
  const uint64_t end = (given + vector - 1) / vector * vector;
  for (uint64_t i = 0; i < end; i += width) {
    if (i != 0) out += grouped && i % vector == 0 ? "}, " : ", ";
    if (grouped && i % vector == 0) out += '{';
    while (reloc != v.relocations.end() && reloc->offset + (width == 1 ? 8 : width) <= i) ++reloc;
    if (reloc == v.relocations.end() || i < reloc->offset) {
      put_value(out, v, i);
    } else if (width == 1) {
      put(out, "0x{:X}(", uint64_t{0xFF} << (8 * (i - reloc->offset)));
      put_address_constant(out, *reloc);
      out += ')';
    } else {
      put_address_constant(out, *reloc);
    }
  }
  if (grouped && end != 0) out += '}';
}

void put_array(Out& out, const Variable& v) {
  if (v.is_array && v.elements == 0) out += "[]";
  if (v.is_array && v.elements != 0) put(out, "[{}]", v.elements);
}

uint32_t natural_alignment(const Variable& v) { return width_of(v) * v.vec; }

void put_variable(Out& out, const Variable& v) {
  put(out, "{}.{} ", linkage_text(v.linkage), mod_text(v.space));
  if (v.managed) out += ".attribute(.managed) ";
  if (v.space != Mod::param || v.is_array || v.align != natural_alignment(v)) put(out, ".align {} ", v.align);
  if (v.vec > 1) put(out, ".v{} ", v.vec);
  put(out, ".{} {}", mod_text(v.type), v.name);
  put_array(out, v);
  if (!v.init.empty() || !v.relocations.empty()) {
    const bool braces = v.is_array || v.vec > 1;
    out += braces ? " = {" : " = ";
    put_initialiser(out, v);
    if (braces) out += '}';
  }
  out += ';';
}

void put_param(Out& out, const Variable& p) {
  out += ".param ";
  if (p.is_array || p.align != natural_alignment(p)) put(out, ".align {} ", p.align);
  if (p.vec > 1) put(out, ".v{} ", p.vec);
  put(out, ".{} ", mod_text(p.type));
  if (p.is_pointer) {
    out += ".ptr ";
    if (p.pointee != Mod::none) put(out, ".{} ", mod_text(p.pointee));
    if (p.pointee_align != 0) put(out, ".align {} ", p.pointee_align);
  }
  out += p.name;
  put_array(out, p);
}

void put_param_list(Out& out, const std::vector<Variable>& params, bool one_line) {
  out += '(';
  for (size_t i = 0; i < params.size(); ++i) {
    out += one_line ? "" : "\n\t";
    put_param(out, params[i]);
    if (i + 1 < params.size()) out += one_line ? ", " : ",";
  }
  out += one_line || params.empty() ? ")" : "\n)";
}

void put_directives(Out& out, const Directives& d) {
  const auto triple = [&](const char* name, const std::optional<std::array<uint32_t, 3>>& t) {
    if (t) put(out, ".{} {}, {}, {}\n", name, (*t)[0], (*t)[1], (*t)[2]);
  };
  const auto number = [&](const char* name, const std::optional<uint32_t>& n) {
    if (n) put(out, ".{} {}\n", name, *n);
  };
  if (d.noreturn) out += ".noreturn\n";
  if (d.explicitcluster) out += ".explicitcluster\n";
  if (d.blocksareclusters) out += ".blocksareclusters\n";
  triple("reqnctapercluster", d.reqnctapercluster);
  number("maxclusterrank", d.maxclusterrank);
  triple("maxntid", d.maxntid);
  triple("reqntid", d.reqntid);
  number("minnctapersm", d.minnctapersm);
  number("maxnctapersm", d.maxnctapersm);
  number("maxnreg", d.maxnreg);
}

// ---- registers

// Is `name` prefix followed by the decimal `n`?
bool is_numbered(std::string_view name, std::string_view prefix, size_t n) {
  if (!name.starts_with(prefix)) return false;
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, n).ptr;
  return name.substr(prefix.size()) == std::string_view(digits, static_cast<size_t>(end - digits));
}

// Declarations keep the order of the registers, since a register is its number. prefix0, prefix1, … of one
// type print as a range.
void put_registers(Out& out, const Function& f) {
  constexpr size_t kNamesPerLine = 16;
  size_t on_line = 0;
  Mod line_type = Mod::none;
  const auto end_line = [&] {
    if (on_line != 0) out += ";\n";
    on_line = 0;
  };
  for (size_t i = 0; i < f.regs.size();) {
    const RegDecl& r = f.regs[i];
    size_t run = 1;
    // A prefix that ends in a digit would make ptxas read %r3<4> as more of %r<N>.
    if (r.name.size() > 1 && r.name.back() == '0' && (r.name[r.name.size() - 2] < '0' || r.name[r.name.size() - 2] > '9')) {
      const std::string_view prefix = std::string_view(r.name).substr(0, r.name.size() - 1);
      while (i + run < f.regs.size() && f.regs[i + run].type == r.type &&
             is_numbered(f.regs[i + run].name, prefix, run))
        ++run;
    }
    if (run > 1) {
      end_line();
      put(out, "\t.reg .{} {}<{}>;\n", mod_text(r.type),
          std::string_view(r.name).substr(0, r.name.size() - 1), run);
    } else {
      if (on_line == kNamesPerLine || r.type != line_type) end_line();
      if (on_line == 0) {
        put(out, "\t.reg .{} {}", mod_text(r.type), r.name);
      } else {
        put(out, ", {}", r.name);
      }
      ++on_line;
      line_type = r.type;
    }
    i += run;
  }
  end_line();
}

void put_lists(Out& out, const Module& m, const Function& f) {
  std::vector<std::string_view> branch_names(f.branch_targets.size()), call_names(f.call_targets.size());
  for (const SymbolRef& s : f.symbols) {
    if (s.kind == SymbolRef::Kind::branch_targets) branch_names.at(s.index) = s.name;
    if (s.kind == SymbolRef::Kind::call_targets) call_names.at(s.index) = s.name;
  }
  for (size_t i = 0; i < f.branch_targets.size(); ++i) {
    put(out, "{}: .branchtargets ", branch_names[i]);
    for (size_t k = 0; k < f.branch_targets[i].size(); ++k) {
      put(out, "{}{}", k == 0 ? "" : ", ", f.labels[f.branch_targets[i][k]].name);
    }
    out += ";\n";
  }
  for (size_t i = 0; i < f.call_targets.size(); ++i) {
    put(out, "{}: .calltargets ", call_names[i]);
    for (size_t k = 0; k < f.call_targets[i].size(); ++k) {
      put(out, "{}{}", k == 0 ? "" : ", ", m.functions[f.call_targets[i][k]].name);
    }
    out += ";\n";
  }
  for (const CallPrototype& p : f.prototypes) {
    put(out, "{}: .callprototype ", p.name);
    if (!p.returns.empty()) {
      put_param_list(out, p.returns, true);
      out += ' ';
    }
    out += "_ ";
    put_param_list(out, p.params, true);
    out += p.noreturn ? " .noreturn;\n" : ";\n";
  }
}

// ---- bodies and modules

// Indices into `list` ordered by position; equal positions keep their order.
template <class T>
std::vector<uint32_t> by_position(const std::vector<T>& list) {
  std::vector<uint32_t> order(list.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return list[a].position < list[b].position; });
  return order;
}

void put_body(Out& out, const Function& f, SourceLines* lines) {
  const auto labels = by_position(f.labels), pragmas = by_position(f.pragmas);
  size_t label = 0, pragma = 0;
  SourceRef last{};
  for (uint32_t i = 0; i <= f.body.size(); ++i) {
    for (; label < labels.size() && f.labels[labels[label]].position == i; ++label) {
      out += f.labels[labels[label]].name + ":\n";
    }
    for (; pragma < pragmas.size() && f.pragmas[pragmas[pragma]].position == i; ++pragma) {
      put(out, "\t.pragma \"{}\";\n", f.pragmas[pragmas[pragma]].text);
    }
    if (i == f.body.size()) break;
    const Instruction& ins = f.body[i];
    if (lines != nullptr && ins.source.file != 0 && (ins.source != last || ins.source.call_site != last.call_site)) {
      lines->put(out, ins.source);
      last = ins.source;
    }
    out += '\t';
    put_instruction(out, f, ins);
    out += '\n';
  }
}

// `lines`: nullptr for none.
void put_function(Out& out, const Module& m, const Function& f, SourceLines* lines) {
  out += linkage_text(f.linkage);
  out += f.is_entry ? ".entry " : ".func ";
  if (!f.returns.empty()) {
    put_param_list(out, f.returns, true);
    out += ' ';
  }
  out += f.name;
  if (f.is_entry || !f.params.empty()) put_param_list(out, f.params, false);
  out += '\n';
  put_directives(out, f.directives);
  if (f.is_prototype) {
    out += ";\n";
    return;
  }
  out += "{\n";
  put_registers(out, f);
  for (const Variable& v : f.variables) {
    out += '\t';
    put_variable(out, v);
    out += '\n';
  }
  put_lists(out, m, f);
  if (!f.refused.empty()) put(out, "\t{};\n", f.refused);  // read again, it refuses the function again
  put_body(out, f, lines);
  out += "}\n";
}

}  // namespace

std::string print_opcode(const Instruction& i) {
  Out out;
  put_opcode(out, i);
  return out;
}

std::string print_operand(const Function& f, const Operand& o) {
  Out out;
  put_operand(out, f, o);
  return out;
}

std::string print_instruction(const Function& f, const Instruction& i) {
  Out out;
  put_instruction(out, f, i);
  return out;
}

std::string print_function(const Module& m, const Function& f, const PrintOptions& options) {
  Out out;
  SourceLines lines(m);
  put_function(out, m, f, options.source_lines ? &lines : nullptr);
  return out;
}

std::string print_module(const Module& m, const PrintOptions& options) {
  Out out = fmt::format(".version {}.{}\n.target {}{}\n.address_size 64\n\n", m.version.major,
                        m.version.minor, target_name(m.target), m.debug ? ", debug" : "");
  if (options.source_lines) {
    for (size_t i = 1; i < m.files.size(); ++i) {
      if (!m.files[i].empty()) put(out, ".file\t{} \"{}\"\n", i, m.files[i]);
    }
  }
  for (const std::string& p : m.pragmas) put(out, ".pragma \"{}\";\n", p);
  SourceLines lines(m);
  // Variables keep their place among the functions: a table of functions follows their declarations.
  const auto variables = by_position(m.variables);
  size_t next = 0;
  for (size_t i = 0; i <= m.functions.size(); ++i) {
    for (; next < variables.size() && (m.variables[variables[next]].position <= i || i == m.functions.size());
         ++next) {
      put_variable(out, m.variables[variables[next]]);
      out += '\n';
    }
    if (i < m.functions.size()) {
      put_function(out, m, m.functions[i], options.source_lines ? &lines : nullptr);
      out += '\n';
    }
  }
  for (const Alias& a : m.aliases) put(out, ".alias {}, {};\n", a.name, a.target);
  lines.put_names(out);
  // The module has target debug, and ptxas then requires a debug section; the sections of the original text
  // were not kept.
  if (m.debug) out += ".section .debug_abbrev { .b8 0 }\n";
  return out;
}

}  // namespace drywell::isa
