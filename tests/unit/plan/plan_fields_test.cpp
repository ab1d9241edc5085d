#include "fourhold/plan/plan_fields.h"

#include <set>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>

#include "fourhold/plan/plan_request.h"
#include "fourhold/plan/profile_fields.h"

namespace fourhold::plan {
namespace {

// Names that are unique, made of lower case and '_', with a help text of one line below 80 columns.
class Checked {
 public:
  template <class... Fields>
  void operator()(const FieldInfo& info, const Fields&... /*fields*/) {
    const std::string name(info.name);
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string::npos);
    EXPECT_FALSE(info.help.empty()) << name;
    EXPECT_LT(info.help.size(), 80U) << name;
    EXPECT_EQ(info.help.find('\n'), std::string_view::npos) << name;
  }
  std::set<std::string> names;
};

TEST(PlanFields, EveryFieldHasOneNameAndAHelpLine) {
  Plan plan;
  Checked checked;
  visit_fields(checked, plan);
  EXPECT_EQ(checked.names.size(), 34U);
}

TEST(PlanFields, ARequestHasTheSameFields) {
  PlanRequest request;
  Checked checked;
  visit_fields(checked, request);
  checked(kCountField, request.count);
  EXPECT_EQ(checked.names.size(), 35U);
}

TEST(ProfileFields, EveryFieldHasOneNameAndAHelpLine) {
  Profile profile;
  Checked checked;
  visit_profile_fields(checked, profile);
  EXPECT_EQ(checked.names.size(), 81U);
}

template <class Enum>
void expect_names(std::size_t count) {
  EXPECT_EQ(kEnumNames<Enum>.size(), count);
  const std::set<std::string_view> unique(kEnumNames<Enum>.begin(), kEnumNames<Enum>.end());
  EXPECT_EQ(unique.size(), count);
}

TEST(EnumNames, EveryEnumOfAFieldHasOneNameForEachValue) {
  expect_names<ScheduleKind>(static_cast<std::size_t>(ScheduleKind::interleaved) + 1);
  expect_names<Offload>(static_cast<std::size_t>(Offload::all) + 1);
  expect_names<ActivationOffload>(static_cast<std::size_t>(ActivationOffload::residual) + 1);
  expect_names<MomentFormat>(static_cast<std::size_t>(MomentFormat::fp8) + 1);
  expect_names<OtherVendors>(static_cast<std::size_t>(OtherVendors::refused) + 1);
  expect_names<ProductWeights>(static_cast<std::size_t>(ProductWeights::kept) + 1);
  expect_names<Precision>(static_cast<std::size_t>(Precision::bf16_pure) + 1);
  expect_names<Optimizer>(static_cast<std::size_t>(Optimizer::muon) + 1);
  expect_names<GradientAccumulation>(static_cast<std::size_t>(GradientAccumulation::fp32) + 1);
  expect_names<Tuning>(static_cast<std::size_t>(Tuning::qlora) + 1);
  expect_names<BasePrecision>(static_cast<std::size_t>(BasePrecision::nf4_dq) + 1);
  expect_names<model::TrainedModules>(
      static_cast<std::size_t>(model::TrainedModules::embedding_head) + 1);
  expect_names<model::AdapterStorage>(static_cast<std::size_t>(model::AdapterStorage::fp32) + 1);
  expect_names<model::AdapterInput>(static_cast<std::size_t>(model::AdapterInput::wide) + 1);
  expect_names<model::PackedAdapters>(static_cast<std::size_t>(model::PackedAdapters::scattered) +
                                      1);
  expect_names<model::QuantisedInput>(static_cast<std::size_t>(model::QuantisedInput::kept) + 1);
  expect_names<model::TrainedCopies>(static_cast<std::size_t>(model::TrainedCopies::beside) + 1);
  expect_names<model::FusedQkv>(static_cast<std::size_t>(model::FusedQkv::query) + 1);
  expect_names<model::Gathered>(static_cast<std::size_t>(model::Gathered::kept) + 1);
  expect_names<GradientLifetime>(static_cast<std::size_t>(GradientLifetime::backward_to_step) + 1);
  expect_names<Startup>(static_cast<std::size_t>(Startup::full_copy_beside_shard) + 1);
  expect_names<AttentionKernel>(static_cast<std::size_t>(AttentionKernel::flash_3) + 1);
  expect_names<PipelineSends>(static_cast<std::size_t>(PipelineSends::scattered) + 1);
  expect_names<GradientCopy>(static_cast<std::size_t>(GradientCopy::beside_fp32) + 1);
  expect_names<ProductWorkspaces>(static_cast<std::size_t>(ProductWorkspaces::transformer_engine) +
                                  1);
  expect_names<BatchMask>(static_cast<std::size_t>(BatchMask::dense) + 1);
  expect_names<ScoreBuffer>(static_cast<std::size_t>(ScoreBuffer::persistent) + 1);
  expect_names<StageBorders>(static_cast<std::size_t>(StageBorders::held) + 1);
  expect_names<WeightStorage>(static_cast<std::size_t>(WeightStorage::compute_only) + 1);
  expect_names<DummyWeightGradients>(static_cast<std::size_t>(DummyWeightGradients::one_per_shape) +
                                     1);
  expect_names<model::AttentionSaving>(
      static_cast<std::size_t>(model::AttentionSaving::unfused_wide) + 1);
  expect_names<model::NormSaving>(static_cast<std::size_t>(model::NormSaving::wide) + 1);
  expect_names<model::ActivationSaving>(static_cast<std::size_t>(model::ActivationSaving::unfused) +
                                        1);
  expect_names<model::LossSaving>(static_cast<std::size_t>(model::LossSaving::held_chunks) + 1);
  expect_names<model::ExpertScaling>(
      static_cast<std::size_t>(model::ExpertScaling::inside_activation) + 1);
  expect_names<model::DropoutMasks>(static_cast<std::size_t>(model::DropoutMasks::none) + 1);
}

}  // namespace
}  // namespace fourhold::plan
