// Instructions that come from outside the engine.
#pragma once

#include <string>
#include <string_view>

#include "push/machine.hpp"

namespace flexicase::push {

// Lives as long as the process: programs hold pointers to it, also after its name was given to another.
class Foreign {
 public:
  Foreign(std::string name, int blocks, std::string signature)
      : name(std::move(name)), blocks(blocks), signature(std::move(signature)) {}
  virtual ~Foreign() = default;

  // Acts on the machine as a native action does. A failure is put into the machine, and LimitReached with
  // Status::foreign_error is thrown; any other exception ends the caller's work, not just the run.
  virtual void run(Machine& m) const = 0;

  const std::string name;
  const int blocks;
  const std::string signature;  // what it takes, gives and opens, without spaces
};

// Gives the name to this instruction; code made before keeps what it was made with.
void add_foreign(const Foreign* instruction);
// Takes the name away; false if no such instruction has it.
bool remove_foreign(std::string_view name);
// The instruction that has the name, or null.
const Foreign* find_foreign(std::string_view name);

}  // namespace flexicase::push
