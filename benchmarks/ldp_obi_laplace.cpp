// LDP-OBI with the paper's Laplace noise, one plan a user, as one would write it by hand: sizes known
// to the compiler, one logarithm an episode, ziggurat noise. The yardstick of bench_engines.py.
//
// usage: ldp_obi_laplace EPISODES SCALE SEED < MDP
// where MDP is p(s'|s,a) row by row, r(s,a), and the start distribution. Prints the nanoseconds an
// episode took (processor time) and the regret.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#ifndef STATES
#define STATES 2
#define ACTIONS 2
#define HORIZON 2
#endif
constexpr int S = STATES, A = ACTIONS, H = HORIZON, C = S * A;
constexpr double DELTA = 0.1, ALPHA = 2.0, PI = 3.14159265358979323846;

// xoshiro256++ (Blackman & Vigna 2019).
static uint64_t state[4];
static inline uint64_t rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
static inline uint64_t word() {
  const uint64_t result = rotate(state[0] + state[3], 23) + state[0], t = state[1] << 17;
  state[2] ^= state[0];
  state[3] ^= state[1];
  state[1] ^= state[2];
  state[0] ^= state[3];
  state[2] ^= t;
  state[3] = rotate(state[3], 45);
  return result;
}
static inline double uniform() { return (word() >> 11) * 0x1.0p-53; }

// Ziggurat of 256 layers for the exponential law (Marsaglia & Tsang 2000).
constexpr double TAIL = 7.69711747013104972, AREA = 3.9496598225815571993e-3;
static double edge[257], height[257];
static void build_ziggurat() {
  edge[256] = AREA * std::exp(TAIL);
  edge[255] = TAIL;
  for (int i = 254; i > 0; --i) edge[i] = -std::log(std::exp(-edge[i + 1]) + AREA / edge[i + 1]);
  edge[0] = 0;
  for (int i = 0; i <= 256; ++i) height[i] = std::exp(-edge[i]);
}
static inline double laplace() {
  double shift = 0;
  for (;;) {
    const uint64_t bits = word();
    const int layer = 1 + (bits & 255);
    const double sign = bits & 256 ? -1.0 : 1.0;
    const double x = (bits >> 11) * 0x1.0p-53 * edge[layer];
    if (__builtin_expect(x < edge[layer - 1], 1)) return sign * (shift + x);
    if (layer == 256) {
      shift += TAIL;
      continue;
    }
    const double y = height[layer] + uniform() * (height[layer - 1] - height[layer]);
    if (y < std::exp(-x)) return sign * (shift + x);
  }
}

static double p[C][S], r[C], start[S], best;
static double rewards[C], visits[C], moves[C][S];
static int policy[H][S];

static double value_of(bool optimal) {
  double values[S] = {};
  for (int h = H - 1; h >= 0; --h) {
    double next[S];
    for (int s = 0; s < S; ++s) {
      double top = -1;
      for (int a = 0; a < A; ++a) {
        if (!optimal && a != policy[h][s]) continue;
        double q = r[s * A + a];
        for (int t = 0; t < S; ++t) q += p[s * A + a][t] * values[t];
        if (q > top) top = q;
      }
      next[s] = top;
    }
    for (int s = 0; s < S; ++s) values[s] = next[s];
  }
  double value = 0;
  for (int s = 0; s < S; ++s) value += start[s] * values[s];
  return value;
}

static bool plan(double k, double scale) {
  const double log_k = std::log(k), c = 2 * PI * PI / (3 * DELTA);
  static const double cell_log = std::log(6.0 * C * c), move_log = std::log(6.0 * C * S * c);
  static const double log_constant = std::log(4 * PI * PI * C * H / (3 * DELTA));
  const double root_k = std::sqrt(k), t = cell_log + 2 * log_k, u = move_log + 2 * log_k;
  const double cell = std::fmax(root_k, t) * std::sqrt(8 * t) * scale;
  const double row = std::fmax(root_k * std::sqrt(double(S)), u) * std::sqrt(8 * u) * scale;
  const double move = std::fmax(root_k, u / std::sqrt(double(S))) * std::sqrt(8 * u) * scale;
  const double log_term = log_constant + 3 * log_k;
  double now[C], bonus[C], inverse[C];
  for (int i = 0; i < C; ++i) {
    const double over = visits[i] + ALPHA * cell;
    now[i] = over > 0 ? (rewards[i] + (ALPHA + 2) * cell) / over + std::sqrt(2 * log_term / over)
                      : 1e300;
    double left = ALPHA * row;
    for (int s = 0; s < S; ++s) left += moves[i][s];
    inverse[i] = left > 0 ? 1 / left : 0;
    bonus[i] = left > 0 ? ((ALPHA + 1) * row + S * move) * inverse[i] +
                              std::sqrt(14 * S * log_term * inverse[i])
                        : 1e300;
  }
  double values[S] = {};
  bool changed = false;
  for (int h = H - 1; h >= 0; --h) {
    double next[S];
    for (int s = 0; s < S; ++s) {
      double top = -1e308;
      int chosen = 0;
      for (int a = 0; a < A; ++a) {
        const int i = s * A + a;
        double future = 0;
        for (int t2 = 0; t2 < S; ++t2) future += moves[i][t2] * values[t2];
        const double q = now[i] + (H - h) * bonus[i] + inverse[i] * future;
        if (q > top) top = q, chosen = a;
      }
      next[s] = std::fmin(top, H - h);
      if (policy[h][s] != chosen) policy[h][s] = chosen, changed = true;
    }
    for (int s = 0; s < S; ++s) values[s] = next[s];
  }
  return changed;
}

static int pick(const double *law) {
  double u = uniform();
  int s = 0;
  while (s < S - 1 && u >= law[s]) u -= law[s++];
  return s;
}

int main(int, char **arguments) {
  const long episodes = std::atol(arguments[1]);
  const double scale = std::atof(arguments[2]);
  uint64_t seed = std::strtoull(arguments[3], nullptr, 10);
  for (uint64_t &part : state) {  // SplitMix64
    uint64_t z = seed += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    part = z ^ (z >> 31);
  }
  for (auto &row : p)
    for (double &x : row)
      if (std::scanf("%lf", &x) != 1) return 1;
  for (double &x : r)
    if (std::scanf("%lf", &x) != 1) return 1;
  for (double &x : start)
    if (std::scanf("%lf", &x) != 1) return 1;
  build_ziggurat();
  best = value_of(true);
  double regret = 0, loss = 0;
  const std::clock_t began = std::clock();
  for (long k = 1; k <= episodes; ++k) {
    if (plan(double(k), scale) || k == 1) loss = best - value_of(false);
    int s = pick(start);
    for (int h = 0; h < H; ++h) {
      const int i = s * A + policy[h][s];
      visits[i] += 1;
      rewards[i] += r[i];
      if (h + 1 < H) moves[i][s = pick(p[i])] += 1;
    }
    for (double &x : rewards) x += scale * laplace();
    for (double &x : visits) x += scale * laplace();
    for (auto &row : moves)
      for (double &x : row) x += scale * laplace();
    regret += loss;
  }
  const double seconds = double(std::clock() - began) / CLOCKS_PER_SEC;
  std::printf("%.3f %.17g\n", seconds / episodes * 1e9, regret);
  return 0;
}
