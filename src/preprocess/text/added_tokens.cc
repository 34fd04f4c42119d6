#include "preprocess/text/added_tokens.h"

#include <algorithm>
#include <utility>

#include "preprocess/text/unicode.h"

namespace gimbal::preprocess {
namespace {

bool Is(char32_t cp, uint8_t flag) { return (RecordOf(cp).flags & flag) != 0; }

bool FollowsWord(std::string_view text, size_t pos) {
  return pos > 0 && Is(PreviousCodePoint(text, &pos), kWord);
}

bool PrecedesWord(std::string_view text, size_t pos) {
  return pos < text.size() && Is(NextCodePoint(text, &pos), kWord);
}

size_t SpaceStart(std::string_view text, size_t pos, size_t least) {
  while (pos > least) {
    size_t previous = pos;
    if (!Is(PreviousCodePoint(text, &previous), kSpace)) break;
    pos = previous;
  }
  return pos;
}

size_t SpaceEnd(std::string_view text, size_t pos) {
  while (pos < text.size()) {
    size_t next = pos;
    if (!Is(NextCodePoint(text, &next), kSpace)) break;
    pos = next;
  }
  return pos;
}

}  // namespace

AddedTokenMatcher::AddedTokenMatcher(std::vector<AddedToken> tokens)
    : tokens_(std::move(tokens)), nodes_(1) {}

Result<AddedTokenMatcher> AddedTokenMatcher::Create(std::vector<AddedToken> tokens,
                                                    const std::vector<std::string>& patterns) {
  AddedTokenMatcher matcher(std::move(tokens));
  const bool any_rstrip = std::any_of(matcher.tokens_.begin(), matcher.tokens_.end(),
                                      [](const AddedToken& t) { return t.rstrip; });
  for (size_t i = 0; i < patterns.size(); ++i) {
    const std::string name = "added token \"" + matcher.tokens_[i].content + "\" ";
    if (patterns[i].empty()) return InvalidError(name + "is empty when normalised");
    size_t pos = 0;
    if (any_rstrip && Is(NextCodePoint(patterns[i], &pos), kSpace)) {
      return InvalidError(name + "starts with white space, which another one (rstrip) takes");
    }
    int32_t* const end = matcher.EndOf(patterns[i]);
    if (*end >= 0) return InvalidError(name + "is the same as another one when normalised");
    *end = static_cast<int32_t>(i);
    matcher.starts_[static_cast<uint8_t>(patterns[i][0])] = true;
  }
  return matcher;
}

uint32_t AddedTokenMatcher::Child(uint32_t node, uint8_t byte) const {
  for (const Edge& edge : nodes_[node].edges) {
    if (edge.byte == byte) return edge.node;
  }
  return 0;
}

int32_t* AddedTokenMatcher::EndOf(std::string_view pattern) {
  uint32_t node = 0;
  for (const char c : pattern) {
    const auto byte = static_cast<uint8_t>(c);
    uint32_t child = Child(node, byte);
    if (child == 0) {
      child = static_cast<uint32_t>(nodes_.size());
      nodes_[node].edges.push_back({byte, child});
      nodes_.emplace_back();
    }
    node = child;
  }
  return &nodes_[node].token;
}

int32_t AddedTokenMatcher::LongestAt(std::string_view text, size_t pos, size_t* end) const {
  int32_t best = -1;
  uint32_t node = 0;
  while (pos < text.size()) {
    node = Child(node, static_cast<uint8_t>(text[pos++]));
    if (node == 0) break;
    if (nodes_[node].token >= 0) {
      best = nodes_[node].token;
      *end = pos;
    }
  }
  return best;
}

bool AddedTokenMatcher::Next(std::string_view text, size_t until, Cursor* cursor,
                             Match* match) const {
  if (empty()) return false;
  until = std::min(until, text.size());
  size_t pos = cursor->next;
  for (; pos < until; ++pos) {
    if (!starts_[static_cast<uint8_t>(text[pos])]) continue;
    size_t end = 0;
    const int32_t found = LongestAt(text, pos, &end);
    if (found < 0) continue;
    const AddedToken& token = tokens_[static_cast<size_t>(found)];
    if (token.single_word && (FollowsWord(text, pos) || PrecedesWord(text, end))) {
      pos = end - 1;  // a discarded match is consumed all the same
      continue;
    }
    cursor->next = end;
    match->begin = token.lstrip ? SpaceStart(text, pos, cursor->taken) : pos;
    match->end = token.rstrip ? SpaceEnd(text, end) : end;
    match->token = &token;
    cursor->taken = match->end;
    return true;
  }
  cursor->next = pos;
  return false;
}

}  // namespace gimbal::preprocess
