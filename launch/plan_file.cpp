// Launch files: the command line's words in TOML.
#include <fmt/format.h>

#include <toml++/toml.h>

#include <algorithm>
#include <charconv>

#include "drywell/core/files.h"
#include "drywell/core/text.h"
#include "drywell/core/toml_text.h"
#include "launch/plan.h"

namespace drywell::kernels {
namespace {

// Collects errors with their line in the file.
class Reader {
 public:
  Reader(const std::string& path, Diagnostics& out) : path_(path), out_(out) {}

  void problem(const toml::node& at, std::string message, std::string hint = {}) {
    out_.error(Code::E4406, {path_, static_cast<uint32_t>(at.source().begin.line), static_cast<uint32_t>(at.source().begin.column)}, std::move(message), std::move(hint));
  }

  std::string text(const toml::node& n, std::string_view what) {
    if (const auto v = n.value<std::string>(); v.has_value()) return *v;
    problem(n, fmt::format("{} must be a string", what));
    return {};
  }

  void axis(const toml::node& n, int64_t v, uint32_t& out, std::string_view what) {
    if (v > 0 && v <= 0xFFFFFFFF) {
      out = static_cast<uint32_t>(v);
    } else {
      problem(n, fmt::format("{} needs positive numbers up to {}", what, 0xFFFFFFFFu));
    }
  }

  Dim3 extent(const toml::node& n, std::string_view what) {
    Dim3 d{1, 1, 1};
    uint32_t* at[] = {&d.x, &d.y, &d.z};
    if (const auto v = n.value<int64_t>(); v.has_value()) {
      axis(n, *v, d.x, what);
      return d;
    }
    const toml::array* a = n.as_array();
    if (a == nullptr || a->empty() || a->size() > 3) {
      problem(n, fmt::format("{} must be a number or an array of one to three", what));
      return d;
    }
    for (size_t i = 0; i < a->size(); ++i) {
      axis((*a)[i], (*a)[i].value<int64_t>().value_or(0), *at[i], what);
    }
    return d;
  }

  uint32_t byte_count(const toml::node& n, std::string_view what) {
    const auto v = n.value<int64_t>();
    if (v.has_value() && *v >= 0 && *v <= 0xFFFFFFFF) return static_cast<uint32_t>(*v);
    problem(n, fmt::format("{} is a number of bytes", what));
    return 0;
  }

  void launch(const toml::table& t, LaunchPlan& plan) {
    LaunchSpec l;
    for (const auto& [key, node] : t) {
      if (key == "name") l.name = text(node, "name");
      else if (key == "entry") l.entry = text(node, "entry");
      else if (key == "grid") l.config.grid = extent(node, "grid");
      else if (key == "block") l.config.block = extent(node, "block");
      else if (key == "cluster") l.config.cluster = extent(node, "cluster");
      else if (key == "smem") l.config.dynamic_smem = byte_count(node, "smem");
      else if (key == "args") arguments(node, plan, l);
      else if (key == "roles")
        roles(node, l);
      else
        problem(node, fmt::format("a launch has no key '{}'", key.str()), "name, entry, grid, block, cluster, smem, args, roles");
    }
    plan.launches.push_back(std::move(l));
  }

  void arguments(const toml::node& n, LaunchPlan& plan, LaunchSpec& l) {
    const toml::array* a = n.as_array();
    if (a == nullptr) {
      problem(n, "args must be an array of strings");
      return;
    }
    for (const toml::node& e : *a) {
      ArgSpec s;
      if (at(e, [&](Diagnostics& out) { return parse_arg(text(e, "an argument"), plan, s, out); })) l.args.push_back(std::move(s));
    }
  }

  /// What parse(out) appends has the node's place.
  template <class F>
  bool at(const toml::node& n, F parse) {
    Diagnostics found;
    const bool ok = parse(found);
    for (Diagnostic d : found.list()) {
      d.where = {path_, static_cast<uint32_t>(n.source().begin.line), static_cast<uint32_t>(n.source().begin.column)};
      out_.add(std::move(d));
    }
    return ok;
  }

  /// "0-3 epilogue", "4 load": warps of a CTA and their name.
  void roles(const toml::node& n, LaunchSpec& l) {
    const toml::array* a = n.as_array();
    if (a == nullptr) return problem(n, "roles must be an array of strings", "roles = [\"0-3 epilogue\", \"4 load\"]");
    for (const toml::node& e : *a) {
      isa::WarpRole r;
      const std::string word = text(e, "a role");
      if (is_role(word, r))
        l.roles.push_back(std::move(r));
      else
        problem(e, fmt::format("'{}' is no role", word), "warps of a CTA and a name: 0-3 epilogue");
    }
  }

