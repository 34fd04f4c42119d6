#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"

namespace gimbal::config {

// A YAML document as plain data with the place of every node. Built from parser events and bounded
// while it grows, so that hostile files cost little. Aliases share the node that they name; a node
// never contains itself. Internal to this module.
struct YamlNode {
  enum class Kind { kNull, kScalar, kList, kMap };
  using Ptr = std::shared_ptr<const YamlNode>;
  struct Entry {
    std::string key;
    int line = 0;
    int column = 0;
    Ptr value;
  };

  Kind kind = Kind::kNull;
  int line = 0;  // from 1
  int column = 0;
  std::string text;     // of a scalar
  bool quoted = false;  // a scalar in quotes is text, never a number or a boolean
  std::vector<Ptr> items;
  std::vector<Entry> entries;  // in the file's order, duplicates included
};

inline constexpr size_t kYamlMaxBytes = 1 << 20;
inline constexpr int kYamlMaxDepth = 32;
inline constexpr int kYamlMaxNodes = 100'000;

struct ParsedYaml {
  YamlNode::Ptr root;            // null kind for an empty document
  std::optional<Finding> error;  // without the file's name; `root` is then null
};
ParsedYaml ParseYaml(const std::string& text);

}  // namespace gimbal::config
