#include "sim/debug/dap/relay.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "drywell/core/error.h"

namespace drywell::sim::dap {
namespace {

constexpr int kPollMilliseconds = 50;               // how often the program's end is looked for
constexpr int64_t kOwnRequests = int64_t{1} << 30;  // sequence numbers of requests that the relay itself sends to a launch begin there

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& o) noexcept {
    close();
    fd_ = std::exchange(o.fd_, -1);
    return *this;
  }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

[[noreturn]] void cannot(const char* what) { throw InputError(Code::E4311, fmt::format("{}: {}", what, std::strerror(errno))); }

/// A socket that others of this user reach by its path, in a folder of its own.
class ProgramSocket {
 public:
  ProgramSocket() {
    std::string folder = (std::filesystem::temp_directory_path() / "drywell-dap-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) cannot("a folder for the program's socket");
    folder_ = folder;
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    if (path().size() >= sizeof(at.sun_path)) throw InputError(Code::E4311, fmt::format("{}: a path too long for a socket", path()), "TMPDIR names a shorter folder");
    path().copy(at.sun_path, sizeof(at.sun_path) - 1);
    socket_ = Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (socket_.get() < 0 || ::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&at), sizeof(at)) != 0 || ::listen(socket_.get(), 64) != 0) cannot("a socket for the program");
  }
  ~ProgramSocket() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  ProgramSocket(const ProgramSocket&) = delete;
  ProgramSocket& operator=(const ProgramSocket&) = delete;
  std::string path() const { return (folder_ / "socket").string(); }
  int descriptor() const { return socket_.get(); }
  Descriptor accept() const { return Descriptor(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC)); }

 private:
  std::filesystem::path folder_;
  Descriptor socket_;
};

/// The program, with its output in pipes; it and what it started end with this.
class ProgramProcess {
 public:
  ProgramProcess(const DapLaunch& asked, const DapPrograms& programs, const std::string& socket) {
    int out[2], err[2];
    if (::pipe2(out, O_CLOEXEC) != 0) cannot("a pipe");
    out_ = Descriptor(out[0]);
    const Descriptor out_end(out[1]);
    if (::pipe2(err, O_CLOEXEC) != 0) cannot("a pipe");
    err_ = Descriptor(err[0]);
    const Descriptor err_end(err[1]);
    std::fflush(nullptr);
    pid_ = ::fork();
    if (pid_ < 0) cannot("a process for the program");
    if (pid_ == 0) become(asked, programs, socket, out[1], err[1]);
    ::setpgid(pid_, pid_);
    for (const int fd : {out[0], err[0]}) ::fcntl(fd, F_SETFL, O_NONBLOCK);
  }
  ~ProgramProcess() { end(); }
  ProgramProcess(const ProgramProcess&) = delete;
  ProgramProcess& operator=(const ProgramProcess&) = delete;

  /// Ends it and what it started.
  void end() {
    if (!status_.has_value()) {
      ::kill(-pid_, SIGKILL);
      ::kill(pid_, SIGKILL);
      int status = 0;
      ::waitpid(pid_, &status, 0);
      status_ = status;
    }
  }
  bool over() {
    int status = 0;
    if (!status_.has_value() && ::waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
    return status_.has_value();
  }
  /// As a shell says it: 128 and the signal for a program that a signal ended.
  int exit_code() const { return WIFEXITED(*status_) ? WEXITSTATUS(*status_) : 128 + WTERMSIG(*status_); }
  const Descriptor& out() const { return out_; }
  const Descriptor& err() const { return err_; }

 private:
  [[noreturn]] static void become(const DapLaunch& asked, const DapPrograms& programs, const std::string& socket, int out, int err) {
    ::setpgid(0, 0);
    std::signal(SIGPIPE, SIG_DFL);
    const int nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(err, STDERR_FILENO);
    try {
      programs.become(asked, socket);
    } catch (const Error& e) {
      std::fputs(e.what(), stderr);
      std::fputs("\n", stderr);
      std::fflush(stderr);
    }
    ::_exit(static_cast<int>(ExitCode::bad_input));
  }

  pid_t pid_ = -1;
  std::optional<int> status_;
  Descriptor out_, err_;
};

class Relay {
 public:
  Relay(Wire& client, const Json& request, const RelayRequest& r, const DapPrograms& programs)
      : client_(client), request_(request), r_(r), program_(r.asked, programs, listener_.path()), stop_next_(r.stop_on_entry) {}

  RelayEnd run() {
    while (!end_.has_value()) {
      if (launch_.has_value() && launch_->wire.holds())
        from_launch();
      else if (client_.holds())
        from_client();
      else
        wait();
    }
    return *end_;
  }

