// A client of the Debug Adapter Protocol, as an editor is one: starts `drywell dap` and talks to it over pipes.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace drywell::test {

using Json = nlohmann::json;

class DapClient {
 public:
  DapClient(const std::string& program, const std::string& folder) {
    int to[2], from[2];
    if (::pipe2(to, O_CLOEXEC) != 0 || ::pipe2(from, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    std::signal(SIGPIPE, SIG_IGN);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(to[0], 0);
      ::dup2(from[1], 1);
      if (::chdir(folder.c_str()) != 0) ::_exit(126);
      ::execl(program.c_str(), program.c_str(), "dap", nullptr);
      ::_exit(127);
    }
    ::close(to[0]);
    ::close(from[1]);
    in_ = from[0];
    out_ = to[1];
  }
  /// A client of an adapter that serves a socket, which it takes over.
  explicit DapClient(int socket) : in_(socket), out_(::dup(socket)) {}
  ~DapClient() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(in_);
    if (out_ >= 0) ::close(out_);
  }
  DapClient(const DapClient&) = delete;
  DapClient& operator=(const DapClient&) = delete;

  void send_raw(const std::string& bytes) {
    if (::write(out_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) throw std::runtime_error("the adapter is gone");
  }
  void send_text(const std::string& body) { send_raw("Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body); }
  int send(const std::string& command, Json arguments = Json::object()) {
    send_text(Json{{"seq", ++seq_}, {"type", "request"}, {"command", command}, {"arguments", std::move(arguments)}}.dump());
    return seq_;
  }

  /// The next message; throws after 60 s of silence.
  Json receive() {
    size_t end;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) fill();
    const size_t length = std::stoul(buffer_.substr(buffer_.find(':') + 1));
    while (buffer_.size() < end + 4 + length) fill();
    Json m = Json::parse(buffer_.substr(end + 4, length));
    buffer_.erase(0, end + 4 + length);
    return m;
  }
  /// Sends a request and takes its response; events that come before it are kept.
  Json request(const std::string& command, Json arguments = Json::object()) { return response(send(command, std::move(arguments))); }
  Json response(int seq) {
    while (true) {
      Json m = receive();
      if (m["type"] == "response" && m["request_seq"] == seq) return m;
      events_.push_back(std::move(m));
    }
  }
  /// The body of the next event of that name.
  Json event(const std::string& name) {
    while (true) {
      for (size_t i = 0; i < events_.size(); ++i) {
        if (events_[i].value("event", "") != name) continue;
        Json body = events_[i]["body"];
        events_.erase(events_.begin() + static_cast<ptrdiff_t>(i));
        return body;
      }
      events_.push_back(receive());
    }
  }
  /// Closes its input and waits for its end.
  int finish() {
    ::close(out_);
    out_ = -1;
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  void fill() {
    pollfd p{in_, POLLIN, 0};
    if (::poll(&p, 1, 60'000) <= 0) throw std::runtime_error("the adapter is silent");
    char chunk[65536];
    const ssize_t n = ::read(in_, chunk, sizeof(chunk));
    if (n <= 0) throw std::runtime_error("the adapter is gone");
    buffer_.append(chunk, static_cast<size_t>(n));
  }

  pid_t pid_ = -1;
  int in_ = -1, out_ = -1, seq_ = 0;
  std::string buffer_;
  std::vector<Json> events_;
};

}  // namespace drywell::test
