// Dispatch: every request is a row; whatever goes wrong becomes its answer.
#include "sim/debug/dap/adapter.h"

#include <algorithm>

namespace drywell::sim::dap {

const DapAdapter::Request DapAdapter::kRequests[] = {
    {"configurationDone", &DapAdapter::configuration_done},
    {"continue", &DapAdapter::do_continue},
    {"next", &DapAdapter::do_next},
    {"stepIn", &DapAdapter::do_step_in},
    {"stepOut", &DapAdapter::do_step_out},
    {"stepBack", &DapAdapter::do_step_back},
    {"reverseContinue", &DapAdapter::do_reverse_continue},
    {"pause", &DapAdapter::do_pause},
    {"restart", &DapAdapter::do_restart},
    {"disconnect", &DapAdapter::do_disconnect},
    {"terminate", &DapAdapter::do_disconnect},
    {"setBreakpoints", &DapAdapter::set_breakpoints},
    {"setFunctionBreakpoints", &DapAdapter::set_function_breakpoints},
    {"setInstructionBreakpoints", &DapAdapter::set_instruction_breakpoints},
    {"dataBreakpointInfo", &DapAdapter::data_breakpoint_info},
    {"setDataBreakpoints", &DapAdapter::set_data_breakpoints},
    {"setExceptionBreakpoints", &DapAdapter::set_exception_breakpoints},
    {"breakpointLocations", &DapAdapter::breakpoint_locations},
    {"threads", &DapAdapter::threads},
    {"stackTrace", &DapAdapter::stack_trace},
    {"scopes", &DapAdapter::scopes},
    {"variables", &DapAdapter::variables},
    {"setVariable", &DapAdapter::set_variable},
    {"evaluate", &DapAdapter::evaluate},
    {"readMemory", &DapAdapter::read_memory},
    {"writeMemory", &DapAdapter::write_memory},
    {"disassemble", &DapAdapter::disassemble},
    {"loadedSources", &DapAdapter::loaded_sources},
    {"exceptionInfo", &DapAdapter::exception_info},
    {"completions", &DapAdapter::completions},
    {"modules", &DapAdapter::modules},
};

DapAdapter::DapAdapter(Wire& wire, Debugger& debugger, std::string program, std::string source_root, bool stop_on_entry, Positions positions)
    : wire_(wire), debugger_(debugger), shell_(debugger, false), program_(std::move(program)), source_root_(std::move(source_root)), stop_on_entry_(stop_on_entry), positions_(positions) {
  debugger_.interrupted = [this] { return wire_.ready(); };
}

bool DapAdapter::serve() {
  event("initialized", Json::object());
  while (!left_ && !over_) {
    Json message;
    if (!waiting_.empty()) {
      message = std::move(waiting_.front());
      waiting_.pop_front();
    } else {
      std::optional<Wire::Message> m = wire_.receive();
      if (!m.has_value()) return false;
      if (!m->error.empty()) {
        refuse(Json::object(), m->error);
        continue;
      }
      message = std::move(m->body);
    }
    handle(message);
    if (motion_) run_motion();
  }
  return over_;
}

void DapAdapter::handle(const Json& message) {
  try {
    if (message.value("type", "") != "request") return refuse(message, "only requests are taken");
    const std::string command = message.value("command", "");
    Json arguments = message.contains("arguments") && message["arguments"].is_object() ? message["arguments"] : Json::object();
    positions_.from_client(arguments);
    const auto row = std::find_if(std::begin(kRequests), std::end(kRequests), [&](const Request& r) { return r.name == command; });
    if (row == std::end(kRequests)) return refuse(message, "drywell dap does not know '" + command + "'");
    respond(message, (this->*row->answer)(arguments));
  } catch (const DapError& e) {
    refuse(message, e.message);
  } catch (const Error& e) {
    refuse(message, e.what());
  } catch (const Json::exception& e) {
    refuse(message, std::string("the arguments do not match the protocol: ") + e.what());
  }
}

void DapAdapter::respond(const Json& request, Json body) {
  positions_.to_client(body);
  wire_.send({{"type", "response"}, {"request_seq", request.value("seq", 0)}, {"command", request.value("command", "")}, {"success", true}, {"body", std::move(body)}});
}

void DapAdapter::refuse(const Json& request, const std::string& why) {
  const auto seq = request.find("seq");
  const auto command = request.find("command");
  wire_.send({{"type", "response"},
              {"request_seq", seq != request.end() && seq->is_number_integer() ? *seq : Json(0)},
              {"command", command != request.end() && command->is_string() ? *command : Json("")},
              {"success", false},
              {"message", why},
              {"body", {{"error", {{"id", 1}, {"format", why}, {"showUser", false}}}}}});
}

void DapAdapter::event(std::string_view name, Json body) { wire_.send({{"type", "event"}, {"event", name}, {"body", std::move(body)}}); }

}  // namespace drywell::sim::dap