 private:
  /// A launch that is under the debugger now.
  struct Connection {
    explicit Connection(Descriptor f) : socket(std::move(f)), wire(socket.get(), socket.get()) {}
    Descriptor socket;
    Wire wire;
    struct Asked {
      std::string command;
      std::string set;  // breakpoints: which
    };
    std::map<int64_t, Asked> open;         // requests without an answer
    std::map<uint32_t, uint32_t> numbers;  // of breakpoints: the launch's, the client's
    int64_t own = kOwnRequests;
  };
  /// Breakpoints that the client has set; each launch gets them.
  struct Kept {
    Json request;
    std::vector<uint32_t> numbers;
    std::vector<bool> verified;
  };

  void wait() {
    std::array<pollfd, 5> p{};
    p[0] = {client_.descriptor(), POLLIN, 0};
    p[1] = {launch_.has_value() ? launch_->socket.get() : listener_.descriptor(), POLLIN, 0};
    p[2] = {out_open_ ? program_.out().get() : -1, POLLIN, 0};
    p[3] = {err_open_ ? program_.err().get() : -1, POLLIN, 0};
    if (::poll(p.data(), p.size() - 1, kPollMilliseconds) < 0 && errno != EINTR) cannot("the program");
    if (p[2].revents != 0) out_open_ = print(program_.out(), "stdout");
    if (p[3].revents != 0) err_open_ = print(program_.err(), "stderr");
    if (p[1].revents != 0)
      launch_.has_value() ? from_launch() : begin();
    else if (p[0].revents != 0)
      from_client();
    else if (!launch_.has_value() && program_.over())
      finish();
  }

  /// Passes on what the program has printed; false at the end of it.
  bool print(const Descriptor& from, std::string_view category) {
    std::array<char, 65536> chunk;
    const ssize_t n = ::read(from.get(), chunk.data(), chunk.size());
    if (n > 0) event("output", {{"category", category}, {"output", std::string(chunk.data(), static_cast<size_t>(n))}});
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
  }

  void event(std::string_view name, Json body) { client_.send({{"type", "event"}, {"event", name}, {"body", std::move(body)}}); }
  void answer(const Json& request, Json body) {
    client_.send({{"type", "response"}, {"request_seq", request.value("seq", int64_t{0})}, {"command", request.value("command", "")}, {"success", true}, {"body", std::move(body)}});
  }
  void refuse(int64_t seq, const std::string& command, const std::string& why) {
    client_.send({{"type", "response"}, {"request_seq", seq}, {"command", command}, {"success", false}, {"message", why}, {"body", {{"error", {{"id", 1}, {"format", why}, {"showUser", false}}}}}});
  }

  // Launches.
  void begin() {
    Descriptor socket = listener_.accept();
    if (socket.get() < 0) return;
    launch_.emplace(std::move(socket));
    launch_->wire.pass({{"program", r_.asked.words[0]}, {"sourceRoot", r_.source_root}, {"linesStartAt1", r_.positions.lines_at_1}, {"columnsStartAt1", r_.positions.columns_at_1}});
    if (!answered_) {
      answered_ = true;
      answer(request_, Json::object());  // the launch's own event `initialized` follows
    }
    for (auto& [set, kept] : kept_) ask(kept.request, set);
    if (configured_) ask(configuration(), "");
  }
  Json configuration() { return {{"type", "request"}, {"command", "configurationDone"}, {"arguments", {{"stopOnEntry", std::exchange(stop_next_, false)}}}}; }
  /// A request of the relay itself.
  void ask(Json request, const std::string& set) {
    request["seq"] = launch_->own++;
    launch_->open[request["seq"].get<int64_t>()] = {request["command"].get<std::string>(), set};
    launch_->wire.pass(request);
  }
  void from_launch() {
    std::optional<Wire::Message> m = launch_->wire.receive();
    if (!m.has_value() || !m->error.empty()) {
      for (const auto& [seq, asked] : launch_->open)
        if (seq < kOwnRequests) refuse(seq, asked.command, "the launch is over");
      launch_.reset();
      return;
    }
    Json& message = m->body;
    if (message.value("type", "") == "event") return pass_event(message);
    const auto asked = launch_->open.find(message.value("request_seq", int64_t{-1}));
    if (asked == launch_->open.end()) return;
    const bool own = asked->first >= kOwnRequests;
    if (!asked->second.set.empty()) number(message, asked->second.set, own);
    launch_->open.erase(asked);
    if (!own) client_.send(std::move(message));
  }
  void pass_event(Json& message) {
    const std::string name = message.value("event", "");
    if (name == "initialized" && std::exchange(initialized_, true)) return;
    if (name == "stopped" && message["body"].contains("hitBreakpointIds")) {
      Json numbers = Json::array();
      for (const Json& n : message["body"]["hitBreakpointIds"])
        if (const auto known = launch_->numbers.find(n.get<uint32_t>()); known != launch_->numbers.end()) numbers.push_back(known->second);
      message["body"]["hitBreakpointIds"] = std::move(numbers);
    }
    client_.send(std::move(message));
  }
  /// The launch's breakpoints get the client's numbers; at a later launch, the client hears which have code there now.
  void number(Json& message, const std::string& set, bool own) {
    const auto kept = kept_.find(set);
    if (kept == kept_.end() || !message.value("success", false)) return;
    Json& all = message["body"]["breakpoints"];
    for (size_t i = 0; i < all.size() && i < kept->second.numbers.size(); ++i) {
      const uint32_t number = kept->second.numbers[i];
      if (all[i].contains("id")) launch_->numbers[all[i]["id"].get<uint32_t>()] = number;
      all[i]["id"] = number;
      const bool verified = all[i].value("verified", false);
      if (own && verified && !kept->second.verified[i]) event("breakpoint", {{"reason", "changed"}, {"breakpoint", all[i]}});
      kept->second.verified[i] = kept->second.verified[i] || verified;
    }
  }

