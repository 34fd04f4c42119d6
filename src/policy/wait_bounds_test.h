#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policy/simulator.h"

namespace gimbal::policy {

// How long each row of a simulation may wait, from the order that batch_policy.h promises; watches
// the decisions, then compares. A row with a deadline must be dispatched, expired or refused by
// then. For a row r without one that came at time a, with m instances:
//
//   wait <= (running + own + other) / m + idle
//
// running  what was left at a of the batches that ran then.
// own      the batches started from a on that hold a row of r's lane that goes before r: it came
//          earlier (online and edge: and has no deadline), or is due by a + target (or a + 1 s).
//          Batch: also those led by a row of r's lane that two full batches would make late: its
//          deadline goes before age.
// other    both lanes waiting. S is bulk_share, C the longest batch that the limits allow.
//          r interactive: bulk leads a batch only while it is owed tokens, S of those computed, and
//          half of its rows' tokens at least pay the debt off. So no more than what was owed at a
//          and S of the tokens in `own` pays for at the dearest price of a token of debt, and
//          after each batch of `own` one batch beyond that (a debt of one token starts a batch).
//          r bulk: interactive leads only while bulk is owed nothing. So no more than
//          (what bulk had beyond its share at a + the bulk tokens computed meanwhile) / S at the
//          dearest price of a token, and one batch beyond that for each batch of `own`.
// idle     0, but in batch max_wait for r itself; for r bulk, which need not fit an interactive
//          batch, also max_wait before each of `other` and for each interactive row that gave up.
//
// Why: online and edge keep every instance busy while a row waits, so m x wait is work that began
// before r's; whatever leads a batch of r's lane goes before r; the other lane leads within its
// share. All times are the simulated ones, noise included.
class WaitBounds {
 public:
  explicit WaitBounds(const SimulationSpec& spec);

  // As in SimulationHooks; the rows are those of the spec.
  void Decided(const Snapshot& snapshot, TimePoint now, const Action& action);
  void Answered(uint64_t row, RowFate fate, TimePoint at);

  // After the simulation. Empty, or the first row that waited too long, in words.
  std::string Broken();
  double largest_share() const { return largest_share_; }  // wait / bound, of rows without deadline

 private:
  struct Batch {
    TimePoint started, ended;
    Lane led_by = Lane::kInteractive;
    bool urgent = false;  // its first row's deadline went before age
    int rows = 0, padded = 0, bulk = 0;
  };
  struct Row {
    int batch = -1;          // that it went in
    int batches_before = 0;  // started when it came
    double owed = 0;         // tokens to bulk's credit when it came
    bool seen = false;
    TimePoint gone = kNever;  // dispatched, or answered without
    RowFate fate = RowFate::kRefused;
  };
  struct Prices {
    double longest = 0;  // ns of the longest batch
    double token = 0;    // ns of a computed token, at most
    double debt = 0;     // ns of a token of debt that bulk pays off, at most
  };
  struct Own {
    double time = 0, tokens = 0, bulk_tokens = 0;
    int batches = 0;
  };

  void Start(const Snapshot& snapshot, TimePoint now, const Action& action, bool both);
  double Took(const Batch& b) const;
  void SetPrices();
  bool GoesBefore(uint64_t row, uint64_t other) const;
  Own OwnBatches(uint64_t row);
  double Bound(uint64_t row);
  int GaveUp(uint64_t row) const;

  const SimulationSpec& spec_;
  const BatchLimits& limits_;
  std::vector<Row> rows_;
  std::vector<Batch> batches_;
  std::vector<char> counted_;
  Prices prices_;
  double owed_ = 0;
  double largest_share_ = 0;
};

}  // namespace gimbal::policy
