// The conversation with a client: up to the launch, and after it.
#include <fmt/format.h>

#include <algorithm>

#include "drywell/core/error.h"
#include "drywell/sim/dap.h"
#include "sim/debug/dap/adapter.h"
#include "sim/debug/dap/relay.h"

namespace drywell::sim {
namespace dap {
namespace {

/// A message of the JSON library without its numbers: ": key 'program' not found".
std::string wrong_argument(const nlohmann::ordered_json::exception& e) {
  const std::string_view what = e.what();
  const size_t end = what.find("] ");
  return end == std::string_view::npos ? "" : fmt::format(": {}", what.substr(end + 2));
}

/// The conversation up to the launch, and after it.
class Conversation {
 public:
  Conversation(int in, int out, const DapHost& host, const DapPrograms& programs) : wire_(in, out), host_(host), programs_(programs) {}

  void run() {
    while (!left_) {
      std::optional<Wire::Message> m = wire_.receive();
      if (!m.has_value()) break;
      if (!m->error.empty())
        answer(Json::object(), false, {}, m->error);
      else
        take(m->body);
    }
  }

 private:
  void answer(const Json& request, bool success, Json body, const std::string& message = {}) {
    const auto seq = request.find("seq");
    const auto command = request.find("command");
    Json r = {{"type", "response"}, {"success", success}, {"request_seq", seq != request.end() && seq->is_number_integer() ? *seq : Json(0)}, {"command", command != request.end() && command->is_string() ? *command : Json("")}};
    if (!body.is_null()) r["body"] = std::move(body);
    if (!message.empty()) {
      r["message"] = message;
      r["body"] = {{"error", {{"id", 1}, {"format", message}, {"showUser", false}}}};
    }
    wire_.send(std::move(r));
  }
  void event(std::string_view name, Json body) { wire_.send({{"type", "event"}, {"event", name}, {"body", std::move(body)}}); }

  void take(const Json& request) {
    const auto command = request.find("command");
    const std::string name = command != request.end() && command->is_string() ? command->get<std::string>() : "";
    if (name == "initialize") return initialize(request);
    if (name == "launch") return launch(request);
    if (name == "disconnect" || name == "terminate") {
      left_ = name == "disconnect";
      return answer(request, true, Json::object());
    }
    answer(request, false, {}, name == "attach" ? "drywell dap launches kernels; there is nothing to attach to" : fmt::format("'{}' has no place before launch or after the end", name));
  }

  void initialize(const Json& request) {
    const Json a = request.contains("arguments") && request["arguments"].is_object() ? request["arguments"] : Json::object();
    const auto flag = [&](const char* key) { return !a.contains(key) || !a[key].is_boolean() || a[key].get<bool>(); };
    positions_ = {flag("linesStartAt1"), flag("columnsStartAt1")};
    answer(request, true, capabilities());
  }

  static Json capabilities() {
    return {{"supportsConfigurationDoneRequest", true}, {"supportsFunctionBreakpoints", true}, {"supportsConditionalBreakpoints", true}, {"supportsStepBack", true}, {"supportsInstructionBreakpoints", true}, {"supportsReadMemoryRequest", true}, {"supportsWriteMemoryRequest", true}, {"supportsSetVariable", true}, {"supportsDisassembleRequest", true}, {"supportsSteppingGranularity", true}, {"supportsDataBreakpoints", true}, {"supportsRestartRequest", true}, {"supportsLoadedSourcesRequest", true}, {"supportsBreakpointLocationsRequest", true}, {"supportsTerminateRequest", true}, {"supportsEvaluateForHovers", true}, {"supportTerminateDebuggee", true}, {"supportsExceptionInfoRequest", true}, {"supportsCompletionsRequest", true}, {"supportsLogPoints", true}, {"supportsHitConditionalBreakpoints", true}, {"supportsModulesRequest", true}, {"completionTriggerCharacters", {"%", " ", "."}}};
  }

  static DapLaunch asked(const Json& a) {
    DapLaunch l;
    l.cwd = a.value("cwd", "");
    l.words = {a.at("program").get<std::string>()};
    for (const Json& w : a.value("args", Json::array())) l.words.push_back(w.get<std::string>());
    for (const char* key : {"arch", "driver"}) {
      if (a.contains(key)) l.options.push_back(fmt::format("--{}={}", key, a[key].get<std::string>()));
    }
    for (const Json& o : a.value("options", Json::array())) l.options.push_back(o.get<std::string>());
    if (a.contains("launch")) l.launch = a["launch"].get<uint32_t>();
    l.kernel = a.value("kernel", "");
    l.python = a.value("python", "");
    return l;
  }

  void launch(const Json& request) {
    try {
      const Json a = request.contains("arguments") ? request["arguments"] : Json::object();
      const DapLaunch l = asked(a);
      const std::string root = a.value("sourceRoot", ".");
      const bool stop = a.value("stopOnEntry", true);
      if (programs_.takes && programs_.takes(l)) {
        left_ = relay(wire_, request, {l, root, stop, positions_}, programs_) == RelayEnd::left;
        return;
      }
      bool answered = false;
      const DapBody body = [&](const Launch& launched, const RunOptions& o) {
        answered = true;
        answer(request, true, Json::object());
        Debugger debugger(launched, o);
        DapAdapter adapter(wire_, debugger, l.words[0], root, stop, positions_);
        if (!adapter.serve()) throw DapClientLeft();
        return debugger.session().result();
      };
      run_program(l, body, answered);
    } catch (const Error& e) {
      answer(request, false, {}, e.what());
    } catch (const Json::exception& e) {
      answer(request, false, {}, fmt::format("launch takes program (a kernel, a .ptx, .toml or .py file, or a CUDA program), args, arch, driver, options, kernel, python, stopOnEntry, launch, cwd, sourceRoot{}", wrong_argument(e)));
    }
  }

  /// After the answer to `launch`, errors are events of the output.
  void run_program(const DapLaunch& l, const DapBody& body, const bool& answered) {
    int code = 0;
    try {
      const DapOutcome out = host_(l, body);
      if (!out.verification.empty()) event("output", {{"category", "console"}, {"output", out.verification + "\n"}});
      code = out.exit_code;
    } catch (const DapClientLeft&) {
      left_ = true;
      return;
    } catch (const Error& e) {
      if (!answered) throw;
      event("output", {{"category", "stderr"}, {"output", std::string(e.what()) + "\n"}});
      code = static_cast<int>(ExitCode::bad_input);
    }
    event("exited", {{"exitCode", code}});
    event("terminated", Json::object());
  }

  Wire wire_;
  const DapHost& host_;
  const DapPrograms& programs_;
  Positions positions_;
  bool left_ = false;
};

}  // namespace
}  // namespace dap

void serve_dap(int in, int out, const DapHost& host, const DapPrograms& programs) { dap::Conversation(in, out, host, programs).run(); }

}  // namespace drywell::sim
