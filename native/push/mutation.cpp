// Operators that change, add or delete genes of one parent.
#include "push/operators.hpp"

namespace flexicase::push {
namespace {

constexpr std::int64_t kTagLimit = 10'000;

bool is_tag(const Item& item) { return item.kind >= Kind::tag && item.kind <= Kind::tagged_when; }

struct Tweaks {
  explicit Tweaks(VariationContext& m)
      : real(m.rate(RateId::float_deviation)),
        integer(m.rate(RateId::integer_deviation)),
        character(m.rate(RateId::string_change_rate)),
        tag(m.rate(RateId::tag_deviation)) {}

  double real, integer, character, tag;
};

Item shifted_integer(VariationContext& m, const Item& item, double deviation) {
  return integer(rounded(static_cast<double>(item.number) + deviation * m.gaussian()));
}
Item shifted_real(VariationContext& m, const Item& item, double deviation) {
  return real(item.real + deviation * m.gaussian());
}
Item shifted_tag(VariationContext& m, const Item& item, double deviation) {
  Item made = item;
  made.number = floored_mod(rounded(static_cast<double>(item.number) + deviation * m.gaussian()), kTagLimit);
  return made;
}
Item changed_string(VariationContext& m, const Item& item, double rate) {
  auto* text = m.fresh.take<char16_t>(item.length);
  for (std::uint32_t i = 0; i < item.length; ++i) {
    text[i] = m.chance(rate) ? visible(m.stream.bounded(kVisible)) : item.text[i];
  }
  return string(text, item.length);
}

Item tweaked(VariationContext& m, const Item& item, const Tweaks& by) {
  if (is_tag(item)) return shifted_tag(m, item, by.tag);
  switch (item.kind) {
    case Kind::real: return shifted_real(m, item, by.real);
    case Kind::integer: return shifted_integer(m, item, by.integer);
    case Kind::string: return changed_string(m, item, by.character);
    case Kind::boolean: return boolean(m.coin());
    default: return m.random_item();
  }
}

void uniform_mutation(VariationContext& m) {
  const double rate = m.rate(RateId::mutation_rate), tweak_rate = m.rate(RateId::tweak_rate);
  const Tweaks by(m);
  for (Gene& gene : m.child) {
    if (m.chance(rate)) gene.item = m.chance(tweak_rate) ? tweaked(m, gene.item, by) : m.random_item();
  }
}

// Each gene of a kind with the probability `rate`.
template <class Is, class Change>
void change_each(VariationContext& m, double rate, Is is, Change change) {
  for (Gene& gene : m.child) {
    if (is(gene.item) && m.chance(rate)) gene.item = change(gene.item);
  }
}

void single_kind(VariationContext& m, Operator how) {
  const auto of = [](Kind kind) { return [kind](const Item& item) { return item.kind == kind; }; };
  const bool by_tweak_rate = how == Operator::uniform_integer_mutation || how == Operator::uniform_float_mutation ||
                             how == Operator::uniform_boolean_mutation;
  const double rate = m.rate(by_tweak_rate ? RateId::tweak_rate : RateId::mutation_rate);
  const Tweaks by(m);
  switch (how) {
    case Operator::uniform_integer_mutation:
      return change_each(m, rate, of(Kind::integer), [&](const Item& i) { return shifted_integer(m, i, by.integer); });
    case Operator::uniform_float_mutation:
      return change_each(m, rate, of(Kind::real), [&](const Item& i) { return shifted_real(m, i, by.real); });
    case Operator::uniform_tag_mutation:
      return change_each(m, rate, is_tag, [&](const Item& i) { return shifted_tag(m, i, by.tag); });
    case Operator::uniform_string_mutation:
      return change_each(m, rate, of(Kind::string), [&](const Item& i) { return changed_string(m, i, by.character); });
    case Operator::uniform_boolean_mutation:
      return change_each(m, rate, of(Kind::boolean), [](const Item& i) { return boolean(i.number == 0); });
    default:
      return change_each(m, rate, [](const Item&) { return true; }, [&](const Item&) { return m.random_item(); });
  }
}

void close_mutation(VariationContext& m) {
  if (!m.variation.source->close_marker) return;
  const double rate = m.rate(RateId::close_mutation_rate), increment = m.rate(RateId::close_increment_rate);
  for (Gene& gene : m.child) {
    if (!m.chance(rate)) continue;
    if (m.chance(increment)) {
      gene.close += gene.close < INT32_MAX;
    } else {
      gene.close -= gene.close > 0;
    }
  }
}

void silence_mutation(VariationContext& m) {
  if (!m.variation.silent_marker) return;
  const double rate = m.rate(RateId::silence_rate);
  for (Gene& gene : m.child) {
    if (m.chance(rate)) gene.silence = gene.silence == Silence::none ? Silence::silent : Silence::none;
  }
}

void addition(VariationContext& m, double rate) {
  for (const Gene& gene : m.child) {
    if (!m.chance(rate)) {
      m.next.push_back(gene);
      continue;
    }
    const Gene added = m.random_gene();
    const bool before = m.coin();
    m.next.push_back(before ? added : gene);
    m.next.push_back(before ? gene : added);
  }
  m.finish();
}

}  // namespace

void delete_genes(VariationContext& m, double rate) {
  std::erase_if(m.child, [&](const Gene&) { return m.chance(rate); });
}

void mutate(VariationContext& m, Operator how) {
  switch (how) {
    case Operator::uniform_mutation: return uniform_mutation(m);
    case Operator::uniform_close_mutation: return close_mutation(m);
    case Operator::uniform_silence_mutation: return silence_mutation(m);
    case Operator::uniform_addition: return addition(m, m.rate(RateId::addition_rate));
    case Operator::uniform_deletion: return delete_genes(m, m.rate(RateId::deletion_rate));
    case Operator::uniform_addition_and_deletion: {
      const double rate = m.rate(RateId::addition_and_deletion_rate);
      addition(m, rate);
      return delete_genes(m, rate / (1 + rate));
    }
    default: return single_kind(m, how);
  }
}

}  // namespace flexicase::push
