/* ECW-RMED (Komiyama, Honda and Nakagawa, ICML 2016, Algorithm 1 with Theorem 5) on "cyclic", one
   comparison after another, every subset of condition (3) by its smallest members. It shares no
   line with jaxduel; regret.csv has its numbers.

     cc -O2 ecw_rmed.c -o ecw_rmed -lm && ./ecw_rmed 100000 2000 paper

   prints the mean average regret and its standard error at 1e3, 3e3, 1e4, 3e4 and 1e5. The other
   readings of condition (3), against which the paper's is held: "box" also demands that no pair has
   more evidence than log t; "greedy" adds up, in one pass over the evidence of both sides together,
   what either side still has room for; "both" is what the program of Wu and Liu does. */

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { K = 4, PAIRS = K * (K + 1) / 2, POINTS = 5 };
static const double ALPHA = 3, BETA = 0.01;
static const double CYCLIC[K][K] = {
    {.5, .6, .6, .6}, {.4, .5, .9, .1}, {.4, .1, .5, .9}, {.4, .9, .1, .5}};
static const int CHECKPOINTS[POINTS] = {1000, 3000, 10000, 30000, 100000};

typedef struct { int i, j; } Pair;

static int box, greedy;               /* the reading of condition (3) */
static int wins[K][K], losses[K];     /* losses: L_i */
static double mu[K][K], div_half[K][K]; /* d(mu_ij, 1/2) */
static double evidence[K][K];         /* n_ij d(mu_ij, 1/2) / log t */
static int fewest, second;            /* L^(1) and L^(2) */

static uint64_t words[2] = {12345, 6789012345ULL}; /* xoroshiro128+ */

static uint64_t turned(uint64_t x, int k) { return x << k | x >> (64 - k); }

static double uniform(void) {
  uint64_t a = words[0], b = words[1], sum = a + b;
  b ^= a;
  words[0] = turned(a, 24) ^ b ^ b << 16;
  words[1] = turned(b, 37);
  return (sum >> 11) * 0x1p-53;
}

static double divergence(double p) {
  return p <= 0 || p >= 1 ? log(2) : p * log(2 * p) + (1 - p) * log(2 * (1 - p));
}

static int comparisons(int i, int j) { return wins[i][j] + wins[j][i]; }
static int beats(int i, int j) { return wins[i][j] > wins[j][i]; }
static double regret(int i, int j) {
  return (losses[i] + losses[j] - 2 * fewest) / (2.0 * (K - 1));
}

