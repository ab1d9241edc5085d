// The one file that knows MPI. Only the thread that started MPI calls it (MPI_THREAD_FUNNELED).
#include "fourhold/engine/communicator/mpi_communicator.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "fourhold/engine/communicator/backoff.h"
#include "fourhold/engine/communicator/message_parts.h"
#include "fourhold/engine/communicator/rank_faults.h"

namespace fourhold::engine {
namespace {

using Clock = std::chrono::steady_clock;

// How long a failing rank tries to tell the others before it ends the job for them.
constexpr std::chrono::seconds kLastWords{3};

void require(int code, const char* doing) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw Error(doing, std::string(text.data(), static_cast<std::size_t>(length)),
              "another rank may have died: its messages come first", ExitCode::internal_error);
}

// What a failing rank tells the others.
struct Notice {
  int rank = -1;
  int found_by = -1;
  ExitCode exit_code = ExitCode::internal_error;
  std::array<char, 1000> reason{};

  static Notice of(const Failure& failure) {
    Notice notice{
        .rank = failure.rank, .found_by = failure.found_by, .exit_code = failure.exit_code};
    failure.reason.copy(notice.reason.data(), notice.reason.size() - 1);
    return notice;
  }
};

class MpiCommunicator final : public Communicator {
 public:
  explicit MpiCommunicator(const MpiOptions& options);
  ~MpiCommunicator() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string name() const override { return name_; }
  std::span<const int> node() const override { return node_; }
  Message send(int to, int tag, std::span<const std::byte> bytes) override;
  Message receive(int from, int tag, std::span<std::byte> bytes) override;
  void wait(std::span<const Message> messages) override;
  void advance() override { listen(); }  // any question makes MPI move all that is under way
  void withdraw() noexcept override;
  void fail(const Failure& failure) override;

 private:
  using Parts = MessageParts<MPI_Request>;

  void find_neighbours();
  template <typename Start>
  Message start(int peer, std::size_t bytes, bool receives, const Start& start_part);
  bool get_on();
  void check_size(const Parts::Part& part, const MPI_Status& status) const;
  void listen();
  void deliver();
  bool meet_others(std::chrono::duration<double> limit);
  [[nodiscard]] Failure unanswered() const;
  [[nodiscard]] std::string place_of(int rank) const;
  [[noreturn]] void abort(const Failure& failure) const;

