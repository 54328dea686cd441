#include "tools/common/check_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>

#include "tools/common/command.h"
#include "tools/common/hang_picture.h"
#include "tools/common/output_file.h"
#include "tools/common/report_parts.h"
#include "tools/common/progress_line.h"

namespace drywell::tools {
namespace {

using Json = nlohmann::ordered_json;

Json party_json(const sim::FindingParty& p) {
  const sim::GuestPlace& w = p.where;
  return {{"does", p.role},
          {"instruction", w.ptx},
          {"index", w.instruction},
          {"function", w.function.empty() ? w.kernel : w.function},
          {"file", w.source.file},
          {"line", w.source.line},
          {"inlined_at", lines_json(w.called_from)},
          {"cta", {w.cta.x, w.cta.y, w.cta.z}},
          {"warp", w.warp},
          {"lanes", w.lanes},
          {"when", p.when}};
}

/// Returns a path as a URI reference.
std::string uri_of(const std::string& path) {
  std::string out;
  for (const char c : path) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("-._~/:+@").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out == "%3Cptx%3E" ? "ptx" : out;
}

Json place_json(const sim::GuestPlace& w) {
  const bool known = !w.source.file.empty() && w.source.line != 0;
  Json region = {{"startLine", known ? w.source.line : 1u}};
  return {{"physicalLocation", {{"artifactLocation", {{"uri", known ? uri_of(w.source.file) : "ptx"}}}, {"region", region}}},
          {"message", {{"text", fmt::format("{} (CTA {},{},{} warp {})", w.ptx, w.cta.x, w.cta.y, w.cta.z, w.warp)}}}};
}

Colour colour_of(sim::HazardLevel l) { return l == sim::HazardLevel::error ? Colour::red : l == sim::HazardLevel::warning ? Colour::yellow : Colour::dim; }

}  // namespace

Json findings_json(const std::vector<sim::Finding>& findings) {
  Json all = Json::array();
  for (const sim::Finding& f : findings) {
    Json j = {{"code", f.code}, {"level", sim::hazard_level_name(f.level)}, {"rule", f.rule}, {"memory", f.memory}, {"here", party_json(f.here)}};
    j["other"] = f.other.role.empty() ? Json(nullptr) : party_json(f.other);
    j["why"] = f.why;
    j["fix"] = f.fix;
    j["ptx_isa"] = f.ptx;
    j["count"] = f.count;
    all.push_back(std::move(j));
  }
  return all;
}

std::string findings_sarif(const std::vector<sim::Finding>& findings) {
  Json rules = Json::array(), results = Json::array();
  std::map<std::string, size_t> known;
  for (const sim::Finding& f : findings) {
    const auto [rule, first] = known.try_emplace(f.code, known.size());
    if (first) {
      rules.push_back({{"id", f.code},
                       {"shortDescription", {{"text", f.rule}}},
                       {"help", {{"text", f.why + ". Fix: " + f.fix + ". PTX ISA " + f.ptx}}},
                       {"helpUri", "docs/hazards.md"}});
    }
    Json r = {{"ruleId", f.code}, {"ruleIndex", rule->second}, {"level", sim::hazard_level_name(f.level)}};
    r["message"]["text"] = fmt::format("{}: {}", f.rule, f.memory);
    r["locations"] = Json::array({place_json(f.here.where)});
    if (!f.other.role.empty()) r["relatedLocations"] = Json::array({place_json(f.other.where)});
    results.push_back(std::move(r));
  }
  Json run = {{"tool", {{"driver", {{"name", "drywell"}, {"version", DRYWELL_VERSION}, {"rules", rules}}}}}, {"results", results}};
  return print_json({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"}, {"runs", Json::array({run})}});
}

CheckedRun::CheckedRun(const CheckFlags& flags, sim::RunOptions& options) : flags_(flags) {
  if (flags.level != "off" && flags.level != "basic" && flags.level != "full") throw UsageError(fmt::format("--check={}: off, basic or full", flags.level), "run");
  if (flags.level == "off") {
    if (flags.strict || !flags.sarif.empty() || !flags.hang_picture.empty())
      throw UsageError("--strict, --sarif and --hang-picture need the checks: not with --check=off", "run");
    return;
  }
  checker_.emplace(sim::CheckOptions{.level = flags.level == "full" ? sim::CheckLevel::full : sim::CheckLevel::basic});
  options.listeners.push_back(checker_->listener());
  if (!flags.sarif.empty()) sarif_.emplace(flags.sarif);
  expect_writable({flags.hang_picture});
}

std::vector<sim::Finding> CheckedRun::findings() const { return checker_.has_value() ? checker_->findings() : std::vector<sim::Finding>{}; }

std::string CheckedRun::text(bool colour) const {
  if (!checker_.has_value()) return {};
  const std::vector<sim::Finding> all = findings();
  const auto errors = static_cast<size_t>(std::count_if(all.begin(), all.end(), [](const sim::Finding& f) { return f.level == sim::HazardLevel::error; }));
  if (flags_.level == "basic" && errors == 0) {
    return all.empty() ? "" : fmt::format("  {:<13} {} warning{} (--check shows them)\n", "hazards", all.size(), all.size() == 1 ? "" : "s");
  }
  if (all.empty()) return fmt::format("  {:<13} {}\n", "hazards", paint("none found", Colour::green, colour));
  std::string out = fmt::format("  {:<13} {} different\n", "hazards", all.size());
  for (const sim::Finding& f : all) {
    const std::string text = f.to_string();
    const size_t first = text.find('\n');
    out += "\n" + paint(text.substr(0, first), colour_of(f.level), colour) + text.substr(first);
  }
  return out;
}

void CheckedRun::add_json(Json& report) const {
  report["check"] = flags_.level;
  if (checker_.has_value()) report["hazards"] = findings_json(findings());
}

void CheckedRun::write_sarif() {
  if (!sarif_.has_value()) return;
  sarif_->write(findings_sarif(findings()));
  sarif_->commit();
}

void CheckedRun::draw_hang() {
  if (flags_.hang_picture.empty() || !checker_.has_value()) return;
  const sim::WaitGraph g = checker_->wait_graph();
  if (!g.nodes.empty()) write_file_atomically(flags_.hang_picture, flags_.hang_picture.ends_with(".dot") ? hang_dot(g) : hang_svg(g));
}

ExitCode CheckedRun::exit_code(ExitCode without) const {
  if (without != ExitCode::ok) return without;
  for (const sim::Finding& f : findings()) {
    if (f.level == sim::HazardLevel::error || (flags_.strict && f.level == sim::HazardLevel::warning)) return ExitCode::verification_failed;
  }
  return ExitCode::ok;
}

}  // namespace drywell::tools
