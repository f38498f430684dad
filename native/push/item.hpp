// A Push value: sixteen bytes, trivially copyable. Strings, vectors and lists are slices of memory they do not own.
#pragma once

#include <cstdint>

namespace flexicase::push {

enum class Kind : std::uint8_t {
  integer,
  real,
  boolean,
  character,
  string,
  vector,
  list,
  instruction,
  input,
  tag,
  tagged,
  untag,
  tagged_code,
  tagged_when,
  nil,
  symbol,
  foreign
};

enum StackId : std::uint8_t {
  kExec,
  kCode,
  kInteger,
  kFloat,
  kBoolean,
  kChar,
  kString,
  kVectorInteger,
  kVectorFloat,
  kVectorBoolean,
  kVectorString,
  kStacks
};

inline constexpr const char* kStackNames[kStacks] = {"exec",         "code",           "integer",      "float",
                                                     "boolean",      "char",           "string",       "vector_integer",
                                                     "vector_float", "vector_boolean", "vector_string"};

// Slots that instructions write answers to; see outputs.cpp.
inline constexpr int kSlots = 4;
inline constexpr const char* kSlotNames[kSlots] = {"output1", "output2", "output3", "output4"};

class Foreign;

// `flag` marks an integer that prints with an N, or a float of single precision; `stack` is that of a tag instruction.
// The items of a list lie in reverse, so that opening a list is one copy; the place before them holds its measures.
struct Item {
  Kind kind;
  std::uint8_t flag;
  std::uint16_t stack;
  std::uint32_t length;
  union {
    std::int64_t number;
    double real;
    const Item* items;
    const char16_t* text;
    const Foreign* foreign;
  };
};
static_assert(sizeof(Item) == 16);

inline Item make(Kind kind, std::int64_t number = 0, std::uint32_t length = 0, std::uint8_t flag = 0) {
  Item item;
  item.kind = kind;
  item.flag = flag;
  item.stack = 0;
  item.length = length;
  item.number = number;
  return item;
}
inline Item integer(std::int64_t value, bool big = false) { return make(Kind::integer, value, 0, big); }
inline Item real(double value, bool single = false) {
  Item item = make(Kind::real, 0, 0, single);
  item.real = value;
  return item;
}
inline Item boolean(bool value) { return make(Kind::boolean, value); }
inline Item character(char16_t value) { return make(Kind::character, value); }
inline Item string(const char16_t* text, std::uint32_t length) {
  Item item = make(Kind::string, 0, length);
  item.text = text;
  return item;
}
inline Item sequence(Kind kind, const Item* items, std::uint32_t length) {
  Item item = make(kind, 0, length);
  item.items = items;
  return item;
}
inline Item vector(const Item* items, std::uint32_t length) { return sequence(Kind::vector, items, length); }

// The stack of a value that is no vector: the first kinds are in the order of their stacks.
inline StackId stack_of(Kind kind) { return static_cast<StackId>(static_cast<int>(kind) + kInteger); }
static_assert(static_cast<int>(Kind::string) + kInteger == kString);

inline bool is_list(const Item& item) { return item.kind == Kind::list; }
inline bool is_sequence(const Item& item) { return item.kind == Kind::list || item.kind == Kind::vector; }
inline std::int64_t points(const Item& item) { return is_list(item) && item.length ? item.items[-1].number : 1; }
inline std::uint32_t height(const Item& item) { return is_list(item) && item.length ? item.items[-1].length : 0; }

// The i-th item of a list or vector, counted from its front.
inline const Item& child(const Item& item, std::uint32_t i) {
  return is_list(item) ? item.items[item.length - 1 - i] : item.items[i];
}

}  // namespace flexicase::push
