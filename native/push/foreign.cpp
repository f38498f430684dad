#include "push/foreign.hpp"

#include <mutex>
#include <unordered_map>

namespace flexicase::push {
namespace {

struct Names {
  std::mutex lock;
  std::unordered_map<std::string, const Foreign*> instructions;
};
Names& names() {
  static Names known;
  return known;
}

}  // namespace

void add_foreign(const Foreign* instruction) {
  const std::lock_guard guard(names().lock);
  names().instructions[instruction->name] = instruction;
}

bool remove_foreign(std::string_view name) {
  const std::lock_guard guard(names().lock);
  return names().instructions.erase(std::string(name)) > 0;
}

const Foreign* find_foreign(std::string_view name) {
  const std::lock_guard guard(names().lock);
  const auto found = names().instructions.find(std::string(name));
  return found == names().instructions.end() ? nullptr : found->second;
}

}  // namespace flexicase::push
