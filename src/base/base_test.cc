#include <gtest/gtest.h>

#include <limits>

#include "base/json_writer.h"
#include "base/result.h"
#include "base/units.h"
#include "base/utf8.h"

namespace gimbal {
namespace {

TEST(Status, EachCodeHasItsNameAndHttpStatus) {
  EXPECT_EQ(CodeName(Code::kTooLarge), "too_large");
  EXPECT_EQ(HttpStatus(Code::kTooLarge), 413);
  EXPECT_EQ(HttpStatus(Code::kOverloaded), 429);
  EXPECT_EQ(HttpStatus(Code::kDeadline), 504);
  EXPECT_EQ(GrpcStatus(Code::kNotFound), 5);
}

TEST(Status, ContextGoesInFront) {
  EXPECT_EQ(InvalidError("b").WithContext("a").message(), "a: b");
  EXPECT_TRUE(Status::Ok().WithContext("a").ok());
}

Result<int> Half(int n) {
  if (n % 2 != 0) return InvalidError("odd");
  return n / 2;
}
Result<int> Quarter(int n) {
  ASSIGN_OR_RETURN(int half, Half(n));
  return Half(half);
}

TEST(Result, ErrorsTravelUp) {
  EXPECT_EQ(Quarter(8).value(), 2);
  EXPECT_EQ(Quarter(6).status().message(), "odd");
  EXPECT_FALSE(Quarter(1).ok());
}

TEST(Units, TheUnitIsPartOfTheValue) {
  EXPECT_EQ(ParseBytes("16MiB").value(), MiB(16));
  EXPECT_EQ(ParseBytes("1.5 kB").value(), Bytes{1500});
  EXPECT_EQ(FormatBytes(MiB(16)), "16MiB");
  EXPECT_EQ(FormatBytes(Bytes{1000}), "1kB");
  EXPECT_EQ(ParseDuration("25ms").value(), std::chrono::milliseconds(25));
  EXPECT_EQ(FormatDuration(std::chrono::microseconds(1500)), "1500us");
  for (const char* bad : {"16", "", "MiB", "-1MiB", "16 apples", "1e30GiB", "nanMiB"}) {
    EXPECT_FALSE(ParseBytes(bad).ok()) << bad;
  }
  EXPECT_NE(ParseDuration("25").status().message().find("unit is missing"), std::string::npos);
}

TEST(Utf8, InvalidSubpartsAreFoundAndReplaced) {
  EXPECT_TRUE(IsValidUtf8("h\xC3\xA9 \xF0\x9F\x98\x80"));
  EXPECT_EQ(ValidUtf8Prefix("ab\xC0\xAF"), 2u);
  EXPECT_FALSE(IsValidUtf8("\xED\xA0\x80"));      // a surrogate
  EXPECT_FALSE(IsValidUtf8("\xF4\x90\x80\x80"));  // above U+10FFFF
  // A truncated four-byte sequence is one maximal subpart; a stray continuation is its own.
  EXPECT_EQ(ReplaceInvalidUtf8("\xF0\x9F\x98x\x80"), "\xEF\xBF\xBDx\xEF\xBF\xBD");
}

TEST(JsonWriter, EscapesAndSeparates) {
  JsonWriter w;
  w.BeginObject().Key("a").Int(-1).Key("b").BeginArray().String("x\"\n\x01").Null().EndArray();
  w.Key("c").BeginObject().EndObject().EndObject();
  EXPECT_EQ(w.str(), R"({"a":-1,"b":["x\"\n\u0001",null],"c":{}})");
}

TEST(JsonWriter, NumbersReadBackAsThemselvesAndNanIsNull) {
  JsonWriter w;
  w.BeginArray()
      .Float(0.1f)
      .Double(0.1)
      .Float(std::numeric_limits<float>::quiet_NaN())
      .Fixed(1.005, 1);
  w.EndArray();
  EXPECT_EQ(w.str(), "[0.1,0.1,null,1.0]");
}

}  // namespace
}  // namespace gimbal
