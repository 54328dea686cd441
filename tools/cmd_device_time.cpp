// drywell device time: measures the time of each launch of the given launch files on a GPU, and compares it with the timed driver's
// prediction.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "drywell/core/files.h"
#include "drywell/core/terminal.h"
#include "drywell/sim/limit_words.h"
#include "launch/cuda_driver/cuda_device.h"
#include "launch/cuda_driver/launch_clock.h"
#include "launch/launch_times.h"
#include "tools/common/command.h"
#include "tools/common/command_guard.h"
#include "tools/common/limit_flags.h"
#include "tools/common/output_file.h"

namespace drywell::tools {
namespace {

using kernels::LaunchRecord;
using kernels::LaunchTimes;

struct Options {
  std::vector<std::string> files;
  std::string save, from, arch = "sm_90a", json;
  unsigned threads = 0;
  sim::RunLimits limits;
};

struct Row {
  std::string launch;
  LaunchTimes measured, predicted;
};

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }  // npos + 1 is 0

LaunchRecord measure(const Options& o) {
  LaunchRecord record;
  kernels::CudaDevice gpu;
  for (const std::string& file : o.files) {
    std::vector<LaunchTimes> times;
    kernels::LaunchClock clock(gpu, times);
    const kernels::PlanResult r = kernels::run_plan(kernels::read_launch_file(file), clock, {});
    if (!r.ok()) throw InputError(Code::E4505, fmt::format("{}: {}", file, r.runs.back().fault->to_string()));
    for (size_t i = 0; i < r.launches.size(); ++i) record[{file_name(file), r.launches[i].name}] = times[i];
  }
  return record;
}

std::vector<Row> compare(const Options& o, const LaunchRecord& record) {
  sim::RunOptions options;
  options.driver = sim::DriverKind::timed;
  options.threads = o.threads;
  sim::set_limits_of_driver(o.limits, options);
  const CommandGuard guard(options);
  std::vector<Row> rows;
  for (const std::string& file : o.files) {
    const kernels::LaunchPlan plan = kernels::read_launch_file(file);
    const std::vector<LaunchTimes> predicted = kernels::predict_launches(plan, o.arch, options);
    for (size_t i = 0; i < plan.launches.size(); ++i) {
      const std::string& name =
          plan.launches[i].name.empty() ? plan.launches[i].entry : plan.launches[i].name;
      const auto at = record.find({file_name(file), name});
      if (at == record.end())
        throw InputError(Code::E4506,
                         fmt::format("the record has no figures of '{}' in {}", name, file_name(file)));
      rows.push_back({name, at->second, predicted[i]});
    }
  }
  return rows;
}

double error(double predicted, double measured) { return predicted / measured - 1; }

double median(std::vector<double> v) {
  if (v.empty()) return 0;
  std::nth_element(v.begin(), v.begin() + static_cast<ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

std::string table(const std::vector<Row>& rows) {
  std::string out = fmt::format("{:<34} {:>5} {:>9} {:>9} {:>7}   {:>9} {:>9} {:>7}\n", "launch", "GHz",
                                "warm us", "model", "error", "cold us", "model", "error");
  std::vector<double> warm, cold;
  for (const Row& r : rows) {
    const double w = error(r.predicted.warm, r.measured.warm), c = error(r.predicted.cold, r.measured.cold);
    warm.push_back(std::abs(w));
    cold.push_back(std::abs(c));
    out += fmt::format("{:<34} {:>5.2f} {:>9.2f} {:>9.2f} {:>6.1f}%   {:>9.2f} {:>9.2f} {:>6.1f}%\n",
                       r.launch, r.measured.gigahertz, r.measured.warm * 1e-3, r.predicted.warm * 1e-3,
                       100 * w, r.measured.cold * 1e-3, r.predicted.cold * 1e-3, 100 * c);
  }
  return out + fmt::format("median error of {} launches: warm {:.1f} %, cold {:.1f} %\n", rows.size(),
                           100 * median(warm), 100 * median(cold));
}

std::string json_text(const std::vector<Row>& rows) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Row& r : rows) {
    out.push_back({{"launch", r.launch},
                   {"GHz", r.measured.gigahertz},
                   {"warm_us", r.measured.warm * 1e-3},
                   {"warm_predicted_us", r.predicted.warm * 1e-3},
                   {"cold_us", r.measured.cold * 1e-3},
                   {"cold_predicted_us", r.predicted.cold * 1e-3}});
  }
  return out.dump(1) + "\n";
}

ExitCode device_time(const Options& o) {
  CommandFiles files("device time");
  files.reads("the machine", o.arch);
  files.reads("--from", o.from);
  for (const std::string& path : o.files) files.reads("a launch file", path);
  files.writes("--save", o.save);
  files.writes("--json", o.json);
  expect_writable({o.save, o.json});
  const LaunchRecord record =
      o.from.empty() ? measure(o) : kernels::parse_launch_record(read_text_file(o.from), o.from);
  if (!o.save.empty()) write_file_atomically(o.save, kernels::print_launch_record(record));
  const std::vector<Row> rows = compare(o, record);
  print(table(rows));
  if (!o.json.empty()) write_file_atomically(o.json, json_text(rows));
  return ExitCode::ok;
}

}  // namespace

void register_device_time(Command& device, CommandContext& context) {
  auto o = std::make_shared<Options>();
  Command* sub = add_subcommand(device, "time");
  sub->add_option("FILE", o->files, "launch files (.toml)")->required();
  sub->add_option("--save", o->save, "write the GPU's figures into this record (CSV)");
  sub->add_option("--from", o->from, "compare with this record instead of a GPU");
  sub->add_option("--arch", o->arch, "architecture to simulate")->capture_default_str();
  sub->add_option("--json", o->json, "write the comparison to this file");
  sub->add_option("--threads", o->threads, "host threads; 0 = all cores")->capture_default_str();
  add_limit_flags(*sub, o->limits);
  sub->callback([o, &context] { context.action = [o] { return device_time(*o); }; });
}

}  // namespace drywell::tools