  MpiOptions options_;
  int rank_ = 0;
  int size_ = 0;
  int exceptions_ = std::uncaught_exceptions();
  std::string name_;
  std::vector<std::string> hosts_;  // of each rank
  std::vector<int> node_;
  MPI_Comm data_ = MPI_COMM_NULL;
  MPI_Comm control_ = MPI_COMM_NULL;
  Parts parts_;
  // Of one wait(): what is not done yet, and room for MPI's answers.
  std::vector<std::int64_t> pending_;
  std::vector<MPI_Request> requests_;
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
  // Failures of others arrive here.
  Notice heard_;
  MPI_Request hearing_ = MPI_REQUEST_NULL;
  std::optional<Failure> failure_;
  bool others_know_ = false;
};

MpiCommunicator::MpiCommunicator(const MpiOptions& options) : options_(options) {
  int is_started = 0;
  MPI_Initialized(&is_started);
  assert(is_started == 0 && "MPI is started once");
  int provided = MPI_THREAD_SINGLE;
  require(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "starting MPI");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  require(MPI_Comm_dup(MPI_COMM_WORLD, &data_), "starting MPI");
  require(MPI_Comm_dup(MPI_COMM_WORLD, &control_), "starting MPI");
  MPI_Comm_rank(data_, &rank_);
  MPI_Comm_size(data_, &size_);
  if (provided < MPI_THREAD_FUNNELED) {
    throw Error("MPI", "this MPI cannot be used beside threads",
                "it must give MPI_THREAD_FUNNELED: install Open MPI or MPICH");
  }
  find_neighbours();
  // Three lines and more with some MPIs: the first says which one it is.
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  MPI_Get_library_version(version.data(), &length);
  std::string text(version.data(), static_cast<std::size_t>(length));
  text.resize(std::min(text.find_first_of(",\n"), text.size()));
  std::replace(text.begin(), text.end(), '\t', ' ');
  name_ = "MPI (" + text + ")";
  require(MPI_Irecv(&heard_, sizeof heard_, MPI_BYTE, MPI_ANY_SOURCE, 0, control_, &hearing_),
          "listening for failures");
}

void MpiCommunicator::find_neighbours() {
  using Host = std::array<char, MPI_MAX_PROCESSOR_NAME>;
  Host own{};
  int length = 0;
  MPI_Get_processor_name(own.data(), &length);
  std::vector<Host> hosts(static_cast<std::size_t>(size_));
  require(
      MPI_Allgather(own.data(), sizeof own, MPI_BYTE, hosts.data(), sizeof own, MPI_BYTE, control_),
      "naming hosts");
  for (const Host& host : hosts) hosts_.emplace_back(host.data());

  MPI_Comm node = MPI_COMM_NULL;
  require(MPI_Comm_split_type(control_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node),
          "finding the ranks of this machine");
  int ranks = 0;
  MPI_Comm_size(node, &ranks);
  node_.resize(static_cast<std::size_t>(ranks));
  require(MPI_Allgather(&rank_, 1, MPI_INT, node_.data(), 1, MPI_INT, node),
          "finding the ranks of this machine");
  MPI_Comm_free(&node);
}

std::string MpiCommunicator::place_of(int rank) const {
  const auto place = static_cast<std::size_t>(rank);
  const std::string name = "rank " + std::to_string(rank);
  return place < hosts_.size() ? name + " (" + hosts_[place] + ")" : name;
}

// Calls start_part(offset, bytes, request) for each part.
template <typename Start>
Message MpiCommunicator::start(int peer, std::size_t bytes, bool receives,
                               const Start& start_part) {
  const auto largest = static_cast<std::size_t>(options_.largest_message_bytes);
  Message message;
  std::int64_t last = -1;
  std::size_t offset = 0;
  do {
    const auto length = static_cast<int>(std::min(bytes - offset, largest));
    MPI_Request request = MPI_REQUEST_NULL;
    require(start_part(offset, length, &request), receives ? "receiving" : "sending");
    const std::int64_t place = parts_.take({request, peer, length, receives});
    (last < 0 ? message.id : parts_[last].next) = place;
    last = place;
    offset += static_cast<std::size_t>(length);
  } while (offset < bytes);
  return message;
}

Message MpiCommunicator::send(int to, int tag, std::span<const std::byte> bytes) {
  return start(to, bytes.size(), false, [&](std::size_t offset, int part, MPI_Request* request) {
    return MPI_Isend(bytes.data() + offset, part, MPI_BYTE, to, tag, data_, request);
  });
}

Message MpiCommunicator::receive(int from, int tag, std::span<std::byte> bytes) {
  return start(from, bytes.size(), true, [&](std::size_t offset, int part, MPI_Request* request) {
    return MPI_Irecv(bytes.data() + offset, part, MPI_BYTE, from, tag, data_, request);
  });
}

void MpiCommunicator::check_size(const Parts::Part& part, const MPI_Status& status) const {
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  if (bytes == part.bytes) return;
  throw wrong_size(rank_, part.peer, static_cast<std::size_t>(bytes),
                   static_cast<std::size_t>(part.bytes));
}

// Asks MPI for what is pending; true if something of it is done.
bool MpiCommunicator::get_on() {
  int done = 0;
  const int code = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &done,
                                indices_.data(), statuses_.data());
  if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) require(code, "waiting for messages");
  if (done == MPI_UNDEFINED || done == 0) return false;
  for (int i = 0; i < done; ++i) {
    const MPI_Status& status = statuses_[static_cast<std::size_t>(i)];
    const auto index = static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)]);
    Parts::Part& part = parts_[pending_[index]];
    part.request = MPI_REQUEST_NULL;
    if (code == MPI_ERR_IN_STATUS) require(status.MPI_ERROR, "waiting for messages");
    if (part.receives) check_size(part, status);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    if (parts_[pending_[i]].request == MPI_REQUEST_NULL) continue;
    pending_[kept] = pending_[i];
    requests_[kept++] = requests_[i];
  }
  pending_.resize(kept);
  requests_.resize(kept);
  return true;
}

void MpiCommunicator::wait(std::span<const Message> messages) {
  pending_.clear();
  requests_.clear();
  parts_.for_each(messages, [this](std::int64_t place) {
    pending_.push_back(place);
    requests_.push_back(parts_[place].request);
  });
  // As many as there may ever be, so that they grow no more often than the parts.
  if (indices_.size() < parts_.capacity()) {
    indices_.resize(parts_.capacity());
    statuses_.resize(parts_.capacity());
  }
  Backoff backoff;
  const auto limit = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(options_.timeout.value));
  std::optional<Clock::time_point> deadline;  // set once the rank begins to sleep
  while (true) {
    if (!failure_.has_value()) listen();
    if (failure_.has_value()) {
      withdraw();
      throw PeerFailure(place_of(failure_->rank), *failure_);
    }
    if (pending_.empty()) break;
    if (get_on()) {
      backoff.reset();
      deadline.reset();
      continue;
    }
    backoff.pause();
    if (!backoff.is_asleep()) continue;
    const Clock::time_point now = Clock::now();
    if (!deadline.has_value()) deadline = now + limit;
    if (now > *deadline) failure_ = unanswered();
  }
  parts_.release(messages);
}

