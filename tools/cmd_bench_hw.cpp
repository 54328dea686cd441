// drywell bench-hw: microbenchmarks on a GPU and under the timed driver, side by side.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "conformance/microbench/record.h"
#include "conformance/microbench/whole.h"
#include "conformance/survey/survey.h"
#include "drywell/core/files.h"
#include "drywell/core/terminal.h"
#include "kernels/support/record_text.h"
#include "launch/cuda_driver/cuda_device.h"
#include "launch/cuda_driver/series.h"
#include "tools/common/command.h"
#include "tools/common/filter.h"
#include "tools/common/output_file.h"

namespace drywell::tools {
namespace {

namespace microbench = kernels::microbench;
using microbench::Comparison;
using microbench::Elapsed;
using microbench::Microbench;
using microbench::WholeComparison;
using microbench::WholeKernel;

struct Options {
  std::string filter, from, save, arch = "sm_90a", json, note, caches = "cold";
  unsigned repeats = 5;
  bool list = false, simulate = false;
};

/// The part of the suite that --filter selects.
struct Chosen {
  std::vector<Microbench> small;
  std::vector<WholeKernel> whole;
};

Chosen chosen(const Options& o) {
  const Pattern pattern = filter_of(o.filter, "bench-hw");
  Chosen out;
  for (Microbench& b : microbench::suite()) {
    if (pattern.finds(b.name)) out.small.push_back(std::move(b));
  }
  for (WholeKernel& w : microbench::whole_kernels()) {
    if (pattern.finds(w.name)) out.whole.push_back(std::move(w));
  }
  if (out.small.empty() && out.whole.empty()) throw UsageError("no microbenchmark of that name; --list shows them", "bench-hw");
  return out;
}

microbench::Caches caches_of(const Options& o) {
  return o.caches == "warm" ? microbench::Caches::warm : o.caches == "dirty" ? microbench::Caches::dirty
                                                                             : microbench::Caches::cold;
}

void measure_item(const Options& o, const Chosen& suite, size_t item, kernels::CudaDevice& gpu, microbench::Record& r) {
  const size_t small = suite.small.size();
  const std::string& name = item < small ? suite.small[item].name : suite.whole[item - small].name;
  try {
    if (item >= small)
      r.kernels[name] = microbench::measure(suite.whole[item - small], gpu, std::string(gpu.arch().name), {}, o.repeats, caches_of(o));
    else if (microbench::made_for(suite.small[item], gpu.arch().target))
      r.values[name] = microbench::measure(suite.small[item], gpu, {}, o.repeats);
  } catch (const InputError& e) {
    print(fmt::format("{}: {}\n", name, e.what()));
  }
}

kernels::Stretch stretch(const Options& o, const Chosen& suite, size_t first) {
  kernels::CudaDevice gpu;
  microbench::Record r;
  r.provenance = kernels::provenance(gpu.describe(), "drywell " DRYWELL_VERSION " bench-hw", o.note);
  size_t item = first;
  for (const size_t end = suite.small.size() + suite.whole.size(); item < end && !gpu.lost(); ++item) measure_item(o, suite, item, gpu, r);
  return {microbench::print_record(r), item, gpu.lost()};
}

microbench::Record measure_gpu(const Options& o, const Chosen& suite) {
  microbench::Record out;
  for (const std::string& text : kernels::run_series([&](size_t first) { return stretch(o, suite, first); })) {
    microbench::Record r = microbench::parse_record(text, "the GPU's record");
    out.provenance = r.provenance;
    out.values.merge(r.values);
    out.kernels.merge(r.kernels);
  }
  return out;
}

void print_table(const CommandContext& c, const std::vector<Comparison>& all) {
  print(fmt::format("{:<36} {:<5} {:<6} {:>10} {:>10} {:>8}\n", "microbenchmark", "half", "unit", "measured", "simulated", "error"));
  for (const Comparison& x : all) {
    const std::string error = fmt::format("{:>7.1f}%", 100 * (x.simulated / x.measured - 1));
    const Colour colour = x.error() <= 0.05 ? Colour::green : x.error() <= 0.15 ? Colour::yellow
                                                                                : Colour::red;
    print(fmt::format("{:<36} {:<5} {:<6} {:>10.2f} {:>10.2f} {}\n", x.name, x.fitted ? "fit" : "check", microbench::unit_name(x.unit), x.measured, x.simulated,
                      paint(error, colour, c.colour_out)));
  }
  print(fmt::format("median error: {:.1f} % of those fitted to, {:.1f} % of those held back\n", 100 * microbench::median_error(all, true),
                    100 * microbench::median_error(all, false)));
}

void print_kernels(const CommandContext& c, const std::vector<WholeComparison>& all) {
  print(fmt::format("\n{:<36} {:>10} {:>10} {:>6} {:>10} {:>10} {:>8}\n", "whole kernel", "measured", "cycles", "GHz", "simulated", "us", "error"));
  for (const WholeComparison& x : all) {
    const std::string error = fmt::format("{:>7.1f}%", 100 * (x.simulated.cycles / x.measured.cycles - 1));
    print(fmt::format("{:<36} {:>7.2f} us {:>10.0f} {:>6.3f} {:>10.0f} {:>10.2f} {}\n", x.name, x.measured.nanoseconds * 1e-3, x.measured.cycles, x.measured.gigahertz(),
                      x.simulated.cycles, x.simulated.nanoseconds * 1e-3, paint(error, x.error() <= 0.15 ? Colour::green : Colour::red, c.colour_out)));
  }
}

void write_json(const std::string& file, const std::vector<Comparison>& all, const std::vector<WholeComparison>& kernels) {
  nlohmann::json out = nlohmann::json::array();
  for (const Comparison& x : all)
    out.push_back({{"name", x.name}, {"fitted", x.fitted}, {"unit", microbench::unit_name(x.unit)}, {"measured", x.measured}, {"simulated", x.simulated}});
  for (const WholeComparison& x : kernels)
    out.push_back({{"name", x.name}, {"fitted", false}, {"unit", "cyc"}, {"measured", x.measured.cycles}, {"simulated", x.simulated.cycles}});
  write_file_atomically(file, out.dump(1) + "\n");
}

ExitCode bench_hw(const CommandContext& c, const Options& o) {
  const Chosen suite = chosen(o);
  if (o.list) {
    for (const WholeKernel& w : suite.whole) print(fmt::format("{:<10} {:<5} {}\n", "kernel", "check", w.name));
    for (const Microbench& b : suite.small) print(fmt::format("{:<10} {:<5} {}\n", b.family, b.fitted ? "fit" : "check", b.name));
    return ExitCode::ok;
  }
  CommandFiles files("bench-hw");
  files.reads("the machine", o.arch);
  files.reads("--from", o.from);
  files.writes("--save", o.save);
  files.writes("--json", o.json);
  expect_writable({o.save, o.json});
  kernels::SimulatedDevice simulator({.arch = o.arch});
  if (o.simulate) {
    sim::RunOptions options;
    options.driver = sim::DriverKind::timed;
    for (const WholeKernel& w : suite.whole) {
      const Elapsed e = microbench::measure(w, simulator, o.arch, options);
      print(fmt::format("{:<36} {:>10.0f} cyc {:>10.2f} us\n", w.name, e.cycles, e.nanoseconds * 1e-3));
    }
    for (const Microbench& b : suite.small) {
      if (!microbench::made_for(b, simulator.arch().target)) continue;
      print(fmt::format("{:<36} {:>10.2f} {}\n", b.name, microbench::measure(b, simulator, options), microbench::unit_name(b.unit)));
    }
    return ExitCode::ok;
  }
  const microbench::Record r = o.from.empty() ? measure_gpu(o, suite) : microbench::parse_record(kernels::survey::part_of(read_text_file(o.from), "microbench"), o.from);
  if (!o.save.empty()) write_file_atomically(o.save, microbench::print_record(r));
  const std::vector<Comparison> all = microbench::compare(r, suite.small, simulator);
  if (!all.empty()) print_table(c, all);
  const std::vector<WholeComparison> kernels = microbench::compare(r, suite.whole, o.arch);
  if (!kernels.empty()) print_kernels(c, kernels);
  if (!o.json.empty()) write_json(o.json, all, kernels);
  return ExitCode::ok;
}

}  // namespace

void register_bench_hw(Command& app, CommandContext& context) {
  auto o = std::make_shared<Options>();
  Command* sub = add_command(app, "bench-hw");
  sub->add_option("--filter", o->filter, "only those whose name this regular expression finds");
  sub->add_option("--from", o->from, "compare with this record (traces/hw) instead of a GPU");
  sub->add_option("--save", o->save, "write the GPU's figures into this record");
  sub->add_option("--arch", o->arch, "architecture to simulate")->capture_default_str();
  sub->add_option("--repeats", o->repeats, "runs on the GPU; the fastest counts")->capture_default_str();
  sub->add_option("--json", o->json, "write the comparison to this file");
  sub->add_option("--caches", o->caches, "state of the GPU's L2 when a whole kernel starts: cold, warm or dirty")
      ->one_of({"cold", "warm", "dirty"})
      ->capture_default_str();
  sub->add_option("--note", o->note, "a line for the record's head");
  sub->add_flag("--list", o->list, "names only");
  sub->add_flag("--simulate", o->simulate, "simulate only");
  sub->callback([o, &context] { context.action = [o, &context] { return bench_hw(context, *o); }; });
}

}  // namespace drywell::tools
