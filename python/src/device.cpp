// The simulated device: memory, and launches with checks, traces and timelines.
#include "drywell/sim/device.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <optional>

#include "drywell/sim/arch_config.h"
#include "drywell/sim/driver_words.h"
#include "drywell/sim/dump.h"
#include "drywell/sim/trace.h"
#include "drywell/sim/trace_export.h"
#include "python/src/interruptible.h"
#include "python/src/module.h"
#include "python/src/report.h"

namespace drywell::python {
namespace {

using Triple = std::array<uint32_t, 3>;

Dim3 dim(const Triple& t) { return {t[0], t[1], t[2]}; }

struct LaunchRequest {
  std::string entry;
  Triple grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  uint32_t smem = 0;
  std::vector<nb::bytes> arguments;
  std::string driver = "eager";  // "shuffled:7", as the command has it
  unsigned threads = 0;
  uint64_t max_instructions = 0;
  bool cooperative = false, values = true;
  std::string check;  // "", "basic", "full"
  bool trace = false, trace_values = false;
  std::optional<Triple> timeline;  // CTA
  double max_seconds = 0;
  std::string dump;  // folder of the launch file; empty: none
  nb::object progress = nb::none();
};

/// What watches a launch.
class Watchers {
 public:
  Watchers(const LaunchRequest& r, const std::string& arch, sim::RunOptions& o) {
    if (!r.check.empty())
      o.listeners.push_back(checker_.emplace(sim::CheckOptions{.level = level(r.check)}).listener());
    if (r.trace) o.listeners.push_back(trace_.emplace(text_, trace_options(r, arch, o)).listener());
    if (r.timeline.has_value()) o.listeners.push_back(timeline_.emplace(dim(*r.timeline)).listener());
  }
  void finish(const sim::RunResult& r) {
    if (trace_.has_value()) trace_->finish(r);
  }
  void add(nb::dict& out) const {
    out["hazards"] = checker_.has_value() ? nb::object(findings_list(checker_->findings())) : nb::none();
    out["wait_graph"] =
        checker_.has_value() ? nb::object(wait_graph_dict(checker_->wait_graph())) : nb::none();
    out["trace"] = trace_.has_value() ? nb::object(text(text_.text)) : nb::none();
    out["timeline"] = timeline_.has_value() ? nb::object(timeline_dict(last_timeline())) : nb::none();
  }

 private:
  sim::Timeline last_timeline() const {
    const auto& all = timeline_->timelines();
    return all.empty() ? sim::Timeline{} : all.back();
  }
  static sim::CheckLevel level(const std::string& name) {
    if (name == "basic") return sim::CheckLevel::basic;
    if (name == "full") return sim::CheckLevel::full;
    throw InputError(Code::E4306, fmt::format("check '{}': off, basic or full", name));
  }
  static sim::TraceOptions trace_options(const LaunchRequest& r, const std::string& arch,
                                         const sim::RunOptions& o) {
    sim::TraceOptions t;
    t.profile = o.driver == sim::DriverKind::timed ? sim::TraceProfile::cycle : sim::TraceProfile::arch;
    t.values = r.trace_values;
    t.arch = arch;
    t.seed = o.seed;
    return t;
  }

  sim::TraceText text_;
  std::optional<sim::HazardChecker> checker_;
  std::optional<sim::TraceWriter> trace_;
  std::optional<sim::TimelineRecorder> timeline_;
};

sim::RunOptions options_of(const LaunchRequest& r) {
  sim::RunOptions o;
  sim::parse_driver(r.driver, o);
  o.threads = r.threads;
  o.max_instructions = r.max_instructions;
  o.cooperative = r.cooperative;
  o.values = r.values;
  return o;
}

nb::dict result_dict(const sim::RunResult& r) {
  nb::dict out;
  out["fault"] = r.fault.has_value() ? nb::object(fault_dict(*r.fault)) : nb::none();
  out["instructions"] = r.warp_instructions;
  out["cycles"] = r.cycles;
  out["host_seconds"] = r.host_seconds;
  out["output"] = raw(r.output);
  out["timing"] = r.timing != nullptr ? nb::object(timing_dict(*r.timing)) : nb::none();
  return out;
}

class PyDevice {
 public:
  PyDevice(const std::string& arch, uint32_t sms, bool contract) : arch_(arch), device_({.arch = arch, .sm_count = sms, .contract = contract}) {}

  uint64_t allocate(uint64_t bytes, const std::string& name) { return device_.allocate(bytes, name).value(); }
  void release(uint64_t at) { device_.free(GmemAddr(at)); }
  void write(uint64_t to, uintptr_t from, uint64_t bytes) {
    device_.write(GmemAddr(to), reinterpret_cast<const void*>(from), bytes);
  }
  void read(uintptr_t to, uint64_t from, uint64_t bytes) const {
    device_.read(reinterpret_cast<void*>(to), GmemAddr(from), bytes);
  }
  /// True if the bytes at `at` differ from those of the host.
  bool differs(uint64_t at, uintptr_t host, uint64_t bytes) {
    return bytes != 0 && std::memcmp(device_.host_pointer(GmemAddr(at), bytes),
                                     reinterpret_cast<const void*>(host), bytes) != 0;
  }
  size_t load(const ParsedModule& m) {
    loaded_.push_back(device_.load(m.module));
    return loaded_.size() - 1;
  }
  std::optional<uint64_t> symbol(size_t module, const std::string& name) const {
    const auto at = loaded_.at(module).symbol(name);
    return at.has_value() ? std::optional(at->value()) : std::nullopt;
  }
  uint32_t registers(size_t module, const std::string& entry) { return device_.registers(loaded_.at(module), entry); }
  nb::dict launch(size_t module, const LaunchRequest& r);
  nb::dict figures() const;

