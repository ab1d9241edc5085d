#include "apps/engine/joined_ranks.h"

#include <exception>
#include <new>
#include <string>

#include <fmt/format.h>

#include "apps/engine/machine.h"
#include "apps/shell/notes.h"
#include "apps/shell/output.h"
#include "fourhold/engine/communicator/mpi_communicator.h"

namespace fourhold::engine_app {
namespace {

// Who speaks for a job that ends: the first rank, or the second where the first is what failed.
bool speaks(int rank, int failed) { return rank == (failed == 0 ? 1 : 0); }

}  // namespace

JoinedRanks::JoinedRanks(Seconds timeout) {
  if (rank_place().started.ranks > 1) communicator_ = engine::mpi_world({.timeout = timeout});
}

ExitCode JoinedRanks::run(const std::function<ExitCode()>& body) {
  if (!communicator_) return body();
  const int rank = communicator_->rank();
  const auto fail = [&](const std::string& reason, ExitCode code) {
    communicator_->withdraw();
    communicator_->fail({rank, reason, code});
  };
  try {
    return body();
  } catch (const engine::PeerFailure& failure) {
    communicator_->withdraw();
    if (speaks(rank, failure.rank())) shell::write_note(shell::error_text(failure));
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

}  // namespace fourhold::engine_app
