#include "tests/engine/communicator/collective_suite.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>

#include "fourhold/plan/exchange_buffer.h"
#include "fourhold/predict/collectives.h"
#include "tests/engine/communicator/suite_case.h"
#include "tests/engine/communicator/suite_data.h"

namespace fourhold::engine {
namespace {

using plan::Collective;

class Suite {
 public:
  Suite(Communicator& communicator, const SuiteOptions& options)
      : communicator_(communicator),
        options_(options),
        buffer_(static_cast<std::size_t>(plan::exchange_buffer_bytes(communicator.size()))),
        collectives_(communicator, buffer_, options.threads),
        world_{std::vector<int>(static_cast<std::size_t>(communicator.size())),
               communicator.rank()} {
    std::iota(world_.ranks.begin(), world_.ranks.end(), 0);
  }

  SuiteReport run() {
    Draws draws(options_.seed);
    for (int i = 0; i < options_.cases; ++i) {
      case_ = i;
      const Case each =
          draw_case(draws, communicator_.size(), communicator_.rank(), options_.long_tensors);
      switch (draws.below(9)) {
        case 0:
          gather_in_place(each);
          break;
        case 1:
          gather_from_elsewhere(each);
          break;
        case 2:
        case 3:
          scatter(each);
          break;
        case 4:
          reduce(each);
          break;
        case 5:
          sums(each);
          break;
        case 6:
          statistics(each);
          break;
        case 7:
          gathers_under_way(each);
          break;
        default:
          messages(each);
          break;
      }
    }
    check_traffic();
    // 40 bits each: the sum over any number of ranks stays in 64.
    const auto own = static_cast<std::int64_t>(digest_ & 0xffffffffffU);
    report_.digest = static_cast<std::uint64_t>(collectives_.sum(world_, own));
    report_.traffic = collectives_.traffic();
    return report_;
  }

 private:
  // The rule of pieces in its own words: ceil(elements / n) each, the rest shorter or empty.
  static std::int64_t begin_of(const Case& each, int member) {
    const std::int64_t length = (each.elements + each.group.size() - 1) / each.group.size();
    return std::min(each.elements, length * member);
  }
  static std::int64_t own_begin(const Case& each) { return begin_of(each, each.group.place); }
  static std::int64_t own_elements(const Case& each) {
    return begin_of(each, each.group.place + 1) - own_begin(each);
  }

  Held held_by(const Case& each, int member, DType type) const {
    Held held(type, each.elements);
    held.fill(each.seed, each.group.ranks[static_cast<std::size_t>(member)]);
    return held;
  }

  void expect(bool good, const std::string& what) {
    if (good) return;
    report_.faults.push_back("rank " + std::to_string(communicator_.rank()) + ", case " +
                             std::to_string(case_) + ": " + what);
  }
  void compare(const Held& result, const Held& expected, const std::string& what) {
    expect(result.bytes() == expected.bytes(), what);
    add(result.bytes());
  }
  void add(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) {  // FNV-1a
      digest_ = (digest_ ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3U;
    }
  }

  void expect_traffic(const Case& each, Collective kind, double payload_bytes) {
    if (each.group.size() == 1) return;
    const predict::CollectiveCost cost =
        predict::collective_cost(kind, payload_bytes, each.group.size());
    Predicted& predicted = predicted_[static_cast<std::size_t>(kind)];
    ++predicted.calls;
    predicted.steps += kind == Collective::ring ? 1 : cost.steps;
    predicted.bytes += kind == Collective::ring ? payload_bytes : cost.wire_bytes;
  }

  Held gathered(const Case& each, DType type) const {
    Held all(type, each.elements);
    for (int member = 0; member < each.group.size(); ++member) {
      const int rank = each.group.ranks[static_cast<std::size_t>(member)];
      for (std::int64_t i = begin_of(each, member); i < begin_of(each, member + 1); ++i) {
        all.set(i, number(each.seed, rank, i));
      }
    }
    return all;
  }

