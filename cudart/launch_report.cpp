#include "cudart/launch_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cudart/names.h"
#include "drywell/sim/report.h"

namespace drywell::cudart {
namespace {

std::string counted(uint64_t n, std::string_view one, std::string_view many) { return fmt::format("{} {}", n, n == 1 ? one : many); }

std::string extent(const Dim3& d) { return fmt::format("{},{},{}", d.x, d.y, d.z); }

// Cycles only of a launch that had a clock: under --time others have none.
std::string line(size_t index, const LaunchRecord& r, const std::string& name) {
  std::string out = fmt::format("  {:>4}  {:<40} grid {:<12} block {:<10} cluster {:<6} smem {:>6}  {:>12} warp instructions", index, name, extent(r.config.grid),
                                extent(r.config.block), extent(r.config.cluster), r.config.dynamic_smem, r.warp_instructions);
  if (r.cycles != 0) out += fmt::format("  {:>10} cycles  {:.3f} us", r.cycles, r.seconds * 1e6);
  out += fmt::format("  values {:08x}", r.values);
  if (r.hazard_errors + r.hazard_warnings != 0) out += fmt::format("  {} hazards, {} warnings", r.hazard_errors, r.hazard_warnings);
  return out + (r.fault.empty() ? "" : "  FAULT " + r.fault) + "\n";
}

std::map<std::string, std::string> names_of(const std::vector<LaunchRecord>& records) {
  std::vector<std::string> mangled;
  for (const LaunchRecord& r : records) mangled.push_back(r.mangled);
  return told_apart(mangled);
}

}  // namespace

std::string launch_summary(const std::vector<LaunchRecord>& records, bool timed) {
  uint64_t instructions = 0, faults = 0;
  double seconds = 0, host = 0;
  const auto names = names_of(records);
  std::string out;
  for (size_t i = 0; i < records.size(); ++i) {
    out += line(i, records[i], names.at(records[i].mangled));
    instructions += records[i].warp_instructions;
    seconds += records[i].seconds;
    host += records[i].host_seconds;
    faults += records[i].fault.empty() ? 0 : 1;
  }
  out = fmt::format("drywell: {}, {} warp instructions, {:.2f} s of host time, {}\n", counted(records.size(), "launch", "launches"), instructions, host, counted(faults, "fault", "faults")) + out;
  if (timed) out += fmt::format("  predicted kernel time {:.3f} us\n", seconds * 1e6);
  return out;
}

std::string launch_text(const std::vector<LaunchRecord>& records) {
  const auto names = names_of(records);
  std::string out;
  for (size_t i = 0; i < records.size(); ++i) {
    out += line(i, records[i], names.at(records[i].mangled));
    if (records[i].timing != nullptr) out += sim::to_text(*records[i].timing) + "\n";
  }
  return out;
}

std::string launch_json(const std::vector<LaunchRecord>& records, const ExecOptions& options) {
  using Json = nlohmann::ordered_json;
  const auto triple = [](const Dim3& d) { return Json::array({d.x, d.y, d.z}); };
  Json list = Json::array();
  for (const LaunchRecord& r : records) {
    Json j = {{"kernel", r.kernel},
              {"mangled", r.mangled},
              {"grid", triple(r.config.grid)},
              {"block", triple(r.config.block)},
              {"cluster", triple(r.config.cluster)},
              {"dynamic_smem", r.config.dynamic_smem},
              {"warp_instructions", r.warp_instructions},
              {"values", fmt::format("{:08x}", r.values)}};
    if (r.cycles != 0) {
      j["cycles"] = r.cycles;
      j["seconds"] = r.seconds;
    }
    if (r.timing != nullptr) {
      for (const sim::UnitTime& u : r.timing->units) j["utilisation"][u.name] = u.utilisation;
      if (!r.timing->limits.empty()) j["limit"] = r.timing->limits.front().name;
    }
    if (check_level(options).has_value()) j["hazards"] = {{"errors", r.hazard_errors}, {"warnings", r.hazard_warnings}};
    if (!r.fault.empty()) j["fault"] = r.fault;
    list.push_back(std::move(j));
  }
  return Json{{"arch", options.arch}, {"driver", options.driver}, {"launches", std::move(list)}}.dump(2) + "\n";
}

}  // namespace drywell::cudart
