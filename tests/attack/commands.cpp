// Mutated inputs by command, as a user gives them: files, standard input, words of the command line. Each
// command ends with a message and one of its exit codes, in time, within its memory.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "mutation.h"
#include "part.h"
#include "targets.h"

namespace drywell::attack {
namespace {

namespace fs = std::filesystem;

/// A folder that goes away with its owner.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / fmt::format("drywell-attack-{}", ::getpid())) {
    fs::create_directories(path_);
  }
  ~Folder() {
    std::error_code gone;
    fs::remove_all(path_, gone);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }

 private:
  fs::path path_;
};

/// A command with one mutated input. FILE in its words stands for the file with the mutant, WORD for the
/// mutant itself.
struct Shape {
  const char* seeds;  // target whose seeds are mutated
  const char* file;   // name of the file; "": standard input, or a word
  std::vector<std::string> words;
};

const std::vector<std::string> kBounds = {"--max-instructions=20000", "--timeout=5", "--memory=2G"};

std::vector<Shape> shapes() {
  std::vector<Shape> all = {
      {"ptx", "k.ptx", {"ptx", "check", "FILE"}},
      {"ptx", "k.ptx", {"build", "FILE", "-o", "/dev/null"}},
      {"launch files", "k.toml", {"run", "FILE"}},
      {"architectures", "a.toml", {"arch", "FILE"}},
      {"architectures",
       "a.toml",
       {"run", "tma-copy", "--rows=64", "--columns=32", "--driver=timed", "--arch=FILE"}},
      {"npy", "x.npy", {"run", source("tests/corpus/hard/e_ok.ptx"), "--buffer", "x=FILE", "--arg", "@x"}},
      {"traces", "t.trace", {"trace", "show", "FILE"}},
      {"traces", "t.trace", {"trace", "export", "FILE"}},
      {"traces", "t.trace", {"trace", "export", "FILE", "--format=svg"}},
      {"traces", "t.trace", {"trace", "diff", "FILE", source("traces/golden/tma-copy.trace")}},
      {"traces", "t.trace", {"trace", "check", "FILE"}},
      {"packed traces", "t.trace.zst", {"trace", "show", "FILE"}},
      {"reports", "r.json", {"compare", "FILE", "FILE"}},
      {"tensor maps", "m.map", {"desc", "tensor-map", "FILE"}},
      {"debugger", "commands", {"step", source("tests/corpus/hard/e_ok.ptx"), "--arg=u32[64]:zeros", "--script=FILE"}},
      {"debug adapter", "", {"dap"}},
      {"layouts", "", {"layout", "WORD"}},
      {"patterns", "", {"conformance", "--list", "--filter", "WORD"}},
      {"patterns", "", {"run", "tma-copy", "--rows=WORD"}},
      {"patterns", "", {"run", "tma-copy", "--rows=64", "--columns=32", "--timeout=WORD"}},
      {"launch files", "", {"run", source("tests/corpus/hard/e_ok.ptx"), "--arg", "WORD"}},
  };
  for (const char* driver : {"eager", "lazy", "shuffled:3", "timed"}) {
    all.push_back(
        {"ptx",
         "k.ptx",
         {"run", "FILE", "--arg", "u32[64]:zeros", "--block=64", std::string("--driver=") + driver}});
  }
  return all;
}

/// Commands that run kernels take bounds.
bool runs_kernels(const std::vector<std::string>& words) {
  return words[0] == "run" || words[0] == "step" || (words[0] == "trace" && words[1] == "check");
}

std::string replaced(std::string word, const std::string& name, const std::string& by) {
  if (const size_t at = word.find(name); at != std::string::npos) word.replace(at, name.size(), by);
  return word;
}

/// A word of a command line has no zeros.
std::string as_word(std::string text) {
  text.resize(std::min<size_t>(text.find('\0'), std::min<size_t>(text.size(), 4096)));
  return text;
}

Command command_of(const Plan& p, const Shape& s, const std::string& mutant, const Folder& folder) {
  Command c;
  const std::string file = *s.file == 0 ? "" : folder.write(s.file, mutant);
  c.words = {p.binary};
  for (const std::string& w : s.words)
    c.words.push_back(replaced(replaced(w, "FILE", file), "WORD", as_word(mutant)));
  if (runs_kernels(s.words)) c.words.insert(c.words.end(), kBounds.begin(), kBounds.end());
  if (s.words.size() == 1) c.input = mutant;
  return c;
}

const std::vector<std::string>& seeds_of(const std::vector<Target>& targets, std::string_view name) {
  for (const Target& t : targets) {
    if (t.name == name) return t.seeds;
  }
  return targets.front().seeds;
}

}  // namespace

Counts attack_commands(const Plan& p) {
  const Folder folder;
  const std::vector<Target> targets = all_targets();
  const std::vector<Shape> all = shapes();
  Counts counts;
  for (uint64_t i = 0; !p.time_is_up(); ++i) {
    Random r(p.seed * 0x9E3779B97F4A7C15ull + i);
    const Shape& s = all[i % all.size()];
    const auto& seeds = seeds_of(targets, s.seeds);
    const std::string mutant = mutated(seeds[r.below(seeds.size())], static_cast<Unit>(r.below(3)), r);
    const Command c = command_of(p, s, mutant, folder);
    const Ending e = run(c);
    const uint64_t before = counts.crashes + counts.hangs + counts.over_memory + counts.wrong;
    p.judge(e, c, "command", counts);
    if (counts.crashes + counts.hangs + counts.over_memory + counts.wrong != before)
      p.keep("command-input", mutant);
  }
  return counts;
}

}  // namespace drywell::attack
