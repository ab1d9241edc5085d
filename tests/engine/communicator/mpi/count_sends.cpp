// Stands between the program and MPI (MPI 3.1, chapter 14.2): MPI_X is ours, PMPI_X is MPI's.
#include "tests/engine/communicator/mpi/count_sends.h"

#include <mpi.h>

#include <cstddef>
#include <utility>

namespace fourhold::engine {
namespace {

BytesOfKind& counted_bytes() {
  static BytesOfKind bytes{};
  return bytes;
}

std::size_t kind_of(int tag) {
  constexpr auto kSends = static_cast<std::size_t>(plan::Collective::send_receive);
  return tag >= 0 && static_cast<std::size_t>(tag) < kSends ? static_cast<std::size_t>(tag)
                                                            : kSends;
}

void count(int elements, MPI_Datatype type, int tag) {
  int bytes = 0;
  PMPI_Type_size(type, &bytes);
  counted_bytes()[kind_of(tag)] += static_cast<std::int64_t>(elements) * bytes;
}

const char*& first_uncounted() {
  static const char* name = nullptr;
  return name;
}
void note_uncounted(const char* name) {
  if (first_uncounted() == nullptr) first_uncounted() = name;
}

}  // namespace

BytesOfKind take_counted_bytes() { return std::exchange(counted_bytes(), {}); }
const char* uncounted_call() { return first_uncounted(); }

}  // namespace fourhold::engine

using fourhold::engine::count;
using fourhold::engine::note_uncounted;

extern "C" {

int MPI_Isend(const void* buffer, int elements, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  count(elements, type, tag);
  return PMPI_Isend(buffer, elements, type, to, tag, comm, request);
}
int MPI_Issend(const void* buffer, int elements, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
  count(elements, type, tag);
  return PMPI_Issend(buffer, elements, type, to, tag, comm, request);
}
int MPI_Send(const void* buffer, int elements, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  count(elements, type, tag);
  return PMPI_Send(buffer, elements, type, to, tag, comm);
}
int MPI_Sendrecv(const void* out, int out_elements, MPI_Datatype out_type, int to, int out_tag,
                 void* in, int in_elements, MPI_Datatype in_type, int from, int in_tag,
                 MPI_Comm comm, MPI_Status* status) {
  count(out_elements, out_type, out_tag);
  return PMPI_Sendrecv(out, out_elements, out_type, to, out_tag, in, in_elements, in_type, from,
                       in_tag, comm, status);
}
int MPI_Send_init(const void* buffer, int elements, MPI_Datatype type, int to, int tag,
                  MPI_Comm comm, MPI_Request* request) {
  note_uncounted("MPI_Send_init");
  return PMPI_Send_init(buffer, elements, type, to, tag, comm, request);
}
int MPI_Put(const void* from, int elements, MPI_Datatype type, int rank, MPI_Aint offset,
            int to_elements, MPI_Datatype to_type, MPI_Win window) {
  note_uncounted("MPI_Put");
  return PMPI_Put(from, elements, type, rank, offset, to_elements, to_type, window);
}
int MPI_Allreduce(const void* from, void* to, int elements, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  note_uncounted("MPI_Allreduce");
  return PMPI_Allreduce(from, to, elements, type, op, comm);
}
int MPI_Bcast(void* buffer, int elements, MPI_Datatype type, int root, MPI_Comm comm) {
  note_uncounted("MPI_Bcast");
  return PMPI_Bcast(buffer, elements, type, root, comm);
}

}  // extern "C"
