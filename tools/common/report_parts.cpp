#include "tools/common/report_parts.h"
#include "drywell/core/terminal.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <nlohmann/json.hpp>

#include "drywell/core/source_path.h"

namespace drywell::tools {
namespace {

using Json = nlohmann::ordered_json;

std::string extent(Dim3 d) {
  if (d.y == 1 && d.z == 1) return fmt::format("{}", d.x);
  return d.z == 1 ? fmt::format("{} x {}", d.x, d.y) : fmt::format("{} x {} x {}", d.x, d.y, d.z);
}

}  // namespace

std::string describe_launch(const sim::LaunchConfig& c) {
  std::string out = fmt::format("grid {}, block {}", extent(c.grid), extent(c.block));
  if (c.cluster.count() > 1) out += ", cluster " + extent(c.cluster);
  if (c.dynamic_smem != 0) out += fmt::format(", {} B dynamic shared memory", with_commas(c.dynamic_smem));
  return out;
}

std::string describe_speed(const sim::RunResult& run) {
  const double rate =
      run.host_seconds > 0 ? static_cast<double>(run.warp_instructions) / run.host_seconds : 0;
  return fmt::format("{} warp instructions in {:.2f} s on the host ({}/s), {} of memory at most",
                     with_commas(run.warp_instructions), run.host_seconds, with_unit(rate, ""),
                     with_unit(static_cast<double>(peak_memory()), "B"));
}

SimulatedTime simulated_time(const sim::RunResult& run, const sim::ArchConfig& arch) {
  if (run.timing != nullptr) return {run.timing->seconds, run.timing->clock_ghz};
  return {arch.seconds(static_cast<double>(run.cycles)), arch.chip.clock};
}

uint64_t peak_memory() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

Json host_json(double seconds) { return {{"seconds", seconds}, {"peak_memory", peak_memory()}}; }

Json launch_json(const sim::LaunchConfig& c) {
  const auto triple = [](Dim3 x) { return Json::array({x.x, x.y, x.z}); };
  return {{"grid", triple(c.grid)},
          {"block", triple(c.block)},
          {"cluster", triple(c.cluster)},
          {"dynamic_smem", c.dynamic_smem}};
}

Json lines_json(const std::vector<SourcePos>& lines) {
  Json all = Json::array();
  for (const SourcePos& at : lines) all.push_back({{"file", at.file}, {"line", at.line}});
  return all;
}

Json fault_json(const sim::RunResult& run) {
  if (!run.fault.has_value()) return nullptr;
  const sim::Fault& f = *run.fault;
  return {{"code", code_name(f.code)},
          {"message", f.message},
          {"kernel", f.where.kernel},
          {"cta", {f.where.cta.x, f.where.cta.y, f.where.cta.z}},
          {"warp", f.where.warp},
          {"lanes", f.where.lanes},
          {"instruction", f.where.ptx},
          {"file", f.where.source.file},
          {"line", f.where.source.line},
          {"inlined_at", lines_json(f.where.called_from)}};
}

void add_timing(const sim::RunResult& run, Json& j) {
  j["units"] = Json::object();
  j["stalls"] = Json::object();
  if (run.timing == nullptr) return;
  const sim::TimingReport& t = *run.timing;
  for (const sim::UnitTime& u : t.units) {
    j["units"][u.name] = {{"instances", u.instances},
                          {"busy_cycles", u.busy_cycles},
                          {"utilisation", u.utilisation},
                          {"work", u.work},
                          {"work_unit", u.work_unit}};
  }
  for (const sim::RoleTime& r : t.roles) {
    Json& role = j["stalls"][r.name];
    for (size_t i = 0; i < sim::kStallCount; ++i) {
      if (r.cycles[i] != 0) role[std::string(sim::stall_name(static_cast<sim::Stall>(i)))] = r.cycles[i];
    }
    j["roles"][r.name] = {{"warps", r.warps}, {"warp_instructions", r.instructions}};
  }
  for (const sim::Limit& l : t.limits)
    j["limits"].push_back(
        {{"name", l.name}, {"cycles", l.cycles}, {"fraction", l.fraction}, {"what", l.what}});
  j["clock_ghz"] = t.clock_ghz;
  j["watts"] = t.watts;
  j["lines"] = Json::array();
  for (const sim::LineTime& l : t.lines)
    j["lines"].push_back(
        {{"file", from_repository(l.file)}, {"line", l.line}, {"instructions", l.instructions}, {"cycles", l.cycles}});
  j["sms"] = t.sms;
  j["sms_used"] = t.sms_used;
  j["ctas_per_sm"] = t.ctas_per_sm;
  j["residency_limit"] = t.residency_limit;
  j["hbm_bytes_read"] = t.hbm_bytes_read;
  j["hbm_bytes_written"] = t.hbm_bytes_written;
}

std::string print_json(const Json& j) { return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace drywell::tools
