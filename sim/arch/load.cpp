// Reads architecture files: TOML text -> figures -> check against the schema -> ArchConfig.
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "drywell/core/files.h"
#include "drywell/core/text.h"
#include "drywell/core/toml_text.h"
#include "drywell/sim/arch_config.h"
#include "sim/arch/builtin.h"
#include "sim/arch/schema.h"

namespace drywell::sim {
namespace {

SourcePos position(const std::string& file, const toml::source_region& region) {
  return {file, region.begin.line, region.begin.column};
}

/// "did you mean 'x'?" for the candidates nearest to `text`, if one is near enough.
std::string near_miss(std::string_view text, const std::vector<std::string>& candidates) {
  const std::vector<std::string_view> views(candidates.begin(), candidates.end());
  return did_you_mean(text, views);
}

std::string_view section_of(std::string_view key) { return key.substr(0, key.rfind('.')); }

/// Keys of a file that are no sections.
constexpr std::string_view kIdentity[] = {"base", "inherited", "name", "description", "target", "tensor"};

/// One file of a chain of bases, parsed.
struct File {
  std::string name;
  toml::table table;
};

/// True if `base` or `--arch` names a file.
bool is_path(std::string_view name) {
  return name.find('/') != std::string_view::npos || name.ends_with(".toml");
}

std::string builtin_hint(std::string_view name) {
  std::vector<std::string> names;
  for (std::string_view n : builtin_arch_names()) names.emplace_back(n);
  std::string hint = near_miss(name, names);
  return hint.empty() ? fmt::format("built in: {}; a file's name ends in .toml", fmt::join(names, ", "))
                      : hint;
}

class Loader {
 public:
  ArchConfig load(std::string_view text, const std::string& file) {
    add_chain(text, file, 0);
    stop_on_errors();
    read_identity();
    stop_on_errors();
    for (SchemaRow& row : schema_rows(arch_.tensor)) rows_.emplace(row.key, row);
    for (const File& f : files_) read_figures(f);
    fill_in();
    stop_on_errors();
    check_consistency();
    stop_on_errors();
    return std::move(arch_);
  }

 private:
  /// Throws the errors found so far, in the order of the files' lines.
  void stop_on_errors() {
    if (!errors_.has_errors()) return;
    std::vector<Diagnostic> list(errors_.list().begin(), errors_.list().end());
    std::stable_sort(list.begin(), list.end(), [](const Diagnostic& a, const Diagnostic& b) {
      return std::tie(a.where.file, a.where.line) < std::tie(b.where.file, b.where.line);
    });
    Diagnostics sorted;
    for (Diagnostic& d : list) sorted.add(std::move(d));
    throw InputError(std::move(sorted));
  }

  /// Parses `text` and, before it, the files it is based on.
  void add_chain(std::string_view text, const std::string& file, int depth) {
    if (const std::optional<TomlProblem> p = unreadable_toml(text); p.has_value()) {
      errors_.error(Code::E2002, {file, p->line, 0}, std::string(p->why));
      return;
    }
    toml::table table;
    try {
      table = toml::parse(text, std::string_view(file));
    } catch (const toml::parse_error& e) {
      errors_.error(Code::E2002, position(file, e.source()), std::string(e.description()));
      return;
    }
    if (const toml::node* base = table.get("base")) add_base(*base, file, depth);
    files_.push_back({file, std::move(table)});
  }

  void add_base(const toml::node& node, const std::string& file, int depth) {
    const SourcePos where = position(file, node.source());
    const auto name = node.value<std::string>();
    if (!name || name->empty()) {
      errors_.error(Code::E2009, where, "base must be the name of an architecture or of a .toml file");
    } else if (depth >= 8) {
      errors_.error(Code::E2009, where, "more than 8 bases deep: is a file its own base?");
    } else if (!is_path(*name)) {
      const std::string_view text = builtin_arch_text(*name);
      if (text.empty()) {
        errors_.error(Code::E2009, where, fmt::format("no built-in architecture '{}'", *name),
                      builtin_hint(*name));
      } else {
        add_chain(text, *name + ".toml", depth + 1);
      }
    } else {
      const size_t slash = file.rfind('/');
      const bool beside = name->front() != '/' && slash != std::string::npos;
      const std::string path = beside ? file.substr(0, slash + 1) + *name : *name;
      try {
        const std::string text = read_text_file(path);
        add_chain(text, path, depth + 1);
      } catch (const InputError& e) {
        errors_.error(Code::E2009, where,
                      fmt::format("base '{}': {}", *name, e.diagnostics().list().front().message));
      }
    }
  }