  DType any_type(const Case& each) const {
    constexpr std::array kTypes{DType::fp32, DType::bf16, DType::int64, DType::uint8};
    return kTypes[each.seed % kTypes.size()];
  }

  void gather_in_place(const Case& each) {
    const DType type = any_type(each);
    Held whole = held_by(each, each.group.place, type);
    collectives_.all_gather(each.group, whole.view());
    compare(whole, gathered(each, type), "all_gather in place");
    expect_traffic(each, Collective::all_gather,
                   static_cast<double>(bytes_of(own_elements(each), type)));
  }

  void gather_from_elsewhere(const Case& each) {
    const DType type = any_type(each);
    Held own(type, own_elements(each) + each.longer);
    for (std::int64_t i = 0; i < own_elements(each); ++i) {
      own.set(i, number(each.seed, communicator_.rank(), own_begin(each) + i));
    }
    Held whole(type, each.elements);
    collectives_.all_gather(each.group, own.view(), whole.view());
    compare(whole, gathered(each, type), "all_gather from elsewhere");
    expect_traffic(each, Collective::all_gather,
                   static_cast<double>(bytes_of(own_elements(each), type)));
  }

  // Two gathers from elsewhere, of one seed each, that are started before and finished behind a sum
  // and a gather that is waited for.
  void gathers_under_way(const Case& each) {
    const DType type = any_type(each);
    std::array<Case, 2> started{each, each};
    ++started[1].seed;
    std::vector<Held> own;
    std::vector<Held> whole;
    for (const Case& one : started) {
      own.emplace_back(type, own_elements(one) + one.longer);
      for (std::int64_t i = 0; i < own_elements(one); ++i) {
        own.back().set(i, number(one.seed, communicator_.rank(), own_begin(one) + i));
      }
      whole.emplace_back(type, one.elements);
    }
    for (std::size_t i = 0; i < started.size(); ++i) {
      collectives_.start_all_gather(each.group, own[i].view(), whole[i].view());
      expect_traffic(each, Collective::all_gather,
                     static_cast<double>(bytes_of(own_elements(each), type)));
    }
    reduce(each);
    collectives_.advance();
    gather_in_place(each);
    collectives_.finish_gathers();
    for (std::size_t i = 0; i < started.size(); ++i) {
      compare(whole[i], gathered(started[i], type), "a gather under way");
    }
  }

  // The sum of element i, one rank after the other, as fp32 without rounding to the type.
  static float total(const std::vector<Held>& all, std::int64_t i) {
    float sum = all[0].get(i);
    for (std::size_t member = 1; member < all.size(); ++member) sum += all[member].get(i);
    return sum;
  }
  std::vector<Held> all_of(const Case& each) const {
    std::vector<Held> all;
    for (int member = 0; member < each.group.size(); ++member) {
      all.push_back(held_by(each, member, each.type));
    }
    return all;
  }

  void scatter(const Case& each) {
    std::vector<Held> all = all_of(each);
    const std::int64_t begin = own_begin(each);
    Held whole = all[static_cast<std::size_t>(each.group.place)];
    const Held before = whole;
    expect_traffic(each, Collective::reduce_scatter, static_cast<double>(whole.bytes().size()));
    if (each.in_place) {
      Held expected = whole;
      for (std::int64_t i = begin; i < begin + own_elements(each); ++i) {
        const float sum = total(all, i);
        expected.set(i, each.sum == Sum::replace ? sum : whole.get(i) + sum);
      }
      const Tensor view = whole.view();
      const Tensor own{view.data + bytes_of(begin, each.type), each.type, Dims{own_elements(each)}};
      collectives_.reduce_scatter(each.group, view, own, each.sum);
      // In a group of one with nothing to add, the rank's own number is the sum.
      compare(whole, expected, "reduce_scatter in place");
      return;
    }
    Held own(each.own_type, own_elements(each) + each.longer);
    own.fill(each.seed + 1, communicator_.rank());
    Held expected = own;
    for (std::int64_t i = 0; i < own_elements(each); ++i) {
      const float sum = total(all, begin + i);
      expected.set(i, each.sum == Sum::replace ? sum : own.get(i) + sum);
    }
    collectives_.reduce_scatter(each.group, whole.view(), own.view(), each.sum);
    compare(own, expected, "reduce_scatter");
    expect(whole.bytes() == before.bytes(), "reduce_scatter changed its addends");
  }

