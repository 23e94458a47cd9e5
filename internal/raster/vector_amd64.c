// The loops that most of a page's time goes to, for processors with AVX2: each does the same
// arithmetic in the same order as its twin in loops.go, resize.go, paper.go and filter.go.

//go:build cgo

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define AVX2 __attribute__((target("avx2")))

typedef uint8_t bytes4 __attribute__((vector_size(4)));
typedef uint32_t sums4 __attribute__((vector_size(16)));
typedef float floats8 __attribute__((vector_size(32)));

AVX2 void unink_weigh_rows(uint32_t *line, const uint8_t *first, ptrdiff_t stride,
                           const uint32_t *weights, int rows, int n) {
  enum { block = 2048 };  // of a line's sums, which then stay in the fastest cache
  for (int from = 0; from < n; from += block) {
    int end = from + block < n ? from + block : n;
    for (int i = from; i < end; i++) line[i] = first[i] * weights[0];
    for (int row = 1; row < rows; row++) {
      const uint8_t *at = first + row * stride;
      uint32_t weight = weights[row];
      for (int i = from; i < end; i++) line[i] += at[i] * weight;
    }
  }
}

AVX2 void unink_weigh_pixels(uint8_t *red, uint8_t *green, uint8_t *blue, const uint32_t *line,
                             const int32_t *from, const int32_t *taps, const uint32_t *weights,
                             uint32_t half, int shift, int n) {
  for (int x = 0; x < n; x++) {
    sums4 sum = {half, half, half, half};
    const uint32_t *pixel = line + 4 * (ptrdiff_t)from[x];
    for (int i = taps[x]; i < taps[x + 1]; i++, pixel += 4) {
      sums4 value;
      memcpy(&value, pixel, sizeof value);
      sum += value * weights[i];
    }
    sum >>= shift;
    red[x] = (uint8_t)sum[0];
    green[x] = (uint8_t)sum[1];
    blue[x] = (uint8_t)sum[2];
  }
}

AVX2 void unink_interpolate(float *to, const float *way, const int32_t *from, const float *columns,
                            int n) {
  int end = from[n];
  for (int column = 0; column < n; column++) {
    float value = columns[column], step = columns[column + 1 < n ? column + 1 : n - 1] - value;
    int x = from[column], next = from[column + 1];
    // What is written beyond the column is written anew with the next one.
    for (; x < next && x + 8 <= end; x += 8) {
      floats8 part;
      memcpy(&part, way + x, sizeof part);
      part = value + part * step;
      memcpy(to + x, &part, sizeof part);
    }
    for (; x < next; x++) to[x] = value + way[x] * step;
  }
}

AVX2 void unink_add_pixels(uint32_t *sums, const uint8_t *row, const uint8_t *weights, int n) {
  enum { block = 8 };  // pixels that are passed over at once
  for (int from = 0; from < n; from += block) {
    int end = from + block < n ? from + block : n;
    uint64_t any = 0;
    memcpy(&any, weights + from, end - from);
    if (any == 0) continue;
    for (int x = from; x < end; x++) {
      bytes4 pixel;
      memcpy(&pixel, row + 4 * (ptrdiff_t)x, sizeof pixel);
      pixel[3] = 1;
      sums4 sum;
      memcpy(&sum, sums + 4 * (ptrdiff_t)x, sizeof sum);
      sum += weights[x] * __builtin_convertvector(pixel, sums4);
      memcpy(sums + 4 * (ptrdiff_t)x, &sum, sizeof sum);
    }
  }
}

AVX2 void unink_darkness(uint8_t *to, const uint8_t *row, const float *red, const float *green,
                         const float *blue, int n) {
  for (int x = 0; x < n; x++) {
    int most = 0;
    int r = (int)(red[x] - row[4 * x]);
    int g = (int)(green[x] - row[4 * x + 1]);
    int b = (int)(blue[x] - row[4 * x + 2]);
    most = r > most ? r : most;
    most = g > most ? g : most;
    most = b > most ? b : most;
    to[x] = (uint8_t)most;
  }
}

AVX2 void unink_larger(float *to, const float *a, const float *b, int n) {
  for (int i = 0; i < n; i++) to[i] = a[i] > b[i] ? a[i] : b[i];
}

AVX2 void unink_lack(uint8_t *to, const uint8_t *from, const float *paper, int n) {
  for (int x = 0; x < n; x++) {
    float light = paper[x], most = light > 1 ? light : 1;
    int lack = (int)((light - from[x]) / most * 255);
    to[x] = (uint8_t)(lack > 0 ? lack : 0);
  }
}

AVX2 void unink_share(uint8_t *to, const uint8_t *from, const float *paper, int n) {
  for (int x = 0; x < n; x++) {
    float light = paper[x] > 1 ? paper[x] : 1;
    int share = (int)(from[x] / light * 255);
    to[x] = (uint8_t)(share < 255 ? share : 255);
  }
}
