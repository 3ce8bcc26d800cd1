/* The arm paper's fifteen strikes, written out by hand for this one arm: a bound for one run on one core.
 *
 * Tsitouras' 5(4) pair with the step-size rule of carom's engine in its simplest form, events by Newton's method on the
 * step length, Jackson-Green contact in three phases, tanh friction, PD control with weight compensation.
 * arm RTOL REPEATS prints seconds per run (of the processor), steps, final time and state;
 * arm RTOL 1 LANES prints seconds and steps of so many runs one after the other, friction coefficients from 0.05 to 0.5.
 * As CUDA (nvcc -x cu) it is the bound for batches on a GPU, one thread for each lane:
 * arm RTOL LANES... prints a line for each: lanes, seconds of the shortest of three launches, steps of all lanes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __CUDACC__
#define HERE __device__ static
#define SHARED __constant__
#else
#define HERE static
#define SHARED static
#endif

enum { FLIGHT_DOWN, ELASTIC, PLASTIC, RESTITUTION, FLIGHT_UP, PHASES };

#define RADIUS 0.005
#define SLIP 0.02
#define NU 0.29
#define YIELD 1.12e9

typedef struct { double modulus, hard, critical, load, exponent; } Steel;
SHARED Steel steel;

typedef struct { double friction, residual, radius; } Dent;

static Steel steel_of(void) {
  double modulus = 210e9 / (2 * (1 - NU * NU)), hard = 1.295 * exp(0.736 * NU) * YIELD;
  Steel s = {modulus, hard, RADIUS * pow(M_PI * hard / (2 * modulus), 2),
             4.0 / 3 * pow(RADIUS / modulus, 2) * pow(M_PI * hard / 2, 3), 0.14 * exp(23 * YIELD / modulus)};
  return s;
}

HERE double hertz(double d, double radius) { return d > 0 ? 4.0 / 3 * steel.modulus * sqrt(radius) * d * sqrt(d) : 0; }

HERE double plastic(double d) {
  double r = d / steel.critical, l = log(r);
  double a = sqrt(RADIUS * d * exp(steel.exponent * (l - log(1.9))));
  double h = YIELD * (2.84 - 0.92 * (1 - cos(M_PI * a / RADIUS)));
  return steel.load * (exp(-0.25 * exp(l * 5 / 12)) * r * sqrt(r) + 4 * h / steel.hard * (1 - exp(-0.04 * exp(l * 5 / 9))) * r);
}

HERE void flow(const double *y, int phase, const Dent *dent, double *out) {
  double s1 = sin(y[0]), c1 = cos(y[0]), s2 = sin(y[1]), c2 = cos(y[1]);
  double off = 0.5 * (c1 * c2 + s1 * s2), skew = 0.5 * (s1 * c2 - c1 * s2);
  double q1 = -skew * y[3] * y[3], q2 = skew * y[2] * y[2];
  if (phase == FLIGHT_DOWN || phase == FLIGHT_UP) {
    double sign = phase == FLIGHT_UP ? 1 : -1, rad = M_PI / 180;
    /* weight and its compensation cancel on both angles */
    double t1 = -100 * y[2] - 600 * (y[0] - sign * 80 * rad), t2 = -100 * y[3] - 300 * (y[1] - sign * 70 * rad);
    q1 += t1 - t2;
    q2 += t2;
  } else {
    double d = -1 - s1 - s2, slide = -s1 * y[2] - s2 * y[3];
    double n = phase == ELASTIC ? hertz(d, RADIUS)
             : phase == PLASTIC ? plastic(d)
                                : hertz(d - dent->residual, dent->radius);
    double f = -dent->friction * n * tanh(slide / SLIP);
    q1 += c1 * n - s1 * f;
    q2 += c2 * n - s2 * f;
  }
  double det = 4.0 / 9 - off * off;
  out[0] = y[2];
  out[1] = y[3];
  out[2] = (q1 / 3 - off * q2) / det;
  out[3] = (4.0 / 3 * q2 - off * q1) / det;
}

/* Guard of the phase's end and its rate. */
HERE double guard(const double *y, const double *f, int phase, const Dent *dent, double *rate) {
  double s1 = sin(y[0]), c1 = cos(y[0]), s2 = sin(y[1]), c2 = cos(y[1]);
  double high = s1 + s2, climb = c1 * y[2] + c2 * y[3];
  switch (phase) {
    case FLIGHT_DOWN: *rate = -climb; return -1 - high;
    case ELASTIC: *rate = -climb; return -1 - high - 1.9 * steel.critical;
    case PLASTIC: *rate = c1 * f[2] + c2 * f[3] - s1 * y[2] * y[2] - s2 * y[3] * y[3]; return climb;
    case RESTITUTION: *rate = climb; return dent->residual + 1 + high;
    default: *rate = climb; return high - 1;
  }
}

SHARED const double A[6][6] = {
    {0.161},
    {-0.008480655492356989, 0.335480655492357},
    {2.8971530571054935, -6.359448489975075, 4.3622954328695815},
    {5.325864828439257, -11.748883564062828, 7.4955393428898365, -0.09249506636175525},
    {5.86145544294642, -12.92096931784711, 8.159367898576159, -0.071584973281401, -0.028269050394068383},
    {0.09646076681806523, 0.01, 0.4798896504144996, 1.379008574103742, -3.290069515436081, 2.324710524099774}};
SHARED const double E[7] = {0.001780011052225777, 0.0008164344596567469, -0.007880878010261995, 0.1447110071732629,
                            -0.5823571654525552, 0.45808210592918697, -0.015151515151515152};

