// drywell mutate: is every piece of a kernel's synchronisation missed when it is gone?
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "drywell/core/files.h"
#include "drywell/sim/check.h"
#include "kernels/registry.h"
#include "tools/command.h"
#include "tools/mutation.h"
#include "tools/parameters.h"
#include "tools/report_parts.h"
#include "tools/terminal.h"

namespace drywell::tools {
namespace {

struct MutateFlags {
  std::string kernel, json;
  bool verbose = false;
};

struct Verdict {
  std::string how;  // "hazard H7001", "fault F3601", "wrong values", "refused", "" = survived
  bool found() const { return !how.empty(); }
};

/// What a run of the kernel showed.
struct Outcome {
  std::set<std::pair<std::string, std::string>> hazards;  // code and the instruction it was reported at
  std::string first;
  std::string fault;
  bool wrong = false;
  uint64_t instructions = 0;
};

Outcome run_one(const kernels::Kernel& k, const kernels::Params& params, const Mutant* mutant, uint64_t limit, std::string* text) {
  sim::HazardChecker checker;
  kernels::RunContext c;
  c.params = params;
  c.verify = true;
  c.options.listeners.push_back(checker.listener());
  c.options.max_instructions = limit;
  MutantDevice* device = nullptr;
  c.machine = [&]() -> std::unique_ptr<kernels::Accelerator> {
    auto made = std::make_unique<MutantDevice>(sim::DeviceOptions{}, mutant);
    device = made.get();
    return made;
  };
  c.phase = [&](std::string_view) {
    if (text != nullptr && device != nullptr && !device->original().empty()) *text = device->original();
  };
  const kernels::KernelReport r = k.run(c);
  Outcome o;
  for (const sim::Finding& f : checker.findings()) {
    o.hazards.emplace(f.code, f.here.where.ptx);
  }
  if (!checker.findings().empty()) o.first = checker.findings()[0].code;
  o.fault = r.run.ok() ? "" : r.run.fault->code;
  o.wrong = r.verify.done && !r.verify.passed();
  o.instructions = r.run.warp_instructions;
  return o;
}

Verdict judge(const Outcome& base, const Outcome& o) {
  for (const auto& h : o.hazards) {
    const bool known = std::any_of(base.hazards.begin(), base.hazards.end(), [&](const auto& b) { return b.first == h.first; });
    if (!known) return {"hazard " + h.first};
  }
  if (!o.fault.empty()) return {(o.fault == "F3601" || o.fault == "F3602" ? "hang " : "fault ") + o.fault};
  return {o.wrong ? "wrong values only" : ""};
}

ExitCode mutate(const CommandContext& c, const MutateFlags& f, const std::vector<std::string>& words) {
  const kernels::Kernel& k = kernels::find_kernel(f.kernel);
  const kernels::Params params(k.name, k.parameters, parse_parameters(k, words, "mutate"));
  std::string ptx;
  const Outcome base = run_one(k, params, nullptr, 0, &ptx);
  if (!base.fault.empty() || base.wrong) throw InputError("E4310", fmt::format("{} does not run as it is: {}", k.name, base.fault.empty() ? "wrong values" : base.fault));
  const std::vector<Mutant> all = mutants_of(ptx);
  size_t reported = 0, noticed = 0;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Mutant& m : all) {
    Verdict v;
    try {
      v = judge(base, run_one(k, params, &m, 20 * base.instructions + 100'000, nullptr));
    } catch (const InputError& e) {
      v.how = "refused " + e.code();
    }
    const bool silent = v.how == "wrong values only";
    reported += v.found() && !silent ? 1 : 0;
    noticed += silent ? 1 : 0;
    rows.push_back({{"line", m.line + 1}, {"what", m.what}, {"instruction", m.original}, {"verdict", v.found() ? v.how : "survived"}});
    if (f.verbose || !v.found() || silent)
      print(fmt::format("{:<20} {:<14} {}\n", v.found() ? v.how : paint("survived", Colour::yellow, c.colour_out), m.what, m.original));
  }
  const double share = all.empty() ? 100 : 100.0 * static_cast<double>(reported) / static_cast<double>(all.size());
  print(fmt::format("{}: {} mutants, {} reported ({:.1f} %), {} only by wrong values, {} survived\n", k.name, all.size(), reported, share, noticed,
                    all.size() - reported - noticed));
  if (!f.json.empty()) write_file_atomically(f.json, print_json({{"kernel", k.name}, {"mutants", rows}, {"reported", reported}, {"share", share}}));
  return ExitCode::ok;
}

}  // namespace

void register_mutate(Command& app, CommandContext& context) {
  auto f = std::make_shared<MutateFlags>();
  Command* sub = app.add_subcommand("mutate", "Take out each piece of a kernel's synchronisation and see whether that is reported");
  sub->add_option("KERNEL", f->kernel, "a kernel of `drywell list`")->required();
  sub->add_flag("-v,--verbose", f->verbose, "every mutant, not only those that are not reported");
  sub->add_option("--json", f->json, "write the table as JSON");
  sub->allow_extras();
  sub->callback([f, sub, &context] { context.action = [f, sub, &context] { return mutate(context, *f, sub->remaining()); }; });
}

}  // namespace drywell::tools
