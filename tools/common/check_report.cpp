#include "tools/common/check_report.h"
#include "drywell/core/terminal.h"
#include "drywell/sim/driver_words.h"
#include "drywell/sim/hang_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>

#include "tools/common/command.h"
#include "tools/common/output_file.h"
#include "tools/common/report_parts.h"

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

/// Hazards that one more line of PTX removes, and its place: behind the earlier access, or in front of the later one.
struct Insertion {
  std::string_view code, instruction;
  bool behind_other;
};
constexpr Insertion kInsertions[] = {{"H7101", "fence.proxy.async.shared::cta;", true}, {"H7102", "fence.proxy.async.shared::cta;", true}, {"H7103", "fence.proxy.async.global;", true}, {"H7202", "tcgen05.fence::after_thread_sync;", false}, {"H7209", "tcgen05.fence::before_thread_sync;", true}, {"H7210", "tcgen05.wait::ld.sync.aligned;", true}, {"H7218", "tcgen05.wait::ld.sync.aligned;", true}, {"H7405", "bar.warp.sync -1;", false}, {"H7410", "bar.warp.sync -1;", false}};

/// The change as SARIF has it, for findings in PTX text: a line inserted.
Json fixes_json(const sim::Finding& f) {
  const auto i = std::find_if(std::begin(kInsertions), std::end(kInsertions), [&](const Insertion& x) { return x.code == f.code; });
  if (i == std::end(kInsertions)) return Json::array();
  const SourcePos& at = (i->behind_other ? f.other : f.here).where.source;
  if (!at.file.ends_with(".ptx") || at.line == 0) return Json::array();
  const uint32_t line = at.line + (i->behind_other ? 1 : 0);
  const Json region = {{"startLine", line}, {"startColumn", 1}, {"endLine", line}, {"endColumn", 1}};
  const Json replacement = {{"deletedRegion", region}, {"insertedContent", {{"text", std::string(i->instruction) + "\n"}}}};
  const Json change = {{"artifactLocation", {{"uri", uri_of(at.file)}}}, {"replacements", Json::array({replacement})}};
  return Json::array({{{"description", {{"text", f.fix}}}, {"artifactChanges", Json::array({change})}}});
}

/// A line of the findings: its first word is the level where a finding begins.
std::string painted(const std::string& line, bool colour) {
  constexpr std::pair<std::string_view, Colour> kLevels[] = {{"error H", Colour::red}, {"warning H", Colour::yellow}, {"note H", Colour::dim}};
  const auto level = std::find_if(std::begin(kLevels), std::end(kLevels), [&](const auto& l) { return line.starts_with(l.first); });
  return level == std::end(kLevels) ? line : paint(line, level->second, colour);
}

/// What the default level does not look at.
constexpr std::string_view kNotFollowed = "bytes of shared and global memory";

}  // namespace

Json findings_json(const std::vector<sim::Finding>& findings) {
  Json all = Json::array();
  for (const sim::Finding& f : findings) {
    Json j = {{"code", f.code}, {"level", sim::hazard_level_name(f.level)}, {"rule", f.rule}, {"memory", f.memory}, {"here", party_json(f.here)}};
    j["other"] = f.other.role.empty() ? Json(nullptr) : party_json(f.other);
    j["order"] = f.order;
    j["why"] = f.why;
    j["fix"] = f.fix;
    j["ptx_isa"] = f.ptx;
    j["count"] = f.count;
    all.push_back(std::move(j));
  }
  return all;
}

std::string findings_sarif(const std::vector<sim::Finding>& findings, bool full) {
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
    r["message"]["text"] = fmt::format("{}: {}{}. Fix: {}", f.rule, f.memory, f.order.empty() ? "" : "; " + f.order, f.fix);
    r["locations"] = Json::array({place_json(f.here.where)});
    if (!f.other.role.empty()) r["relatedLocations"] = Json::array({place_json(f.other.where)});
    if (Json fixes = fixes_json(f); !fixes.empty()) r["fixes"] = std::move(fixes);
    results.push_back(std::move(r));
  }
  Json run = {{"tool", {{"driver", {{"name", "drywell"}, {"version", DRYWELL_VERSION}, {"rules", rules}}}}}, {"results", results}};
  if (!full) {
    const Json note = {{"level", "note"}, {"message", {{"text", fmt::format("{} were not followed: --check follows them", kNotFollowed)}}}};
    run["invocations"] = Json::array({{{"executionSuccessful", true}, {"toolExecutionNotifications", Json::array({note})}}});
  }
  return print_json({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"}, {"runs", Json::array({run})}});
}

CheckedRun::CheckedRun(const CheckFlags& flags, sim::RunOptions& options) : flags_(flags) {
  if (flags.level != "off" && flags.level != "basic" && flags.level != "full") throw UsageError(fmt::format("--check={}: off, basic or full", flags.level), "run");
  if (flags.level == "off") {
    if (flags.strict || !flags.sarif.empty() || !flags.hang_picture.empty())
      throw UsageError("--strict, --sarif and --hang-picture need the checks: not with --check=off", "run");
    return;
  }
  if (sim::parts_lanes(options)) {
    if (flags.level == "full" || flags.strict || !flags.sarif.empty() || !flags.hang_picture.empty())
      throw UsageError("--check is not for --driver=parted: the checker follows warps as wholes, and its verdicts do not depend on the schedule", "run");
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
    const std::string found = all.empty() ? "no error" : fmt::format("{} warning{}", all.size(), all.size() == 1 ? "" : "s");
    return fmt::format("  {:<13} {}; {} were not followed (--check follows them{})\n", "hazards", found, kNotFollowed, all.empty() ? "" : ", and shows the warnings");
  }
  if (all.empty()) return fmt::format("  {:<13} {}\n", "hazards", paint("none found", Colour::green, colour));
  constexpr size_t kScreen = 48;
  const std::string text = sim::describe_findings(all, flags_.all ? ~size_t{0} : kScreen);
  std::string out = fmt::format("  {:<13} {} different; `drywell explain CODE` has the rule and an example{}\n", "hazards", all.size(),
                                text.find("\nand ") == std::string::npos ? "" : ", --all-hazards shows all");
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    out += painted(text.substr(at, end - at), colour) + "\n";
    at = end + 1;
  }
  if (flags_.level == "basic") out += fmt::format("  {:<13} {} were not followed (--check follows them)\n", "", kNotFollowed);
  return out;
}

void CheckedRun::add_json(Json& report) const {
  report["check"] = flags_.level;
  if (checker_.has_value() && flags_.level == "basic") report["not_followed"] = kNotFollowed;
  if (checker_.has_value()) report["hazards"] = findings_json(findings());
}

void CheckedRun::write_sarif() {
  if (!sarif_.has_value()) return;
  sarif_->write(findings_sarif(findings(), flags_.level == "full"));
  sarif_->commit();
}

void CheckedRun::draw_hang() {
  if (flags_.hang_picture.empty() || !checker_.has_value()) return;
  const sim::WaitGraph g = checker_->wait_graph();
  if (!g.nodes.empty()) write_file_atomically(flags_.hang_picture, flags_.hang_picture.ends_with(".dot") ? sim::hang_dot(g) : sim::hang_svg(g));
}

ExitCode CheckedRun::exit_code(ExitCode without) const {
  if (without != ExitCode::ok) return without;
  for (const sim::Finding& f : findings()) {
    if (f.level == sim::HazardLevel::error || (flags_.strict && f.level == sim::HazardLevel::warning)) return ExitCode::verification_failed;
  }
  return ExitCode::ok;
}

}  // namespace drywell::tools