  // The client.
  void from_client() {
    std::optional<Wire::Message> m = client_.receive();
    if (!m.has_value()) {
      end_ = RelayEnd::left;
      return;
    }
    if (!m->error.empty()) return refuse(0, "", m->error);
    const Json& request = m->body;
    const auto seq = request.find("seq");
    const auto command = request.find("command");
    if (seq == request.end() || !seq->is_number_integer() || seq->get<int64_t>() >= kOwnRequests || command == request.end() || !command->is_string())
      return refuse(0, "", "a request has a number and a command");
    take(request, seq->get<int64_t>(), command->get<std::string>());
  }
  void take(const Json& request, int64_t seq, const std::string& command) {
    if (command == "disconnect" || command == "terminate") return end_program(request, command == "disconnect");
    const std::string set = keep(request, command);
    if (command == "configurationDone") configured_ = true;
    if (launch_.has_value()) {
      Json passed = request;
      if (command == "configurationDone") passed["arguments"] = configuration()["arguments"];
      launch_->open[seq] = {command, set};
      return launch_->wire.pass(passed);
    }
    // The program is between two launches.
    if (!set.empty()) return answer(request, waiting(kept_[set]));
    if (command == "threads") return answer(request, {{"threads", Json::array()}});
    if (command == "pause") stop_next_ = true;
    if (command == "pause" || command == "configurationDone" || command == "setExceptionBreakpoints") return answer(request, Json::object());
    refuse(seq, command, "no kernel runs now: the program is between its launches");
  }
  /// Keeps the breakpoints of lines and names: those of addresses and data belong to one launch. Returns the name of their set, or "".
  std::string keep(const Json& request, const std::string& command) {
    if (command != "setBreakpoints" && command != "setFunctionBreakpoints") return {};
    if (!request.contains("arguments") || !request["arguments"].is_object()) return {};
    const Json& a = request["arguments"];
    if (!a.contains("breakpoints") || !a["breakpoints"].is_array()) return {};
    std::string set = command;
    if (command == "setBreakpoints") set += a.contains("source") ? a["source"].dump() : "";
    Kept& kept = kept_[set];
    kept = {request, {}, std::vector<bool>(a["breakpoints"].size())};
    for (size_t i = 0; i < a["breakpoints"].size(); ++i) kept.numbers.push_back(next_number_++);
    return set;
  }
  static Json waiting(const Kept& kept) {
    Json all = Json::array();
    for (const uint32_t n : kept.numbers) all.push_back({{"id", n}, {"verified", false}, {"message", "no kernel runs now: the next one gets it"}});
    return {{"breakpoints", std::move(all)}};
  }

  void end_program(const Json& request, bool leave) {
    program_.end();
    answer(request, Json::object());
    if (leave)
      end_ = RelayEnd::left;
    else {
      launch_.reset();
      finish();
    }
  }
  void finish() {
    while (out_open_ && print_more(program_.out(), "stdout")) {
    }
    while (err_open_ && print_more(program_.err(), "stderr")) {
    }
    end_ = RelayEnd::over;
    if (!answered_) {
      return refuse(request_.value("seq", int64_t{0}), "launch", fmt::format("the program ended with {}, and no launch came to the debugger", program_.exit_code()));
    }
    event("exited", {{"exitCode", program_.exit_code()}});
    event("terminated", Json::object());
  }
  /// False if nothing is there now: what the program started may hold the pipe longer than it lives.
  bool print_more(const Descriptor& from, std::string_view category) {
    pollfd p{from.get(), POLLIN, 0};
    return ::poll(&p, 1, 0) > 0 && print(from, category);
  }

  Wire& client_;
  const Json& request_;
  const RelayRequest& r_;
  ProgramSocket listener_;
  ProgramProcess program_;
  std::optional<Connection> launch_;
  std::map<std::string, Kept> kept_;
  uint32_t next_number_ = 1;
  bool answered_ = false, initialized_ = false, configured_ = false, stop_next_;
  bool out_open_ = true, err_open_ = true;
  std::optional<RelayEnd> end_;
};

}  // namespace

RelayEnd relay(Wire& client, const Json& request, const RelayRequest& r, const DapPrograms& programs) { return Relay(client, request, r, programs).run(); }

}  // namespace drywell::sim::dap
