#include "fourhold/search/search.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "fourhold/base/checked.h"
#include "fourhold/plan/legal_values.h"
#include "fourhold/plan/schedule.h"
#include "fourhold/predict/memory.h"
#include "fourhold/predict/placed_length.h"
#include "fourhold/predict/time.h"
#include "fourhold/search/best_plans.h"
#include "fourhold/search/rejections.h"
#include "fourhold/search/split_scorer.h"

namespace fourhold::search {
namespace {

using predict::PipelineMethod;

// A group of a split with the storages under which it fits.
struct FittingGroup {
  std::size_t split = 0;  // index into the legal outer tuples
  Group group;
  std::uint32_t fits = 0;  // a bit per storage
  double bound = 0;        // seconds
};

class Search {
 public:
  explicit Search(const SearchRequest& request)
      : request_(request),
        space_(request.space),
        problem_{space_,
                 *request.space.config,
                 *request.space.profile,
                 request.cluster,
                 Lowering(*request.space.config, *request.space.profile, clock()),
                 Shapes(*request.space.config, *request.space.profile)},
        limits_(request.capacity, *request.space.profile),
        best_(request.best, request.most_seconds) {}

  SearchResult run() {
    const auto start = std::chrono::steady_clock::now();
    score_splits();
    replay_groups();
    SearchResult result;
    result.plans = best_.plans(space_);
    result.rejected = rejected();
    counts_.illegal = rejections_.illegal_count();
    counts_.does_not_fit = rejections_.missed_count();
    counts_.candidates =
        counts_.illegal + counts_.does_not_fit + counts_.pruned + counts_.evaluated;
    counts_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    result.counts = counts_;
    return result;
  }

  std::vector<ScoredCandidate> score_all() {
    score_splits();
    std::vector<ScoredCandidate> all;
    all.reserve(scored_.size());
    const std::vector<Storage> storages = storages_of(space_);
    for (const Scored& scored : scored_) {
      all.push_back({candidate(groups_[scored.group], storages[scored.storage]), scored.live_peak,
                     scored.seconds});
    }
    return all;
  }

 private:
  [[nodiscard]] BlockClock clock() const {
    const model::ModelConfig& config = *request_.space.config;
    const plan::Profile& profile = *request_.space.profile;
    const hardware::Cluster& cluster = request_.cluster;
    return {.seconds =
                [&](const plan::ProgramBlocks& blocks, const plan::Plan& plan) {
                  std::vector<predict::ChunkSeconds> seconds;
                  seconds.reserve(blocks.blocks.size());
                  for (const predict::BlockTime& time :
                       predict::block_times(blocks, config, plan, profile, cluster)) {
                    seconds.push_back({time.forward.total(), time.backward.total()});
                  }
                  return seconds;
                },
            .layer_floor_seconds =
                [&](const plan::Plan& plan) {
                  return predict::layer_floor_seconds(plan, profile, cluster);
                }};
  }

  // Memory of every candidate, and a bound of the time of every group that has one that fits.
  void score_splits() {
    const std::vector<OuterTuple> outers = space_.outer_tuples();
    std::int64_t done = 0;
    for (const OuterTuple& outer : outers) {
      if (request_.progress) request_.progress(done++, static_cast<std::int64_t>(outers.size()));
      if (const std::optional<Illegal> why = space_.illegal(outer)) {
        rejections_.add_illegal(*why, 1);
        continue;
      }
      splits_.push_back(outer);
      SplitScorer scorer(problem_, outer);
      const auto recomputes = static_cast<std::int64_t>(scorer.recomputes().size());
      for (const std::int64_t micro_batch : space_.micro_batches(outer)) {
        for (const std::int64_t vpp : space_.vpps(outer)) {
          const std::int64_t rounds = *request_.space.plan.global_batch / outer.dp / micro_batch;
          const bool too_long = outer.pp > 1 && plan::saturating_product({outer.pp, vpp, rounds}) >
                                                    plan::kMostPipelineForwards;
          if (too_long || cannot_be_placed(outer, rounds) || (vpp > 1 && rounds % outer.pp != 0)) {
            rejections_.add_illegal(
                Illegal::rounds, recomputes * static_cast<std::int64_t>(scorer.storages().size()));
            continue;
          }
          for (std::int64_t recompute = 0; recompute < recomputes; ++recompute) {
            score_group(scorer, {micro_batch, vpp, recompute});
          }
        }
      }
    }
  }

  // Where an arena decides, more micro-batches in flight than are placed.
  [[nodiscard]] bool cannot_be_placed(const OuterTuple& outer, std::int64_t rounds) const {
    if (problem_.profile.reservation != plan::Reservation::placement) return false;
    const plan::PlanRequest& given = request_.space.plan;
    const std::int64_t layers = ceil_divide(problem_.config.layer_count(), outer.pp);
    return rounds > predict::most_placed_micro_batches(
                        {.schedule = given.schedule.value_or(plan::ScheduleKind::one_f_one_b),
                         .pp = outer.pp,
                         .layers = layers});
  }

  void score_group(SplitScorer& scorer, const Group& group) {
    scorer.select(group);
    if (std::isfinite(request_.most_seconds) && best_.excludes(scorer.group_bound())) return;
    FittingGroup fitting{.split = splits_.size() - 1, .group = group};
    for (std::size_t i = 0; i < scorer.storages().size(); ++i) {
      const PlanBytes bytes = scorer.bytes(i);
      if (const auto miss = limits_.miss(bytes)) {
        rejections_.add_miss(*miss, [&] { return candidate(fitting, scorer.storages()[i]); });
      } else {
        fitting.fits |= 1U << i;
      }
      if (request_.bounds == Bounds::off) {
        // Scored whether it fits or not, so that the speed of scoring is that of all candidates.
        const double seconds = scorer.seconds(i, PipelineMethod::scored);
        if ((fitting.fits >> i & 1U) != 0) {
          ++counts_.evaluated;
          scored_.push_back({seconds, bytes.live_peak, groups_.size(), i});
        }
      }
    }
    if (fitting.fits == 0) return;
    if (request_.bounds == Bounds::on) fitting.bound = scorer.group_bound();
    groups_.push_back(fitting);
  }

