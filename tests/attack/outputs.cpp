// Commands that are killed, or whose disk is full: every output is the old file or the whole new one, and nothing else is left behind,
// but for a whole new file that SIGKILL stopped from replacing the old one (core/files.cpp).
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "mutation.h"
#include "part.h"

namespace drywell::attack {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOld = "what was there before\n";
const std::vector<std::string> kOutputs = {"report.json", "run.trace", "run.trace.zst", "page.html"};

/// A folder with the outputs of earlier runs.
class Outputs {
 public:
  Outputs() : path_(fs::temp_directory_path() / fmt::format("drywell-outputs-{}", ::getpid())) {
    fs::remove_all(path_);
    fs::create_directories(path_ / "full");
    for (const std::string& name : kOutputs) std::ofstream(path_ / name) << kOld;
  }
  ~Outputs() {
    std::error_code gone;
    fs::remove_all(path_, gone);
  }
  Outputs(const Outputs&) = delete;
  Outputs& operator=(const Outputs&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }

  /// What is torn or left over; empty if all is well.
  std::string damage(bool killed) const {
    std::string out;
    for (const auto& e : fs::directory_iterator(path_)) {
      const std::string name = e.path().filename().string();
      if (name.find(".tmp") == std::string::npos) continue;
      const std::string text = content(e.path().string());
      const bool complete = std::any_of(kOutputs.begin(), kOutputs.end(), [&](const std::string& of) { return whole(of, text); });
      if (!killed || !complete) out += name + " is left behind\n";
    }
    for (const std::string& name : kOutputs) {
      const std::string text = content(file(name));
      if (text != kOld && !whole(name, text)) out += name + " is torn\n";
    }
    return out;
  }

 private:
  static bool whole(const std::string& name, const std::string& text) {
    if (name.ends_with(".json")) return text.starts_with("{") && text.ends_with("}\n");
    if (name.ends_with(".html")) return text.find("</html>") != std::string::npos;
    if (name.ends_with(".trace")) return text.starts_with("# ") && text.ends_with('\n');
    return text.size() > 32 && text.starts_with("\x28\xb5\x2f\xfd");  // Zstandard's; for the end see trace_is_whole()
  }
  fs::path path_;
};

Command command_of(const Plan& p, const Outputs& o, const std::string& trace, uint64_t rows) {
  return {{p.binary, "run", "tma-copy", fmt::format("--rows={}", 64 * rows), "--columns=32", "--driver=timed",
           "--json", o.file("report.json"), "--trace", o.file(trace), "--report", o.file("page.html")},
          {},
          {},
          {},
          0};
}

/// The command itself reads what it wrote.
bool trace_is_whole(const Plan& p, const std::string& path) {
  return content(path) == kOld ||
         run({{p.binary, "trace", "show", "--header", path}, {}, {}, {}, 0}).code == 0;
}

void look(const Plan& p, const Outputs& o, const std::string& trace, const Command& c, const Ending& e,
          Counts& counts) {
  p.judge(e, c, "outputs", counts);
  std::string damage = o.damage(c.kill_after != 0);
  if (!trace_is_whole(p, o.file(trace))) damage += trace + " is torn\n";
  if (damage.empty()) return;
  ++counts.wrong;
  p.keep("outputs-torn", damage);
}

/// Without an attack every output is new: the others' old files mean something.
void leave_one(const Plan& p, Counts& counts) {
  const Outputs o;
  const Command c = command_of(p, o, "run.trace", 1);
  const Ending e = run(c);
  look(p, o, "run.trace", c, e, counts);
  const bool fresh = e.code == 0 && content(o.file("report.json")) != kOld &&
                     content(o.file("run.trace")) != kOld && content(o.file("page.html")) != kOld;
  if (fresh) return;
  ++counts.wrong;
  p.keep("outputs-none", e.err);
}

/// kill -9 at any moment.
void kill_one(const Plan& p, Random& r, Counts& counts) {
  const Outputs o;
  const std::string trace = kOutputs[1 + r.below(2)];
  Command c = command_of(p, o, trace, 1 + r.below(4));
  c.kill_after = 0.001 * static_cast<double>(1 + r.below(120));
  look(p, o, trace, c, run(c), counts);
}

/// A limit on the size of files: writes fail in the middle.
void limit_one(const Plan& p, Random& r, Counts& counts) {
  const Outputs o;
  const std::string trace = kOutputs[1 + r.below(2)];
  Command c = command_of(p, o, trace, 1 + r.below(4));
  c.before = [bytes = r.below(1 << 17)] {
    const rlimit limit{bytes, bytes};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::signal(SIGXFSZ, SIG_IGN);
  };
  look(p, o, trace, c, run(c), counts);
}

/// A file system of a few kilobytes, where the host permits one: the command fails with its message, and what
/// was there stays.
bool fill_one(const Plan& p, Random& r, Counts& counts) {
  constexpr int kNotPermitted = 125;
  const Outputs o;
  const std::string full = o.file("full"), out = full + "/report.json";
  Command c = {{"/bin/sh", "-c",
                "echo old > \"$1\"; \"$0\" run tma-copy --rows=256 --columns=64 --driver=timed --json \"$1\" "
                "--trace \"$2\"; code=$?; grep -q . \"$1\" || exit 99; exit $code",
                p.binary, out, full + "/run.trace"},
               {},
               {},
               {},
               0};
  c.before = [full, bytes = 4096 * (1 + r.below(16))] {
    const std::string size = fmt::format("size={}", bytes);
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", full.c_str(), "tmpfs", 0, size.c_str()) != 0)
      ::_exit(kNotPermitted);
  };
  const Ending e = run(c);
  if (e.how == Ending::How::exited && e.code == kNotPermitted) return false;
  p.judge(e, c, "full", counts);
  return true;
}

}  // namespace

Counts attack_outputs(const Plan& p) {
  Counts counts;
  uint64_t full = 0;
  bool may_mount = true;
  leave_one(p, counts);
  for (uint64_t i = 0; !p.time_is_up(); ++i) {
    Random r(p.seed * 0xBF58476D1CE4E5B9ull + i);
    switch (i % 3) {
      case 0: kill_one(p, r, counts); break;
      case 1: limit_one(p, r, counts); break;
      default: may_mount = may_mount && fill_one(p, r, counts); full += may_mount ? 1 : 0;
    }
  }
  fmt::print("  {} with a full file system{}\n", full,
             may_mount ? "" : ": this host does not let one be mounted");
  return counts;
}

}  // namespace drywell::attack
