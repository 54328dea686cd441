// The parts of the attack, and what they count.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "child.h"
#include "tests/fuzz/seeds.h"

namespace drywell::attack {

/// What a part found. `wrong`: an output that was lost, torn or not deterministic, or an exit code that no
/// command has.
struct Counts {
  uint64_t inputs = 0, crashes = 0, hangs = 0, over_memory = 0, wrong = 0;
  void add(const Counts& c);
  bool clean() const { return crashes + hangs + over_memory + wrong == 0; }
};

struct Plan {
  uint64_t seed = 1;
  std::chrono::steady_clock::time_point until;  // a part ends soon after
  std::string binary;                           // the drywell command
  std::string guest;                            // the hostile CUDA program; empty: there is none
  std::string findings;                         // folder for inputs that break something
  std::string reader;                           // the only target of `readers`; empty: all
  double seconds_of_an_input = 20;              // in process; longer is a hang (Bounds)
  bool time_is_up() const { return std::chrono::steady_clock::now() >= until; }
  /// Counts the ending of a command; keeps what broke it. Commands end with codes from 0 to 6.
  void judge(const Ending& e, const Command& c, const std::string& what, Counts& counts) const;
  void keep(const std::string& what, const std::string& text) const;
};

struct Part {
  const char* name;
  const char* what;
  Counts (*run)(const Plan&);
};
/// Every part, in the order in which they run.
const std::vector<Part>& parts();

Counts attack_readers(const Plan& p);
/// True if a reader that crashes, one that hangs and one that takes too much memory are counted as what they
/// are.
bool finds_what_it_looks_for(Plan p);
Counts attack_commands(const Plan& p);
Counts attack_outputs(const Plan& p);
Counts attack_with_programs(const Plan& p);
Counts attack_determinism(const Plan& p);

}  // namespace drywell::attack
