// What becomes of a commit. A function of its record and of what was decided before it, and of
// nothing else: whoever has seen the same records decides alike.
#pragma once

#include <cstdint>

#include "core/status.h"
#include "storage/commit_record.h"
#include "storage/conflict/conflict_turns.h"
#include "storage/conflict/conflict_window.h"

namespace koios::storage {

struct Decision {
  // Not 0: this very attempt was committed as that version, and comes again, as its sender has not
  // heard. It is answered, not applied.
  uint64_t committed_as = 0;
};

// `newest`: the version that the window has come to. ABORTED: a conflict; what was refused once is
// refused again, as the window only grows, so that refusals need not be remembered. `turns` and
// `turn` as in ConflictWindow::Validate. FAILED_PRECONDITION: another attempt of the request was
// committed. INVALID_ARGUMENT: a record that can't be right.
StatusOr<Decision> Decide(const CommitRecord& record, uint64_t newest, const ConflictWindow& window,
                          const ConflictTurns* turns = nullptr, CommitTurn* turn = nullptr);

}  // namespace koios::storage