HERE long run(double rtol, double friction, double *t_end, double *end) {
  double y[4] = {M_PI / 3, M_PI / 4, 0, 0}, k[7][4], t = 0, h = 1e-3, free_h = 1e-3;
  double first[2] = {1e-6, 1e-3}; /* first step of the last impact, of the last flight */
  Dent dent = {friction, 0, 1};
  int phase = FLIGHT_DOWN, served = 0;
  long steps = 0;
  flow(y, phase, &dent, k[0]);
  while (served < 15 * PHASES) {
    double z[4], norm = 0;
#pragma unroll
    for (int s = 0; s < 6; s++) {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        double sum = 0;
#pragma unroll
        for (int j = 0; j <= s; j++) sum += A[s][j] * k[j][i];
        z[i] = y[i] + h * sum;
      }
      flow(z, phase, &dent, k[s + 1]);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
      double e = 0, scale = 0.01 * rtol + rtol * fmax(fabs(y[i]), fabs(z[i]));
#pragma unroll
      for (int s = 0; s < 7; s++) e += E[s] * k[s][i];
      norm += h * e / scale * (h * e / scale);
    }
    norm = sqrt(norm / 4);
    steps++;
    double grow = 0.9 * pow(fmax(norm, 1e-10), -0.2);
    if (!(norm <= 1)) {
      h = free_h = h * fmax(0.1, fmin(grow, 0.9));
      continue;
    }
    double rate, g = guard(z, k[6], phase, &dent, &rate), ahead = -g / rate;
    int hit = rate > 0 && fabs(ahead) < 1e-14;
    if (g > 0 && !hit) { /* too far: come back along the guard's slope */
      h = h + ahead > 0 && ahead < 0 ? h + ahead : 0.5 * h;
      continue;
    }
    int whole = h >= free_h;
    t += h;
    memcpy(y, z, sizeof y);
    memcpy(k[0], k[6], sizeof k[0]);
    if (whole) free_h = h * fmin(8.0, fmax(0.2, grow));
    h = free_h;
    if (hit) {
      if (phase == PLASTIC) {
        double d = -1 - sin(y[0]) - sin(y[1]);
        dent.residual = 1.02 * d * (1 - pow((d / steel.critical + 5.9) / 6.9, -0.54));
        dent.radius = pow(0.75 * plastic(d) / steel.modulus, 2) / pow(d - dent.residual, 3);
      }
      phase = (phase + 1) % PHASES;
      served++;
      h = free_h = phase == ELASTIC ? first[0] : phase == FLIGHT_UP ? first[1] : 0.5 * free_h;
      flow(y, phase, &dent, k[0]);
    } else if (rate > 0 && ahead > 0 && ahead < h) {
      h = ahead; /* the crossing lies within the next step: aim at it */
    }
  }
  *t_end = t;
  memcpy(end, y, sizeof y);
  return steps;
}

#ifdef __CUDACC__

__global__ void __launch_bounds__(128) lanes(int n, double rtol, double *t, double *end, long *steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double state[4];
  if (i >= n) return;
  steps[i] = run(rtol, 0.05 + 0.45 * i / (n > 1 ? n - 1 : 1), t + i, state);
  for (int k = 0; k < 4; k++) end[k * n + i] = state[k];
}

int main(int argc, char **argv) {
  Steel s = steel_of();
  cudaMemcpyToSymbol(steel, &s, sizeof s);
  for (int a = 2; a < argc; a++) {
    int n = atoi(argv[a]);
    double *t, *end;
    long *steps, *counted = (long *)malloc(n * sizeof(long)), all = 0;
    float best = 1e30f, took;
    cudaEvent_t begin, done;
    cudaMalloc(&t, n * sizeof(double));
    cudaMalloc(&end, 4L * n * sizeof(double));
    cudaMalloc(&steps, n * sizeof(long));
    cudaEventCreate(&begin);
    cudaEventCreate(&done);
    for (int r = 0; r < 3; r++) {
      cudaEventRecord(begin);
      lanes<<<(n + 127) / 128, 128>>>(n, atof(argv[1]), t, end, steps);
      cudaEventRecord(done);
      cudaEventSynchronize(done);
      cudaEventElapsedTime(&took, begin, done);
      best = fminf(best, took);
    }
    cudaMemcpy(counted, steps, n * sizeof(long), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) all += counted[i];
    cudaError_t wrong = cudaGetLastError();
    if (wrong != cudaSuccess) return fprintf(stderr, "%s\n", cudaGetErrorString(wrong)), 1;
    printf("%d %.9e %ld\n", n, 1e-3 * best, all);
    cudaFree(t), cudaFree(end), cudaFree(steps), free(counted);
  }
}

#else

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(int argc, char **argv) {
  double rtol = argc > 1 ? atof(argv[1]) : 1e-8, t, end[4], best = 1e9;
  int repeats = argc > 2 ? atoi(argv[2]) : 20, lanes = argc > 3 ? atoi(argv[3]) : 0;
  long steps = 0;
  steel = steel_of();
  if (lanes) {
    double begin = now();
    for (int k = 0; k < lanes; k++) {
      steps += run(rtol, 0.05 + 0.45 * k / (lanes > 1 ? lanes - 1 : 1), &t, end);
    }
    printf("%.9e %ld\n", now() - begin, steps);
    return 0;
  }
  for (int r = 0; r < repeats; r++) {
    double begin = now();
    steps = run(rtol, 0.2, &t, end);
    best = fmin(best, now() - begin);
  }
  printf("%.9e %ld %.17g %.17g %.17g %.17g %.17g\n", best, steps, t, end[0], end[1], end[2], end[3]);
}

#endif
