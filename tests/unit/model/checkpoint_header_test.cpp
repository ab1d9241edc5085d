#include "fourhold/model/checkpoint_header.h"

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "fourhold/base/error.h"
#include "tests/unit/model/checkpoint_files.h"

namespace fourhold::model {
namespace {

CheckpointHeader parse(const std::string& json, std::size_t data_bytes) {
  const std::string file = file_bytes(json, data_bytes);
  return parse_checkpoint_header(file, static_cast<std::int64_t>(file.size()), "m.safetensors");
}

struct Fault {
  std::string what;
  std::string hint;
};

Fault fault_of_bytes(const std::string& file) {
  try {
    (void)parse_checkpoint_header(file, static_cast<std::int64_t>(file.size()), "m.safetensors");
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "m.safetensors");
    EXPECT_EQ(error.exit_code(), ExitCode::bad_input);
    EXPECT_FALSE(error.hint().empty()) << error.what();
    return {error.what(), error.hint()};
  }
  ADD_FAILURE() << "accepted";
  return {};
}

std::string fault_of(const std::string& json, std::size_t data_bytes = 0) {
  return fault_of_bytes(file_bytes(json, data_bytes)).what;
}

TEST(CheckpointHeader, ReadsTensorsInTheOrderOfTheirData) {
  const CheckpointHeader header =
      parse(R"({"b":{"dtype":"F32","shape":[3],"data_offsets":[12,24]},)"
            R"("a":{"shape":[2,3],"data_offsets":[0,12],"dtype":"BF16"},)"
            R"("__metadata__":{"format":"pt"}}  )",
            24);
  ASSERT_EQ(header.tensors.size(), 2U);
  EXPECT_EQ(header.tensors[0].name, "a");
  EXPECT_EQ(header.tensors[0].type, StoredType::bf16);
  EXPECT_EQ(header.tensors[0].elements, 6);
  EXPECT_EQ(header.tensors[0].bytes(), 12);  // 6 x 2
  EXPECT_EQ(header.tensors[1].name, "b");
  EXPECT_EQ(header.tensors[1].shape, std::vector<std::int64_t>{3});
  EXPECT_EQ(header.data_bytes, 24);
  ASSERT_EQ(header.metadata.size(), 1U);
  EXPECT_EQ(header.metadata[0].second, "pt");
}

TEST(CheckpointHeader, AScalarHasOneElementAndAnEmptyTensorNone) {
  const CheckpointHeader header =
      parse(R"({"s":{"dtype":"F64","shape":[],"data_offsets":[0,8]},)"
            R"("e":{"dtype":"F64","shape":[0,9223372036854775807,4],"data_offsets":[8,8]}})",
            8);
  EXPECT_EQ(header.tensors[0].elements, 1);
  EXPECT_EQ(header.tensors[1].elements, 0);
}

TEST(CheckpointHeader, AFileWithoutTensorsIsValid) {
  EXPECT_TRUE(parse("{}", 0).tensors.empty());
  EXPECT_EQ(parse(R"({"__metadata__":{"a":"b"}})", 0).metadata.size(), 1U);
}

TEST(CheckpointHeader, EveryDtypeHasItsSize) {
  // Eight elements end on a whole byte for every dtype.
  for (const StoredTypeInfo& type : kStoredTypes) {
    const std::string json = "{\"t\":{\"dtype\":\"" + std::string(type.name) +
                             "\",\"shape\":[8],\"data_offsets\":[0," + std::to_string(type.bits) +
                             "]}}";
    EXPECT_EQ(parse(json, static_cast<std::size_t>(type.bits)).tensors[0].bytes(), type.bits);
  }
}

TEST(CheckpointHeader, AFileOfSevenBytesIsTooShort) {
  EXPECT_EQ(
      fault_of_bytes("1234567").what,
      "has 7 bytes; a safetensors file starts with 8 bytes that give the length of its header");
  EXPECT_NE(fault_of_bytes("").what.find("has 0 bytes"), std::string::npos);
}

TEST(CheckpointHeader, AHeaderAboveTheLimitIsRefused) {
  const std::string file("\x01\xE1\xF5\x05\0\0\0\0", 8);  // 100,000,001
  EXPECT_EQ(fault_of_bytes(file).what,
            "byte 0: a header of 100000001 bytes is above the limit of 100,000,000");
}

TEST(CheckpointHeader, AHeaderThatEndsPastTheFileIsRefused) {
  const std::string file("\x09\0\0\0\0\0\0\0{}", 10);
  EXPECT_EQ(fault_of_bytes(file).what,
            "byte 0: a header of 9 bytes ends past the end of the file, which has 10 bytes");
  EXPECT_EQ(fault_of_bytes(file).hint, "the file is cut short: download it again");
}

TEST(CheckpointHeader, AHeaderStartsWithABrace) {
  EXPECT_EQ(fault_of(" {}"), "byte 8: the header does not start with '{'");
  EXPECT_EQ(fault_of(""), "byte 8: the header does not start with '{'");
}

// safetensors/safetensors issue 466: an empty dictionary written with its metadata outside.
TEST(CheckpointHeader, TextAfterTheObjectIsRefused) {
  EXPECT_EQ(fault_of(R"({},"__metadata__":{"a":"b"}}   )"),
            "byte 10: found ',' after the end of the header's object");
}

TEST(CheckpointHeader, ATensorGivenTwiceIsRefusedAtItsSecondPlace) {
  EXPECT_EQ(fault_of(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                     R"("a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
                     2),
            "byte 61: the tensor 'a' is given twice");
}

TEST(CheckpointHeader, AFieldGivenTwiceIsRefused) {
  EXPECT_EQ(fault_of(R"({"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1),
            "byte 27: 'dtype' is given twice");
}

TEST(CheckpointHeader, MetadataGivenTwiceIsRefused) {
  EXPECT_EQ(fault_of(R"({"__metadata__":{},"__metadata__":{}})"),
            "byte 27: '__metadata__' is given twice");
  EXPECT_EQ(fault_of(R"({"__metadata__":{"k":"1","k":"2"}})"),
            "byte 33: the metadata key 'k' is given twice");
}

TEST(CheckpointHeader, MetadataHoldsOnlyTexts) {
  EXPECT_EQ(fault_of(R"({"__metadata__":{"a":1}})"),
            "byte 29: expected a value of the metadata in double quotes, found '1'");
  EXPECT_EQ(fault_of(R"({"__metadata__":"x"})"),
            "byte 24: expected '{' before the metadata, found '\"'");
}

TEST(CheckpointHeader, OverlapsAreRefused) {
  EXPECT_EQ(fault_of(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                     R"("b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
                     6),
            "byte 61: 'b' begins at 2, inside the tensor before it, which ends at 4");
}

TEST(CheckpointHeader, HolesAreRefused) {
  EXPECT_EQ(fault_of(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                     R"("b":{"dtype":"U8","shape":[4],"data_offsets":[5,9]}})",
                     9),
            "byte 61: 'b' begins at 5, which leaves a hole after 4");
  EXPECT_EQ(fault_of(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[1,5]}})", 5),
            "byte 9: 'a' begins at 1, which leaves a hole after 0");
}

