#include "drywell/isa/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "drywell/core/error.h"
#include "isa/ptx_versions.h"

namespace drywell::isa {
namespace {

using NewNames = std::map<std::string, std::string>;  // name in the unit -> name in the result

void rename(std::string& name, const NewNames& names) {
  if (const auto it = names.find(name); it != names.end()) name = it->second;
}

bool is_weak(Linkage l) { return l == Linkage::weak || l == Linkage::common; }
bool defines(const Variable& v) { return v.linkage != Linkage::external; }
bool defines(const Function& f) { return !f.is_prototype; }

// Replaces a definition by a declaration; its users then find the other definition by name.
void give_way(Variable& v) {
  v.linkage = Linkage::external;
  v.init.clear();
  v.relocations.clear();
}
void give_way(Function& f) {
  const Function whole = std::move(f);
  f = {};
  f.name = whole.name;
  f.is_entry = whole.is_entry;
  f.is_prototype = true;
  f.linkage = Linkage::external;
  f.directives = whole.directives;
  f.params = whole.params;
  f.returns = whole.returns;
  f.source = whole.source;
}

class Linker {
 public:
  Module link(std::vector<Module> units);

 private:
  void collect_shared_names(const Module& unit);
  void take_newest(const std::vector<Module>& units);
  NewNames names_of(const Module& unit);
  void adapt(Function& f, const NewNames& names, const std::vector<uint32_t>& files) const;
  void adapt(SourceRef& at, const std::vector<uint32_t>& files) const;
  void append(Module unit);
  template <class T>
  void resolve(std::vector<T>& all);
  void point_at_definitions();

  Module out_;
  std::set<std::string> taken_;  // names that units share, and internal names of the units so far
  Diagnostics problems_;
};

void Linker::collect_shared_names(const Module& unit) {
  for (const Variable& v : unit.variables) {
    if (v.linkage != Linkage::internal) taken_.insert(v.name);
  }
  for (const Function& f : unit.functions) {
    if (f.linkage != Linkage::internal) taken_.insert(f.name);
  }
}

// Units of several compilers have several versions, and a unit for a chip before sm_80, read as one for sm_80, may have a version without it.
void Linker::take_newest(const std::vector<Module>& units) {
  out_.version = {0, 0};
  out_.target = Target::sm_80;
  for (const Module& u : units) {
    out_.target = std::max(out_.target, u.target);
    out_.version = std::max({out_.version, u.version, oldest_version(out_.target)});
  }
}

NewNames Linker::names_of(const Module& unit) {
  NewNames names;
  const auto keep_apart = [&](const std::string& name, Linkage linkage) {
    if (linkage != Linkage::internal || names.contains(name)) return;
    std::string own = name;
    for (unsigned n = 2; !taken_.insert(own).second; ++n) own = fmt::format("{}${}", name, n);
    names[name] = own;
  };
  for (const Variable& v : unit.variables) keep_apart(v.name, v.linkage);
  for (const Function& f : unit.functions) keep_apart(f.name, f.linkage);
  return names;
}

void Linker::adapt(Function& f, const NewNames& names, const std::vector<uint32_t>& files) const {
  const auto first_variable = static_cast<uint32_t>(out_.variables.size()), first_function = static_cast<uint32_t>(out_.functions.size());
  rename(f.name, names);
  for (SymbolRef& s : f.symbols) {
    if (s.kind != SymbolRef::Kind::variable && s.kind != SymbolRef::Kind::function) continue;
    s.index += s.kind == SymbolRef::Kind::variable ? first_variable : first_function;
    rename(s.name, names);
  }
  for (auto& list : f.call_targets) {
    for (uint32_t& target : list) target += first_function;
  }
  f.source.file = files[f.source.file];
  for (Instruction& i : f.body) adapt(i.source, files);
}

void Linker::adapt(SourceRef& at, const std::vector<uint32_t>& files) const {
  at.file = files[at.file];
  if (at.call_site != 0) at.call_site += static_cast<uint32_t>(out_.call_sites.size());
}

void Linker::append(Module unit) {
  const NewNames names = names_of(unit);
  std::vector<uint32_t> files;
  unit.files[0].clear();  // the file's name is dropped: the result has lines of several texts
  for (const std::string& path : unit.files) files.push_back(path.empty() ? 0 : out_.file_index(path));
  for (Function& f : unit.functions) adapt(f, names, files);
  for (SourceRef& at : unit.call_sites) adapt(at, files);
  for (Variable& v : unit.variables) {
    v.position += static_cast<uint32_t>(out_.functions.size());
    rename(v.name, names);
    for (Variable::Reloc& r : v.relocations) rename(r.symbol, names);
  }
  for (Alias& a : unit.aliases) rename(a.target, names);
  const auto move_all = [](auto& to, auto& from) { to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end())); };
  move_all(out_.functions, unit.functions);
  move_all(out_.variables, unit.variables);
  move_all(out_.aliases, unit.aliases);
  move_all(out_.call_sites, unit.call_sites);
  move_all(out_.pragmas, unit.pragmas);
}

/// Keeps one definition per name: the first that is not weak, else the first.
template <class T>
void Linker::resolve(std::vector<T>& all) {
  std::map<std::string, T*> chosen;
  for (T& one : all) {
    if (!defines(one)) continue;
    const auto [it, fresh] = chosen.emplace(one.name, &one);
    if (fresh) continue;
    T*& kept = it->second;
    if (is_weak(one.linkage)) {
      give_way(one);
    } else if (is_weak(kept->linkage)) {
      give_way(*kept);
      kept = &one;
    } else {
      problems_.error(Code::E4604, {}, fmt::format("'{}' is defined in two translation units", one.name));
    }
  }
}

void Linker::point_at_definitions() {
  std::map<std::string, uint32_t> definitions;
  for (uint32_t i = 0; i < out_.functions.size(); ++i) {
    if (defines(out_.functions[i])) definitions[out_.functions[i].name] = i;
  }
  const auto point = [&](uint32_t& index) {
    if (const auto it = definitions.find(out_.functions[index].name); it != definitions.end()) index = it->second;
  };
  for (Function& f : out_.functions) {
    for (SymbolRef& s : f.symbols) {
      if (s.kind == SymbolRef::Kind::function) point(s.index);
    }
    for (auto& list : f.call_targets) {
      for (uint32_t& target : list) point(target);
    }
  }
}

Module Linker::link(std::vector<Module> units) {
  for (const Module& u : units) collect_shared_names(u);
  if (!units.empty()) take_newest(units);
  for (Module& u : units) append(std::move(u));
  resolve(out_.functions);
  resolve(out_.variables);
  if (problems_.has_errors()) throw InputError(std::move(problems_));
  point_at_definitions();
  return std::move(out_);
}

}  // namespace

Module link(std::vector<Module> units) { return Linker().link(std::move(units)); }

}  // namespace drywell::isa
