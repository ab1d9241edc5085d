#include "fourhold/engine/checkpoint/state_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "fourhold/base/error.h"
#include "fourhold/base/text_file.h"
#include "tests/unit/model/checkpoint_files.h"

namespace fourhold::engine {
namespace {

using model::Block;
using model::ParameterId;
using model::TensorName;
using model::TestFolder;

constexpr ParameterId kDown{Block::layer, 3, TensorName::down_weight};

// Value e of the whole tensor is e.
std::vector<float> whole(std::int64_t elements) {
  std::vector<float> values(static_cast<std::size_t>(elements));
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}

std::vector<float> values_of(const Slice& slice) {
  std::vector<float> values;
  for (std::int64_t run = 0; run < slice.count; ++run) {
    for (std::int64_t i = 0; i < slice.length; ++i) {
      values.push_back(static_cast<float>(slice.begin + run * slice.stride + i));
    }
  }
  return values;
}

Tensor view(std::vector<float>& values) {
  return {reinterpret_cast<std::byte*>(values.data()),
          DType::fp32,
          {static_cast<std::int64_t>(values.size())}};
}

// Writes one file per slice, which holds that slice of `kDown` with the given shape.
void write_ranks(const std::string& folder, const Dims& shape, const std::vector<Slice>& slices) {
  for (std::size_t rank = 0; rank < slices.size(); ++rank) {
    std::vector<StateTensor> tensors;
    std::vector<float> values = values_of(slices[rank]);
    if (slices[rank].length > 0) {
      tensors.push_back({"moment1", kDown, shape, slices[rank], view(values)});
    }
    static_cast<void>(
        write_state(folder, {static_cast<int>(rank), static_cast<int>(slices.size())}, tensors));
  }
}

std::vector<float> read(const StateFiles& files, const Dims& shape, const Slice& slice) {
  std::vector<float> values(static_cast<std::size_t>(slice.elements()), -1.0F);
  files.read("moment1", kDown, shape, slice, view(values));
  return values;
}

// Every draw writes files and waits for the disk, so they are few and seeded.
constexpr int kDraws = 25;

class Draws {
 public:
  // From `least` to `most`, both included.
  std::int64_t number(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }

 private:
  std::mt19937_64 random_{20240607};
};

// Cuts [0, elements) into `ranks` contiguous slices, some of which may be empty.
std::vector<Slice> cut(std::int64_t elements, std::int64_t ranks, Draws& draws) {
  std::vector<std::int64_t> ends{0, elements};
  for (std::int64_t i = 1; i < ranks; ++i) ends.push_back(draws.number(0, elements));
  std::sort(ends.begin(), ends.end());
  std::vector<Slice> slices;
  for (std::size_t i = 1; i < ends.size(); ++i) slices.push_back(contiguous(ends[i - 1], ends[i]));
  return slices;
}

TEST(StateFiles, AnyNumberOfRanksReadsWhatAnyOtherHasSaved) {
  Draws draws;
  for (int draw = 0; draw < kDraws; ++draw) {
    const TestFolder folder;
    const std::int64_t elements = draws.number(1, 200);
    write_ranks(folder.path(), {elements}, cut(elements, draws.number(1, 5), draws));
    const StateFiles files(folder.path());
    for (const Slice& slice : cut(elements, draws.number(1, 5), draws)) {
      if (slice.length == 0) continue;
      ASSERT_EQ(read(files, {elements}, slice), values_of(slice)) << "draw " << draw;
    }
  }
}

// A tensor-parallel split of the input holds columns; the run may resume with whole rows.
TEST(StateFiles, ColumnsAndRowsAreAssembledFromEachOther) {
  Draws draws;
  for (int draw = 0; draw < kDraws; ++draw) {
    const TestFolder folder;
    const Dims shape{draws.number(1, 8), draws.number(1, 12)};
    const std::int64_t rows = shape[0];
    const std::int64_t columns = shape[1];
    std::vector<Slice> slices;
    for (const Slice& part : cut(columns, draws.number(1, 3), draws)) {
      slices.push_back({part.begin, part.length, columns, rows});
    }
    write_ranks(folder.path(), shape, slices);
    const StateFiles files(folder.path());
    ASSERT_EQ(read(files, shape, contiguous(0, rows * columns)), whole(rows * columns))
        << "draw " << draw;
    const std::int64_t first = draws.number(0, columns - 1);
    const Slice some{first, columns - first, columns, rows};
    ASSERT_EQ(read(files, shape, some), values_of(some)) << "draw " << draw;
  }
}

std::string fault_of(const std::string& folder) {
  try {
    const StateFiles files(folder);
  } catch (const Error& fault) {
    return fault.what();
  }
  ADD_FAILURE() << "accepted";
  return {};
}

TEST(StateFiles, AMissingRanksFileIsAnErrorThatListsTheOthers) {
  const TestFolder folder;
  write_ranks(folder.path(), {9}, {contiguous(0, 3), contiguous(3, 6), contiguous(6, 9)});
  std::filesystem::remove(folder.path() + "/state-00002-of-00003.safetensors");
  EXPECT_EQ(fault_of(folder.path()),
            "holds no whole set of optimizer files, but 2 files: state-00001-of-00003.safetensors, "
            "state-00003-of-00003.safetensors");
}

TEST(StateFiles, SlicesThatDoNotAddUpAreAnErrorWithBothNumbers) {
  const TestFolder gap;
  write_ranks(gap.path(), {9}, {contiguous(0, 3), contiguous(4, 9)});
  EXPECT_EQ(fault_of(gap.path()),
            "moment1 of layer.3.down_weight has 9 elements, the files hold 8: some are missing");
  const TestFolder twice;
  write_ranks(twice.path(), {9}, {contiguous(0, 5), contiguous(4, 9)});
  EXPECT_EQ(fault_of(twice.path()),
            "moment1 of layer.3.down_weight has 9 elements, the files hold 10: some are stored "
            "twice");
}

TEST(StateFiles, AnOverlapThatHidesAGapIsFoundWhenItIsRead) {
  const TestFolder folder;
  write_ranks(folder.path(), {9}, {contiguous(0, 5), contiguous(4, 8)});
  const StateFiles files(folder.path());
  EXPECT_THROW(static_cast<void>(read(files, {9}, contiguous(0, 9))), Error);
}

TEST(StateFiles, AnotherShapeTypeOrKindIsRefused) {
  const TestFolder folder;
  write_ranks(folder.path(), {9}, {contiguous(0, 9)});
  const StateFiles files(folder.path());
  std::vector<float> values(9);
  EXPECT_TRUE(files.holds("moment1", kDown));
  EXPECT_FALSE(files.holds("master", kDown));
  EXPECT_THROW(files.read("master", kDown, {9}, contiguous(0, 9), view(values)), Error);
  EXPECT_THROW(files.read("moment1", kDown, {3, 3}, contiguous(0, 9), view(values)), Error);
  Tensor halves = view(values);
  halves.dtype = DType::bf16;
  EXPECT_THROW(files.read("moment1", kDown, {9}, contiguous(0, 9), halves), Error);
}

TEST(StateFiles, AForeignFileIsRefused) {
  const std::string json = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  const std::string file = model::file_bytes(json, 4);
  try {
    const StateFiles files(std::as_bytes(std::span<const char>(file.data(), file.size())), "file");
    FAIL() << "accepted";
  } catch (const Error& fault) {
    EXPECT_EQ(fault.where(), "file: 'a'");
  }
}

}  // namespace
}  // namespace fourhold::engine
