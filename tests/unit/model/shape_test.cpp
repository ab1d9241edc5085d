#include "fourhold/model/shape.h"

#include <gtest/gtest.h>

#include "fourhold/base/error.h"

namespace fourhold::model {
namespace {

TEST(Shape, ElementsAreTheProductOfTheSizes) {
  EXPECT_EQ((Shape{{Dim::heads, 32}, {Dim::head_dim, 128}, {Dim::hidden, 4096}}).elements(),
            16'777'216);
  EXPECT_EQ(Shape{}.elements(), 1);
}

TEST(Shape, AProductBeyond64BitsIsRefused) {
  const Shape shape{{Dim::vocab, 1LL << 40}, {Dim::hidden, 1LL << 40}};
  EXPECT_THROW(static_cast<void>(shape.elements()), Error);
}

TEST(Shape, ShapesDifferByMeaningToo) {
  EXPECT_EQ((Shape{{Dim::hidden, 8}}), (Shape{{Dim::hidden, 8}}));
  EXPECT_FALSE((Shape{{Dim::hidden, 8}}) == (Shape{{Dim::ffn, 8}}));
  EXPECT_FALSE((Shape{{Dim::hidden, 8}}) == (Shape{}));
}

TEST(Shape, TheTextListsSizes) {
  EXPECT_EQ(to_string(Shape{{Dim::hidden, 4096}, {Dim::ffn, 14336}}), "[4096, 14336]");
  EXPECT_EQ(to_string(Shape{}), "[]");
}

TEST(Shape, DimensionsAreNamed) {
  EXPECT_EQ(to_string(Dim::tokens), "tokens");
  EXPECT_EQ(to_string(Dim::kv_heads), "kv_heads");
  EXPECT_EQ(to_string(Dim::other), "other");
}

}  // namespace
}  // namespace fourhold::model
