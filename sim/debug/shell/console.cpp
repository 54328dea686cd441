#include "sim/debug/shell/console.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <sstream>

#include "drywell/core/files.h"
#ifdef DRYWELL_LIBEDIT
#include <dlfcn.h>
#include <histedit.h>
#endif

namespace drywell::sim::shell {
namespace {

std::optional<std::string> line_of(std::istream& in) {
  std::string line;
  if (!std::getline(in, line)) return std::nullopt;
  return line;
}

class Plain : public Console {
 public:
  explicit Plain(bool terminal) : terminal_(terminal) {}
  std::optional<std::string> read_line() override {
    if (terminal_) std::cout << kPrompt << std::flush;
    return line_of(std::cin);
  }
  bool interactive() const override { return terminal_; }

 private:
  bool terminal_;
};

class Script : public Console {
 public:
  explicit Script(std::string text) : in_(std::move(text)) {}
  std::optional<std::string> read_line() override { return line_of(in_); }

 private:
  std::istringstream in_;
};

#ifdef DRYWELL_LIBEDIT
/// libedit, loaded when a terminal needs it, with names that stay its own: it exports the functions of
/// readline, which a Python program under `drywell python` would otherwise get in place of those it was
/// linked with.
class Libedit {
 public:
  Libedit() : library_(::dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL)) {
    find(el_init, "el_init");
    find(el_end, "el_end");
    find(el_reset, "el_reset");
    find(el_gets, "el_gets");
    find(el_set, "el_set");
    find(el_get, "el_get");
    find(el_source, "el_source");
    find(el_line, "el_line");
    find(el_insertstr, "el_insertstr");
    find(history_init, "history_init");
    find(history_end, "history_end");
    find(history, "history");
  }
  bool found() const { return library_ != nullptr && complete_; }

  decltype(&::el_init) el_init = nullptr;
  decltype(&::el_end) el_end = nullptr;
  decltype(&::el_reset) el_reset = nullptr;
  decltype(&::el_gets) el_gets = nullptr;
  decltype(&::el_set) el_set = nullptr;
  decltype(&::el_get) el_get = nullptr;
  decltype(&::el_source) el_source = nullptr;
  decltype(&::el_line) el_line = nullptr;
  decltype(&::el_insertstr) el_insertstr = nullptr;
  decltype(&::history_init) history_init = nullptr;
  decltype(&::history_end) history_end = nullptr;
  decltype(&::history) history = nullptr;

 private:
  template <class F>
  void find(F& function, const char* name) {
    void* address = library_ != nullptr ? ::dlsym(library_, name) : nullptr;
    complete_ = complete_ && address != nullptr;
    function = reinterpret_cast<F>(address);
  }

  void* library_;  // never closed: a library with state of its own
  bool complete_ = true;
};

class Terminal : public Console {
 public:
  Terminal(Completer complete, const Libedit& lib)
      : lib_(lib),
        complete_(std::move(complete)),
        edit_(lib_.el_init("drywell", stdin, stdout, stderr)),
        history_(lib_.history_init()) {
    HistEvent event;
    lib_.history(history_, &event, H_SETSIZE, 2000);
    lib_.history(history_, &event, H_SETUNIQUE, 1);
    if (!path().empty()) lib_.history(history_, &event, H_LOAD, path().c_str());
    lib_.el_set(edit_, EL_CLIENTDATA, this);
    lib_.el_set(
        edit_, EL_PROMPT, +[](EditLine*) { return const_cast<char*>(kPrompt); });
    lib_.el_set(edit_, EL_EDITOR, "emacs");
    lib_.el_set(edit_, EL_HIST, lib_.history, history_);
    lib_.el_set(edit_, EL_ADDFN, "complete", "complete the word", &Terminal::on_complete);
    lib_.el_set(edit_, EL_BIND, "^I", "complete", nullptr);
    lib_.el_set(edit_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
    lib_.el_source(edit_, nullptr);
  }
  ~Terminal() override {
    HistEvent event;
    if (!path().empty()) lib_.history(history_, &event, H_SAVE, path().c_str());
    lib_.history_end(history_);
    lib_.el_end(edit_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  std::optional<std::string> read_line() override {
    int count = 0;
    errno = 0;
    const char* text = lib_.el_gets(edit_, &count);
    while ((text == nullptr || count <= 0) && errno == EINTR) {  // Ctrl-C drops the line
      std::cout << "^C\n"
                << std::flush;
      lib_.el_reset(edit_);
      errno = 0;
      text = lib_.el_gets(edit_, &count);
    }
    if (text == nullptr || count <= 0) return std::nullopt;
    std::string line(text, static_cast<size_t>(count));
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
    HistEvent event;
    if (line.find_first_not_of(' ') != std::string::npos)
      lib_.history(history_, &event, H_ENTER, line.c_str());
    return line;
  }
  bool interactive() const override { return true; }

 private:
  static std::string path() {
    if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state != '\0')
      return std::string(state) + "/drywell_history";
    const char* home = std::getenv("HOME");
    return home == nullptr || *home == '\0' ? std::string() : std::string(home) + "/.drywell_history";
  }

  static unsigned char on_complete(EditLine* edit, int) {
    void* data = nullptr;
    Libedit().el_get(edit, EL_CLIENTDATA, &data);
    return static_cast<Terminal*>(data)->complete_word();
  }

  // Inserts the common prefix of all candidates; lists the candidates if the prefix adds nothing.
  unsigned char complete_word() {
    const LineInfo* info = lib_.el_line(edit_);
    const std::string_view line(info->buffer, static_cast<size_t>(info->cursor - info->buffer));
    const std::vector<std::string> words = complete_(line);
    if (words.empty()) return CC_REFRESH_BEEP;
    std::string shared = words[0];
    for (const std::string& w : words) {
      while (!w.starts_with(shared)) shared.pop_back();
    }
    const size_t blank = line.find_last_of(" \t");
    const size_t typed = blank == std::string_view::npos ? line.size() : line.size() - blank - 1;
    std::string more = shared.substr(std::min(typed, shared.size()));
    if (words.size() == 1) more += ' ';
    if (!more.empty()) return lib_.el_insertstr(edit_, more.c_str()) == -1 ? CC_ERROR : CC_REFRESH;
    std::string all = "\n";
    for (const std::string& w : words) all += w + "  ";
    std::cout << all.substr(0, 4000) << '\n'
              << std::flush;
    return CC_REDISPLAY;
  }

  Libedit lib_;
  Completer complete_;
  EditLine* edit_;
  History* history_;
};
#endif

}  // namespace

std::unique_ptr<Console> open_console([[maybe_unused]] Completer complete) {
  const bool terminal = ::isatty(STDIN_FILENO) != 0;
#ifdef DRYWELL_LIBEDIT
  if (terminal && ::isatty(STDOUT_FILENO) != 0) {
    if (const Libedit lib; lib.found()) return std::make_unique<Terminal>(std::move(complete), lib);
  }
#endif
  return std::make_unique<Plain>(terminal);
}

std::unique_ptr<Console> open_script(const std::string& path) {
  return std::make_unique<Script>(read_text_file(path));
}

}  // namespace drywell::sim::shell
