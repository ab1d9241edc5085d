#include "fourhold/engine/data/builtin_grammar.h"

#include <array>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

namespace fourhold::engine::data {
namespace {

using Words = std::string_view;

struct Person {
  Words name;
  Words they;
  Words their;
};

constexpr std::array kPeople{
    Person{"Mira", "she", "her"}, Person{"Tomas", "he", "his"},  Person{"Ada", "she", "her"},
    Person{"Noor", "she", "her"}, Person{"Emil", "he", "his"},   Person{"Juno", "she", "her"},
    Person{"Oskar", "he", "his"}, Person{"Ines", "she", "her"},  Person{"Kofi", "he", "his"},
    Person{"Lena", "she", "her"}, Person{"Pavel", "he", "his"},  Person{"Rosa", "she", "her"},
    Person{"Samir", "he", "his"}, Person{"Tilda", "she", "her"}, Person{"Viktor", "he", "his"},
    Person{"Yuki", "she", "her"}};

constexpr std::array<Words, 12> kPlaces{
    "in the harbour town",  "in a mountain village", "in the old city", "in the quiet valley",
    "in the lighthouse",    "on the river farm",     "at the mill",     "at the railway station",
    "on the market square", "in a winter cabin",     "on the island",   "beside the orchard"};
constexpr std::array<Words, 10> kColours{"grey", "white", "black",  "red",    "brown",
                                         "blue", "green", "golden", "silver", "spotted"};
constexpr std::array<Words, 12> kAnimals{"cat", "dog",  "goat", "horse", "raven", "donkey",
                                         "fox", "duck", "hen",  "sheep", "mouse", "owl"};
constexpr std::array<Words, 14> kThings{"lantern", "key",    "letter", "kettle", "basket",
                                        "compass", "violin", "map",    "hammer", "clock",
                                        "coat",    "rope",   "book",   "boat"};
constexpr std::array<Words, 10> kRooms{
    "under the stairs", "behind the door", "on the roof",    "in the garden", "by the well",
    "near the bridge",  "in the kitchen",  "below the hill", "at the gate",   "beside the stove"};
constexpr std::array<Words, 8> kWeathers{
    "It was raining",        "The sun was shining", "Snow was falling", "A cold wind blew",
    "Fog lay on the fields", "The night was clear", "It was very hot",  "A storm was coming"};
constexpr std::array<Words, 7> kDays{"Monday", "Tuesday",  "Wednesday", "Thursday",
                                     "Friday", "Saturday", "Sunday"};
constexpr std::array<Words, 8> kFoods{"bread", "soup",  "apples", "cheese",
                                      "plums", "honey", "beans",  "rice"};
constexpr std::array<Words, 8> kSpoken{
    "Have you seen it?", "It cannot be far.", "Let us look again.", "I know where it is.",
    "We must hurry.",    "Who took it?",      "Do not worry.",      "Wait for me."};
constexpr std::array<Words, 6> kFeelings{"glad", "tired", "proud", "surprised", "hungry", "calm"};
constexpr std::array<Words, 21> kNumbers{
    "zero",     "one",     "two",     "three",     "four",     "five",     "six",
    "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",   "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"};

template <typename T, std::size_t n>
const T& pick(GrammarRandom& random, const std::array<T, n>& from) {
  return from[static_cast<std::size_t>(random.below(static_cast<int>(n)))];
}

std::string capital(Words word) {
  std::string text(word);
  if (text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

Words number(int value) { return kNumbers[static_cast<std::size_t>(value)]; }

// Everything a question at the end asks for was said before. Draws are statements of their own,
// since the order in which arguments are evaluated is the compiler's choice.
std::string story(GrammarRandom& random) {
  const Person& hero = pick(random, kPeople);
  const Person* other = &pick(random, kPeople);
  while (other->name == hero.name) other = &pick(random, kPeople);
  const Words place = pick(random, kPlaces);
  const Words colour = pick(random, kColours);
  const Words animal = pick(random, kAnimals);
  const Words thing = pick(random, kThings);
  const Words room = pick(random, kRooms);
  const Words day = pick(random, kDays);
  const std::string they = capital(hero.they);

  std::string text = fmt::format("{} lived {}. {} had a {} {} and an old {}.\n", hero.name, place,
                                 they, colour, animal, thing);
  text += fmt::format("{} when {} woke up on {}. The {} was gone.\n", pick(random, kWeathers),
                      hero.name, day, thing);
  Words searched;
  const int searches = 1 + random.below(3);
  for (int i = 0; i < searches; ++i) {
    Words empty = pick(random, kRooms);
    while (empty == room || empty == searched) empty = pick(random, kRooms);
    searched = empty;
    text += fmt::format("{} looked {}, but it was not there.\n", they, empty);
    if (random.below(2) == 0) {
      text += fmt::format("\"{}\" said {}.\n", pick(random, kSpoken), other->name);
    }
  }
  switch (random.below(3)) {
    case 0:
      text += fmt::format("Then the {} ran ahead, and {} found the {} {}.\n", animal, hero.name,
                          thing, room);
      break;
    case 1:
      text += fmt::format("In the end {} found the {} {} and gave it back.\n", other->name, thing,
                          room);
      break;
    default:
      text += fmt::format("At last {} remembered: {} had left the {} {}.\n", hero.name, hero.they,
                          thing, room);
      break;
  }
  const Words feeling = pick(random, kFeelings);
  const Words food = pick(random, kFoods);
  text += fmt::format("{} was {}. {} shared {} {} with {} and the {}.\n", hero.name, feeling, they,
                      hero.their, food, other->name, animal);

  const int questions = 1 + random.below(3);
  const int first = random.below(4);
  for (int i = 0; i < questions; ++i) {
    switch ((first + i) % 4) {
      case 0:
        text += fmt::format("Where was the {}? It was {}.\n", thing, room);
        break;
      case 1:
        text += fmt::format("What colour was the {}? It was {}.\n", animal, colour);
        break;
      case 2:
        text += fmt::format("Where did {} live? {}.\n", hero.name, capital(place));
        break;
      default:
        text += fmt::format("On which day was the {} gone? On {}.\n", thing, day);
        break;
    }
  }
  return text;
}

std::string sums(GrammarRandom& random) {
  std::string text = "Sums:\n";
  const int lines = 4 + random.below(8);
  for (int i = 0; i < lines; ++i) {
    const int a = random.below(50);
    const int b = random.below(50);
    const int small_a = random.below(11);
    const int small_b = random.below(11);
    switch (random.below(5)) {
      case 0:
        text += fmt::format("{} + {} = {}\n", a, b, a + b);
        break;
      case 1:
        text += fmt::format("{} - {} = {}\n", a + b, b, a);
        break;
      case 2:
        text += fmt::format("{} x {} = {}\n", small_a, small_b, small_a * small_b);
        break;
      case 3:
        text += fmt::format("{} and {} make {}.\n", number(small_a), number(small_b),
                            number(small_a + small_b));
        break;
      default:
        text += fmt::format("Is {} more than {}? {}.\n", a, b, a > b ? "Yes" : "No");
        break;
    }
  }
  return text;
}

std::string list(GrammarRandom& random) {
  if (random.below(2) == 0) {
    const int first = random.below(12);
    std::string text = fmt::format("Counting from {}: ", number(first));
    for (int i = first; i < first + 8; ++i) {
      text += fmt::format("{}{}", number(i), i + 1 < first + 8 ? ", " : ".\n");
    }
    const int day = random.below(7);
    return text + fmt::format("After {} comes {}.\n", kDays[static_cast<std::size_t>(day)],
                              kDays[static_cast<std::size_t>((day + 1) % 7)]);
  }
  std::string text = fmt::format("{} went to the market and bought:\n", pick(random, kPeople).name);
  const int items = 2 + random.below(4);
  int total = 0;
  for (int i = 0; i < items; ++i) {
    const int price = 1 + random.below(9);
    total += price;
    const Words colour = pick(random, kColours);
    const Words thing = pick(random, kThings);
    text += fmt::format("- a {} {}, {} coins\n", colour, thing, price);
  }
  return text + fmt::format("Together: {} coins.\n", total);
}

}  // namespace

int GrammarRandom::below(int count) {
  state_ += 0x9E3779B97F4A7C15U;
  std::uint64_t value = state_;
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
  value ^= value >> 31U;
  return static_cast<int>((value >> 32U) * static_cast<std::uint64_t>(count) >> 32U);
}

std::string builtin_document(GrammarRandom& random) {
  const int kind = random.below(10);
  if (kind < 7) return story(random);
  return kind < 9 ? sums(random) : list(random);
}

}  // namespace fourhold::engine::data
