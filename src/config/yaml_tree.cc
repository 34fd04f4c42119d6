#include "config/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <map>
#include <sstream>

#include "base/utf8.h"

namespace gimbal::config {
namespace {

// Turns the parser's events into a tree. Throws YAML::ParserException, which ParseYaml catches,
// when a bound is passed: the parser must stop at once.
class TreeBuilder : public YAML::EventHandler {
 public:
  YamlNode::Ptr root() const { return root_; }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Add(NewNode(YamlNode::Kind::kNull, mark), anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    auto node = NewNode(YamlNode::Kind::kScalar, mark);
    node->text = value;
    node->quoted = tag != "?";  // the parser's tag of plain scalars
    Add(node, anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) throw YAML::ParserException(mark, "an alias inside what it names");
    Count(mark);
    Add(found->second, 0);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(NewNode(YamlNode::Kind::kList, mark), mark, anchor);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(NewNode(YamlNode::Kind::kMap, mark), mark, anchor);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapEnd() override { Close(); }

 private:
  struct Frame {
    std::shared_ptr<YamlNode> node;
    YAML::anchor_t anchor;
    bool has_key = false;  // of a map: the next node is the value of entries.back()
  };

  void Count(const YAML::Mark& mark) {
    if (++nodes_ > kYamlMaxNodes) throw YAML::ParserException(mark, "too many values");
  }

  std::shared_ptr<YamlNode> NewNode(YamlNode::Kind kind, const YAML::Mark& mark) {
    Count(mark);
    auto node = std::make_shared<YamlNode>();
    node->kind = kind;
    node->line = mark.line + 1;
    node->column = mark.column + 1;
    return node;
  }

  void Open(std::shared_ptr<YamlNode> node, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (stack_.size() >= kYamlMaxDepth) {
      throw YAML::ParserException(
          mark, "nested deeper than " + std::to_string(kYamlMaxDepth) + " levels");
    }
    stack_.push_back({std::move(node), anchor});
  }

  void Close() {
    const Frame frame = std::move(stack_.back());
    stack_.pop_back();
    Add(frame.node, frame.anchor);
  }

  void Add(const YamlNode::Ptr& node, YAML::anchor_t anchor) {
    if (anchor != 0) anchors_[anchor] = node;
    if (stack_.empty()) {
      root_ = node;
      return;
    }
    Frame& top = stack_.back();
    if (top.node->kind == YamlNode::Kind::kList) {
      top.node->items.push_back(node);
    } else if (top.has_key) {
      top.node->entries.back().value = node;
      top.has_key = false;
    } else {
      AddKey(top, *node);
    }
  }

  void AddKey(Frame& map, const YamlNode& key) {
    if (key.kind != YamlNode::Kind::kScalar) {
      throw YAML::ParserException(Place(key), "expected a key, got something else");
    }
    map.node->entries.push_back({key.text, key.line, key.column, nullptr});
    map.has_key = true;
  }

  static YAML::Mark Place(const YamlNode& node) {
    YAML::Mark mark;
    mark.line = node.line - 1;
    mark.column = node.column - 1;
    return mark;
  }

  YamlNode::Ptr root_ = std::make_shared<YamlNode>();
  std::vector<Frame> stack_;
  std::map<YAML::anchor_t, YamlNode::Ptr> anchors_;
  int nodes_ = 0;
};

Finding ErrorAt(int line, int column, std::string message) {
  Finding finding;
  finding.line = line;
  finding.column = column;
  finding.message = std::move(message);
  return finding;
}

// Line and column of the byte at `offset`.
Finding BadUtf8(const std::string& text, size_t offset) {
  int line = 1;
  size_t line_start = 0;
  for (size_t i = 0; i < offset; ++i) {
    if (text[i] != '\n') continue;
    ++line;
    line_start = i + 1;
  }
  return ErrorAt(line, static_cast<int>(offset - line_start) + 1, "expected UTF-8 text");
}

}  // namespace

ParsedYaml ParseYaml(const std::string& text) {
  if (const size_t valid = ValidUtf8Prefix(text); valid < text.size()) {
    return {nullptr, BadUtf8(text, valid)};
  }
  try {
    std::istringstream in(text);
    YAML::Parser parser(in);
    TreeBuilder builder;
    parser.HandleNextDocument(builder);
    TreeBuilder second;
    if (parser.HandleNextDocument(second)) {
      return {nullptr, ErrorAt(second.root()->line, second.root()->column,
                               "expected one YAML document, got a second one")};
    }
    return {builder.root(), std::nullopt};
  } catch (const YAML::Exception& e) {
    return {nullptr, ErrorAt(e.mark.line + 1, e.mark.column + 1, "YAML: " + e.msg)};
  } catch (const std::exception& e) {
    return {nullptr, ErrorAt(1, 1, std::string("YAML: ") + e.what())};
  }
}

}  // namespace gimbal::config