 private:
  std::string arch_;
  sim::Device device_;
  std::vector<sim::LoadedModule> loaded_;
};

/// Of the first number that no earlier launch of the kernel has.
std::string free_folder(const std::string& folder, const std::string& kernel) {
  size_t number = 0;
  while (std::filesystem::exists(sim::dump_folder(folder, number, kernel))) ++number;
  return sim::dump_folder(folder, number, kernel);
}

/// 0, or more than a clock can count: none.
std::optional<std::chrono::steady_clock::time_point> deadline_in(double seconds) {
  if (!(seconds > 0) || seconds > 1e9) return std::nullopt;
  return std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
}

nb::dict PyDevice::launch(size_t module, const LaunchRequest& r) {
  sim::RunOptions options = options_of(r);
  std::atomic<bool> stop{false};
  sim::RunProgress progress;
  options.stop = &stop;
  options.progress = &progress;
  options.deadline = deadline_in(r.max_seconds);
  Watchers watchers(r, device_.arch().name, options);
  sim::Args args;
  for (const nb::bytes& b : r.arguments)
    args.add_bytes({reinterpret_cast<const uint8_t*>(b.c_str()), b.size()});
  const sim::LaunchConfig config{dim(r.grid), dim(r.block), dim(r.cluster), r.smem};
  if (!r.dump.empty()) sim::dump_launch(device_, loaded_.at(module), r.entry, config, args, free_folder(r.dump, r.entry));
  sim::RunResult result;
  run_interruptibly([&] { result = device_.launch(loaded_.at(module), r.entry, config, args, options); },
                    stop, progress, r.progress);
  watchers.finish(result);
  nb::dict out = result_dict(result);
  watchers.add(out);
  return out;
}

nb::dict PyDevice::figures() const {
  const sim::ArchConfig& a = device_.arch();
  nb::dict out;
  out["name"] = text(a.name);
  out["description"] = text(a.description);
  out["target"] = text(isa::target_name(a.target));
  out["sms"] = device_.sm_count();
  out["cta_smem"] = static_cast<uint64_t>(a.smem.cta_bytes);
  out["clock_ghz"] = a.chip.clock;
  return out;
}

std::string perfetto(const std::string& trace) { return sim::trace_to_perfetto(trace, "trace"); }
std::string csv(const std::string& trace) { return sim::trace_to_csv(trace, "trace"); }

nb::dict diff(const std::string& a, const std::string& b) {
  const sim::TraceDiff d = sim::diff_traces(a, b);
  nb::dict out;
  out["equal"] = d.equal();
  out["records"] = d.records;
  out["message"] = text(d.message);
  return out;
}

void bind_request(nb::module_& m) {
  nb::class_<LaunchRequest>(m, "LaunchRequest")
      .def(nb::init<>())
      .def_rw("entry", &LaunchRequest::entry)
      .def_rw("grid", &LaunchRequest::grid)
      .def_rw("block", &LaunchRequest::block)
      .def_rw("cluster", &LaunchRequest::cluster)
      .def_rw("smem", &LaunchRequest::smem)
      .def_rw("arguments", &LaunchRequest::arguments)
      .def_rw("driver", &LaunchRequest::driver)
      .def_rw("threads", &LaunchRequest::threads)
      .def_rw("max_instructions", &LaunchRequest::max_instructions)
      .def_rw("cooperative", &LaunchRequest::cooperative)
      .def_rw("values", &LaunchRequest::values)
      .def_rw("check", &LaunchRequest::check)
      .def_rw("trace", &LaunchRequest::trace)
      .def_rw("trace_values", &LaunchRequest::trace_values)
      .def_rw("timeline", &LaunchRequest::timeline, nb::for_setter(nb::arg("cta").none()))
      .def_rw("max_seconds", &LaunchRequest::max_seconds)
      .def_rw("dump", &LaunchRequest::dump)
      .def_rw("progress", &LaunchRequest::progress, nb::for_setter(nb::arg("callback").none()));
}

}  // namespace

void bind_device(nb::module_& m) {
  bind_request(m);
  nb::class_<PyDevice>(m, "Device", "A simulated device: one thread at a time.")
      .def(nb::init<const std::string&, uint32_t, bool>(), nb::arg("arch"), nb::arg("sms") = 0, nb::arg("contract") = false)
      .def("allocate", &PyDevice::allocate)
      .def("free", &PyDevice::release)
      .def("write", &PyDevice::write)
      .def("read", &PyDevice::read)
      .def("differs", &PyDevice::differs)
      .def("load", &PyDevice::load)
      .def("symbol", &PyDevice::symbol)
      .def("registers", &PyDevice::registers)
      .def("launch", &PyDevice::launch)
      .def("figures", &PyDevice::figures);
  m.def("trace_to_perfetto", &perfetto);
  m.def("trace_to_csv", &csv);
  m.def("diff_traces", &diff);
}

}  // namespace drywell::python
