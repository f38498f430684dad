// Runs the native tests: `flexicase_tests [ISA]`. With an instruction set's name it insists on
// that one (set FLEXICASE_ISA to the same) and ends with code 77 where the processor lacks it.

#include <cstdio>
#include <exception>
#include <string_view>

#include "flexicase/select.hpp"
#include "testing.hpp"

int main(int argc, char** argv) {
  constexpr int skipped = 77;
  const char* name = flexicase::isa().name;
  if (argc > 1 && std::string_view(argv[1]) != name) {
    std::printf("skipped: asked for %s, but only %s is there\n", argv[1], name);
    return skipped;
  }
  std::printf("instruction set: %s\n", name);
  int passed = 0;
  int failed = 0;
  for (const auto& test : flexicase::testing::all_tests()) {
    try {
      test.body();
      ++passed;
    } catch (const std::exception& error) {
      ++failed;
      std::printf("FAILED %s\n  %s\n", test.name, error.what());
    }
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
