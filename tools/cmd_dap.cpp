// drywell dap: the debugger for editors (Debug Adapter Protocol over standard input and output; docs/dap.md).
#include <unistd.h>

#include <csignal>

#include "drywell/sim/dap.h"
#include "tools/common/command.h"
#include "tools/step/launch_picker.h"
#include "tools/step/step_flags.h"

namespace drywell::tools {
namespace {

/// Returns the JSON library's message without its number: ": key 'program' not found".
std::string wrong_argument(const nlohmann::ordered_json::exception& e) {
  const std::string_view what = e.what();
  const size_t end = what.find("] ");
  return end == std::string_view::npos ? "" : fmt::format(": {}", what.substr(end + 2));
}

/// The conversation before and after the launch.
class Conversation {
 public:
  Conversation() : wire_(STDIN_FILENO, STDOUT_FILENO) {}

  ExitCode run() {
    while (!left_) {
      std::optional<Wire::Message> m = wire_.receive();
      if (!m.has_value()) break;
      if (!m->error.empty()) answer(Json::object(), false, {}, m->error);
      else take(m->body);
    }
    return ExitCode::ok;
  }

 private:
  void answer(const Json& request, bool success, Json body, const std::string& message = {}) {
    const auto seq = request.find("seq");
    const auto command = request.find("command");
    Json r = {{"type", "response"}, {"success", success}, {"request_seq", seq != request.end() && seq->is_number_integer() ? *seq : Json(0)},
              {"command", command != request.end() && command->is_string() ? *command : Json("")}};
    if (!body.is_null()) r["body"] = std::move(body);
    if (!message.empty()) r["message"] = message;
    wire_.send(std::move(r));
  }
  void event(std::string_view name, Json body) { wire_.send({{"type", "event"}, {"event", name}, {"body", std::move(body)}}); }

  void take(const Json& request) {
    const auto command = request.find("command");
    const std::string name = command != request.end() && command->is_string() ? command->get<std::string>() : "";
    if (name == "initialize") return answer(request, true, capabilities());
    if (name == "launch") return launch(request);
    if (name == "disconnect" || name == "terminate") {
      left_ = name == "disconnect";
      return answer(request, true, Json::object());
    }
    answer(request, false, {}, name == "attach" ? "drywell dap launches kernels; there is nothing to attach to" : fmt::format("'{}' has no place before launch or after the end", name));
  }

  static Json capabilities() {
    return {{"supportsConfigurationDoneRequest", true}, {"supportsFunctionBreakpoints", true},     {"supportsConditionalBreakpoints", true}, {"supportsStepBack", true},
            {"supportsInstructionBreakpoints", true},   {"supportsReadMemoryRequest", true},       {"supportsDisassembleRequest", true},     {"supportsSteppingGranularity", true},
            {"supportsDataBreakpoints", true},          {"supportsRestartRequest", true},          {"supportsLoadedSourcesRequest", true},   {"supportsBreakpointLocationsRequest", true},
            {"supportsTerminateRequest", true},         {"supportsEvaluateForHovers", true},       {"supportTerminateDebuggee", true}};
  }

  /// Converts the launch request's arguments to those of `drywell step`.
  static std::vector<std::string> parse(const Json& a, StepFlags& f) {
    std::vector<std::string> words{a.at("program").get<std::string>()};
    for (const Json& w : a.value("args", Json::array())) words.push_back(w.get<std::string>());
    for (const char* key : {"arch", "driver"}) {
      if (a.contains(key)) words.push_back(fmt::format("--{}={}", key, a[key].get<std::string>()));
    }
    Command app({}, "step");
    add_step_flags(app, f);
    app.allow_extras();
    if (const std::string error = app.parse(std::move(words)).error; !error.empty()) throw UsageError(error, "step");
    return app.remaining();
  }

  void launch(const Json& request) {
    try {
      const Json a = request.contains("arguments") ? request["arguments"] : Json::object();
      StepFlags f;
      if (const std::string cwd = a.value("cwd", ""); !cwd.empty() && ::chdir(cwd.c_str()) != 0) throw UsageError("cwd: no such folder: " + cwd);
      const std::vector<std::string> words = parse(a, f);
      f.launch = a.value("launch", 1u);
      const std::string root = a.value("sourceRoot", ".");
      const bool stop = a.value("stopOnEntry", true);
      bool answered = false;
      LaunchPicker picker(f.launch, [&](const sim::Launch& l, const sim::RunOptions& o) {
        answered = true;
        answer(request, true, Json::object());
        sim::Debugger debugger(l, o);
        DapAdapter adapter(wire_, debugger, f, root, stop);
        if (!adapter.serve()) throw Abandoned();
        return debugger.session().result();
      });
      host(f, words, picker, answered);
    } catch (const Error& e) {
      answer(request, false, {}, e.what());
    } catch (const Json::exception& e) {
      answer(request, false, {}, fmt::format("launch takes program (a kernel or a .ptx or .toml file), args, arch, driver, stopOnEntry, launch, cwd, sourceRoot{}", wrong_argument(e)));
    }
  }

  /// After the response to the launch request, errors are sent as output.
  void host(const StepFlags& f, const std::vector<std::string>& words, LaunchPicker& picker, const bool& answered) {
    int code = 0;
    try {
      const HostOutcome out = run_host(f.run, words, picker, f.launch, "step");
      if (!out.verification.empty()) event("output", {{"category", "console"}, {"output", out.verification + "\n"}});
      code = static_cast<int>(!out.run.ok() ? fault_exit(out.run) : out.passed ? ExitCode::ok : ExitCode::verification_failed);
    } catch (const Abandoned&) {
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
  bool left_ = false;
};

ExitCode run() {
  std::signal(SIGPIPE, SIG_IGN);
  sim::serve_dap(STDIN_FILENO, STDOUT_FILENO, run_program);
  return ExitCode::ok;
}

}  // namespace

void register_dap(Command& app, CommandContext& context) {
  Command* sub = app.add_subcommand("dap", "Debug kernels from an editor: Debug Adapter Protocol over standard input and output");
  sub->callback([&context] { context.action = run; });
}

}  // namespace drywell::tools
