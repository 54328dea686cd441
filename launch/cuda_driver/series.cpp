#include "launch/cuda_driver/series.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "launch/cuda_driver/library.h"

namespace drywell::kernels {
namespace {

// A child answers through a file without a name. Its first line is 'stretch REACHED LOST' or 'error CODE UNAVAILABLE'; the text follows.
using Answer = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

Answer answer_file() {
  Answer out(std::tmpfile(), &std::fclose);
  if (out == nullptr) throw InputError(Code::E4001, "no temporary file can be made", "TMPDIR or /tmp must be writable");
  return out;
}

void write_answer(std::FILE* to, const std::string& head, std::string_view text) {
  std::fwrite(head.data(), 1, head.size(), to);
  std::fwrite(text.data(), 1, text.size(), to);
}

void answer(std::FILE* to, const std::function<Stretch(size_t)>& measure, size_t first) {
  try {
    const Stretch s = measure(first);
    write_answer(to, fmt::format("stretch {} {:d}\n", s.reached, s.lost), s.text);
  } catch (const Error& e) {
    write_answer(to, fmt::format("error {} {:d}\n", static_cast<unsigned>(e.code()), dynamic_cast<const Unavailable*>(&e) != nullptr), e.what());
  } catch (const std::exception& e) {
    write_answer(to, fmt::format("error {} 0\n", static_cast<unsigned>(Code::X9000)), e.what());
  }
}

// An error of a child has its whole text from there.
template <class Kind>
class Relayed : public Kind {
 public:
  Relayed(Code code, std::string text) : Kind(code, "") { this->what_ = std::move(text); }
};

[[noreturn]] void throw_again(Code code, bool unavailable, std::string text) {
  if (unavailable) throw Relayed<Unavailable>(code, std::move(text));
  throw Relayed<InputError>(code, std::move(text));
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::string read_all(std::FILE* from) {
  std::rewind(from);
  std::string out;
  char block[65536];
  for (size_t n; (n = std::fread(block, 1, sizeof block, from)) != 0;) out.append(block, n);
  return out;
}

Stretch parse_answer(const std::string& text) {
  unsigned long long number = 0;
  unsigned flag = 0;
  const size_t end = text.find('\n');
  const bool whole = end != std::string::npos;
  if (whole && std::sscanf(text.c_str(), "stretch %llu %u\n", &number, &flag) == 2) return {text.substr(end + 1), number, flag != 0};
  if (whole && std::sscanf(text.c_str(), "error %llu %u\n", &number, &flag) == 2) throw_again(static_cast<Code>(number), flag != 0, text.substr(end + 1));
  throw InputError(Code::E4001, "the answer of a measuring process cannot be read", "the temporary folder (TMPDIR or /tmp) may be full");
}

Stretch in_a_child(const std::function<Stretch(size_t)>& measure, size_t first) {
  const Answer file = answer_file();
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) throw InputError(Code::E4505, "no process can be started for the measurement");
  if (child == 0) {
    answer(file.get(), measure, first);
    std::fflush(nullptr);
    _exit(0);
  }
  const int status = wait_for(child);
  if (WIFSIGNALED(status)) throw InputError(Code::E4505, fmt::format("the measuring process was ended by signal {}", WTERMSIG(status)));
  return parse_answer(read_all(file.get()));
}

}  // namespace

std::vector<std::string> run_series(const std::function<Stretch(size_t first)>& measure) {
  std::vector<std::string> out;
  for (size_t first = 0;;) {
    Stretch s = in_a_child(measure, first);
    out.push_back(std::move(s.text));
    if (!s.lost) return out;
    DRYWELL_CHECK(s.reached > first, "a measuring process goes on");
    first = s.reached;
  }
}

}  // namespace drywell::kernels
