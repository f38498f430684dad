// The instruction table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "push/machine.hpp"

namespace flexicase::push {

using Action = void (*)(Machine&);

// Lists of instructions that a row belongs to: W (weighted-shuffle branch), M (main line), L (latest), P (PSB2 branch).
enum Profile : std::uint8_t { kW = 1, kM = 2, kL = 4, kP = 8, kLater = kL | kP, kAll = 15, kNone = 0 };

struct Instruction {
  std::string name;
  std::vector<std::string> stacks;
  int blocks;
  std::uint8_t profiles;
  Action action;
};

class Table {
 public:
  std::vector<Instruction> rows;
  void add(std::string name, std::vector<std::string> stacks, Action action, int blocks = 0,
           std::uint8_t profiles = kAll);
};

void add_exec(Table& table);
void add_code(Table& table);
void add_code_trees(Table& table);
void add_integer(Table& table);
void add_float(Table& table);
void add_boolean(Table& table);
void add_char(Table& table);
void add_string(Table& table);
void add_string_edits(Table& table);
void add_vectors(Table& table);
void add_print(Table& table);
void add_integer_tags(Table& table);
void add_random(Table& table);
void add_files(Table& table);
void add_outputs(Table& table);

const std::vector<Instruction>& instructions();
// The actions alone, row by row: what the interpreter's loop reads.
const Action* actions();
// The row of a name, or -1.
int find_instruction(std::string_view name);
// The item a name stands for: an instruction, native or foreign, an input, a tag instruction or a symbol without
// meaning.
Item symbol(std::string_view name);
// The name of such an item.
std::string symbol_name(const Item& item);
// Code blocks that a gene with this item opens.
int blocks(const Item& item);
Item instruction(std::string_view name);

}  // namespace flexicase::push
