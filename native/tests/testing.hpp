// Just enough of a test framework: tests register themselves, a failed check ends its test.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace flexicase::testing {

struct Test {
  const char* name;
  void (*body)();
};

inline std::vector<Test>& all_tests() {
  static std::vector<Test> tests;
  return tests;
}

struct Registration {
  Registration(const char* name, void (*body)()) { all_tests().push_back({name, body}); }
};

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] inline void fail(const char* file, int line, const std::string& what) {
  std::ostringstream message;
  message << file << ':' << line << ": " << what;
  throw Failure(message.str());
}

template <class A, class B>
void check_equal(const A& found, const B& expected, const char* text, const char* file, int line) {
  if (found == expected) return;
  std::ostringstream message;
  message << text << " is " << found << ", expected " << expected;
  fail(file, line, message.str());
}

}  // namespace flexicase::testing

#define TEST(name)                                                            \
  static void name();                                                         \
  static const flexicase::testing::Registration register_##name(#name, name); \
  static void name()

#define CHECK(condition) ((condition) ? void() : flexicase::testing::fail(__FILE__, __LINE__, "not true: " #condition))

#define CHECK_EQUAL(found, expected) flexicase::testing::check_equal((found), (expected), #found, __FILE__, __LINE__)
