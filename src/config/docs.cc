#include "config/docs.h"

#include "config/draft.h"
#include "config/settings.h"

namespace gimbal::config {
namespace {

constexpr std::string_view kIntro = R"(# Configuration

<!-- Made from the settings table (src/config/settings_table.cc) by `gimbal docs settings`. Change the
     table, then run `gimbal docs settings > docs/configuration.md`. -->

`gimbal serve DIR` needs no configuration. Settings come from, each over the one before it:

1. the defaults below,
2. a YAML file: `gimbal serve gimbal.yaml`, or `--config gimbal.yaml`,
3. flags. The flag of a model setting holds for every model that is served.

`gimbal serve TARGET --explain` prints the effective configuration with the origin of each value, and
starts nothing.

```yaml
server:
  http: 127.0.0.1:8000
  metrics: 127.0.0.1:8002
limits: {max_body: 16MiB, max_connections: 1024, max_rows_per_request: 512, memory: 2GiB}
models:
  - name: minilm
    path: models/minilm
    scenario: online
    slo: {p99: 25ms}
    batching: {max_rows: 32, max_tokens: 8192, max_wait: 2ms}
    instances: 2
```

A dot in a setting's name is a map in the file: `batching.max_rows` is `batching: {max_rows: 32}`.
Units are part of the value. Sizes: `B`, `kB`, `MB`, `GB` (powers of 1000), `KiB`, `MiB`, `GiB`
(powers of 1024). Durations: `ns`, `us`, `ms`, `s`, `m`. Paths in the file are relative to the file's
folder; paths in flags to the current one. A file has at most 1 MiB.

An unknown key, a wrong unit, a value out of range, a key that stands twice or a contradiction is an
error that names the file, the line and the column, what was expected and what came. The server does
not start then, and the exit code is 2.
)";

std::string Cell(std::string_view text) {
  std::string cell;
  for (char c : text) {
    if (c == '|') cell += '\\';
    cell += c;
  }
  return cell;
}

std::string Row(const Setting& setting) {
  std::string row = "| `" + std::string(setting.key) + "` | ";
  row += setting.flag.empty() ? "" : "`" + std::string(setting.flag) + "`";
  row += " | " + TypeText(setting) + " | ";
  const std::string text = DefaultText(setting);
  row += text.empty() ? "" : "`" + text + "`";
  row += " | " + Cell(RangeText(setting)) + " | " + (setting.needs_restart ? "yes" : "no") + " | ";
  row += Cell(setting.help);
  if (!setting.zero.empty()) {
    const bool number = setting.min != 0 || setting.max != 0;
    row += std::string(number ? " Zero: " : " Empty: ") + Cell(setting.zero) + ".";
  }
  return row + " |\n";
}

std::string Table(Section section) {
  std::string text = "| setting | flag | type | default | allowed | restart | meaning |\n";
  text += "| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const Setting& setting : Settings()) {
    if (setting.section == section) text += Row(setting);
  }
  return text;
}

}  // namespace

std::string SettingsPage() {
  std::string page(kIntro);
  page += "\n## server\n\n" + Table(Section::kServer);
  page += "\n## limits\n\n" + Table(Section::kLimits);
  page += "\n## models\n\nA list; each item is one model.\n\n" + Table(Section::kModel);
  page += "\n## Between settings\n\n";
  for (const Rule& rule : Rules()) page += "- " + std::string(rule.text) + "\n";
  page += "\n## Known, not served yet\n\nAccepted with a warning, and without effect.\n\n";
  for (const ReservedSetting& reserved : ReservedSettings()) {
    page += "- `" + std::string(SectionName(reserved.section)) + "." + std::string(reserved.key) +
            "`, `" + std::string(reserved.flag) + "`: " + std::string(reserved.why) + ".\n";
  }
  return page;
}

}  // namespace gimbal::config
