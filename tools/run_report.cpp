#include "tools/run_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "drywell/core/terminal.h"
#include "drywell/sim/report.h"
#include "launch/golden.h"
#include "tools/common/report_parts.h"

namespace drywell::tools {
namespace {

using Json = nlohmann::ordered_json;

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

/// Bytes per second over the traffic that the algorithm cannot avoid, and the share of the bus peak; 0 without a time.
double bandwidth(const RunDescription& d) {
  if (d.report.run.cycles == 0) return 0;
  return static_cast<double>(d.report.bytes_read + d.report.bytes_written) /
         simulated_time(d.report.run, d.arch).seconds;
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
  line("launch", describe_launch(r.launch));
  line("machine",
       fmt::format("{} ({}), driver {}", d.arch.name, d.arch.description, kernels::print_driver(d.options)));
  for (const auto& [name, text] : r.notes) line(name, text);
  for (const auto& [name, text] : r.host_notes) line(name, text);
  line("simulated", describe_speed(run));
  const double traffic = static_cast<double>(r.bytes_read + r.bytes_written);
  if (run.cycles == 0) {
    line("traffic",
         fmt::format("{} at least: {} at the {:.3g} TB/s of the memory bus", with_unit(traffic, "B"),
                     fmt::format("{:.2f} us", traffic / (d.arch.hbm.peak * 1e6)), d.arch.hbm.peak));
    line("time", paint("not modelled by this driver; --driver=timed gives cycles", Colour::dim, colour));
  } else {
    line("cycles", fmt::format("{} = {:.2f} us at {:.4g} GHz", with_commas(run.cycles),
                               simulated_time(run, d.arch).seconds * 1e6, simulated_time(run, d.arch).clock_ghz));
    line("bandwidth", fmt::format("{}/s of {:.3g} TB/s, {:.1f} % ({} at least)", with_unit(bandwidth(d), "B"),
                                  d.arch.hbm.peak, 100 * bandwidth(d) / (d.arch.hbm.peak * 1e12),
                                  with_unit(traffic, "B")));
  }
  if (d.exploration.has_value()) line("explored", d.exploration->text());
  out += d.check.text(colour);
  if (run.timing != nullptr) out += "\n" + sim::to_text(*run.timing);
  if (run.fault.has_value()) out += fmt::format("\n{}\n", paint(run.fault->to_string(), Colour::red, colour));
  return out;
}

std::string json_report(const RunDescription& d) {
  const kernels::KernelReport& r = d.report;
  Json j;
  j["drywell"] = DRYWELL_VERSION;
  j["kernel"] = d.kernel.name;
  j["params"] = params_json(d.params);
  j["shape"] = r.shape;
  j["arch"] = d.arch.name;
  j["driver"] = kernels::print_driver(d.options);
  j["launch"] = launch_json(r.launch);
  // Functional drivers have no clock: null, so that no number is taken for a time.
  const bool timed = r.run.cycles != 0;
  j["cycles"] = timed ? Json(r.run.cycles) : Json(nullptr);
  j["seconds"] = timed ? Json(simulated_time(r.run, d.arch).seconds) : Json(nullptr);
  j["bandwidth"] = timed ? Json(bandwidth(d)) : Json(nullptr);
  j["bytes_read"] = r.bytes_read;
  j["bytes_written"] = r.bytes_written;
  j["warp_instructions"] = r.run.warp_instructions;
  j["verify"] = verify_json(r.verify);
  j["fault"] = fault_json(r.run);
  d.check.add_json(j);
  if (d.exploration.has_value()) j["explored"] = d.exploration->json();
  add_timing(r.run, j);
  for (const auto& [name, text] : r.notes) j["notes"][name] = text;
  j["host"] = host_json(r.run.host_seconds);
  for (const auto& [name, text] : r.host_notes) j["host"][name] = text;
  return print_json(j);
}

}  // namespace drywell::tools
