#include "fourhold/hardware/catalogue.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fourhold/base/error.h"
#include "fourhold/hardware/device_file.h"

namespace fourhold::hardware {
namespace {

std::string name_of(const std::string& spelling) { return load_device(spelling).device.name; }

TEST(Catalogue, HasEveryDeviceItPromises) {
  const std::vector<std::string> names = device_names();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  for (const char* name : {"v100-sxm-16gb",
                           "v100-sxm-32gb",
                           "t4",
                           "a10g",
                           "a100-pcie-40gb",
                           "a100-sxm-40gb",
                           "a100-pcie-80gb",
                           "a100-sxm-80gb",
                           "a800-80gb",
                           "rtx-a6000",
                           "l4",
                           "l40s",
                           "rtx-3090",
                           "rtx-4090",
                           "rtx-5060-ti",
                           "rtx-5090",
                           "rtx-pro-6000",
                           "h100-pcie",
                           "h100-sxm-80gb",
                           "h100-nvl",
                           "h100-96gb-hbm2e",
                           "h200",
                           "gh200",
                           "b200",
                           "b300",
                           "gb200",
                           "gb300",
                           "mi250x",
                           "mi300x",
                           "mi325x",
                           "mi355x",
                           "tpu-v3",
                           "tpu-v4",
                           "tpu-v5e",
                           "tpu-v5p",
                           "tpu-v6e",
                           "cpu",
                           "gtx-1080-ti"}) {
    EXPECT_TRUE(std::binary_search(names.begin(), names.end(), name)) << name;
  }
}

TEST(Catalogue, EveryFileIsNamedLikeItsDeviceAndSourcesEveryFact) {
  for (const EmbeddedFile& file : embedded_devices()) {
    const Device device = parse_device(file.text, std::string(file.name));
    EXPECT_EQ(device.name, file.name);
    for (const char* field :
         {"usable_bytes", "peak_flops", "memory_bandwidth_bytes_per_second", "sustained",
          "intra_node", "inter_node", "host_memory_bytes", "host_link", "price_usd_per_hour"}) {
      EXPECT_NE(device.source_of(field), "") << file.name << " " << field;
    }
  }
}

TEST(Catalogue, NoSpellingNamesTwoDevices) {
  std::set<std::string> seen;
  for (const EmbeddedFile& file : embedded_devices()) {
    const Device device = parse_device(file.text, std::string(file.name));
    for (const auto* spellings : {&device.aliases, &device.default_of}) {
      for (const std::string& spelling : *spellings) {
        EXPECT_TRUE(seen.insert(spelling).second) << spelling;
        EXPECT_EQ(name_of(spelling), device.name) << spelling;
      }
    }
  }
}

TEST(Catalogue, UsableIsBelowWhatTheNameSays) {
  // A marketing GB of a data centre card may be 2^30 bytes (B200: 178.35 GiB = 191.5e9 bytes), so
  // the bound is the nominal figure in GiB.
  for (const EmbeddedFile& file : embedded_devices()) {
    const Device device = parse_device(file.text, std::string(file.name));
    EXPECT_LT(device.usable.gib(), static_cast<double>(device.nominal_gb) + 1) << file.name;
    EXPECT_GT(device.usable.gib(), 0.89 * static_cast<double>(device.nominal_gb)) << file.name;
  }
}

// Printed by running programs; the sources stand in data/hardware.
TEST(Catalogue, UsableMemoryIsWhatProgramsPrint) {
  const std::vector<std::pair<const char*, double>> printed{
      {"v100-sxm-32gb", 31.74}, {"rtx-3090", 23.70},      {"t4", 14.56},
      {"a100-sxm-40gb", 39.39}, {"a100-sxm-80gb", 79.25}, {"h100-sxm-80gb", 79.10},
      {"h200", 139.72},         {"b200", 178.35},         {"b300", 267.69},
      {"gb200", 184.31},        {"gb300", 276.50},        {"mi300x", 191.98},
      {"mi325x", 255.98},       {"mi355x", 287.98},       {"tpu-v5e", 15.75},
      {"tpu-v5p", 95.74},       {"tpu-v6e", 31.25}};
  for (const auto& [name, gib] : printed) {
    EXPECT_NEAR(load_device(name).device.usable.gib(), gib, 0.005) << name;
  }
}

TEST(Catalogue, DensePeaksAreThoseOfTheDataSheets) {
  const std::vector<std::pair<const char*, double>> bf16{
      {"a100-sxm-80gb", 312e12}, {"h100-sxm-80gb", 989.5e12}, {"h100-pcie", 756e12},
      {"h200", 989.5e12},        {"b200", 2250e12},           {"mi300x", 1307.4e12},
      {"mi250x", 191.5e12},      {"rtx-3090", 71e12},         {"rtx-4090", 165.2e12},
      {"tpu-v3", 123e12},        {"tpu-v4", 275e12},          {"tpu-v5e", 197e12},
      {"tpu-v5p", 459e12},       {"tpu-v6e", 918e12}};
  for (const auto& [name, flops] : bf16) {
    EXPECT_DOUBLE_EQ(peak_flops(load_device(name).device, DType::bf16), flops) << name;
  }
}

TEST(Catalogue, ComputeCapabilitiesAreNvidias) {
  const std::map<std::string, double> published{
      {"v100-sxm-32gb", 7.0}, {"t4", 7.5},       {"a100-sxm-80gb", 8.0}, {"rtx-3090", 8.6},
      {"rtx-4090", 8.9},      {"h100-nvl", 9.0}, {"b200", 10.0},         {"rtx-5090", 12.0},
      {"mi300x", 0},          {"cpu", 0}};
  for (const auto& [name, capability] : published) {
    EXPECT_EQ(load_device(name).device.compute_capability, capability) << name;
  }
  for (const EmbeddedFile& file : embedded_devices()) {
    const Device device = parse_device(file.text, std::string(file.name));
    EXPECT_EQ(device.compute_capability > 0, device.vendor == "NVIDIA") << file.name;
    EXPECT_EQ(device.compute_capability > 0, device.source_of("compute_capability") != "")
        << file.name;
  }
}

TEST(Catalogue, VoltaAndTuringHaveFp16ButNoBf16) {
  for (const auto& [name, fp16] :
       {std::pair{"v100-sxm-16gb", 125e12}, {"v100-sxm-32gb", 125e12}, {"t4", 65e12}}) {
    const Device device = load_device(name).device;
    EXPECT_EQ(peak_flops(device, DType::bf16), 0) << name;
    EXPECT_DOUBLE_EQ(peak_flops(device, DType::fp16), fp16) << name;
  }
}

TEST(Catalogue, LinksAreOneWay) {
  // 12, 18 and 18 links of 25, 25 and 50 GB/s each way.
  EXPECT_DOUBLE_EQ(load_device("a100-sxm-80gb").device.intra_node.bytes_per_second, 300e9);
  EXPECT_DOUBLE_EQ(load_device("h100-sxm-80gb").device.intra_node.bytes_per_second, 450e9);
  EXPECT_DOUBLE_EQ(load_device("b200").device.intra_node.bytes_per_second, 900e9);
}

// The spellings published measurements use.
TEST(Catalogue, SpellingsOfPublishedMeasurementsResolve) {
  const std::vector<std::pair<const char*, const char*>> spellings{
      {"A100-40GB", "a100-sxm-40gb"},
      {"A100-80GB", "a100-sxm-80gb"},
      {"A800-80GB", "a800-80gb"},
      {"V100-16GB", "v100-sxm-16gb"},
      {"V100-32GB", "v100-sxm-32gb"},
      {"H100-80GB", "h100-sxm-80gb"},
      {"H100-96GB-HBM2e", "h100-96gb-hbm2e"},
      {"H200", "h200"},
      {"B200", "b200"},
      {"B300", "b300"},
      {"GB200", "gb200"},
      {"GB300", "gb300"},
      {"L40S", "l40s"},
      {"RTX3090", "rtx-3090"},
      {"RTX4090", "rtx-4090"},
      {"RTX5060Ti", "rtx-5060-ti"},
      {"RTX PRO 6000 (96GB)", "rtx-pro-6000"},
      {"A6000", "rtx-a6000"},
      {"MI300X", "mi300x"},
      {"MI355X", "mi355x"},
      {"TPU v3", "tpu-v3"},
      {"TPU v4", "tpu-v4"},
      {"TPU v5e", "tpu-v5e"},
      {"TPU v5p", "tpu-v5p"},
      {"TPU v6e", "tpu-v6e"}};
  for (const auto& [spelling, name] : spellings) EXPECT_EQ(name_of(spelling), name) << spelling;
}

TEST(Catalogue, DriverNamesResolve) {
  EXPECT_EQ(name_of("NVIDIA A100-SXM4-80GB"), "a100-sxm-80gb");
  EXPECT_EQ(name_of("NVIDIA H100 80GB HBM3"), "h100-sxm-80gb");
  EXPECT_EQ(name_of("Tesla T4"), "t4");
  EXPECT_EQ(name_of("NVIDIA GeForce RTX 4090"), "rtx-4090");
  EXPECT_EQ(name_of("AMD Instinct MI300X"), "mi300x");
}

TEST(Catalogue, CaseAndSeparatorsDoNotMatter) {
  EXPECT_EQ(name_of("A100_SXM_80GB"), "a100-sxm-80gb");
  EXPECT_EQ(name_of("rtx4090"), "rtx-4090");
  EXPECT_EQ(name_of("CPU"), "cpu");
}

TEST(Catalogue, AnAmbiguousNameIsChosenAndTheOthersAreNamed) {
  const LoadedDevice a100 = load_device("a100");
  EXPECT_EQ(a100.device.name, "a100-sxm-80gb");
  ASSERT_EQ(a100.notes.size(), 1U);
  EXPECT_EQ(a100.notes[0],
            "'a100' is taken as a100-sxm-80gb; there are also a100-pcie-40gb, a100-pcie-80gb, "
            "a100-sxm-40gb");
  EXPECT_EQ(load_device("V100").notes[0],
            "'V100' is taken as v100-sxm-32gb; there are also v100-sxm-16gb");
  EXPECT_EQ(load_device("A100-80GB").notes[0],
            "'A100-80GB' is taken as a100-sxm-80gb; there are also a100-pcie-80gb");
  EXPECT_EQ(
      load_device("h100").notes[0],
      "'h100' is taken as h100-sxm-80gb; there are also h100-96gb-hbm2e, h100-nvl, h100-pcie");
}

TEST(Catalogue, AnExactNameBringsNoNote) {
  EXPECT_TRUE(load_device("a100-sxm-80gb").notes.empty());
  EXPECT_TRUE(load_device("RTX3090").notes.empty());
}

TEST(Catalogue, ADeviceWithACaveatSaysIt) {
  const LoadedDevice device = load_device("mi250x");
  ASSERT_EQ(device.notes.size(), 1U);
  EXPECT_EQ(
      device.notes[0],
      "mi250x: a device is one of the two dies (GCD) of an MI250X module, as programs see it");
}

TEST(Catalogue, ATypoGetsNearMatchesAndTheNextStep) {
  try {
    (void)load_device("h10-sxm-80gb");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "device");
    EXPECT_STREQ(error.what(), "'h10-sxm-80gb' is not a known device");
    EXPECT_NE(error.hint().find("'h100-sxm-80gb'"), std::string::npos) << error.hint();
    EXPECT_NE(error.hint().find("`fourhold hardware` lists"), std::string::npos);
    EXPECT_EQ(error.exit_code(), ExitCode::bad_input);
  }
}

TEST(Catalogue, AnEmptyNameIsUnknown) { EXPECT_THROW((void)load_device(""), Error); }

TEST(Catalogue, AUsersFileIsADevice) {
  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / "fourhold_catalogue_test.json";
  std::ofstream(path) << R"({"name": "mine", "usable_bytes": "10GiB", "peak_flops": {"bf16": 1e12},
                             "memory_bandwidth_bytes_per_second": 1e11, "note": "a desk"})";
  const LoadedDevice loaded = load_device(path.string());
  EXPECT_EQ(loaded.device.usable.count(), 10737418240);  // 10 x 2^30
  ASSERT_EQ(loaded.notes.size(), 1U);
  EXPECT_EQ(loaded.notes[0], "mine: a desk");
  std::filesystem::remove(path);
}

TEST(Catalogue, AFileNameThatDoesNotExistIsAFileFault) {
  try {
    (void)load_device("my-box.json");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "my-box.json");
  }
}

}  // namespace
}  // namespace fourhold::hardware
