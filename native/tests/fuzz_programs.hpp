// Programs for the fuzz drivers: random genomes, random bytes read as programs, and programs made to grow.
#pragma once

#include <cstring>
#include <random>
#include <string_view>
#include <vector>

#include "push/genome.hpp"
#include "push/table.hpp"

namespace flexicase::push::fuzz {

using Random = std::mt19937_64;

inline std::int64_t below(Random& random, std::int64_t n) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
}

// Values and code from bytes. Any bytes will do; when they run out, zeros follow.
class ByteReader {
 public:
  ByteReader(const std::vector<std::uint8_t>& bytes, Arena& arena) : bytes_(bytes), arena_(arena) {}

  bool empty() const { return at_ >= bytes_.size(); }
  std::uint8_t byte() { return empty() ? 0 : bytes_[at_++]; }
  template <class T>
  T raw() {
    std::uint8_t copied[sizeof(T)];
    for (std::uint8_t& b : copied) b = byte();
    T value;
    std::memcpy(&value, copied, sizeof(T));
    return value;
  }

  // Mostly small, sometimes any 64 bits.
  Item number() {
    const std::uint8_t kind = byte();
    return integer(kind < 200 ? kind % 24 - 4 : raw<std::int64_t>(), kind % 16 == 0);
  }
  // Mostly plain, sometimes any 64 bits: NaN, infinities and subnormal numbers among them.
  Item decimal() {
    const std::uint8_t kind = byte();
    if (kind < 120) return real(kind / 8.0 - 7);
    if (kind < 160) return real(raw<float>(), true);
    return real(raw<double>());
  }
  Item text() {
    const std::uint8_t size = byte();
    const auto length = static_cast<std::uint32_t>(size < 253 ? size % 12 : 20 * size);
    auto* place = arena_.take<char16_t>(length);
    const bool wide = byte() % 4 == 0;  // surrogates without their partners among them
    const auto filler = raw<char16_t>();
    for (std::uint32_t i = 0; i < length; ++i) {
      if (length > 20) {
        place[i] = filler;
      } else {
        place[i] = wide ? raw<char16_t>() : static_cast<char16_t>(byte() % 128);
      }
    }
    return string(place, length);
  }
  Item vector_of() {
    const std::uint8_t size = byte();
    const auto length = static_cast<std::uint32_t>(size < 254 ? size % 10 : 20 * size);
    const int kind = byte() % 4;
    Item* place = arena_.take<Item>(length);
    for (std::uint32_t i = 0; i < length; ++i) {
      place[i] = kind == 0 ? number() : kind == 1 ? decimal() : kind == 2 ? boolean(byte() % 2) : text();
    }
    return vector(place, length);
  }
  Item instruction_item() {
    return make(Kind::instruction, raw<std::uint16_t>() % static_cast<std::int64_t>(instructions().size()));
  }
  Item tag_item() {
    static constexpr Kind kinds[] = {Kind::tag, Kind::tagged, Kind::untag, Kind::tagged_code, Kind::tagged_when};
    const std::uint8_t kind = byte();
    Item item = make(kinds[kind % 5], kind < 230 ? byte() % 8 : raw<std::int64_t>() & INT64_MAX);
    item.stack = item.kind == Kind::tag ? byte() % kStacks : 0;
    return item;
  }
  // Names that are nearly those of inputs or tags.
  Item odd_name() {
    static constexpr std::string_view names[] = {"in0",
                                                 "in99",
                                                 "in99999999999999999999",
                                                 "tag_exec_",
                                                 "tag_output_1",
                                                 "tag__3",
                                                 "tagged_-1",
                                                 "tagged_x",
                                                 "untag_",
                                                 "nil?",
                                                 "tag_exec_18446744073709551615"};
    return symbol(names[byte() % std::size(names)]);
  }
  Item atom() {
    switch (byte() % 16) {
      case 0: return number();
      case 1: return decimal();
      case 2: return boolean(byte() % 2);
      case 3: return character(raw<char16_t>());
      case 4: return text();
      case 5: return vector_of();
      case 6: return make(Kind::input, 1 + byte() % 3 + byte() / 254);
      case 7: return tag_item();
      case 8: return byte() % 32 ? make(Kind::nil) : odd_name();
      default: return instruction_item();
    }
  }
  // All that is left, as one list: some bytes open lists, some close them, a few open hundreds.
  Item program() {
    std::vector<std::vector<Item>> open(1);
    while (!empty()) {
      const std::uint8_t what = byte();
      if (what >= 225 && what < 253) {
        if (open.size() > 1) close(open);
      } else if (what >= 195) {
        for (int i = what < 253 ? 1 : byte() + 150; i > 0 && open.size() < 2000; --i) open.emplace_back();
      } else {
        open.back().push_back(atom());
      }
    }
    while (open.size() > 1) close(open);
    return list_of(open.back());
  }

 private:
  Item list_of(const std::vector<Item>& items) {
    Item* place = arena_.take<Item>(items.size() + 1);
    std::reverse_copy(items.begin(), items.end(), place + 1);
    return seal_list(place, static_cast<std::uint32_t>(items.size()), INT64_MAX);
  }
  void close(std::vector<std::vector<Item>>& open) {
    const Item made = list_of(open.back());
    open.pop_back();
    open.back().push_back(made);
  }

