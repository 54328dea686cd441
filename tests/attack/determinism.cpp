// The same runs on hosts that differ: threads, locale, time zone, address layout. Reports (but for what they
// say of the host), traces and arrays are equal byte for byte.
#include <fmt/format.h>
#include <sys/personality.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "mutation.h"
#include "part.h"

namespace drywell::attack {
namespace {

namespace fs = std::filesystem;

/// Runs whose outputs are compared.
const std::vector<std::vector<std::string>> kRuns = {
    {"run", "tma-copy", "--rows=256", "--columns=64", "--driver=timed"},
    {"run", "tma-copy", "--rows=256", "--columns=64", "--driver=shuffled:7", "--check"},
    {"run", "tma-copy", "--rows=256", "--columns=64", "--driver=lazy"},
    {"run", "rht-amax", "--driver=timed"},
    {"run", "amax", "--driver=eager", "--verify"},
    {"run", source("examples/ptx/axpy.toml"), "--driver=timed"},
};

Command varied(Random& r, const std::vector<std::string>& words, const Plan& p) {
  static constexpr const char* kLocales[] = {"C", "C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8", "ar_EG.UTF-8"};
  static constexpr const char* kZones[] = {"UTC", "Asia/Kolkata", "America/St_Johns", "Pacific/Kiritimati"};
  Command c;
  c.words = {p.binary};
  c.words.insert(c.words.end(), words.begin(), words.end());
  c.words.push_back(fmt::format("--threads={}", 1 + r.below(5)));
  c.environment = {
      fmt::format("LC_ALL={}", kLocales[r.below(std::size(kLocales))]),
      fmt::format("TZ={}", kZones[r.below(std::size(kZones))]),
      fmt::format("DRYWELL_ATTACK_FILLER={}", std::string(r.below(4000), 'x'))};  // moves the stack
  if (r.once_in(2)) c.before = [] { ::personality(ADDR_NO_RANDOMIZE); };
  return c;
}

/// What a run leaves: its report without the host's part, and its trace.
std::string traces_of(const Plan& p, Random& r, const std::vector<std::string>& words,
                      const std::string& folder, Counts& counts) {
  Command c = varied(r, words, p);
  const std::string trace = folder + "/run.trace";
  c.words.insert(c.words.end(), {"--json=-", "--trace", trace});
  const Ending e = run(c, {.seconds = 120});
  p.judge(e, c, "determinism", counts);
  counts.wrong += e.code != 0;  // equal errors would compare as equal
  nlohmann::ordered_json j = nlohmann::ordered_json::parse(e.out, nullptr, false);
  if (j.is_object()) j.erase("host");
  return fmt::format("{} {}\n", e.code, j.is_discarded() ? e.err : j.dump(1)) + content(trace);
}

}  // namespace

Counts attack_determinism(const Plan& p) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("drywell-determinism-{}", ::getpid());
  fs::create_directories(folder);
  std::map<size_t, std::string> first;
  Counts counts;
  for (uint64_t i = 0; i < 2 * kRuns.size() || !p.time_is_up(); ++i) {
    Random r(p.seed * 0x94D049BB133111EBull + i);
    const size_t which = i % kRuns.size();
    const std::string now = traces_of(p, r, kRuns[which], folder.string(), counts);
    const auto [at, fresh] = first.emplace(which, now);
    if (fresh || at->second == now) continue;
    ++counts.wrong;
    p.keep("determinism-first", at->second);
    p.keep("determinism-now", now);
  }
  fs::remove_all(folder);
  return counts;
}

}  // namespace drywell::attack