static int ascending(const void *x, const void *y) {
  double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

static double smallest(double *x, int n, int k) {
  double sum = 0;
  qsort(x, n, sizeof *x, ascending);
  for (int a = 0; a < k; a++) sum += x[a];
  return sum;
}

static void estimate(double log_t) {
  fewest = second = K;
  for (int i = 0; i < K; i++) {
    losses[i] = 0;
    for (int j = 0; j < K; j++) {
      int n = comparisons(i, j), even = i == j || wins[i][j] == wins[j][i];
      mu[i][j] = even ? .5 : (double)wins[i][j] / n;
      div_half[i][j] = even ? 0 : divergence(mu[i][j]);
      evidence[i][j] = n * div_half[i][j] / log_t;
      losses[i] += i != j && beats(j, i);
    }
  }
  for (int i = 0; i < K; i++) {
    if (losses[i] < fewest) second = fewest, fewest = losses[i];
    else if (losses[i] < second) second = losses[i];
  }
}

/* Condition (2) for i2 and l: for i2 in I and not in I, the smallest sum. */
static int exact_holds(int i1, int i2, int l) {
  for (int inside = 0; inside < 2; inside++) {
    double side[K], sum = 0;
    int size = l + 1 - fewest, rest = losses[i2] - l - inside, n = 0;
    if (inside && (!beats(i1, i2) || size < 1)) continue;
    if (inside) sum = evidence[i1][i2], size--;
    for (int j = 0; j < K; j++)
      if (j != i1 && j != i2 && beats(i1, j)) side[n++] = evidence[i1][j];
    if (size > n) continue;
    sum += smallest(side, n, size);
    n = 0;
    for (int j = 0; j < K; j++)
      if (j != i1 && beats(j, i2)) side[n++] = evidence[i2][j];
    if (rest > n) continue;
    sum += smallest(side, n, rest > 0 ? rest : 0);
    if (sum < 1) return 0;
  }
  return 1;
}

typedef struct { double evidence; int arm, inferior; } Entry;

static int by_evidence(const void *x, const void *y) {
  return ascending(&((const Entry *)x)->evidence, &((const Entry *)y)->evidence);
}

/* The same by one pass over both sides; a side that runs out leaves its partial sum. */
static int greedy_holds(int i1, int i2, int l) {
  Entry all[2 * K];
  int n = 0, size = l + 1 - fewest, rest = losses[i2] > l ? losses[i2] - l : 0;
  double sum = 0;
  for (int j = 0; j < K; j++) {
    if (j != i1 && beats(i1, j)) all[n++] = (Entry){evidence[i1][j], j, 1};
    if (j != i1 && beats(j, i2)) all[n++] = (Entry){evidence[i2][j], j, 0};
  }
  qsort(all, n, sizeof *all, by_evidence);
  for (int a = 0; a < n; a++) {
    int *room = all[a].inferior ? &size : &rest;
    if (*room <= 0) continue;
    if (all[a].inferior && all[a].arm == i2) rest--;
    --*room;
    sum += all[a].evidence;
  }
  return sum >= 1;
}

static int confident(int i1) {
  if (box)
    for (int i = 0; i < K; i++)
      for (int j = 0; j < i; j++)
        if (evidence[i][j] > 1) return 0;
  for (int i2 = 0; i2 < K; i2++)
    for (int l = fewest > 0 ? fewest - 1 : 0; i2 != i1 && l <= second; l++)
      if (!(greedy ? greedy_holds : exact_holds)(i1, i2, l)) return 0;
  return 1;
}

/* Theorem 5: the optimum over R^E_i1 and e_ij = q_ij d(mu_ij, 1/2). */
static double optimum(int i1, double e[K][K]) {
  double value = 0;
  memset(e, 0, sizeof(double[K][K]));
  for (int j = 0; j < K; j++)
    if (beats(i1, j)) e[i1][j] = e[j][i1] = 1;
  for (int i2 = 0; i2 < K; i2++) {
    Entry all[K];
    int n = 0, h = 0;
    for (int j = 0; j < K; j++)
      if (j != i1 && beats(j, i2)) all[n++] = (Entry){regret(i2, j) / div_half[i2][j], j, 0};
    int k = n - (losses[i2] - losses[i1] + 1);
    if (i2 == i1 || k < 0) continue;
    qsort(all, n, sizeof *all, by_evidence);
    double sum = 0, least = INFINITY;
    for (int a = 0; a < n; a++) {
      sum += all[a].evidence;
      if (a >= k && sum / (a + 1 - k) < least) least = sum / (a + 1 - k), h = a + 1;
    }
    for (int a = 0; a < h; a++) e[i2][all[a].arm] = e[all[a].arm][i2] = 1.0 / (h - k);
  }
  for (int i = 0; i < K; i++)
    for (int j = 0; j < i; j++)
      if (e[i][j] > 0) value += e[i][j] * regret(i, j) / div_half[i][j];
  return value;
}

/* Lines 7 to 15. */
static void offer(int current[K][K], int next[K][K]) {
  double least = INFINITY, e[K][K], best_e[K][K];
  int best = -1;
  for (int i = 0; i < K && best < 0; i++)
    if (losses[i] == fewest && confident(i)) best = i;
  if (best < 0) {
    for (int i = 0; i < K; i++) {
      if (losses[i] != fewest) continue;
      double value = optimum(i, e);
      if (value < least - 1e-12) least = value, best = i, memcpy(best_e, e, sizeof e);
    }
    for (int i = 0; i < K; i++)
      for (int j = 0; j < i; j++)
        if (best_e[i][j] > evidence[i][j] && !current[i][j]) next[i][j] = 1;
  }
  if (!current[best][best]) next[best][best] = 1;
}

static int unsettled(int i, int j, double log_t) {
  int n = comparisons(i, j);
  double mean = n ? (double)wins[i][j] / n : .5, slow = fmax(1, log(fmax(1, log_t)));
  return n < ALPHA * sqrt(log_t) || fabs(mean - .5) < BETA / slow;
}

static int pairs_of(int table[K][K], Pair *list) {
  int n = 0;
  for (int i = 0; i < K; i++)
    for (int j = 0; j <= i; j++)
      if (table[i][j]) list[n++] = (Pair){i, j};
  return n;
}

static void run(int horizon, double *at) {
  int order[K], current[K][K] = {0}, next[K][K] = {0}, begins = 1, forced = 0, listed, place = 0;
  Pair line4[PAIRS], list[PAIRS];
  double total = 0;
  for (int i = 0; i < K; i++) {
    int j = uniform() * (i + 1);
    order[i] = i;
    order[i] = order[j];
    order[j] = i;
    for (int b = 0; b < i; b++) current[i][b] = 1;
  }
  memset(wins, 0, sizeof wins);
  listed = pairs_of(current, list);
  for (int t = 1, point = 0; t <= horizon; t++) {
    double log_t = log(t);
    if (begins) {
      forced = begins = 0;
      for (int i = 0; i < K; i++)
        for (int j = 0; j < i; j++)
          if (unsettled(i, j, log_t)) line4[forced++] = (Pair){i, j};
      for (int a = 0; a < forced / 2; a++) {
        Pair kept = line4[a];
        line4[a] = line4[forced - 1 - a];
        line4[forced - 1 - a] = kept;
      }
    }
    int by_line4 = forced > 0;
    Pair p = by_line4 ? line4[--forced] : list[place];
    int left_wins = uniform() < CYCLIC[order[p.i]][order[p.j]];
    if (p.i != p.j) wins[left_wins ? p.i : p.j][left_wins ? p.j : p.i]++;
    total += ((order[p.i] > 0) + (order[p.j] > 0)) * .1 / 2;
    if (point < POINTS && t == CHECKPOINTS[point]) at[point++] = total;
    if (by_line4) continue;
    estimate(fmax(1, log_t));
    current[p.i][p.j] = 0;
    offer(current, next);
    if (++place < listed) continue;
    listed = pairs_of(next, list);
    memcpy(current, next, sizeof current);
    memset(next, 0, sizeof next);
    place = 0, begins = 1;
  }
}

int main(int count, char **given) {
  if (count != 4) {
    fprintf(stderr, "usage: %s HORIZON RUNS paper|box|greedy|both\n", given[0]);
    return 2;
  }
  int horizon = atoi(given[1]), runs = atoi(given[2]);
  box = !strcmp(given[3], "box") || !strcmp(given[3], "both");
  greedy = !strcmp(given[3], "greedy") || !strcmp(given[3], "both");
  double sum[POINTS] = {0}, squares[POINTS] = {0}, at[POINTS];
  for (int r = 0; r < runs; r++) {
    run(horizon, at);
    for (int p = 0; p < POINTS; p++) sum[p] += at[p], squares[p] += at[p] * at[p];
  }
  for (int p = 0; p < POINTS && CHECKPOINTS[p] <= horizon; p++) {
    double mean = sum[p] / runs;
    double variance = (squares[p] / runs - mean * mean) / (runs - 1);
    printf("%d %.3f %.3f\n", CHECKPOINTS[p], mean, sqrt(variance));
  }
}