  const std::vector<std::uint8_t>& bytes_;
  Arena& arena_;
  std::size_t at_ = 0;
};

inline std::vector<std::uint8_t> random_bytes(Random& random, std::int64_t length) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(length));
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    const std::uint64_t drawn = random();
    std::memcpy(bytes.data() + i, &drawn, std::min<std::size_t>(8, bytes.size() - i));
  }
  return bytes;
}

// Each grows in its own way until a limit stops it; ? stands for a random item.
inline constexpr std::string_view kGrowing[] = {
    "exec_y ( exec_dup ( 1 exec_s ) ? )",
    "1000 exec_do*times ( 1000 exec_do*times ( ? 1000 exec_do*times ( 1 2 ? ) ) )",
    "in1 exec_y ( vector_integer_dup vector_integer_concat ? vector_integer_dup )",
    "in1 exec_y ( vector_integer_reverse vector_integer_dup vector_integer_pushall )",
    "in2 exec_y ( string_dup string_concat string_dup string_reverse ? )",
    "in2 exec_y ( string_dup in2 in2 string_dup string_replace string_uppercase string_concat )",
    "tag_exec_1 ( 1 2 ? tagged_1 ) tagged_1",
    "tag_exec_3 ( tag_exec_2 ( tagged_3 ? ) tagged_2 tagged_2 ) tagged_3",
    "code_quote ( 1 2 ? ) exec_y ( code_dup code_append code_dup code_list )",
    "code_quote ( 1 2 3 ) exec_y ( code_dup code_dup code_map ( code_map ( code_dup ? ) ) )",
    "code_quote ( 1 ) exec_y ( code_wrap code_dup code_cons code_dup code_eq code_quote ? )",
    "code_quote ( 1 ( 2 ) ) exec_y ( code_dup code_dup 7 code_insert code_dup code_dup code_subst )",
    "in2 exec_y ( string_dup print_string string_dup string_concat print_newline ? )",
    "1 exec_y ( 1000000 exec_dup_items 1000000 integer_dup_items ? )",
    "exec_y ( 30 exec_dup_times ( ? ) integer_stackdepth code_dup_items )",
    "code_quote ? exec_y ( code_dup code_do 3 code_do*count code_dup print_code )",
    "in1 exec_do*vector_integer ( in1 exec_do*vector_integer ( ? integer_mult ) )",
    "in2 exec_string_iterate ( in2 exec_string_iterate ( ? char_dup ) )",
    "5 exec_do*count ( code_quote ( exec_y ( ? ) ) code_dup code_extract print_exec ( 1 ( ? ) ) )",
    "in3 exec_y ( vector_string_dup vector_string_concat vector_string_sort print_vector_string ? )",
};

// Reads such a program, with random items in the open places.
inline Item written_program(std::string_view rest, Arena& arena, ByteReader& bytes) {
  std::vector<std::vector<Item>> open(1);
  const auto seal = [&](const std::vector<Item>& items) {
    Item* place = arena.take<Item>(items.size() + 1);
    std::reverse_copy(items.begin(), items.end(), place + 1);
    return seal_list(place, static_cast<std::uint32_t>(items.size()), INT64_MAX);
  };
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (word == "(") {
      open.emplace_back();
    } else if (word == ")") {
      const Item made = seal(open.back());
      open.pop_back();
      open.back().push_back(made);
    } else if (word == "?") {
      open.back().push_back(bytes.atom());
    } else if (word[0] >= '0' && word[0] <= '9') {
      open.back().push_back(integer(std::stoll(std::string(word))));
    } else {
      open.back().push_back(symbol(word));
    }
  }
  return seal(open.back());
}

inline Item growing_program(Random& random, Arena& arena, ByteReader& bytes) {
  return written_program(kGrowing[below(random, std::size(kGrowing))], arena, bytes);
}

inline Item genome_program(Random& random, Arena& arena, ByteReader& bytes, std::int64_t max_points) {
  std::vector<Gene> genes(static_cast<std::size_t>(1 + below(random, 80)));
  for (Gene& gene : genes) {
    const std::uint8_t what = bytes.byte();
    gene.item = bytes.atom();
    gene.close = what < 180 ? 0 : what < 250 ? what % 4 : what * 1000;
    gene.silence = what % 50 == 7 ? Silence::silent : what % 50 == 8 ? Silence::noop : Silence::none;
  }
  flexicase::Watch watch;
  return translate(genes, max_points, arena, watch);
}

inline Limits random_limits(Random& random) {
  Limits limits;
  limits.steps = below(random, 50) ? 400 : below(random, 5000);
  limits.keep_nan = below(random, 4) == 0;
  if (below(random, 8) == 0) {
    limits.points = below(random, 400);
    limits.stack = 1 + below(random, 300);
    limits.memory = std::int64_t{1} << (18 + below(random, 5));
    limits.code = 1 + below(random, 5000);
  } else {
    limits.memory = 4 << 20;
    limits.stack = 20'000;
  }
  return limits;
}

}  // namespace flexicase::push::fuzz
