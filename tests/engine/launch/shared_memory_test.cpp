#include "fourhold/engine/launch/shared_memory.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace fourhold::engine {
namespace {

constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;

std::int64_t shared(std::string_view mpi, std::int64_t ranks,
                    const std::map<std::string, std::string>& set = {}) {
  return shared_memory_of_node(mpi, ranks,
                               [&](std::string_view name) {
                                 const auto found = set.find(std::string(name));
                                 return found == set.end() ? std::nullopt
                                                           : std::optional(found->second);
                               })
      .count();
}

// ompi_info --all of Open MPI 4.1.4: btl_vader_segment_size 4194304, backed by /dev/shm.
TEST(SharedMemory, OpenMpiTakesASegmentOfFourMebibytesForEachRankOfANode) {
  EXPECT_EQ(shared("Open MPI 4.1.4", 2), 8 * kMebibyte);
  EXPECT_EQ(shared("Open MPI 4.1.4", 16), 64 * kMebibyte);  // all that a container has by default
  EXPECT_EQ(shared("Open MPI 4.1.4", 1), 0);
}

TEST(SharedMemory, WhatMpirunWasToldOfSegmentsCounts) {
  EXPECT_EQ(shared("Open MPI 4.1.4", 4, {{"OMPI_MCA_btl_vader_segment_size", "16777216"}}),
            64 * kMebibyte);
  EXPECT_EQ(shared("Open MPI 5.0.3", 4, {{"OMPI_MCA_btl_sm_segment_size", "1048576"}}),
            4 * kMebibyte);
  EXPECT_EQ(shared("Open MPI 4.1.4", 4, {{"OMPI_MCA_btl_vader_backing_directory", "/tmp"}}), 0);
  EXPECT_EQ(shared("Open MPI 4.1.4", 4, {{"OMPI_MCA_btl_vader_backing_directory", "/dev/shm"}}),
            16 * kMebibyte);
}

TEST(SharedMemory, ALibraryThatSendsOtherwiseTakesNone) {
  EXPECT_EQ(shared("Open MPI 4.1.4", 4, {{"OMPI_MCA_btl", "tcp,self"}}), 0);
  EXPECT_EQ(shared("Open MPI 4.1.4", 4, {{"OMPI_MCA_btl", "^vader"}}), 0);
  EXPECT_EQ(shared("Open MPI 4.1.4", 4, {{"OMPI_MCA_btl", "^openib"}}), 16 * kMebibyte);
  EXPECT_EQ(shared("Open MPI 4.1.4", 4, {{"OMPI_MCA_btl", "self,vader"}}), 16 * kMebibyte);
}

TEST(SharedMemory, NothingIsSaidOfLibrariesWhoseSegmentsAreNotKnown) {
  EXPECT_EQ(shared("MPICH 4.0.2", 4), 0);
  EXPECT_EQ(shared("", 4), 0);
}

}  // namespace
}  // namespace fourhold::engine
