#include "apps/shell/first_rank.h"

#include <array>
#include <cstdlib>
#include <string_view>

namespace fourhold::shell {

bool is_first_rank() {
  constexpr std::array kRanks{"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};
  for (const char* name : kRanks) {
    if (const char* rank = std::getenv(name)) return std::string_view(rank) == "0";
  }
  return true;
}

}  // namespace fourhold::shell
