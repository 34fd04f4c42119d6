#pragma once

#include <string>

namespace gimbal::preprocess {

// A tokenizer.json of a few tokens, for tests. Expected values in the tests are what the library
// says for it.
inline std::string TestTokenizerJson() {
  return R"json({
 "version": "1.0",
 "truncation": {"direction": "Right", "max_length": 64, "strategy": "LongestFirst", "stride": 0},
 "padding": {"strategy": "BatchLongest", "direction": "Right", "pad_to_multiple_of": null,
  "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"},
 "added_tokens": [
  {"id": 0, "content": "[PAD]", "single_word": false, "lstrip": false, "rstrip": false,
   "normalized": false, "special": true},
  {"id": 2, "content": "[CLS]", "single_word": false, "lstrip": false, "rstrip": false,
   "normalized": false, "special": true},
  {"id": 3, "content": "[SEP]", "single_word": false, "lstrip": false, "rstrip": false,
   "normalized": false, "special": true},
  {"id": 20, "content": "<left>", "single_word": false, "lstrip": true, "rstrip": false,
   "normalized": false, "special": false},
  {"id": 21, "content": "<right>", "single_word": false, "lstrip": false, "rstrip": true,
   "normalized": false, "special": false},
  {"id": 22, "content": "<word>", "single_word": true, "lstrip": false, "rstrip": false,
   "normalized": false, "special": false}],
 "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
  "strip_accents": null, "lowercase": true},
 "pre_tokenizer": {"type": "BertPreTokenizer"},
 "post_processor": {"type": "TemplateProcessing",
  "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
   {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
  "pair": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
   {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
   {"Sequence": {"id": "B", "type_id": 1}}, {"SpecialToken": {"id": "[SEP]", "type_id": 1}}],
  "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]},
   "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]}}},
 "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
 "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
  "max_input_chars_per_word": 10,
  "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "a": 4, "b": 5, "##a": 6, "##b": 7,
   "un": 8, "##aff": 9, "##able": 10, "hello": 11, ",": 12, "漢": 13, "字": 14, "strasse": 15,
   "stra": 16, "##ße": 17, "i": 18, "ᄀ": 19}}})json";
}

// The JSON with the first `from` in it replaced by `to`; unchanged when there is none.
inline std::string Replaced(std::string json, const std::string& from, const std::string& to) {
  const size_t place = json.find(from);
  if (place != std::string::npos) json.replace(place, from.size(), to);
  return json;
}

}  // namespace gimbal::preprocess
