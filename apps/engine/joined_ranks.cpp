#include "apps/engine/joined_ranks.h"

#include <exception>
#include <new>
#include <string>

#include <fmt/format.h>

#include "apps/engine/machine.h"
#include "apps/shell/notes.h"
#include "apps/shell/output.h"

namespace fourhold::engine_app {
namespace {

// Who speaks of another rank's failure: the first, or the second where the first is what failed,
// unless that has found it itself, and so has said it.
bool speaks(int rank, const engine::PeerFailure& failure) {
  if (failure.rank() != 0) return rank == 0;
  return rank == 1 && failure.found_by() != 0;
}

}  // namespace

JoinedRanks::JoinedRanks(Seconds timeout) : place_(rank_place()) {
  if (place_.started.ranks == 1) return;
  engine::require_interface(place_.started, engine::process_environment);
  communicator_ = engine::mpi_world({.timeout = timeout});
  place_.mpi_ranks = communicator_->size();
  place_.mpi = communicator_->name();
  place_.node_ranks = static_cast<std::int64_t>(communicator_->node().size());
}

ExitCode JoinedRanks::run(const std::function<ExitCode()>& body) {
  if (!communicator_) return body();
  const int rank = communicator_->rank();
  const auto fail = [&](const std::string& reason, ExitCode code) {
    communicator_->withdraw();
    communicator_->fail({rank, reason, code, rank});
  };
  try {
    return body();
  } catch (const engine::PeerFailure& failure) {
    communicator_->withdraw();
    if (speaks(rank, failure)) shell::write_note(shell::error_text(failure));
    return failure.exit_code();
  } catch (const Error& error) {
    if (rank == 0) shell::write_note(shell::error_text(error));
    fail(error.where() + ": " + error.what(), error.exit_code());
    return error.exit_code();
  } catch (const std::bad_alloc&) {
    if (rank == 0) shell::write_note("fourhold: not enough memory for this question\n");
    fail("there is not enough memory", ExitCode::internal_error);
  } catch (const std::exception& fault) {
    if (rank == 0) shell::write_note(fmt::format("fourhold: a fault of ours: {}\n", fault.what()));
    fail(std::string("a fault of ours: ") + fault.what(), ExitCode::internal_error);
  }
  return ExitCode::internal_error;
}

ExitCode refuse_on_all_ranks() {
  if (rank_place().started.ranks == 1) throw;
  return JoinedRanks().run([]() -> ExitCode { throw; });
}

}  // namespace fourhold::engine_app
