// Hostile CUDA programs under `drywell exec`: each mode of guest.cpp under a driver and a bound that the seed
// chooses. The program checks the errors that it gets; here its end, its time and its memory are judged.
#include <fmt/format.h>

#include <sstream>

#include "mutation.h"
#include "part.h"

namespace drywell::attack {
namespace {

std::vector<std::string> modes(const Plan& p) {
  std::istringstream lines(run({{p.guest}, {}, {}, {}, 0}).out);
  std::vector<std::string> all;
  for (std::string line; std::getline(lines, line);) all.push_back(line);
  return all;
}

Command command_of(const Plan& p, const std::string& mode, Random& r) {
  static constexpr const char* kDrivers[] = {"eager", "lazy", "shuffled:5", "timed"};
  static constexpr const char* kBounds[] = {"--max-instructions=2000000", "--timeout=1.5"};
  Command c;
  const bool ends = mode != "endless" && mode != "spin";
  c.words = {p.binary, "exec", fmt::format("--driver={}", kDrivers[r.below(4)]),
             fmt::format("--threads={}", 1 + r.below(3))};
  if (!ends) c.words.push_back(mode == "spin" || r.once_in(2) ? kBounds[1] : kBounds[0]);
  if (r.once_in(4)) c.words.push_back("--check");
  c.words.insert(c.words.end(), {"--", p.guest, mode});
  return c;
}

}  // namespace

Counts attack_with_programs(const Plan& p) {
  Counts counts;
  if (p.guest.empty()) return counts;
  const std::vector<std::string> all = modes(p);
  if (all.empty()) {
    fmt::print("  the guest does not run\n");
    ++counts.wrong;
    return counts;
  }
  for (uint64_t i = 0; i < all.size() || !p.time_is_up(); ++i) {
    Random r(p.seed * 0xD1342543DE82EF95ull + i);
    const Command c = command_of(p, all[i % all.size()], r);
    const Ending e = run(c, {.seconds = 40, .bytes = uint64_t{6} << 30});
    p.judge(e, c, "program", counts);
    // A hazard that --check finds ends a program that ends well with 1.
    const bool hazards = e.code == 1 && e.err.find("error H") != std::string::npos &&
                         e.err.find("guest:") == std::string::npos;
    if (e.how != Ending::How::exited || e.code == 0 || hazards) continue;
    ++counts.wrong;
    p.keep("program-answer", fmt::format("{} {}\n{}", all[i % all.size()], e.code, e.err));
  }
  return counts;
}

}  // namespace drywell::attack