  /// Text of a top-level key, from the last file that has the key.
  std::optional<std::string> text_of(const char* key, SourcePos& where) {
    std::optional<std::string> out;
    for (const File& f : files_) {
      if (const toml::node* node = f.table.get(key)) {
        where = position(f.name, node->source());
        out = node->value<std::string>();
        if (!out) errors_.error(Code::E2010, where, fmt::format("{} must be text", key));
      }
    }
    if (!out && where.line == 0) {
      where = {files_.back().name, 0, 0};
      errors_.error(Code::E2010, where, fmt::format("'{}' is missing", key), "or give a base");
    }
    return out;
  }

  void read_identity() {
    SourcePos where[4];
    arch_.name = text_of("name", where[0]).value_or("");
    arch_.description = text_of("description", where[1]).value_or("");
    if (const auto target = text_of("target", where[2]);
        target && !isa::parse_target(*target, arch_.target)) {
      errors_.error(Code::E2010, where[2], fmt::format("unknown target '{}'", *target),
                    "as ptxas names it: sm_100a");
    }
    if (const auto tensor = text_of("tensor", where[3])) {
      if (!parse_tensor_core(*tensor, arch_.tensor)) {
        errors_.error(Code::E2010, where[3], fmt::format("unknown tensor core '{}'", *tensor), "umma, wgmma or warp");
      }
    }
  }

  void read_figures(const File& file) {
    if (const toml::node* inherited = file.table.get("inherited")) assume_inherited(*inherited, file);
    for (auto&& [key, node] : file.table) {
      const std::string_view name = key.str();
      if (std::find(std::begin(kIdentity), std::end(kIdentity), name) != std::end(kIdentity)) continue;
      const toml::table* section = node.as_table();
      if (section_doc(name).empty() || section == nullptr) {
        unknown(name, position(file.name, key.source()), section != nullptr ? "section" : "key");
        continue;
      }
      for (auto&& [entry, figure] : *section) {
        const std::string path = fmt::format("{}.{}", name, entry.str());
        if (name != "class") {
          read_figure(path, figure, file.name, entry.source());
        } else if (const toml::table* cost = figure.as_table()) {
          for (auto&& [part, value] : *cost) {
            read_figure(fmt::format("{}.{}", path, part.str()), value, file.name, part.source());
          }
        } else {
          unknown(path, position(file.name, entry.source()), "key");
        }
      }
    }
  }

  /// `inherited = "assumed"`: the base is another machine, so what was measured there is an assumption here.
  void assume_inherited(const toml::node& inherited, const File& file) {
    const SourcePos where = position(file.name, inherited.source());
    if (inherited.value<std::string>() != "assumed") {
      errors_.error(Code::E2007, where, "inherited must be \"assumed\": the provenance of all figures that the base gives");
    }
    const std::string source = fmt::format("as {}", file.table["base"].value_or(std::string("its base")));
    for (auto& [key, entry] : given_) {
      entry.provenance = Provenance::assumed;
      entry.source = source;
      entry.where = where;
    }
  }

  /// The other tensor core whose architectures have this key or section.
  std::optional<TensorCore> other_tensor_core(std::string_view key) const {
    for (const TensorCore other : {TensorCore::umma, TensorCore::wgmma}) {
      if (other == arch_.tensor) continue;
      for (const ArchKey& k : arch_schema(other)) {
        if (k.key == key || section_of(k.key) == key) return other;
      }
    }
    return std::nullopt;
  }