TEST(CheckpointHeader, TheTensorsMustFillTheFile) {
  const std::string json = R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})";
  const Fault cut = fault_of_bytes(file_bytes(json, 3));
  EXPECT_EQ(cut.what, "byte 0: the tensors take 4 bytes, but 3 bytes of data follow the header");
  EXPECT_EQ(cut.hint, "the file is cut short: download it again");
  EXPECT_EQ(fault_of_bytes(file_bytes(json, 5)).hint, "the file has bytes that no tensor uses");
}

TEST(CheckpointHeader, ShapeAndOffsetsMustAgree) {
  EXPECT_EQ(fault_of(R"({"a":{"dtype":"BF16","shape":[4],"data_offsets":[0,4]}})", 4),
            "byte 9: 'a' needs 8 bytes for 4 elements of BF16, but its offsets span 4");
}

TEST(CheckpointHeader, AShapeThatOverflowsIsRefused) {
  EXPECT_EQ(
      fault_of(R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})"),
      "byte 9: 'a' has a shape outside the 64-bit range");
  EXPECT_EQ(fault_of(R"({"a":{"dtype":"F64","shape":[4611686018427387904],"data_offsets":[0,0]}})"),
            "byte 9: 'a' has a size outside the 64-bit range");
}

TEST(CheckpointHeader, ASubByteTensorMustEndOnAByte) {
  EXPECT_EQ(fault_of(R"({"a":{"dtype":"F4","shape":[3],"data_offsets":[0,2]}})", 2),
            "byte 9: 'a' has 3 elements of 4 bits, which end inside a byte");
}

