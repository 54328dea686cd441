// drywell_attack: mutated inputs, kills, full disks, hostile programs and other hosts, from a seed
// (docs/testing.md).
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "part.h"

namespace drywell::attack {

namespace fs = std::filesystem;

void Counts::add(const Counts& c) {
  inputs += c.inputs;
  crashes += c.crashes;
  hangs += c.hangs;
  over_memory += c.over_memory;
  wrong += c.wrong;
}

namespace {

// The beginning of a finding, for the log: of CI's machine nothing else remains.
std::string shown(std::string text) {
  constexpr size_t kMost = 200;
  text.resize(std::min(text.size(), kMost));
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::isprint(c) == 0; }, ' ');
  return text;
}

}  // namespace

void Plan::keep(const std::string& what, const std::string& text) const {
  fs::create_directories(findings);
  const std::string name = fmt::format("{}-{:016x}", what, std::hash<std::string>()(text));
  std::ofstream(fs::path(findings) / name, std::ios::binary) << text;
  fmt::print("  found: {}/{}: {}\n", findings, name, shown(text));
  std::fflush(stdout);
}

void Plan::judge(const Ending& e, const Command& c, const std::string& what, Counts& counts) const {
  constexpr int kMostExitCode = 6;
  ++counts.inputs;
  counts.crashes += e.how == Ending::How::crashed;
  counts.hangs += e.how == Ending::How::hung;
  counts.over_memory += e.how == Ending::How::over_memory;
  const bool odd = e.how == Ending::How::exited && e.code > kMostExitCode && c.kill_after == 0;
  counts.wrong += odd;
  if (e.how == Ending::How::exited && !odd) return;
  static constexpr const char* kHow[] = {"ended", "crashed", "hung", "took too much memory"};
  std::string words;
  for (const std::string& w : c.words) words += w + "\n";
  keep(what, fmt::format("{} with {} after {:.1f} s, {} bytes\n{}--- input\n{}--- error\n{}",
                         kHow[static_cast<size_t>(e.how)], e.code, e.seconds, e.peak, words, c.input, e.err));
}

const std::vector<Part>& parts() {
  static const std::vector<Part> all = {
      {"readers", "mutated inputs, in process", attack_readers},
      {"commands", "mutated inputs, by command", attack_commands},
      {"outputs", "kills, limits of file sizes, full file systems", attack_outputs},
      {"programs", "hostile CUDA programs", attack_with_programs},
      {"determinism", "other threads, locales, time zones, address layouts", attack_determinism}};
  return all;
}

namespace {

struct Options {
  Plan plan;
  double seconds = 40;
  std::string part;
  bool check = false;
};

Options read(int argc, char** argv) {
  Options o;
  o.plan.binary = DRYWELL_BINARY;
  o.plan.guest = DRYWELL_GUEST;
  o.plan.findings = (fs::temp_directory_path() / "drywell-attack").string();
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--seed")
      o.plan.seed = std::strtoull(value.c_str(), nullptr, 0);
    else if (name == "--seconds")
      o.seconds = std::strtod(value.c_str(), nullptr);
    else if (name == "--part")
      o.part = value;
    else if (name == "--reader") o.plan.reader = value;
    else if (name == "--findings")
      o.plan.findings = value;
  }
  o.check = argc == 2 && std::string_view(argv[1]) == "--check-itself";
  return o;
}

void print_row(const char* name, const Counts& c, double seconds) {
  fmt::print(
      "{:<12} {:>9} inputs  {:>3} crashes  {:>3} hangs  {:>3} over the memory bound  {:>3} wrong  {:>7.1f} "
      "s\n",
      name, c.inputs, c.crashes, c.hangs, c.over_memory, c.wrong, seconds);
  std::fflush(stdout);
}

int attack(Options o) {
  if (o.check) return finds_what_it_looks_for(o.plan) ? 0 : 1;
  using Clock = std::chrono::steady_clock;
  Counts all;
  const auto begin = Clock::now();
  size_t left = o.part.empty() ? parts().size() : 1;
  for (const Part& p : parts()) {
    if (!o.part.empty() && o.part != p.name) continue;
    const auto start = Clock::now();
    const double share =
        (o.seconds - std::chrono::duration<double>(start - begin).count()) / static_cast<double>(left--);
    o.plan.until = start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(share));
    const Counts c = p.run(o.plan);
    print_row(p.name, c, std::chrono::duration<double>(Clock::now() - start).count());
    all.add(c);
  }
  print_row("all", all, std::chrono::duration<double>(Clock::now() - begin).count());
  return all.clean() && all.inputs != 0 ? 0 : 1;
}

}  // namespace
}  // namespace drywell::attack

int main(int argc, char** argv) { return drywell::attack::attack(drywell::attack::read(argc, argv)); }
