#include "isa/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "isa/ptx_versions.h"

namespace drywell::isa {

std::string excerpt(std::string_view text) {
  constexpr size_t kMost = 60;
  std::string out;
  for (const char c : text.substr(0, kMost)) {
    const bool shows = c >= ' ' && c <= '~';  // other characters could control a terminal, and NUL ends a C
                                              // string
    out += shows ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return text.size() <= kMost ? out : out + "…";
}

namespace {

constexpr size_t kMostOfOpcode = 200;

/// PTX for these runs on every later chip (PTX ISA 11.1.2), and has nothing that sm_80 does not have. Libraries keep it for chips to come.
bool is_before_sm_80(std::string_view target) {
  constexpr std::array<std::string_view, 9> kOlder = {"sm_50", "sm_52", "sm_53", "sm_60", "sm_61", "sm_62", "sm_70", "sm_72", "sm_75"};
  return std::find(kOlder.begin(), kOlder.end(), target) != kOlder.end();
}

std::string known_targets() {
  std::string out;
  for (const Target t :
       {Target::sm_90a, Target::sm_100, Target::sm_100a, Target::sm_100f, Target::sm_103a, Target::sm_120a, Target::sm_120f, Target::sm_121a}) {
    if (!out.empty()) out += ", ";
    out += target_name(t);
  }
  return out;
}

}  // namespace

ParseResult parse_ptx(std::string_view text, std::string_view file_name) {
  return Parser(text, file_name).run();
}

Module parse_ptx_or_throw(std::string_view text, std::string_view file_name) {
  ParseResult r = parse_ptx(text, file_name);
  if (r.diagnostics.has_errors()) throw InputError(std::move(r.diagnostics));
  return std::move(r.module);
}

Parser::Parser(std::string_view text, std::string_view file_name)
    : text_(text), file_name_(file_name), lex_(text) {}

// ---- diagnostics

void Parser::report(Code code, TextPos at, std::string message, std::string hint) {
  findings_.push_back(
      {code, Severity::error, {file_name_, at.line, at.column}, std::move(message), std::move(hint)});
  if (findings_.size() >= kMaxErrors) throw TooMany{};
}

void Parser::fail(Code code, TextPos at, std::string message, std::string hint) {
  report(code, at, std::move(message), std::move(hint));
  throw Recover{};
}

void Parser::fail_expected(std::string_view what, std::string hint) {
  const TextPos at = lex_.pos();
  if (lex_.at_end()) fail(Code::E1103, at, fmt::format("expected {}, but the text ends", what), std::move(hint));
  fail(Code::E1103, at, fmt::format("expected {}, found '{}'", what, excerpt(lex_.offending())), std::move(hint));
}

void Parser::expect(char c, std::string_view what) {
  if (!lex_.take(c)) fail_expected(what);
}

void Parser::expect_semicolon() {
  if (!lex_.take(';')) fail_expected("';'", "PTX statements end with a semicolon");
}

std::string_view Parser::expect_identifier(std::string_view what) {
  const std::string_view name = lex_.identifier();
  if (name.empty()) fail_expected(what);
  return name;
}

// ---- module level

ParseResult Parser::run() {
  ParseResult out;
  bool gave_up = false;
  try {
    while (!lex_.at_end()) recovering([&] { module_item(); });
    if (lex_.unterminated_comment()) report(Code::E1111, lex_.pos(), "a comment is not closed", "end it with */");
    if (!has_version_) {
      report(Code::E1109, {1, 1}, "there is no .version directive", "a PTX module starts with e.g. .version 9.0");
    }
    if (!has_target_) report(Code::E1109, {1, 1}, "there is no .target directive", "e.g. .target sm_100a");
    finish_module();
  } catch (const TooMany&) {
    gave_up = true;
  }
  finish_unknown_opcodes();
  std::stable_sort(findings_.begin(), findings_.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return a.where.line != b.where.line ? a.where.line < b.where.line : a.where.column < b.where.column;
  });
  for (Diagnostic& d : findings_) out.diagnostics.add(std::move(d));
  if (gave_up) {
    const TextPos at = lex_.pos();
    out.diagnostics.error(Code::E1110, {file_name_, at.line, at.column},
                          "too many errors; the reader stopped");
  }
  out.module = std::move(module_);
  return out;
}

void Parser::module_item() {
  const TextPos at = lex_.pos();
  if (lex_.take('}')) return report(Code::E1103, at, "'}' without a '{'");
  const std::string_view word = lex_.directive();
  if (word.empty()) {
    fail_expected(
        "a directive",
        "outside functions there are only directives such as .entry, .func, .global, .const and .shared");
  }
  module_directive(word, at);
}

void Parser::module_directive(std::string_view word, TextPos at) {
  Linkage linkage = Linkage::internal;
  const TextPos start = at;
  if (word == "visible" || word == "extern" || word == "weak" || word == "common") {
    linkage = word == "visible"  ? Linkage::visible
              : word == "extern" ? Linkage::external
              : word == "weak"   ? Linkage::weak
                                 : Linkage::common;
    at = lex_.pos();
    word = lex_.directive();
  }
  if (word == "entry") return function_item(true, linkage);
  if (word == "func") return function_item(false, linkage);
  if (word == "global" || word == "const" || word == "shared") {
    return variable_statement(find_mod(word), linkage);
  }
  if (linkage != Linkage::internal) {
    fail(Code::E1103, start,
         fmt::format("expected a function or variable behind the linkage, found '.{}'", excerpt(word)),
         "e.g. .visible .entry, .extern .shared");
  }
  if (word == "version") return header_version();
  if (word == "target") return header_target();
  if (word == "address_size") return header_address_size();
  if (word == "file") return file_directive();
  if (word == "section") return section_directive();
  if (word == "alias") return alias_directive();
  if (word == "pragma") return module_.pragmas.push_back(pragma_text());
  if (word == "loc") return loc_directive();  // harmless here, although nvcc never writes a .loc at module
                                              // level
  if (word == "tex" || word == "texref" || word == "samplerref" || word == "surfref") {
    fail(Code::U5001, at, fmt::format("textures and surfaces ('.{}') are not modelled", word));
  }
  if (word == "reg" || word == "local" || word == "param") {
    fail(Code::E1108, at, fmt::format("'.{}' belongs in a function", word),
         "move it inside the braces of a .entry or .func");
  }
  fail(Code::E1108, at, fmt::format("unknown directive '.{}'", excerpt(word)));
}

void Parser::header_version() {
  ends_with_line_ = has_version_ = true;
  const TextPos at = lex_.pos();
  const Literal number = lex_.number();
  if (!number.ok || number.kind != ImmKind::f64) {
    fail(Code::E1109, at, "a version is written MAJOR.MINOR", "e.g. .version 9.0");
  }
  const auto value = std::bit_cast<double>(number.bits);
  if (!(value >= 1.0 && value < 100.0)) {
    fail(Code::E1109, at, "PTX has no such version", "e.g. .version 9.0");
  }
  module_.version.major = static_cast<uint8_t>(value);
  module_.version.minor = static_cast<uint8_t>((value - module_.version.major) * 10 + 0.5);
  check_version(at);
}

void Parser::check_version(TextPos at) {
  const auto [major, minor] = module_.version;
  const auto [newest, last] = newest_version();
  if (!is_version(module_.version)) fail(Code::E1109, at, fmt::format("PTX has no version {}.{}", major, minor), "e.g. .version 9.0");
  if (module_.version <= newest_version()) return;
  findings_.push_back({Code::U5001, Severity::warning, {file_name_, at.line, at.column}, fmt::format("PTX {}.{} is newer than {}.{}, the newest version that Drywell knows: an instruction that changed since has its old meaning", major, minor, newest, last), ""});
}

void Parser::header_target() {
  ends_with_line_ = has_target_ = true;
  do {
    const TextPos at = lex_.pos();
    const std::string_view word = expect_identifier("a target");
    if (word == "debug") {
      module_.debug = true;
    } else if (word == "texmode_unified" || word == "texmode_independent" || word == "map_f64_to_f32") {
      // Texture modes are meaningless without textures; map_f64_to_f32 is for targets without double
      // precision.
    } else if (is_before_sm_80(word)) {
      module_.target = Target::sm_80;
    } else if (!parse_target(word, module_.target)) {
      fail(Code::E1109, at, fmt::format("unknown target '{}'", excerpt(word)),
           fmt::format("known are {}", known_targets()));
    } else if (const auto [major, minor] = oldest_version(module_.target); has_version_ && module_.version < PtxVersion{major, minor}) {
      report(Code::E1211, at, fmt::format("{} needs PTX {}.{}, the module says {}.{}", word, major, minor, module_.version.major, module_.version.minor));
    }
  } while (lex_.take(','));
}

void Parser::header_address_size() {
  ends_with_line_ = true;
  const TextPos at = lex_.pos();
  const Literal number = lex_.number();
  if (number.ok && number.bits == 32) {
    fail(Code::U5001, at, "32-bit addresses are not modelled", ".address_size 64");
  }
  if (!number.ok || number.bits != 64) fail(Code::E1109, at, "the address size is 64", ".address_size 64");
}

void Parser::file_directive() {
  ends_with_line_ = true;
  const TextPos at = lex_.pos();
  const Literal number = lex_.number();
  if (!number.ok || number.bits == 0) {
    fail(Code::E1107, at, "expected a file number", "e.g. .file 1 \"kernel.cu\"");
  }
  if (number.bits > kMaxFileNumber) {
    fail(Code::E1110, at, fmt::format("file number {} is too large", number.bits),
         fmt::format("at most {}", kMaxFileNumber));
  }
  bool closed = false;
  const TextPos quote = lex_.pos();
  const std::string_view path = lex_.string(closed);
  if (!closed) fail(Code::E1111, quote, "expected a file name in quotes on one line");
  file_numbers_.emplace_back(static_cast<uint32_t>(number.bits), std::string(path));
  if (!lex_.take(',')) return;
  unsigned_constant("a time stamp", ~uint64_t{0});
  if (lex_.take(',')) unsigned_constant("a file size", ~uint64_t{0});
}

void Parser::section_directive() {
  ends_with_line_ = true;
  lex_.directive();
  const TextPos at = lex_.pos();
  expect('{', "'{' and the section's contents");
  if (!lex_.skip_block()) report(Code::E1111, at, "this section is not closed", "its matching '}' is missing");
}

void Parser::alias_directive() {
  const std::string_view name = expect_identifier("the alias");
  expect(',', "',' and the aliased function");
  const TextPos at = lex_.pos();
  const std::string_view target = expect_identifier("the aliased function");
  const Binding* known = names_.find(target);
  if (known == nullptr || known->kind != NameKind::function) fail_unknown_name(target, at);
  expect_semicolon();
  module_.aliases.push_back({std::string(name), std::string(target)});
}

std::string Parser::pragma_text() {
  std::string all;
  do {
    bool closed = false;
    const TextPos at = lex_.pos();
    const std::string_view text = lex_.string(closed);
    if (!closed) fail(Code::E1111, at, "expected the pragma in quotes on one line", ".pragma \"nounroll\";");
    if (!all.empty()) all += "\", \"";
    all += text;
  } while (lex_.take(','));
  expect_semicolon();
  return all;
}

// ---- steps after the whole text is read

void Parser::finish_module() {
  finish_files();
  NameMap definitions;
  for (uint32_t i = 0; i < module_.functions.size(); ++i) {
    if (!module_.functions[i].is_prototype) definitions.at(module_.functions[i].name) = i;
  }
  for (const Alias& a : module_.aliases) {
    const uint32_t target = definitions.find(a.target);
    if (target != NameMap::kAbsent && definitions.find(a.name) == NameMap::kAbsent) {
      definitions.at(a.name) = target;
    }
  }
  const auto defined = [&](uint32_t index) {
    const Function& f = module_.functions[index];
    const uint32_t definition = f.is_prototype ? definitions.find(f.name) : NameMap::kAbsent;
    return definition == NameMap::kAbsent ? index : definition;
  };
  for (Function& f : module_.functions) {
    for (SymbolRef& s : f.symbols) {
      if (s.kind == SymbolRef::Kind::function) s.index = defined(s.index);
    }
    for (auto& list : f.call_targets) {
      for (uint32_t& target : list) target = defined(target);
    }
  }
}

// Converts the numbers of .file to indices; a .file may follow the .loc directives that use it.
void Parser::finish_files() {
  uint32_t last = 0;
  for (const auto& [number, path] : file_numbers_) last = std::max(last, number);
  module_.files.resize(last + 1);
  module_.files[0] = file_name_;
  for (auto& [number, path] : file_numbers_) module_.files[number] = std::move(path);
  // A .loc of a file without a .file directive gives no source line. If a call site has such a .loc, all call
  // sites are dropped.
  const std::vector<SourceRef>& sites = call_sites_.all();
  const bool calls_known = std::all_of(sites.begin(), sites.end(), [&](const SourceRef& at) { return at.file <= last; });
  if (calls_known) module_.call_sites = sites;
  for (Function& f : module_.functions) {
    for (Instruction& i : f.body) {
      if (i.source.file > last) i.source = {};
      if (!calls_known) i.source.call_site = 0;
    }
  }
}

bool Parser::is_texture_opcode(std::string_view text) {
  constexpr std::string_view kMnemonics[] = {"tex", "tld4", "txq", "istypep", "suld", "sust", "sured", "suq"};
  return std::find(std::begin(kMnemonics), std::end(kMnemonics), text.substr(0, text.find('.'))) != std::end(kMnemonics);
}

void Parser::finish_unknown_opcodes() {
  for (const OpcodeEntry& e : opcodes_) {
    if (!e.forms.empty()) continue;
    const std::string_view shown = e.text.substr(0, kMostOfOpcode);
    const bool texture = is_texture_opcode(e.text);
    std::string message = texture                                      ? fmt::format("textures and surfaces ('{}') are not modelled", shown)
                          : e.text.find('.') == std::string_view::npos ? e.why
                                                                       : fmt::format("{} — in '{}'", e.why, shown);
    if (e.uses > 1) message += fmt::format(" ({} times)", e.uses);
    // Other kernels of the module can run: those that use textures are refused when they are launched.
    findings_.push_back({texture ? Code::U5001 : Code::E1101,
                         texture ? Severity::warning : Severity::error,
                         {file_name_, e.first_seen.line, e.first_seen.column},
                         std::move(message),
                         texture ? "" : e.hint});
  }
}

}  // namespace drywell::isa