  void unknown(std::string_view key, SourcePos where, const char* what) {
    const auto other = other_tensor_core(key);
    if (other && where.file != files_.back().name) return;  // a unit that the base has and this machine does not have
    std::vector<std::string> candidates;
    for (const auto& [known, row] : rows_) {
      if (key.find('.') == std::string_view::npos) {
        candidates.emplace_back(known.substr(0, known.find('.')));
      } else {
        candidates.push_back(known);
      }
    }
    std::string hint = near_miss(key, candidates);
    if (other) hint = fmt::format("it belongs to architectures with tensor = \"{}\"", tensor_core_name(*other));
    errors_.error(Code::E2003, std::move(where), fmt::format("unknown {} '{}'", what, key), std::move(hint));
  }

  void read_figure(const std::string& key, const toml::node& node, const std::string& file,
                   const toml::source_region& region) {
    const SourcePos where = position(file, region);
    const auto found = rows_.find(key);
    if (found == rows_.end()) return unknown(key, where, "key");
    const SchemaRow& row = found->second;
    given_.insert_or_assign(
        key, ArchEntry{.key = key, .where = where});  // the key is present, even if its figure is invalid: not reported as missing
    const toml::table* figure = node.as_table();
    if (figure == nullptr || figure->get("value") == nullptr) {
      errors_.error(Code::E2005, where, fmt::format("'{}' is not a figure", key),
                    "{ value = …, unit = \"…\", provenance = \"…\", source = \"…\" }");
      return;
    }
    for (auto&& [part, value] : *figure) {
      const std::string_view p = part.str();
      if (p != "value" && p != "unit" && p != "provenance" && p != "source") {
        errors_.error(Code::E2003, position(file, part.source()),
                      fmt::format("unknown key '{}' of figure '{}'", p, key),
                      near_miss(p, {"value", "unit", "provenance", "source"}));
      }
    }
    ArchEntry entry{.key = key, .unit = row.unit, .doc = row.doc, .where = where};
    read_papers(*figure, row, entry);
    entry.value = read_value(*figure->get("value"), row, where);
    given_.insert_or_assign(key, std::move(entry));
  }

  void read_papers(const toml::table& figure, const SchemaRow& row, ArchEntry& entry) {
    const std::string unit = figure["unit"].value_or(std::string("?"));
    if (unit != row.unit) {
      errors_.error(Code::E2008, entry.where, fmt::format("'{}' has unit '{}'", row.key, unit),
                    fmt::format("it is given in '{}'", row.unit));
    }
    const std::string provenance = figure["provenance"].value_or(std::string());
    if (!parse_provenance(provenance, entry.provenance)) {
      errors_.error(Code::E2007, entry.where,
                    provenance.empty() ? fmt::format("'{}' has no provenance", row.key)
                                       : fmt::format("unknown provenance '{}' of '{}'", provenance, row.key),
                    "documented, measured, derived or assumed");
    }
    entry.source = figure["source"].value_or(std::string());
    if (entry.source.empty()) {
      errors_.error(Code::E2007, entry.where, fmt::format("'{}' has no source", row.key),
                    "say where the figure comes from, or why it is assumed");
    }
  }

  /// Stores the value in its member and returns its text.
  std::string read_value(const toml::node& node, const SchemaRow& row, const SourcePos& where) {
    const auto wrong_type = [&] {
      errors_.error(Code::E2005, where,
                    fmt::format("'{}' must be of type {}", row.key, value_type_name(row.type)));
      return std::string();
    };
    if (row.type == ValueType::flag) {
      if (!node.is_boolean()) return wrong_type();
      const bool value = *node.value<bool>();
      *static_cast<ArchConfig::Flag*>(row.member(arch_)) = value;
      return value ? "true" : "false";
    }
    if (row.type == ValueType::pipe) {
      const auto name = node.value_exact<std::string>();
      if (!name) return wrong_type();
      if (!parse_pipe(*name, *static_cast<Pipe*>(row.member(arch_)))) {
        errors_.error(Code::E2006, where, fmt::format("unknown pipe '{}' of '{}'", *name, row.key), pipe_hint());
      }
      return *name;
    }
    if (!(row.type == ValueType::integer ? node.is_integer() : node.is_number())) return wrong_type();
    const double value = *node.value<double>();
    if (!(value >= row.least && value <= row.greatest)) {
      errors_.error(Code::E2006, where,
                    fmt::format("'{}' = {} is outside {} to {}", row.key, value, row.least, row.greatest));
      return {};
    }
    store_number(row, value);
    return row.type == ValueType::integer ? fmt::format("{}", *node.value<int64_t>())
                                          : fmt::format("{}", value);
  }

