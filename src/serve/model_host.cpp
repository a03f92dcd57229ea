#include "serve/model_host.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "base/interrupt.h"

namespace tare::serve {
namespace {

constexpr std::uint64_t kFailed = std::uint64_t{1} << 63;
constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 30;

[[noreturn]] void gone() {
  if (interrupt_requested()) throw Interrupted();
  fail(Blame::kArm, "The process that ran the model ended. TARE_LOG=1 shows what its engine said.");
}

// The engine by itself has neither of a plan's variables, whatever this process was given. OpenMP's
// threads stay where they are, as in arm hosts: left free, the kernel put both on one of two
// processors for whole regions, and a decode took 9 ms a token or 20 (docs/serve-in-llama-cpp.md).
std::vector<std::string> environment_of(const ModelHostOptions& options) {
  std::vector<std::string> all;
  for (char** it = environ; *it != nullptr; ++it) {
    const std::string_view one(*it);
    const bool ours = one.starts_with("GGML_BACKEND_PATH=") || one.starts_with("TARE_PLAN=") ||
                      one.starts_with("OMP_PROC_BIND=");
    if (!ours) all.emplace_back(one);
  }
  if (const char* path = std::getenv("PYTHONPATH"); path == nullptr && !options.python_path.empty())
    all.push_back("PYTHONPATH=" + options.python_path);
  // Not of MLX: it uses no OpenMP, but a library of Python's that does would bind the interpreter.
  if (!options.backend.empty()) all.emplace_back("OMP_PROC_BIND=true");
  if (options.plan.empty()) return all;
  if (!options.backend.empty()) all.push_back("GGML_BACKEND_PATH=" + options.backend);
  all.push_back("TARE_PLAN=" + options.plan);
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

struct Pipe {
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail(Blame::kMachine, "no pipe is to be had");
  }
  std::array<int, 2> ends{-1, -1};
};

pid_t spawn(const ModelHostOptions& options, int requests, int answers) {
  std::vector<std::string> words{options.executable};
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  words.insert(words.end(), {options.model, std::to_string(options.threads),
                             std::to_string(options.context), std::to_string(options.sequences)});
  std::vector<std::string> variables = environment_of(options);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, requests, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, answers, STDOUT_FILENO);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, options.executable.c_str(), &files, nullptr,
                                   pointers_to(words).data(), pointers_to(variables).data());
  ::posix_spawn_file_actions_destroy(&files);
  if (error != 0)
    fail(Blame::kMachine, "'{}', which runs models in {}, cannot be started: {}.",
         options.executable, options.engine, std::strerror(error));
  return pid;
}

void read_all(int from, void* into, std::size_t bytes) {
  auto* at = static_cast<char*>(into);
  while (bytes > 0) {
    const ssize_t got = ::read(from, at, bytes);
    if (got < 0 && errno == EINTR && !interrupt_requested()) continue;
    if (got <= 0) gone();
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
}

void write_all(int into, const std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t put = ::write(into, bytes.data() + at, bytes.size() - at);
    if (put < 0 && errno == EINTR && !interrupt_requested()) continue;
    if (put <= 0) gone();
    at += static_cast<std::size_t>(put);
  }
}

std::string words_of(const Stretch& stretch) {
  return fmt::format("{} {} {}", stretch.rows, stretch.count, stretch.anew ? 1 : 0);
}

// A line each; `last`: what its sixth word is. A seventh: `together`.
template <typename Last>
std::vector<Projection> projections(const std::string& text, Last Projection::*last) {
  std::istringstream lines(text);
  std::vector<Projection> all;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Projection one;
    if (!(words >> one.weights >> one.k >> one.n >> one.rows >> one.type >> one.*last)) break;
    words >> one.together;
    all.push_back(one);
  }
  return all;
}

std::string request(const char* verb, std::uint64_t rows, const std::vector<Token>& tokens) {
  return fmt::format("{} {} {}", verb, rows, fmt::join(tokens, " "));
}

}  // namespace

ModelHost::ModelHost(const ModelHostOptions& options) {
  ::signal(SIGPIPE, SIG_IGN);  // a host that ended is told by gone()
  const Pipe requests, answers;
  requests_ = requests.ends[1];
  answers_ = answers.ends[0];
  pid_ = spawn(options, requests.ends[0], answers.ends[1]);
  ::close(requests.ends[0]);
  ::close(answers.ends[1]);
}

ModelHost::~ModelHost() {
  ::close(requests_);  // it ends by itself, and says what it served
  ::close(answers_);
  if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
}

std::string ModelHost::answer() {
  std::uint64_t header = 0;
  read_all(answers_, &header, sizeof header);
  const std::uint64_t bytes = header & ~kFailed;
  if (bytes > kMostBytes) gone();
  std::string text(bytes, '\0');
  read_all(answers_, text.data(), bytes);
  if ((header & kFailed) != 0) fail(Blame::kInput, "{}", text);
  return text;
}

std::string ModelHost::ask(const std::string& request) {
  if (!std::exchange(is_ready_, true)) answer();
  write_all(requests_, request + "\n");
  return answer();
}

template <typename Element>
std::vector<Element> ModelHost::ask_for(const std::string& request) {
  const std::string bytes = ask(request);
  std::vector<Element> all(bytes.size() / sizeof(Element));
  std::memcpy(all.data(), bytes.data(), all.size() * sizeof(Element));
  return all;
}

std::uint64_t ModelHost::vocabulary() {
  const auto answer = ask_for<std::uint64_t>("vocabulary");
  if (answer.size() != 1) gone();
  return answer.front();
}

std::vector<Token> ModelHost::tokens(const std::string& text) {
  std::string line = text;
  for (char& letter : line)
    if (letter == '\n') letter = ' ';
  return ask_for<Token>("tokens " + line);
}

std::vector<float> ModelHost::logits(const std::vector<Token>& tokens, std::uint64_t rows) {
  return ask_for<float>(request("logits", rows, tokens));
}

std::vector<Projection> ModelHost::trace(const std::vector<Token>& tokens, std::uint64_t rows) {
  return projections<std::string>(ask(request("trace", rows, tokens)), &Projection::digest);
}

std::vector<float> ModelHost::output(const std::vector<Token>& tokens, std::uint64_t rows,
                                     std::size_t index) {
  return ask_for<float>(request(fmt::format("output {}", index).c_str(), rows, tokens));
}

void ModelHost::begin(std::uint64_t before, std::uint64_t sequences) {
  ask(fmt::format("begin {} {}", before, sequences));
}

std::vector<Projection> ModelHost::profile(const Stretch& stretch, std::uint64_t before) {
  return projections<double>(ask(fmt::format("profile {} {}", before, words_of(stretch))),
                             &Projection::seconds);
}

Timed ModelHost::time(const Stretch& stretch) {
  const auto answer = ask_for<double>("time " + words_of(stretch));
  if (answer.size() != 4) gone();
  return {answer[0], answer[1], answer[2], answer[3]};
}

}  // namespace tare::serve
