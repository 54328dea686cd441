// Architecture figures as text.
#include <fmt/format.h>

#include <algorithm>

#include "drywell/sim/arch_config.h"
#include "sim/arch/builtin.h"
#include "sim/arch/schema.h"

namespace drywell::sim {
namespace {

std::string with_unit(const ArchEntry& e) { return e.unit.empty() ? e.value : e.value + ' ' + e.unit; }

}  // namespace

std::vector<std::string_view> builtin_arch_names() {
  std::vector<std::string_view> names;
  for (const BuiltinArch& a : builtin_archs()) names.push_back(a.name);
  return names;
}

std::string_view builtin_arch_text(std::string_view name) {
  for (const BuiltinArch& a : builtin_archs()) {
    if (a.name == name) return a.toml;
  }
  return {};
}

std::string describe(const ArchConfig& arch, bool only_assumed) {
  std::vector<const ArchEntry*> shown;
  size_t key_width = 0, value_width = 0;
  for (const ArchEntry& e : arch.entries) {
    if (only_assumed && e.provenance != Provenance::assumed) continue;
    shown.push_back(&e);
    key_width = std::max(key_width, e.key.size());
    value_width = std::max(value_width, with_unit(e).size());
  }
  std::string out = fmt::format("{} ({}, target {}): {} of {} figures{}\n", arch.name, arch.description,
                                isa::target_name(arch.target), shown.size(), arch.entries.size(),
                                only_assumed ? ", the assumed ones" : "");
  std::string_view section;
  for (const ArchEntry* e : shown) {
    const std::string_view here = std::string_view(e->key).substr(0, e->key.find('.'));
    if (here != section) {
      section = here;
      out += fmt::format("\n[{}] {}\n", section, section_doc(section));
    }
    out += fmt::format("  {:<{}}  {:>{}}  {:<10}  {}\n", e->key, key_width, with_unit(*e), value_width,
                       provenance_name(e->provenance), e->source);
  }
  return out;
}

std::string assumed_figures_markdown(const ArchConfig& arch) {
  std::string out = "| figure | value | what | why |\n| --- | --- | --- | --- |\n";
  for (const ArchEntry& e : arch.entries) {
    if (e.provenance != Provenance::assumed) continue;
    out += fmt::format("| `{}` | {} | {} | {} |\n", e.key, with_unit(e), e.doc, e.source);
  }
  return out;
}

}  // namespace drywell::sim
