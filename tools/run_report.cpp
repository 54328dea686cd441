#include "tools/run_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "drywell/sim/report.h"
#include "kernels/golden.h"
#include "tools/terminal.h"

namespace drywell::tools {
namespace {

using Json = nlohmann::ordered_json;

std::string extent(Dim3 d) {
  if (d.y == 1 && d.z == 1) return fmt::format("{}", d.x);
  return d.z == 1 ? fmt::format("{} x {}", d.x, d.y) : fmt::format("{} x {} x {}", d.x, d.y, d.z);
}

std::string verification(const RunDescription& d, bool colour) {
  const kernels::Verification& v = d.report.verify;
  if (!d.report.run.ok()) return paint("not verified: the kernel faulted", Colour::yellow, colour);
  if (!v.done)
    return paint("not verified", Colour::yellow, colour) + " (--verify compares with the host reference)";
  if (v.passed())
    return fmt::format("{}: {} values, bit for bit", paint("verified", Colour::green, colour),
                       with_commas(v.compared));
  return fmt::format("{}: {} of {} values differ; first {}", paint("WRONG", Colour::red, colour),
                     with_commas(v.mismatches), with_commas(v.compared), v.first_mismatch);
}

/// Bytes per second over the traffic the algorithm cannot avoid, and the share of the bus peak; 0 without a
/// time.
double bandwidth(const RunDescription& d) {
  if (d.report.run.cycles == 0) return 0;
  return static_cast<double>(d.report.bytes_read + d.report.bytes_written) /
         d.arch.seconds(static_cast<double>(d.report.run.cycles));
}

Json verify_json(const kernels::Verification& v) {
  Json j = {{"status", !v.done      ? "not-run"
                       : v.passed() ? "passed"
                                    : "failed"},
            {"compared", v.compared},
            {"mismatches", v.mismatches}};
  if (!v.first_mismatch.empty()) j["first_mismatch"] = v.first_mismatch;
  return j;
}

Json fault_json(const sim::Fault& f) {
  return {{"code", f.code},
          {"message", f.message},
          {"kernel", f.where.kernel},
          {"cta", {f.where.cta.x, f.where.cta.y, f.where.cta.z}},
          {"warp", f.where.warp},
          {"lanes", f.where.lanes},
          {"instruction", f.where.ptx},
          {"file", f.where.source.file},
          {"line", f.where.source.line}};
}

Json params_json(const kernels::Params& p) {
  Json j = Json::object();
  for (const auto& v : p.values()) {
    switch (v.type) {
      case kernels::ParamType::integer: j[v.name] = v.integer; break;
      case kernels::ParamType::real: j[v.name] = v.real; break;
      case kernels::ParamType::flag: j[v.name] = v.integer != 0; break;
      default: j[v.name] = v.text;
    }
  }
  return j;
}

void timing_json(const sim::TimingReport& t, Json& j) {
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
  j["sms_used"] = t.sms_used;
  j["hbm_bytes_read"] = t.hbm_bytes_read;
  j["hbm_bytes_written"] = t.hbm_bytes_written;
}

}  // namespace

std::string summary(const RunDescription& d, bool colour) {
  const kernels::KernelReport& r = d.report;
  const sim::RunResult& run = r.run;
  std::string out;
  const auto line = [&](std::string_view name, const std::string& text) {
    out += fmt::format("  {:<13} {}\n", name, text);
  };
  out += fmt::format("{}  {}\n", paint(d.kernel.name, Colour::bold, colour), r.shape);
  line("result", verification(d, colour));
  line("launch", fmt::format("grid {}, block {}{}{}", extent(r.launch.grid), extent(r.launch.block),
                             r.launch.cluster.count() > 1 ? ", cluster " + extent(r.launch.cluster) : "",
                             r.launch.dynamic_smem != 0 ? fmt::format(", {} B dynamic shared memory",
                                                                      with_commas(r.launch.dynamic_smem))
                                                        : ""));
  line("machine",
       fmt::format("{} ({}), driver {}", d.arch.name, d.arch.description, kernels::print_driver(d.options)));
  for (const auto& [name, text] : r.notes) line(name, text);
  const double rate =
      run.host_seconds > 0 ? static_cast<double>(run.warp_instructions) / run.host_seconds : 0;
  line("simulated", fmt::format("{} warp instructions in {:.2f} s on the host ({}/s)",
                                with_commas(run.warp_instructions), run.host_seconds, with_unit(rate, "")));
  const double traffic = static_cast<double>(r.bytes_read + r.bytes_written);
  if (run.cycles == 0) {
    line("traffic",
         fmt::format("{} at least: {} at the {:.3g} TB/s of the memory bus", with_unit(traffic, "B"),
                     fmt::format("{:.2f} us", traffic / (d.arch.hbm.peak * 1e6)), d.arch.hbm.peak));
    line("time", paint("not modelled by this driver; --driver=timed gives cycles", Colour::dim, colour));
  } else {
    line("cycles", fmt::format("{} = {:.2f} us at {} GHz", with_commas(run.cycles),
                               d.arch.seconds(static_cast<double>(run.cycles)) * 1e6, d.arch.chip.clock));
    line("bandwidth", fmt::format("{}/s of {:.3g} TB/s, {:.1f} % ({} at least)", with_unit(bandwidth(d), "B"),
                                  d.arch.hbm.peak, 100 * bandwidth(d) / (d.arch.hbm.peak * 1e12),
                                  with_unit(traffic, "B")));
  }
  if (run.timing != nullptr) out += "\n" + sim::to_text(*run.timing);
  if (run.fault.has_value()) out += fmt::format("\n{}\n", paint(run.fault->to_string(), Colour::red, colour));
  return out;
}

std::string json_report(const RunDescription& d) {
  const kernels::KernelReport& r = d.report;
  const auto triple = [](Dim3 x) { return Json::array({x.x, x.y, x.z}); };
  Json j;
  j["drywell"] = DRYWELL_VERSION;
  j["kernel"] = d.kernel.name;
  j["params"] = params_json(d.params);
  j["shape"] = r.shape;
  j["arch"] = d.arch.name;
  j["driver"] = kernels::print_driver(d.options);
  j["launch"] = {{"grid", triple(r.launch.grid)},
                 {"block", triple(r.launch.block)},
                 {"cluster", triple(r.launch.cluster)},
                 {"dynamic_smem", r.launch.dynamic_smem}};
  // Functional drivers have no clock: null, never a number that could be taken for one.
  const bool timed = r.run.cycles != 0;
  j["cycles"] = timed ? Json(r.run.cycles) : Json(nullptr);
  j["seconds"] = timed ? Json(d.arch.seconds(static_cast<double>(r.run.cycles))) : Json(nullptr);
  j["bandwidth"] = timed ? Json(bandwidth(d)) : Json(nullptr);
  j["bytes_read"] = r.bytes_read;
  j["bytes_written"] = r.bytes_written;
  j["warp_instructions"] = r.run.warp_instructions;
  j["host_seconds"] = r.run.host_seconds;
  j["verify"] = verify_json(r.verify);
  j["fault"] = r.run.fault.has_value() ? fault_json(*r.run.fault) : Json(nullptr);
  j["units"] = Json::object();
  j["stalls"] = Json::object();
  if (r.run.timing != nullptr) timing_json(*r.run.timing, j);
  for (const auto& [name, text] : r.notes) j["notes"][name] = text;
  return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace drywell::tools