  static bool is_role(const std::string& word, isa::WarpRole& r) {
    const size_t space = word.find(' ');
    if (space == std::string::npos || word.size() > kLongestRole) return false;
    const std::string_view warps = std::string_view(word).substr(0, space), last = warps.substr(warps.find('-') == std::string_view::npos ? 0 : warps.find('-') + 1);
    r.name = word.substr(space + 1);
    return is_warp(warps.substr(0, warps.find('-')), r.first) && is_warp(last, r.last) && r.first <= r.last && !r.name.empty();
  }
  static bool is_warp(std::string_view digits, uint32_t& out) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    return error == std::errc() && end == digits.data() + digits.size() && out < kMostWarps;
  }
  static constexpr uint32_t kMostWarps = 32;  // of a CTA
  static constexpr size_t kLongestRole = 80;

  template <class F>
  void each(const toml::node& n, std::string_view what, F f) {
    const toml::table* t = n.as_table();
    if (t == nullptr) {
      problem(n, fmt::format("[{}] must be a table of strings", what));
      return;
    }
    for (const auto& [key, node] : *t) f(node, std::string(key.str()), text(node, key.str()));
  }

 private:
  std::string path_;
  Diagnostics& out_;
};

void read_top(Reader& r, const toml::table& top, LaunchPlan& plan) {
  for (const auto& [key, node] : top) {
    if (key == "module") {
      plan.ptx_path = plan.resolve(r.text(node, "module"));
    } else if (key == "buffers") {
      r.each(node, "buffers", [&](const toml::node& n, const std::string& name, const std::string& v) {
        BufferSpec b;
        if (!r.at(n, [&](Diagnostics& out) { return parse_buffer(name, v, b, out); })) return;
        if (!b.path.empty()) b.path = plan.resolve(b.path);
        plan.buffers.push_back(std::move(b));
      });
    } else if (key == "maps") {
      r.each(node, "maps", [&](const toml::node& n, const std::string& name, const std::string& v) {
        MapSpec m;
        if (r.at(n, [&](Diagnostics& out) { return parse_map(name, v, m, out); })) plan.maps.push_back(std::move(m));
      });
    } else if (key == "expect") {
      r.each(node, "expect", [&](const toml::node& n, const std::string& name, const std::string& v) {
        ExpectSpec e;
        if (!r.at(n, [&](Diagnostics& out) { return parse_expect(name, v, e, out); })) return;
        e.path = plan.resolve(e.path);
        plan.expects.push_back(std::move(e));
      });
    } else if (key == "save") {
      r.each(node, "save", [&](const toml::node&, const std::string& name, const std::string& v) { plan.saves.emplace_back(name, plan.resolve(v)); });
    } else if (key != "launch") {
      r.problem(node, fmt::format("unknown key '{}'", key.str()), "module, buffers, maps, launch, expect, save");
    }
  }
}

}  // namespace

LaunchPlan read_launch_file(const std::string& path) { return parse_launch_file(read_text_file(path), path); }

LaunchPlan parse_launch_file(std::string_view text, const std::string& path) {
  LaunchPlan plan;
  plan.folder = path.substr(0, path.rfind('/') + 1);  // npos + 1 is 0
  Diagnostics out;
  if (const std::optional<TomlProblem> p = unreadable_toml(text); p.has_value()) {
    out.error(Code::E4406, {path, p->line, 0}, std::string(p->why));
    throw InputError(std::move(out));
  }
  toml::table top;
  try {
    top = toml::parse(text, path);
  } catch (const toml::parse_error& e) {
    out.error(Code::E4406, {path, static_cast<uint32_t>(e.source().begin.line), static_cast<uint32_t>(e.source().begin.column)}, std::string(e.description()));
    throw InputError(std::move(out));
  }
  Reader r(path, out);
  read_top(r, top, plan);
  if (const toml::node* n = top.get("launch"); n != nullptr) {
    if (const toml::array* a = n->as_array(); a != nullptr && a->is_array_of_tables()) {
      for (const toml::node& e : *a) r.launch(*e.as_table(), plan);
    } else {
      r.problem(*n, "launches are written [[launch]]");
    }
  }
  if (plan.ptx_path.empty()) out.error(Code::E4406, {path, 1, 1}, "no module is named", "module = \"kernel.ptx\"");
  if (plan.launches.empty()) out.error(Code::E4406, {path, 1, 1}, "there is no [[launch]]");
  if (out.has_errors()) throw InputError(std::move(out));
  return plan;
}

}  // namespace drywell::kernels