Failure MpiCommunicator::unanswered() const {
  std::vector<int> missing;
  for (const std::int64_t place : pending_) missing.push_back(parts_[place].peer);
  return no_answer(missing, rank_, options_.timeout);
}

// A send that has not been taken cannot be taken back; the job ends before its bytes matter.
void MpiCommunicator::withdraw() noexcept {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Parts::Part& part = parts_[static_cast<std::int64_t>(i)];
    if (part.request == MPI_REQUEST_NULL) continue;
    if (part.receives) MPI_Cancel(&part.request);
    MPI_Request_free(&part.request);
  }
  parts_.release_all();
}

// Hears of the failures of others, always ready for the next, so that nobody's last words wait.
void MpiCommunicator::listen() {
  int heard = 0;
  if (MPI_Test(&hearing_, &heard, MPI_STATUS_IGNORE) != MPI_SUCCESS || heard == 0) return;
  if (!failure_.has_value()) {
    failure_ = Failure{heard_.rank, heard_.reason.data(), heard_.exit_code, heard_.found_by};
    others_know_ = true;
  }
  MPI_Irecv(&heard_, sizeof heard_, MPI_BYTE, MPI_ANY_SOURCE, 0, control_, &hearing_);
}

void MpiCommunicator::fail(const Failure& failure) {
  if (!failure_.has_value()) failure_ = failure;
  if (!others_know_) deliver();
}

// Synchronous sends: when one is done, its rank has heard it.
void MpiCommunicator::deliver() {
  others_know_ = true;
  const Notice notice = Notice::of(*failure_);
  std::vector<MPI_Request> requests;
  for (int rank = 0; rank < size_; ++rank) {
    if (rank == rank_) continue;
    requests.emplace_back();
    if (MPI_Issend(&notice, sizeof notice, MPI_BYTE, rank, 0, control_, &requests.back()) !=
        MPI_SUCCESS) {
      abort(*failure_);
    }
  }
  const Clock::time_point end = Clock::now() + kLastWords;
  int done = 0;
  for (Backoff backoff; done == 0; backoff.pause()) {
    listen();
    const int code =
        MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
    if (code != MPI_SUCCESS || (done == 0 && Clock::now() > end)) abort(*failure_);
  }
}

void MpiCommunicator::abort(const Failure& failure) const {
  const std::string text = "fourhold: rank " + std::to_string(rank_) +
                           " ends the job: " + place_of(failure.rank) + ": " + failure.reason +
                           "\n";
  std::fputs(text.c_str(), stderr);
  std::fflush(nullptr);
  MPI_Abort(MPI_COMM_WORLD, static_cast<int>(failure.exit_code));
  std::terminate();
}

// True when all ranks have come here; false when that takes too long.
bool MpiCommunicator::meet_others(std::chrono::duration<double> limit) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (MPI_Ibarrier(control_, &request) != MPI_SUCCESS) return false;
  const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
  Backoff backoff;
  while (true) {
    int done = 0;
    listen();
    if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (done != 0) break;
    if (Clock::now() > end) return false;
    backoff.pause();
  }
  listen();  // what was said before the last one came
  return true;
}

MpiCommunicator::~MpiCommunicator() {
  if (!failure_.has_value() && std::uncaught_exceptions() > exceptions_) {
    failure_ = Failure{.rank = rank_,
                       .reason = "ended by an exception, which its own message names",
                       .found_by = rank_};
  }
  if (failure_.has_value()) {
    withdraw();
    if (!others_know_) deliver();
    // The first exit makes the launcher end all others: give them time to say what they have to.
    meet_others(kLastWords);
    MPI_Cancel(&hearing_);
    MPI_Request_free(&hearing_);
    return;
  }
  const bool all_came = meet_others(std::chrono::duration<double>(options_.timeout.value));
  if (failure_.has_value()) return;
  if (!all_came) abort({rank_, "it is done, but other ranks have not ended in time"});
  MPI_Cancel(&hearing_);
  MPI_Request_free(&hearing_);
  MPI_Comm_free(&data_);
  MPI_Comm_free(&control_);
  MPI_Finalize();
}

}  // namespace

std::unique_ptr<Communicator> mpi_world(const MpiOptions& options) {
  return std::make_unique<MpiCommunicator>(options);
}

}  // namespace fourhold::engine
