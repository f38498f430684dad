#include "push/gene_source.hpp"

#include <algorithm>

namespace flexicase::push {
namespace {

std::int64_t between(Stream& stream, std::int64_t low, std::int64_t high) {
  const auto span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  const std::uint64_t offset = span ? stream.bounded(span) : stream.word();
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
}

char16_t one_of(Stream& stream, const std::u16string& characters) {
  return characters[stream.bounded(characters.size())];
}

// Leaves single spaces only, and none at the ends.
std::size_t as_words(char16_t* text, std::size_t length) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < length; ++i) {
    if (text[i] != u' ' || (kept > 0 && text[kept - 1] != u' ')) text[kept++] = text[i];
  }
  return kept > 0 && text[kept - 1] == u' ' ? kept - 1 : kept;
}

// The first place whose share, summed up, is above a draw.
std::size_t by_share(Stream& stream, const std::vector<double>& shares) {
  const double at = stream.unit() * shares.back();
  std::size_t place = 0;
  while (place + 1 < shares.size() && at >= shares[place]) ++place;
  return place;
}

Item random_string(const Generator& from, Stream& stream, Arena& fresh) {
  auto length = static_cast<std::size_t>(between(stream, from.low, from.high));
  auto* text = fresh.take<char16_t>(length);
  for (std::size_t i = 0; i < length; ++i) {
    text[i] = one_of(stream, from.groups[by_share(stream, from.weights)]);
  }
  if (from.words) length = as_words(text, length);
  return string(text, static_cast<std::uint32_t>(length));
}

// Words with one separator between each two, cut to the length, without a separator at the end.
Item random_words(const Generator& from, Stream& stream, Arena& fresh) {
  auto length = static_cast<std::size_t>(between(stream, from.low, from.high));
  std::u16string made;
  bool separates = false;
  for (; made.size() < length; separates = !separates) {
    if (separates) {
      made += one_of(stream, from.groups[by_share(stream, from.weights)]);
    } else {
      const Generator& lengths = from.parts[by_share(stream, from.shares)];
      for (std::int64_t i = between(stream, lengths.low, lengths.high); i > 0; --i) {
        made += one_of(stream, from.letters);
      }
    }
  }
  if (!separates && length > 0) --length;
  auto* text = fresh.take<char16_t>(length);
  std::copy_n(made.begin(), length, text);
  return string(text, static_cast<std::uint32_t>(length));
}

Item random_vector(const Generator& from, Stream& stream, Arena& fresh) {
  const auto length = static_cast<std::uint32_t>(between(stream, from.low, from.high));
  auto* items = fresh.take<Item>(length);
  for (std::uint32_t i = 0; i < length; ++i) items[i] = drawn(from.parts[0], stream, fresh);
  return vector(items, length);
}

}  // namespace

Item drawn(const Generator& from, Stream& stream, Arena& fresh) {
  switch (from.draw) {
    case Draw::integer: return integer(between(stream, from.low, from.high));
    case Draw::real: return real(from.real_low + (from.real_high - from.real_low) * stream.unit());
    case Draw::boolean: return boolean(stream.bounded(2) == 1);
    case Draw::character: return character(one_of(stream, from.groups[0]));
    case Draw::string: return random_string(from, stream, fresh);
    case Draw::tag: {
      const std::uint16_t stack = from.stacks[stream.bounded(from.stacks.size())];
      Item tag = make(Kind::tag, between(stream, from.low, from.high));
      tag.stack = stack;
      return tag;
    }
    case Draw::tagged: return make(Kind::tagged, between(stream, from.low, from.high));
    case Draw::words: return random_words(from, stream, fresh);
    case Draw::vector: return random_vector(from, stream, fresh);
    default: return from.item;
  }
}

Gene GeneSource::gene(Stream& stream, Arena& fresh) const {
  Gene made{item(stream, fresh), 0, Silence::none};
  if (close_marker) {
    const double at = stream.unit();
    while (made.close < 3 && at >= close_below[static_cast<std::size_t>(made.close)]) ++made.close;
  }
  if (silent_probability > 0 && stream.unit() < silent_probability) made.silence = Silence::silent;
  return made;
}

void GeneSource::genome(Stream& stream, Arena& fresh, std::int64_t most, std::vector<Gene>& genes) const {
  const std::int64_t length = between(stream, 1, most);
  genes.clear();
  for (std::int64_t i = 0; i < length; ++i) genes.push_back(gene(stream, fresh));
}

}  // namespace flexicase::push
