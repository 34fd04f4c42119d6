#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gimbal::preprocess {

// Text on its way to the model. Buffers are kept between uses.
struct NormalizedText {
  std::string text;
  // For each byte of `text`, the index of the original character it stems from; never decreasing.
  // Empty when sources are not wanted.
  std::vector<uint32_t> sources;

  void Clear() {
    text.clear();
    sources.clear();
  }
};

// The BertNormalizer of tokenizer.json: clean, set Chinese characters apart, strip accents (NFD
// less the nonspacing marks), lower-case, each only when asked. With nothing asked it copies.
// Immutable; any thread may call it. Time is linear in the text.
class Normalizer {
 public:
  struct Options {
    bool clean_text = false;
    bool handle_chinese_chars = false;
    bool strip_accents = false;
    bool lowercase = false;
  };
  explicit Normalizer(Options options);

  const Options& options() const { return options_; }

  // Appends the normal form of `text` to `out`.
  void Append(std::string_view text, NormalizedText* out) const;
  // The same, and its sources; `first` is the index of text's first character.
  void AppendWithSources(std::string_view text, uint32_t first, NormalizedText* out) const;

  // The least position >= `from` at which `text` may be cut such that the words (of
  // BertPreTokenizer) of both parts, normalised apart, are the words of the whole; text.size() when
  // there is none.
  size_t FindCut(std::string_view text, size_t from) const;

 private:
  template <bool kSources>
  class Pass;

  static constexpr uint8_t kDropped = 0x80;

  const Options options_;
  std::array<uint8_t, 128> ascii_;  // the normal form of each ASCII character, or kDropped
};

}  // namespace gimbal::preprocess
