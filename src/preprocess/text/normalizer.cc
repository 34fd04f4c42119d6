#include "preprocess/text/normalizer.h"

#include <algorithm>

#include "preprocess/text/unicode.h"

namespace gimbal::preprocess {
namespace {

// Part of a decomposed character that waits for its place in canonical order.
struct Mark {
  char32_t cp;
  uint8_t combining_class;
  bool dropped;  // nonspacing
  bool first;    // the first of its character's decomposition
};

// A stable sort in linear time, because a text may be nothing but marks.
void SortByClass(std::vector<Mark>* marks, std::vector<Mark>* scratch) {
  const auto by_class = [](const Mark& a, const Mark& b) {
    return a.combining_class < b.combining_class;
  };
  if (std::is_sorted(marks->begin(), marks->end(), by_class)) return;
  std::array<size_t, 257> place = {};
  for (const Mark& mark : *marks) ++place[mark.combining_class + 1];
  for (size_t i = 1; i < place.size(); ++i) place[i] += place[i - 1];
  scratch->resize(marks->size());
  for (const Mark& mark : *marks) (*scratch)[place[mark.combining_class]++] = mark;
  marks->swap(*scratch);
}

}  // namespace

// One call of Append. The steps of the library, each a pass over the whole string there, are
// chained here character by character: Read → Accept → Decompose → Order → Emit.
//
// Sources: the library hands the original characters out in the order in which the first parts of
// decompositions are emitted. Where marks were reordered, a mark may thus be counted to its
// neighbour; we follow, since offsets are part of the contract.
template <bool kSources>
class Normalizer::Pass {
 public:
  Pass(const Normalizer& normalizer, NormalizedText* out) : normalizer_(normalizer), out_(*out) {}

  void Run(std::string_view text, uint32_t source) {
    size_t pos = 0;
    while (pos < text.size()) {
      if (marks_.empty() && static_cast<uint8_t>(text[pos]) < 0x80) {
        const size_t end = AsciiEnd(text, pos);
        ReadAscii(text.substr(pos, end - pos), source);
        source += static_cast<uint32_t>(end - pos);
        pos = end;
        continue;
      }
      Read(NextCodePoint(text, &pos), source++);
    }
    FlushMarks();
  }

 private:
  static size_t AsciiEnd(std::string_view text, size_t pos) {
    while (pos < text.size() && static_cast<uint8_t>(text[pos]) < 0x80) ++pos;
    return pos;
  }

  void ReadAscii(std::string_view run, uint32_t source) {
    size_t to = out_.text.size();
    out_.text.resize(to + run.size());
    if (kSources) out_.sources.resize(to + run.size());
    for (const char c : run) {
      const uint8_t mapped = normalizer_.ascii_[static_cast<uint8_t>(c)];
      out_.text[to] = static_cast<char>(mapped);  // overwritten by the next when dropped
      if (kSources) out_.sources[to] = source++;
      to += mapped != kDropped;
    }
    out_.text.resize(to);
    if (kSources) out_.sources.resize(to);
  }

  void Read(char32_t cp, uint32_t source) {
    const Options& options = normalizer_.options_;
    const uint8_t flags = RecordOf(cp).flags;
    if (options.clean_text && (flags & kRemoved)) return;
    if (options.clean_text && (flags & kSpace)) return Accept(U' ', source);
    if (options.handle_chinese_chars && (flags & kCjk)) {
      Accept(U' ', source);
      Accept(cp, source);
      return Accept(U' ', source);
    }
    Accept(cp, source);
  }

  void Accept(char32_t cp, uint32_t source) {
    const CodePointRecord record = RecordOf(cp);
    if (!normalizer_.options_.strip_accents) return Emit(cp, record.flags, source);
    if (!(record.flags & kDecomposes)) return Order(cp, record, source, true);
    char32_t parts[kMaxMapping];
    const size_t count = Decompose(cp, parts);
    for (size_t i = 0; i < count; ++i) Order(parts[i], RecordOf(parts[i]), source, i == 0);
  }

  void Order(char32_t cp, CodePointRecord record, uint32_t source, bool first) {
    const bool dropped = record.flags & kNonspacing;
    if (record.combining_class == 0) {
      FlushMarks();
      last_source_ = source;
      if (!dropped) Emit(cp, record.flags, source);
      return;
    }
    // Without sources, marks that will be dropped have no influence on those that stay.
    if (!kSources && dropped) return;
    marks_.push_back({cp, record.combining_class, dropped, first});
    if (kSources && first) mark_sources_.push_back(source);
  }

  void FlushMarks() {
    if (marks_.empty()) return;
    SortByClass(&marks_, &sorted_);
    size_t next = 0;
    for (const Mark& mark : marks_) {
      if (kSources && mark.first) last_source_ = mark_sources_[next++];
      if (!mark.dropped) Emit(mark.cp, RecordOf(mark.cp).flags, last_source_);
    }
    marks_.clear();
    mark_sources_.clear();
  }

  void Emit(char32_t cp, uint8_t flags, uint32_t source) {
    if (!normalizer_.options_.lowercase || !(flags & kLowers)) return Write(cp, source);
    char32_t parts[kMaxMapping];
    const size_t count = Lowercase(cp, parts);
    for (size_t i = 0; i < count; ++i) Write(parts[i], source);
  }

  void Write(char32_t cp, uint32_t source) {
    char bytes[4];
    const size_t length = EncodeUtf8(cp, bytes);
    out_.text.append(bytes, length);
    if (kSources) out_.sources.insert(out_.sources.end(), length, source);
  }

  const Normalizer& normalizer_;
  NormalizedText& out_;
  std::vector<Mark> marks_;             // since the last character of class 0
  std::vector<uint32_t> mark_sources_;  // of those of them that are `first`
  std::vector<Mark> sorted_;            // scratch
  uint32_t last_source_ = 0;            // original character handed out last
};

Normalizer::Normalizer(Options options) : options_(options) {
  for (size_t c = 0; c < ascii_.size(); ++c) {
    const uint8_t flags = RecordOf(static_cast<char32_t>(c)).flags;
    ascii_[c] = static_cast<uint8_t>(c);
    if (options_.lowercase && (flags & kLowers)) ascii_[c] = static_cast<uint8_t>(c + 'a' - 'A');
    if (options_.clean_text && (flags & kSpace)) ascii_[c] = ' ';
    if (options_.clean_text && (flags & kRemoved)) ascii_[c] = kDropped;
  }
}

void Normalizer::Append(std::string_view text, NormalizedText* out) const {
  Pass<false>(*this, out).Run(text, 0);
}

void Normalizer::AppendWithSources(std::string_view text, uint32_t first,
                                   NormalizedText* out) const {
  Pass<true>(*this, out).Run(text, first);
}

// ASCII white space and punctuation, and Chinese characters that get spaces, are of combining class
// 0 and never inside a word: everything before them is settled when they come.
size_t Normalizer::FindCut(std::string_view text, size_t from) const {
  size_t pos = from;
  while (pos < text.size() && IsContinuation(text[pos])) ++pos;
  while (pos < text.size()) {
    const size_t start = pos;
    const char32_t cp = NextCodePoint(text, &pos);
    const uint8_t flags = RecordOf(cp).flags;
    const bool settled_ascii =
        cp < 0x80 && ((flags & kPunctuation) || ((flags & kSpace) && !(flags & kRemoved)));
    if (settled_ascii || (options_.handle_chinese_chars && (flags & kCjk))) return start;
  }
  return text.size();
}

}  // namespace gimbal::preprocess