  [[nodiscard]] Candidate candidate(const FittingGroup& group, const Storage& storage) const {
    return {.outer = splits_[group.split],
            .vpp = group.group.vpp,
            .zero = storage.zero,
            .micro_batch = group.group.micro_batch,
            .recompute = group.group.recompute,
            .offload = storage.offload};
  }

  // The fastest first, until no bound is below the last of the best.
  void replay_groups() {
    if (request_.bounds == Bounds::off) {
      std::sort(scored_.begin(), scored_.end(),
                [](const Scored& a, const Scored& b) { return a.seconds < b.seconds; });
      for (const Scored& scored : scored_) {
        if (best_.excludes(scored.seconds)) break;
        replay(groups_[scored.group], scored.storage);
      }
      return;
    }
    std::sort(groups_.begin(), groups_.end(),
              [](const FittingGroup& a, const FittingGroup& b) { return a.bound < b.bound; });
    std::int64_t done = 0;
    for (const FittingGroup& group : groups_) {
      if (request_.progress && !best_.excludes(group.bound)) {
        request_.progress(done, static_cast<std::int64_t>(groups_.size()));
      }
      ++done;
      for (std::size_t i = 0; group.fits >> i != 0; ++i) {
        if ((group.fits >> i & 1U) == 0) continue;
        if (best_.excludes(group.bound)) {
          ++counts_.pruned;
          continue;
        }
        ++counts_.evaluated;
        SplitScorer& scorer = selected(group);
        if (!best_.excludes(scorer.seconds(i, PipelineMethod::scored))) replay(group, i);
      }
    }
  }

  SplitScorer& selected(const FittingGroup& group) {
    std::unique_ptr<SplitScorer>& scorer = scorers_[group.split];
    if (scorer == nullptr) scorer = std::make_unique<SplitScorer>(problem_, splits_[group.split]);
    scorer->select(group.group);
    return *scorer;
  }

  // Exact time; and where a placement decides, whether the plan really fits.
  void replay(const FittingGroup& group, std::size_t storage) {
    SplitScorer& scorer = selected(group);
    const double seconds = scorer.seconds(storage, PipelineMethod::replayed);
    ++counts_.replayed;
    const Candidate found = candidate(group, scorer.storages()[storage]);
    if (best_.would_take(seconds, found) && placement_fits(found)) best_.add(seconds, found);
  }

  // Where the arena is reserved as it is placed, the live peak alone does not decide.
  bool placement_fits(const Candidate& found) {
    if (problem_.profile.reservation != plan::Reservation::placement) return true;
    const predict::MemoryPrediction memory =
        predict::predict_memory(problem_.config, plan_of(found, space_), problem_.profile);
    const Bytes budget = predict::budget_of(request_.capacity);
    if (memory.needed_bytes <= budget) return true;
    --counts_.evaluated;
    rejections_.add_miss({Misfit::fragmentation, (memory.needed_bytes - budget).count()},
                         [&] { return found; });
    return false;
  }

  [[nodiscard]] std::vector<Rejection> rejected() const {
    std::vector<Rejection> list;
    for (std::size_t i = 0; i < kIllegalNames.size(); ++i) {
      const std::int64_t count = rejections_.illegal(static_cast<Illegal>(i));
      if (count > 0) list.push_back({std::string(kIllegalNames[i]), count, std::nullopt});
    }
    for (std::size_t i = 0; i < kMisfitNames.size(); ++i) {
      const Rejections::Missed& missed = rejections_.missed(static_cast<Misfit>(i));
      if (missed.count == 0) continue;
      Rejection rejection{std::string(kMisfitNames[i]), missed.count, std::nullopt};
      if (missed.nearest) {
        rejection.nearest = NearestMiss{plan_of(*missed.nearest, space_), missed.missing_bytes};
      }
      list.push_back(std::move(rejection));
    }
    std::stable_sort(list.begin(), list.end(),
                     [](const Rejection& a, const Rejection& b) { return a.count > b.count; });
    return list;
  }

  struct Scored {
    double seconds = 0;
    std::int64_t live_peak = 0;
    std::size_t group = 0;
    std::size_t storage = 0;
  };

  const SearchRequest& request_;
  Space space_;
  Problem problem_;
  Limits limits_;
  BestPlans best_;
  Rejections rejections_;
  SearchCounts counts_;
  std::vector<OuterTuple> splits_;  // the legal ones
  std::vector<FittingGroup> groups_;
  std::vector<Scored> scored_;
  std::map<std::size_t, std::unique_ptr<SplitScorer>> scorers_;  // of splits that are replayed
};

}  // namespace

SearchRequest with_devices(const SearchRequest& request, std::int64_t devices) {
  SearchRequest changed = request;
  changed.space.plan.count = devices;
  changed.space.plan.dp.reset();
  changed.cluster.count = devices;
  changed.capacity = predict::over_devices(request.capacity, devices);
  return changed;
}

SearchResult find_plans(const SearchRequest& request) { return Search(request).run(); }

std::vector<ScoredCandidate> score_all(const SearchRequest& request) {
  SearchRequest unbounded = request;
  unbounded.bounds = Bounds::off;
  return Search(unbounded).score_all();
}

}  // namespace fourhold::search
