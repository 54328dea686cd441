#include "drywell/isa/print.h"

#include <fmt/format.h>

#include <iterator>
#include <map>

namespace drywell::isa {
namespace {

std::string print_imm(const Operand& o) {
  switch (o.imm_kind) {
    case ImmKind::f32: return fmt::format("0f{:08X}", static_cast<uint32_t>(o.value));
    case ImmKind::f64: return fmt::format("0d{:016X}", static_cast<uint64_t>(o.value));
    case ImmKind::hex: return fmt::format("0x{:X}", static_cast<uint64_t>(o.value));
    case ImmKind::warp_size: return "WARP_SZ";
    case ImmKind::decimal: return fmt::format("{}", o.value);
  }
  return {};
}

std::string print_offset(int64_t v) { return v == 0 ? std::string() : fmt::format("{:+}", v); }

std::string print_address(const Function& f, const Operand& o) {
  switch (o.base) {
    case Operand::Base::reg: return fmt::format("[{}{}]", f.regs[o.index].name, print_offset(o.value));
    case Operand::Base::symbol: return fmt::format("[{}{}]", f.symbols[o.index].name, print_offset(o.value));
    case Operand::Base::none: return fmt::format("[{}]", o.value);
  }
  return {};
}

std::string join_elements(const Function& f, const Operand& o) {
  std::string out;
  for (const Operand& e : f.elements(o)) {
    if (!out.empty()) out += ", ";
    out += print_operand(f, e);
  }
  return out;
}

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

std::string print_bytes(const Variable& v) {
  // Initialisers print as bytes when the element type is a byte, else as elements of that width.
  const unsigned width = std::max(1u, type_bits(v.type) / 8);
  std::string out;
  for (size_t i = 0; i < v.init.size(); i += width) {
    uint64_t e = 0;
    for (unsigned b = 0; b < width && i + b < v.init.size(); ++b) e |= uint64_t{v.init[i + b]} << (8 * b);
    if (!out.empty()) out += ", ";
    if (v.type == Mod::f32) {
      out += fmt::format("0f{:08X}", static_cast<uint32_t>(e));
    } else if (v.type == Mod::f64) {
      out += fmt::format("0d{:016X}", e);
    } else {
      out += fmt::format("{}", e);
    }
  }
  return out;
}

std::string print_initialiser(const Variable& v) {
  if (!v.relocations.empty()) {
    const unsigned width = std::max(1u, type_bits(v.type) / 8);
    std::map<uint64_t, const Variable::Reloc*> at;
    for (const auto& r : v.relocations) at[r.offset] = &r;
    std::string out;
    const uint64_t end = std::max<uint64_t>(v.init.size(), at.rbegin()->first + width);
    for (uint64_t i = 0; i < end; i += width) {
      if (!out.empty()) out += ", ";
      if (const auto it = at.find(i); it != at.end()) {
        const auto& r = *it->second;
        out += r.generic ? fmt::format("generic({})", r.symbol) : r.symbol;
        if (r.addend != 0) out += fmt::format("+{}", r.addend);
      } else {
        uint64_t e = 0;
        for (unsigned b = 0; b < width && i + b < v.init.size(); ++b) e |= uint64_t{v.init[i + b]} << (8 * b);
        out += fmt::format("{}", e);
      }
    }
    return out;
  }
  return print_bytes(v);
}

std::string print_variable(const Variable& v) {
  std::string out = fmt::format("{}.{} .align {} ", linkage_text(v.linkage), mod_text(v.space), v.align);
  if (v.vec > 1) out += fmt::format(".v{} ", v.vec);
  out += fmt::format(".{} {}", mod_text(v.type), v.name);
  if (v.is_array) out += v.elements == 0 ? "[]" : fmt::format("[{}]", v.elements);
  if (!v.init.empty() || !v.relocations.empty()) {
    out += v.is_array ? fmt::format(" = {{{}}}", print_initialiser(v)) : fmt::format(" = {}", print_initialiser(v));
  }
  return out + ";";
}

std::string print_param(const Variable& p) {
  std::string out = ".param ";
  if (p.is_array) {
    out += fmt::format(".align {} .{} {}[{}]", p.align, mod_text(p.type), p.name, p.elements);
    return out;
  }
  out += fmt::format(".{} ", mod_text(p.type));
  if (p.is_pointer) {
    out += ".ptr ";
    if (p.pointee != Mod::none) out += fmt::format(".{} ", mod_text(p.pointee));
    out += fmt::format(".align {} ", p.pointee_align);
  }
  return out + p.name;
}

std::string print_param_list(const std::vector<Variable>& params) {
  if (params.empty()) return "()";
  std::string out = "(\n";
  for (size_t i = 0; i < params.size(); ++i) {
    out += fmt::format("\t{}{}\n", print_param(params[i]), i + 1 < params.size() ? "," : "");
  }
  return out + ")";
}

std::string print_directives(const Directives& d) {
  std::string out;
  const auto triple = [&](const char* name, const std::array<uint32_t, 3>& t) {
    out += fmt::format(".{} {}, {}, {}\n", name, t[0], t[1], t[2]);
  };
  if (d.noreturn) out += ".noreturn\n";
  if (d.explicitcluster) out += ".explicitcluster\n";
  if (d.reqnctapercluster) triple("reqnctapercluster", *d.reqnctapercluster);
  if (d.maxclusterrank) out += fmt::format(".maxclusterrank {}\n", *d.maxclusterrank);
  if (d.maxntid) triple("maxntid", *d.maxntid);
  if (d.reqntid) triple("reqntid", *d.reqntid);
  if (d.minnctapersm) out += fmt::format(".minnctapersm {}\n", *d.minnctapersm);
  if (d.maxnctapersm) out += fmt::format(".maxnctapersm {}\n", *d.maxnctapersm);
  if (d.maxnreg) out += fmt::format(".maxnreg {}\n", *d.maxnreg);
  return out;
}

// Registers %r0 … %rN of one type, declared in order, print as one range; anything else by name.
std::string print_registers(const Function& f) {
  std::string out;
  std::map<Mod, std::string> by_type;
  for (const RegDecl& r : f.regs) {
    std::string& line = by_type[r.type];
    line += line.empty() ? r.name : ", " + r.name;
  }
  for (const auto& [type, names] : by_type) out += fmt::format("\t.reg .{} {};\n", mod_text(type), names);
  return out;
}

void print_body(const Module& m, const Function& f, const PrintOptions& options, std::string& out) {
  std::multimap<uint32_t, const Label*> labels;
  for (const Label& l : f.labels) labels.emplace(l.position, &l);
  std::multimap<uint32_t, const Annotation*> pragmas;
  for (const Annotation& a : f.pragmas) pragmas.emplace(a.position, &a);
  SourceRef last{};
  const auto at = [&](uint32_t i) {
    for (auto [it, end] = labels.equal_range(i); it != end; ++it) out += it->second->name + ":\n";
    for (auto [it, end] = pragmas.equal_range(i); it != end; ++it) out += fmt::format("\t.pragma \"{}\";\n", it->second->text);
  };
  for (uint32_t i = 0; i < f.body.size(); ++i) {
    const Instruction& ins = f.body[i];
    at(i);
    if (options.source_lines && ins.source.file != 0 && ins.source != last) {
      fmt::format_to(std::back_inserter(out), "\t.loc\t{} {} {}\n", ins.source.file, ins.source.line, ins.source.column);
      last = ins.source;
    }
    out += '\t';
    out += print_instruction(f, ins);
    out += '\n';
  }
  at(static_cast<uint32_t>(f.body.size()));
  (void)m;
}

}  // namespace

std::string print_opcode(const Instruction& i) {
  const InstrSpec& row = spec(i.op);
  std::string out(row.mnemonic);
  for (size_t s = 0; s < row.slot_count(); ++s) {
    if (const Mod m = i.mod_at(s); m != Mod::none) {
      out += '.';
      out += mod_text(m);
    }
  }
  return out;
}

std::string print_operand(const Function& f, const Operand& o) {
  switch (o.kind) {
    case Operand::Kind::reg: return (o.negated ? "!" : "") + f.regs[o.index].name;
    case Operand::Kind::imm: return print_imm(o);
    case Operand::Kind::addr: return print_address(f, o);
    case Operand::Kind::vec: return "{" + join_elements(f, o) + "}";
    case Operand::Kind::label: return f.labels[o.index].name;
    case Operand::Kind::symbol: return f.symbols[o.index].name;
    case Operand::Kind::sink: return "_";
    case Operand::Kind::tensor: {
      // elements: the map's address (as an address operand), then one or two vectors
      const auto e = f.elements(o);
      std::string map = print_operand(f, e[0]);
      std::string out = map.substr(0, map.size() - 1);
      for (size_t i = 1; i < e.size(); ++i) out += ", " + print_operand(f, e[i]);
      return out + "]";
    }
    case Operand::Kind::pair: {
      const auto e = f.elements(o);
      return print_operand(f, e[0]) + "|" + print_operand(f, e[1]);
    }
    case Operand::Kind::special: return std::string(special_reg_text(static_cast<SpecialReg>(o.index)));
    case Operand::Kind::args: return "(" + join_elements(f, o) + ")";
    case Operand::Kind::none: break;
  }
  return "<none>";
}

std::string print_instruction(const Function& f, const Instruction& i) {
  std::string out;
  if (i.guard != kNoReg) out = fmt::format("@{}{} ", i.guard_negated ? "!" : "", f.regs[i.guard].name);
  out += print_opcode(i);
  const auto operands = f.operands(i);
  for (size_t k = 0; k < operands.size(); ++k) {
    out += k == 0 ? " " : ", ";
    out += print_operand(f, operands[k]);
  }
  return out + ";";
}

std::string print_function(const Module& m, const Function& f, const PrintOptions& options) {
  std::string out(linkage_text(f.linkage));
  out += f.is_entry ? ".entry " : ".func ";
  if (!f.is_entry && !f.returns.empty()) out += print_param_list(f.returns) + " ";
  out += f.name + print_param_list(f.params) + "\n";
  out += print_directives(f.directives);
  if (f.is_prototype) return out + ";\n";
  out += "{\n" + print_registers(f);
  for (const Variable& v : f.variables) out += "\t" + print_variable(v) + "\n";
  print_body(m, f, options, out);
  return out + "}\n";
}

std::string print_module(const Module& m, const PrintOptions& options) {
  std::string out = fmt::format(".version {}.{}\n.target {}{}\n.address_size 64\n\n", m.version.major, m.version.minor,
                                target_name(m.target), m.debug ? ", debug" : "");
  if (options.source_lines) {
    for (size_t i = 1; i < m.files.size(); ++i) out += fmt::format(".file\t{} \"{}\"\n", i, m.files[i]);
  }
  for (const Variable& v : m.variables) out += print_variable(v) + "\n";
  for (const Function& f : m.functions) out += print_function(m, f, options) + "\n";
  return out;
}

}  // namespace drywell::isa
