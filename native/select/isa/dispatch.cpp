#include <cstdlib>
#include <string_view>

#include "flexicase/select.hpp"

namespace flexicase {

namespace base {
extern const Isa table;
}
#if defined(FLEXICASE_X86_ISAS)
namespace avx2 {
extern const Isa table;
}
namespace avx512 {
extern const Isa table;
}

static bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("fma") && __builtin_cpu_supports("popcnt");
}

static bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vpopcntdq");
}
#endif

static const Isa& choose() {
#if defined(FLEXICASE_X86_ISAS)
  const char* wish = std::getenv("FLEXICASE_ISA");
  const std::string_view wanted = wish == nullptr ? "" : wish;
  if (wanted == "base") return base::table;
  if (has_avx512() && wanted != "avx2") return avx512::table;
  if (has_avx2()) return avx2::table;
#endif
  return base::table;
}

const Isa& isa() {
  static const Isa& chosen = choose();
  return chosen;
}

double median_absolute_deviation(const std::vector<double>& x, std::vector<double>& work) {
  work.resize(3 * (x.size() + 8));
  return isa().median_absolute_deviation(x.data(), static_cast<std::int64_t>(x.size()), work.data());
}

}  // namespace flexicase