TEST(CheckpointHeader, OffsetsMustNotRunBackwards) {
  EXPECT_EQ(fault_of(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[5,4]}})"),
            "byte 9: 'a' ends at 4, before its begin at 5");
}

TEST(CheckpointHeader, AnUnknownDtypeIsNamedWithTheKnownOnes) {
  const Fault fault =
      fault_of_bytes(file_bytes(R"({"a":{"dtype":"F16X","shape":[],"data_offsets":[0,2]}})", 2));
  EXPECT_EQ(fault.what, "byte 22: 'F16X' is not a dtype of safetensors");
  EXPECT_NE(fault.hint.find("F8_E4M3FNUZ"), std::string::npos);
}

TEST(CheckpointHeader, AMissingOrUnknownFieldIsNamed) {
  EXPECT_EQ(fault_of(R"({"a":{"dtype":"U8","shape":[1]}})"), "byte 9: 'a' has no data_offsets");
  EXPECT_EQ(fault_of(R"({"a":{"shape":[1],"data_offsets":[0,1]}})"), "byte 9: 'a' has no dtype");
  EXPECT_EQ(fault_of(R"({"a":{"dtype":"U8","data_offsets":[0,1]}})"), "byte 9: 'a' has no shape");
  EXPECT_EQ(fault_of(R"({"a":{"offsets":[0,1]}})"),
            "byte 14: 'offsets' is not a field of a tensor");
}

TEST(CheckpointHeader, MoreDimensionsThanAnyLibraryHasAreRefused) {
  std::string ones = "1";
  for (int i = 1; i < 65; ++i) ones += ",1";
  EXPECT_NE(fault_of("{\"a\":{\"shape\":[" + ones + "]}}").find("more than 64 dimensions"),
            std::string::npos);
}

TEST(CheckpointHeader, ThreeOffsetsAreRefused) {
  EXPECT_EQ(fault_of(R"({"a":{"data_offsets":[0,1,2]}})"),
            "byte 33: expected ']' after the two offsets, found ','");
}

// OpenBMB/MiniCPM-V issue 159: the pointer's first bytes read as a length of 2.3e18.
TEST(CheckpointHeader, AGitLfsPointerIsNamedAsThat) {
  const Fault fault = fault_of_bytes(
      "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 16060556376\n");
  EXPECT_EQ(fault.what, "is a Git LFS pointer, not the weights");
  EXPECT_NE(fault.hint.find("git lfs pull"), std::string::npos);
}

TEST(CheckpointHeader, AnHtmlPageIsNamedAsThat) {
  EXPECT_EQ(fault_of_bytes("<!DOCTYPE html>\n<html></html>\n").what,
            "is an HTML or XML page, not the weights");
  EXPECT_EQ(fault_of_bytes("<html>").what, "is an HTML or XML page, not the weights");
}

TEST(CheckpointHeader, ALengthWhoseBytesSpellHtmlIsALength) {
  // 26,684 = 0x683C is "<h" in the file.
  const std::string json = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
  const std::string padded = json + std::string(26684 - json.size(), ' ');
  EXPECT_EQ(file_bytes(padded, 1).substr(0, 2), "<h");
  EXPECT_EQ(parse(padded, 1).tensors.size(), 1U);
}

TEST(CheckpointHeader, ReadsOnlyTheHeaderOfAFile) {
  const TestFolder folder;
  const std::string path =
      folder.write("m.safetensors", header_bytes(R"({"a":{"dtype":"F32","shape":[2500000],)"
                                                 R"("data_offsets":[0,10000000]}})"));
  // A sparse file: its data are never written and never read.
  std::filesystem::resize_file(path, std::filesystem::file_size(path) + 10000000);
  EXPECT_EQ(read_checkpoint_header(path).tensors[0].elements, 2500000);
}

TEST(CheckpointHeader, AMissingFileAndAFolderAreFaults) {
  const TestFolder folder;
  try {
    (void)read_checkpoint_header(folder.path() + "/none.safetensors");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "cannot be opened");
  }
  try {
    (void)read_checkpoint_header(folder.path());
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "is a folder");
  }
}

}  // namespace
}  // namespace fourhold::model
