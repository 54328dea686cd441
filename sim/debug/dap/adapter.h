// The debugger behind the Debug Adapter Protocol: one launch, its warps as threads.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/debug/dap/wire.h"
#include "sim/debug/debugger.h"
#include "sim/debug/shell/shell.h"

namespace drywell::sim::dap {

/// How the client counts lines and columns. Inside, both begin at 1.
struct Positions {
  bool lines_at_1 = true, columns_at_1 = true;
  /// Adds `lines` and `columns` to every position in `j`: "line", "endLine", "column", "endColumn". A line 0 (no source) stays.
  static void shift(Json& j, int64_t lines, int64_t columns);
  void to_client(Json& j) const { shift(j, lines_at_1 ? 0 : -1, columns_at_1 ? 0 : -1); }
  void from_client(Json& j) const { shift(j, lines_at_1 ? 0 : 1, columns_at_1 ? 0 : 1); }
};

/// A request that cannot be served: becomes a response with success false.
struct DapError {
  std::string message;
};

/// "5" and "==5": the fifth hit; ">=5", ">5", "<=5", "<5"; "%5": every fifth. Empty: every hit.
struct HitCondition {
  enum class Kind : uint8_t {
    every,
    equal,
    at_least,
    more,
    at_most,
    less,
    multiple
  } kind = Kind::every;
  uint64_t count = 0;
  /// Throws InputError E4325 for another text.
  static HitCondition parse(std::string_view text);
  bool holds(uint64_t hits) const;
};

/// A memory reference of a client: a generic address. Throws DapError for other text.
uint64_t parse_reference(const std::string& text);

class DapAdapter {
 public:
  /// `program`: the kernel or file that the launch request named.
  DapAdapter(Wire& wire, Debugger& debugger, std::string program, std::string source_root, bool stop_on_entry, Positions positions);

  /// Serves requests until the launch is complete (true) or the client disconnects (false).
  bool serve();

 private:
  using Motion = std::function<StopReason()>;
  struct Request {
    std::string_view name;
    Json (DapAdapter::*answer)(const Json& arguments);
  };
  static const Request kRequests[];

  void handle(const Json& message);
  void respond(const Json& request, Json body);
  void refuse(const Json& request, const std::string& why);
  void event(std::string_view name, Json body);

  // Running: a request sets the next motion, and it runs after the response is sent (adapter_run.cpp).
  void run_motion();
  void report_stop(const StopReason& r);
  Json start(Motion m, Json body = Json::object());
  Json configuration_done(const Json&);
  Json do_continue(const Json&);
  Json do_next(const Json&);
  Json do_step_in(const Json&);
  Json do_step_out(const Json&);
  Json do_step_back(const Json&);
  Json do_reverse_continue(const Json&);
  Json do_pause(const Json&);
  Json do_goto(const Json&);
  Json do_restart(const Json&);
  Json do_disconnect(const Json&);

  // Breakpoints (adapter_break.cpp).
  Json set_breakpoints(const Json&);
  Json set_function_breakpoints(const Json&);
  Json set_instruction_breakpoints(const Json&);
  Json data_breakpoint_info(const Json&);
  Json set_data_breakpoints(const Json&);
  /// There are no filters to choose from: a fault always stops.
  Json set_exception_breakpoints(const Json&) { return Json::object(); }
  Json breakpoint_locations(const Json&);
  Json replace_stops(const std::string& set, const Json& wanted, const std::function<Json(const Json&)>& add);
  /// False if the stop is a log point, which is printed, or not yet at its hit count.
  bool is_wanted(const StopReason& r);
  std::string log_text(const std::string& message);
  Json add_code_stop(const std::string& set, std::vector<uint32_t> pcs, const Json& wanted, std::string text);

  // State (adapter_state.cpp).
  Json threads(const Json&);
  Json stack_trace(const Json&);
  Json scopes(const Json&);
  Json variables(const Json&);
  Json evaluate(const Json&);
  Json read_memory(const Json&);
  Json disassemble(const Json&);
  Json loaded_sources(const Json&);

  // Changes of the state (adapter_edit.cpp).
  Json set_variable(const Json&);
  Json write_memory(const Json&);

  // adapter_help.cpp
  Json exception_info(const Json&);
  Json completions(const Json&);
  Json modules(const Json&);

  Session& session() { return debugger_.session(); }
  uint64_t thread_id(const WarpRef& w);
  WarpRef warp_of(uint64_t thread);
  Warp& find_warp(const WarpRef& w);
  Json source_of(uint32_t pc, uint32_t& line);
  Json source_file(const std::string& path) const;
  /// The object of a variablesReference or frame id, valid until the next stop.
  struct Handle {
    enum class Kind : uint8_t {
      frame,
      registers,
      predicates,
      special,
      mbarriers,
      async,
      lanes,
      shared,
      shared_block,
      tensor,
      tensor_block,
      tensor_column,
      copies
    } kind = Kind::frame;
    WarpRef warp;
    std::string name;
  };
  uint64_t new_handle(Handle h);
  const Handle& handle_of(const Json& arguments, const char* key);

  // Memories (adapter_memory.cpp).
  /// Of a handle of a memory or of operations in flight; nullopt for the others.
  std::optional<Json> memory_variables(const Handle& h, const Warp& w);
  Json shared_blocks(const WarpRef& ref, const Cta& cta);
  Json shared_lines(const Handle& h, const Cta& cta);
  Json tensor_blocks(const WarpRef& ref, const Cta& cta);
  Json tensor_columns(const Handle& h, const Cta& cta);
  Json tensor_lanes(const Handle& h, const Cta& cta);
  Json operations(const WarpRef& ref, const Cluster& c, bool copies);

  Wire& wire_;
  Debugger& debugger_;
  shell::Shell shell_;
  std::string program_;
  std::string source_root_;
  bool stop_on_entry_;
  Positions positions_;
  /// Of breakpoints by number: the text of a log point, and the hits that it stops at.
  struct Extra {
    std::string log;
    HitCondition hits;
  };
  std::map<uint32_t, Extra> extras_;
  bool left_ = false, over_ = false, pause_ = false;
  Motion motion_;
  std::string motion_name_;
  std::deque<Json> waiting_;                           // messages received while running
  std::map<std::string, std::vector<uint32_t>> sets_;  // stops by their origin: "source:PATH", "function", …
  std::vector<Handle> handles_;
  size_t printed_ = 0;
};

}  // namespace drywell::sim::dap
