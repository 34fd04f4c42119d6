#include "config/settings.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "config/docs.h"

namespace gimbal::config {
namespace {

// A server and a model to put values into.
struct Structs {
  ServerConfig server;
  LimitsConfig limits;
  ModelConfig model;
  Place place() { return {&server, &limits, &model}; }
};

const Setting& Find(Section section, std::string_view key) {
  for (const Setting& setting : Settings()) {
    if (setting.section == section && setting.key == key) return setting;
  }
  ADD_FAILURE() << "no setting " << key;
  return Settings().front();
}

bool IsNumber(const Setting& setting) {
  return setting.type == Type::kInt || setting.type == Type::kBytes ||
         setting.type == Type::kDuration;
}

TEST(SettingsTest, EveryRowIsComplete) {
  for (const Setting& setting : Settings()) {
    SCOPED_TRACE(setting.key);
    EXPECT_GT(setting.help.size(), 10u);
    EXPECT_EQ(setting.help.back(), '.');
    EXPECT_FALSE(RangeText(setting).empty());
    EXPECT_FALSE(TypeText(setting).empty());
    EXPECT_EQ(IsNumber(setting), setting.max > 0);
    EXPECT_LE(setting.min, setting.max);
    EXPECT_EQ(setting.type == Type::kChoice, !setting.choices.empty());
    EXPECT_EQ(setting.type == Type::kInt, !setting.unit.empty());
    // Name and path come from TARGET; everything else has a flag.
    const bool target = setting.key == "name" || setting.key == "path";
    EXPECT_EQ(setting.flag.starts_with("--"), !target);
  }
}

TEST(SettingsTest, KeysFlagsAndFieldsAreUnique) {
  std::set<std::string> keys;
  std::set<std::string_view> flags;
  std::set<const void*> fields;
  Structs structs;
  for (const Setting& setting : Settings()) {
    SCOPED_TRACE(setting.key);
    EXPECT_TRUE(
        keys.insert(std::string(SectionName(setting.section)) + "." + std::string(setting.key))
            .second);
    EXPECT_TRUE(setting.flag.empty() || flags.insert(setting.flag).second);
    const void* field =
        std::visit([](auto* p) -> const void* { return p; }, setting.field(structs.place()));
    EXPECT_TRUE(fields.insert(field).second);
  }
}

TEST(SettingsTest, DefaultsRoundTrip) {
  for (const Setting& setting : Settings()) {
    SCOPED_TRACE(setting.key);
    const std::string text = DefaultText(setting);
    const bool target = setting.key == "name" || setting.key == "path";
    Structs structs;
    const Status status = SetText(setting, text, structs.place());
    EXPECT_EQ(status.ok(), !target) << status.message();  // these two have no default
    EXPECT_EQ(GetText(setting, structs.place()), text);
  }
}

TEST(SettingsTest, NumbersHoldTheirRange) {
  for (const Setting& setting : Settings()) {
    if (!IsNumber(setting)) continue;
    SCOPED_TRACE(setting.key);
    Structs structs;
    const auto spell = [&](int64_t value) {
      if (setting.type == Type::kInt) return std::to_string(value);
      return std::to_string(value) + (setting.type == Type::kBytes ? "B" : "ns");
    };
    for (int64_t value : {setting.min, setting.max}) {
      EXPECT_TRUE(SetText(setting, spell(value), structs.place()).ok()) << value;
      // The value that was set is the value that is read back, in any spelling.
      const std::string text = GetText(setting, structs.place());
      EXPECT_TRUE(SetText(setting, text, structs.place()).ok()) << text;
      EXPECT_EQ(GetText(setting, structs.place()), text);
    }
    EXPECT_FALSE(SetText(setting, spell(setting.max + 1), structs.place()).ok());
    EXPECT_EQ(SetText(setting, spell(0), structs.place()).ok(),
              !setting.zero.empty() || setting.min == 0);
    EXPECT_EQ(SetText(setting, spell(1), structs.place()).ok(), setting.min <= 1);
  }
}

TEST(SettingsTest, SaysWhatWasExpectedAndWhatCame) {
  struct Case {
    Section section;
    std::string_view key;
    std::string_view text;
    std::string_view message;
  };
  const Case cases[] = {
      {Section::kServer, "http", "8000", "expected HOST:PORT such as 127.0.0.1:8000, got \"8000\""},
      {Section::kServer, "http", "h:65536",
       "expected HOST:PORT such as 127.0.0.1:8000, got \"h:65536\""},
      {Section::kServer, "http", "a b:1",
       "expected HOST:PORT such as 127.0.0.1:8000, got \"a b:1\""},
      {Section::kServer, "http", "::1:80",
       "expected HOST:PORT such as 127.0.0.1:8000, got \"::1:80\""},
      {Section::kServer, "io_threads", "two", "expected an integer, got \"two\""},
      {Section::kServer, "io_threads", "1.5", "expected an integer, got \"1.5\""},
      {Section::kServer, "io_threads", "-1", "expected 0 or 1..256 threads, got -1"},
      {Section::kServer, "io_threads", "99999999999999999999",
       "expected 0 or 1..256 threads, got 99999999999999999999"},
      {Section::kServer, "log.access", "yes", "expected true or false, got \"yes\""},
      {Section::kServer, "log.level", "warn",
       "expected debug, info, warning or error, got \"warn\""},
      {Section::kServer, "log.level", "eror",
       "expected debug, info, warning or error, got \"eror\"; did you mean \"error\"?"},
      {Section::kServer, "drain_timeout", "5",
       "expected a duration such as 25ms, got \"5\" (the unit is missing)"},
      {Section::kServer, "drain_timeout", "2KiB",
       "expected a duration such as 25ms, got \"2KiB\" (unknown unit)"},
      {Section::kServer, "drain_timeout", "2us", "expected 0s or 1ms..60m, got 2us"},
      {Section::kLimits, "max_body", "16",
       "expected a size such as 16MiB, got \"16\" (the unit is missing)"},
      {Section::kLimits, "max_body", "0B", "expected 1KiB..64GiB, got 0B"},
      {Section::kModel, "name", "a/b",
       "expected a name of letters, digits, \".\", \"_\" and \"-\" that starts with a letter or "
       "digit, got \"a/b\""},
      {Section::kModel, "path", "", "expected a path, got nothing"},
      {Section::kModel, "scenario", "", "expected online, batch or edge, got nothing"},
  };
  for (const Case& c : cases) {
    Structs structs;
    const Setting& setting = Find(c.section, c.key);
    const std::string before = GetText(setting, structs.place());
    const Status status = SetText(setting, c.text, structs.place());
    EXPECT_EQ(status.message(), c.message) << c.key;
    EXPECT_EQ(GetText(setting, structs.place()), before) << "a refused value must not stick";
  }
}

TEST(SettingsTest, AcceptsAddresses) {
  for (std::string_view text : {"127.0.0.1:8000", "localhost:0", "[::1]:65535", "0.0.0.0:1",
                                "my-host.example:80", "[fe80::1%eth0]:80"}) {
    EXPECT_TRUE(CheckAddress(text).ok()) << text;
  }
  for (std::string_view text : {"", ":80", "h:", "h:-1", "h:+1", "h:080000", "h:8x", "[]:80"}) {
    EXPECT_FALSE(CheckAddress(text).ok()) << text;
  }
}

TEST(SettingsTest, AcceptsNames) {
  for (std::string_view text : {"minilm", "e5-small_v2.1", "7b", "A"}) {
    EXPECT_TRUE(CheckName(text).ok()) << text;
  }
  for (const std::string& text : {std::string(), std::string("-a"), std::string(".."),
                                  std::string("a b"), std::string("ä"), std::string(129, 'a')}) {
    EXPECT_FALSE(CheckName(text).ok()) << text;
  }
}

TEST(SettingsTest, ShowsLittleOfALongValue) {
  Structs structs;
  const Status status =
      SetText(Find(Section::kModel, "scenario"), std::string(1 << 20, 'x'), structs.place());
  EXPECT_LT(status.message().size(), 200u);
}

TEST(SettingsTest, ThePageIsUpToDate) {
  std::ifstream in(GIMBAL_SOURCE_DIR "/docs/configuration.md");
  std::stringstream page;
  page << in.rdbuf();
  EXPECT_EQ(page.str(), SettingsPage()) << "run: gimbal docs settings > docs/configuration.md";
}

TEST(SettingsTest, ThePageNamesEverySetting) {
  const std::string page = SettingsPage();
  for (const Setting& setting : Settings()) {
    EXPECT_NE(page.find("| `" + std::string(setting.key) + "` | "), std::string::npos);
    EXPECT_NE(page.find(setting.help), std::string::npos) << setting.key;
  }
}

}  // namespace
}  // namespace gimbal::config
