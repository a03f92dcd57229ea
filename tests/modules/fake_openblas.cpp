// A stand-in with OpenBLAS's C interface, for the module's path that Debian's OpenBLAS cannot take:
// the plainest cblas_sbgemm, in the one form that the module calls.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace {

int threads = 0;  // as in OpenBLAS: state of the library

float to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace

extern "C" {

const char* openblas_get_config() {
  return "OpenBLAS 9.9.9 DYNAMIC_ARCH FAKECORE MAX_THREADS=64 ";
}
const char* openblas_get_corename() {
  return "FakeCore";
}
void openblas_set_num_threads(int count) {
  threads = count;
}
int openblas_get_num_threads() {
  return threads;
}

void cblas_sbgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                  const std::uint16_t* a, int lda, const std::uint16_t* b, int ldb, float beta,
                  float* c, int ldc) {
  if (order != 101 || transpose_a != 111 || transpose_b != 112 || beta != 0.0f) std::abort();
  for (std::ptrdiff_t i = 0; i < m; ++i) {
    for (std::ptrdiff_t j = 0; j < n; ++j) {
      float sum = 0;
      for (std::ptrdiff_t l = 0; l < k; ++l) {
        sum += to_float(a[i * lda + l]) * to_float(b[j * ldb + l]);
      }
      c[i * ldc + j] = alpha * sum;
    }
  }
}
}