  void store_number(const SchemaRow& row, double value) {
    if (row.type == ValueType::integer) {
      *static_cast<ArchConfig::Integer*>(row.member(arch_)) = static_cast<ArchConfig::Integer>(value);
    } else {
      *static_cast<ArchConfig::Real*>(row.member(arch_)) = value;
    }
  }

  static std::string pipe_hint() {
    std::string names;
    for (int i = 0; i <= static_cast<int>(Pipe::tmem); ++i) {
      names += fmt::format("{}{}", i == 0 ? "" : ", ", pipe_name(static_cast<Pipe>(i)));
    }
    return "one of " + names;
  }

  /// Puts the entries in order. A key that no file has takes its fallback value or is reported as missing.
  void fill_in() {
    for (const SchemaRow& row : schema_rows(arch_.tensor)) {
      if (const auto given = given_.find(row.key); given != given_.end()) {
        arch_.entries.push_back(given->second);
      } else if (row.fallback) {
        store_number(row, *row.fallback);
        arch_.entries.push_back({row.key,
                                 fmt::format("{}", *row.fallback),
                                 row.unit,
                                 Provenance::assumed,
                                 "default of the schema",
                                 row.doc,
                                 {}});
      } else {
        errors_.error(Code::E2004, {files_.back().name, 0, 0}, fmt::format("'{}' is missing", row.key), row.doc);
      }
    }
  }

  void check_consistency() {
    const auto require = [&](bool holds, const char* key, const char* rule) {
      if (holds) return;
      SourcePos where{files_.back().name, 0, 0};
      for (const ArchEntry& e : arch_.entries) {
        if (e.key == key) where = e.where;
      }
      errors_.error(Code::E2011, where, fmt::format("contradiction: {} must hold", rule));
    };
    const ArchConfig& a = arch_;
    require(a.chip.clock <= a.chip.boost_clock, "chip.clock", "chip.clock <= chip.boost_clock");
    require(a.chip.cluster_portable <= a.chip.cluster_max, "chip.cluster_max",
            "chip.cluster_portable <= chip.cluster_max");
    require(a.smem.cta_bytes + a.smem.reserved <= a.smem.bytes, "smem.cta_bytes",
            "smem.cta_bytes + smem.reserved <= smem.bytes");
    require(a.l2.near_latency <= a.l2.latency && a.l2.latency <= a.l2.far_latency, "l2.latency",
            "l2.near_latency <= l2.latency <= l2.far_latency");
    require(a.umma.latency_start + a.umma.latency_drain + a.umma.latency_commit <= a.umma.latency,
            "umma.latency", "umma.latency_start + latency_drain + latency_commit <= umma.latency");
  }

  ArchConfig arch_;
  Diagnostics errors_;
  std::vector<File> files_;  // base first
  std::map<std::string, SchemaRow, std::less<>> rows_;
  std::map<std::string, ArchEntry, std::less<>> given_;
};

}  // namespace

ArchConfig parse_arch(std::string_view toml, const std::string& file) { return Loader().load(toml, file); }

ArchConfig load_arch(const std::string& name_or_path) {
  if (is_path(name_or_path)) return parse_arch(read_text_file(name_or_path), name_or_path);
  const std::string_view text = builtin_arch_text(name_or_path);
  if (text.empty()) {
    throw InputError(Code::E2001, fmt::format("no built-in architecture '{}'", name_or_path),
                     builtin_hint(name_or_path));
  }
  return parse_arch(text, name_or_path + ".toml");
}

}  // namespace drywell::sim