  void reduce(const Case& each) {
    std::vector<Held> all = all_of(each);
    Held expected(each.type, each.elements);
    for (std::int64_t i = 0; i < each.elements; ++i) expected.set(i, total(all, i));
    Held whole = all[static_cast<std::size_t>(each.group.place)];
    collectives_.all_reduce(each.group, whole.view());
    compare(whole, expected, "all_reduce");
    expect_traffic(each, Collective::all_reduce, static_cast<double>(whole.bytes().size()));
  }

  void sums(const Case& each) {
    double expected = 0;
    std::int64_t expected_count = 0;
    for (const int rank : each.group.ranks) {
      const double value = static_cast<double>(number(each.seed, rank, 0)) / 3;
      expected = rank == each.group.ranks[0] ? value : expected + value;
      expected_count += rank * 1'000'000'007LL;
    }
    const double own = static_cast<double>(number(each.seed, communicator_.rank(), 0)) / 3;
    const double sum = collectives_.sum(each.group, own);
    expect(std::memcmp(&sum, &expected, sizeof sum) == 0, "sum of doubles");
    add(std::as_bytes(std::span(&sum, 1)));
    const std::int64_t count =
        collectives_.sum(each.group, communicator_.rank() * std::int64_t{1'000'000'007});
    expect(count == expected_count, "sum of integers");
    expect_traffic(each, Collective::all_reduce, sizeof sum);
    expect_traffic(each, Collective::all_reduce, sizeof count);
  }

  // Logits of all ranks' columns; the target is in one rank's. A rank may have no column at all.
  void statistics(const Case& each) {
    const std::int64_t rows = each.elements;
    Held own(DType::fp32, rows * 3);
    std::vector<double> expected(static_cast<std::size_t>(rows));
    for (std::int64_t row = 0; row < rows; ++row) {
      for (int member = 0; member < each.group.size(); ++member) {
        const int rank = each.group.ranks[static_cast<std::size_t>(member)];
        const bool empty = each.longer == 2 && member == each.group.size() - 1 && member != 0;
        const float low = number(each.seed, rank, 2 * row) / 1024;
        const float high = number(each.seed, rank, 2 * row + 1) / 1024;
        const float largest = std::max(low, high);
        if (!empty) {
          expected[static_cast<std::size_t>(row)] +=
              std::exp(static_cast<double>(low)) + std::exp(static_cast<double>(high));
        }
        if (member != each.group.place) continue;
        own.put(3 * row, empty ? -INFINITY : largest);
        own.put(3 * row + 1, empty ? 0.0F : std::exp(low - largest) + std::exp(high - largest));
        own.put(3 * row + 2, row % each.group.size() == member && !empty ? low : 0.0F);
      }
    }
    Tensor view = own.view();
    view.dims = Dims{rows, 3};
    collectives_.merge_statistics(each.group, view);
    bool good = true;
    for (std::int64_t row = 0; row < rows; ++row) {
      // exp of fp32 statistics: a few units of the last place of fp32 in the logarithm.
      const double log_sum = std::log(static_cast<double>(own.at<float>(3 * row + 1))) +
                             static_cast<double>(own.at<float>(3 * row));
      good = good && std::abs(log_sum - std::log(expected[static_cast<std::size_t>(row)])) < 1e-5;
      const auto target = static_cast<int>(row % each.group.size());
      const bool empty = each.longer == 2 && target == each.group.size() - 1 && target != 0;
      const int rank = each.group.ranks[static_cast<std::size_t>(target)];
      good = good &&
             own.at<float>(3 * row + 2) == (empty ? 0.0F : number(each.seed, rank, 2 * row) / 1024);
    }
    expect(good, "merge_statistics");
    add(own.bytes());
    expect_traffic(each, Collective::reduce_scalars, static_cast<double>(own.bytes().size()));
  }

  // A step of a ring while tensors of two tags pass from each member to the one `longer` behind.
  void messages(const Case& each) {
    const int size = each.group.size();
    const auto rank = [&](int place) {
      return each.group.ranks[static_cast<std::size_t>((place + size) % size)];
    };
    const auto made = [&](std::uint64_t salt, int from) {
      Held held(each.type, each.elements);
      held.fill(each.seed + salt, from);
      return held;
    };
    Held out = made(0, communicator_.rank());
    Held in(each.type, each.elements);
    collectives_.start_ring(each.group, std::as_bytes(std::span(out.bytes())),
                            std::span(in.view().data, in.bytes().size()));
    const int place = each.group.place;
    const int shift = static_cast<int>(each.longer) % size;
    Held first = made(1, communicator_.rank());
    Held second = made(2, communicator_.rank());
    if (shift != 0) {
      collectives_.send(rank(place + shift), 7, first.view());
      collectives_.send(rank(place + shift), 30000, second.view());
      Held first_in(each.type, each.elements);
      Held second_in(each.type, each.elements);
      // Not in the order of sending: the tag says which is which.
      collectives_.receive(rank(place - shift), 30000, second_in.view());
      collectives_.receive(rank(place - shift), 7, first_in.view());
      compare(first_in, made(1, rank(place - shift)), "the first send");
      compare(second_in, made(2, rank(place - shift)), "the second send");
      collectives_.finish_send(7);
      collectives_.finish_send(30000);
      for (int i = 0; i < 2; ++i) {
        expect_traffic(each, Collective::send_receive, static_cast<double>(out.bytes().size()));
      }
    }
    collectives_.finish_ring();
    if (size > 1) compare(in, made(0, rank(place - 1)), "ring");
    expect_traffic(each, Collective::ring, static_cast<double>(out.bytes().size()));
  }

  // Steps and calls are this rank's. Bytes are predicted as if pieces were equal, so they are
  // compared as sums over all ranks.
  void check_traffic() {
    const Traffic measured = collectives_.traffic();
    for (std::size_t kind = 0; kind < predicted_.size(); ++kind) {
      const Traffic::Count& count = measured.of_kind[kind];
      const std::string name = "kind " + std::to_string(kind);
      expect(count.calls == predicted_[kind].calls, "calls of " + name);
      expect(count.steps == predicted_[kind].steps, "steps of " + name);
      const std::int64_t bytes = collectives_.sum(world_, count.bytes);
      const double predicted = collectives_.sum(world_, predicted_[kind].bytes);
      expect(std::abs(static_cast<double>(bytes) - predicted) < 0.25,
             "bytes of " + name + ": " + std::to_string(bytes) + ", predicted " +
                 std::to_string(predicted));
    }
  }

  struct Predicted {
    std::int64_t calls = 0;
    std::int64_t steps = 0;
    double bytes = 0;
  };

  Communicator& communicator_;
  SuiteOptions options_;
  std::vector<std::byte> buffer_;
  Collectives collectives_;
  Group world_;
  SuiteReport report_;
  std::array<Predicted, Traffic::kKinds> predicted_{};
  std::uint64_t digest_ = 0xcbf29ce484222325U;
  int case_ = 0;
};

}  // namespace

SuiteReport run_suite(Communicator& communicator, const SuiteOptions& options) {
  return Suite(communicator, options).run();
}

}  // namespace fourhold::engine
