#include "fourhold/report/memory_bars.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "fourhold/base/quantity.h"
#include "fourhold/report/text.h"

namespace fourhold::report {
namespace {

using ledger::Category;

constexpr int kLabelColumns = 11;
constexpr int kBytesColumns = 11;
// Buffers below this part of the whole would be a bar of nothing: a step's scalars, for one.
constexpr std::int64_t kSmallestDrawn = 10'000;

// Bytes at the peak that serve the arithmetic of the batch, without the stage's own buffers.
Bytes activations_of(const ledger::Ledger& ledger) {
  Bytes bytes;
  for (const ledger::Entry& entry : ledger.entries) {
    if (entry.place != ledger::Place::device) continue;
    const bool own_buffer = entry.category == Category::scratch && entry.key.block == "step";
    switch (entry.category) {
      case Category::saved_activation:
      case Category::activation_gradient:
      case Category::scratch:
      case Category::input:
        if (!own_buffer) bytes += entry.bytes * entry.copies_at_peak;
        break;
      default:
        break;
    }
  }
  return bytes;
}

// The picture's columns: bytes laid end to end on `width` cells, each at least one wide if not 0.
class Scale {
 public:
  Scale(Bytes most, int width) : most_(std::max(most, Bytes(1))), width_(width) {}
  [[nodiscard]] int column(Bytes bytes) const {
    const double share = static_cast<double>(bytes.count()) / static_cast<double>(most_.count());
    return std::clamp(static_cast<int>(std::lround(share * width_)), 0, width_);
  }

 private:
  Bytes most_;
  int width_;
};

struct Glyphs {
  std::string bar;
  std::string line;
  std::string line_on_bar;
};
Glyphs glyphs_of(Charset charset) {
  if (charset == Charset::ascii) return {"#", "|", "|"};
  return {"\u2588", "\u2502", "\u2503"};
}

}  // namespace

Bytes MemoryBars::total() const {
  Bytes sum;
  for (const Bar& bar : bars) sum += bar.bytes;
  return sum;
}

MemoryBars bars_of(const predict::MemoryPrediction& memory, std::optional<Bytes> device,
                   std::optional<Bytes> held) {
  const ledger::Ledger& ledger = memory.worst().ledger;
  const ledger::CategoryBytes at_peak = ledger.at_peak_by_category();
  const auto of = [&at_peak](Category category) {
    return at_peak[static_cast<std::size_t>(category)];
  };
  MemoryBars out;
  out.device = device;
  out.bars = {
      {"weights", of(Category::weight), Ink::weight},
      {"gradients", of(Category::gradient), Ink::gradient},
      {"optimizer", of(Category::master_weight) + of(Category::optimizer_state), Ink::optimizer},
      {"activations", activations_of(ledger), Ink::activation}};
  const Bytes all = held.value_or(memory.device_bytes);
  const Bytes rest = all - out.total();
  if (rest * kSmallestDrawn > all) out.bars.push_back({"buffers", rest, Ink::buffer});
  return out;
}

std::string draw(const MemoryBars& bars, const Screen& screen) {
  const int width = screen.columns - kLabelColumns - kBytesColumns - 4;
  const Bytes total = bars.total();
  const Scale scale(std::max(total, bars.device.value_or(Bytes(0))), width - 1);
  const int limit = bars.device ? scale.column(*bars.device) : -1;
  const Glyphs glyphs = glyphs_of(screen.charset);

  std::string out;
  Bytes before;
  for (const Bar& bar : bars.bars) {
    const int start = scale.column(before);
    before += bar.bytes;
    const int end = std::max(scale.column(before), bar.bytes > Bytes(0) ? start + 1 : start);
    std::string cells;
    std::string run;  // cells of the bar not yet painted
    const auto flush = [&] {
      cells += painted(run, bar.ink, screen);
      run.clear();
    };
    const int last = std::max(end - 1, limit);
    for (int column = 0; column <= last; ++column) {
      const bool filled = start <= column && column < end;
      if (column == limit) {
        flush();
        cells += painted(filled ? glyphs.line_on_bar : glyphs.line, Ink::strong, screen);
      } else if (filled) {
        run += glyphs.bar;
      } else {
        flush();
        cells += ' ';
      }
    }
    flush();
    const std::size_t trail = cells.find_last_not_of(' ');
    cells.erase(trail == std::string::npos ? 0 : trail + 1);
    std::string line = padded_right(bar.label, kLabelColumns) + "  " +
                       padded_left(format_bytes(bar.bytes), kBytesColumns) + "  " + cells;
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  if (bars.device) {
    const std::string text = format_bytes(*bars.device);
    const std::string mark = screen.charset == Charset::ascii ? "^" : "\u2534";
    const int label = limit + 2 + columns_of("device") <= width ? limit + 2 : -1;
    std::string tail(static_cast<std::size_t>(limit), ' ');
    if (label < 0 && limit > columns_of("device") + 1) {
      tail = padded_left("device ", limit);
    }
    tail += painted(mark, Ink::strong, screen);
    if (label >= 0) tail += " device";
    out += padded_right("device", kLabelColumns) + "  " + padded_left(text, kBytesColumns) + "  " +
           tail + "\n";
  }
  return out;
}

}  // namespace fourhold::report
