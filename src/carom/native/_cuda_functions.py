"""What kernels call beside CUDA's own library: sine and cosine together, exponentials, logarithms, and extremes.

A right-hand side asks for sine and cosine of every angle. CUDA's own ones take 50 instructions each, some of which
fetch coefficients; together, with coefficients that are operands, they take 45. Likewise the exponential (47 for 61)
and the logarithm (50 for 92): every step takes one of each. CUDA's division and root have a branch for what is out of
the ordinary, so that one waits for the other. Extremes keep what is not a number.
"""

from __future__ import annotations

HEAD = """
__device__ inline double larger(double a, double b) { return a > b || a != a ? a : b; }
__device__ inline double smaller(double a, double b) { return a < b || a != a ? a : b; }

// In a register from here on: compilers would fetch it anew where it is needed, and wait there.
__device__ inline double held(double x) {
#ifdef __CUDA_ARCH__
  asm volatile("" : "+d"(x));
#endif
  return x;
}

// 2 / pi, then pi / 2 in three parts: what remains of an angle up to 1e5 is exact to its last bit.
__constant__ double quarter[4] = {0.6366197723675814, 1.5707963267948966, 6.123233995736766e-17,
                                  -1.4973849048591698e-33};
// Best for |r| < pi / 4: sin r = r + r^3 S(r^2) to 4e-18 of it; cos r = 1 - r^2 / 2 + r^4 C(r^2) to 6e-20.
__constant__ double sines[6] = {-0.1666666666666663, 0.008333333333322113, -0.00019841269829584852,
                                2.755731361970196e-06, -2.5050747490581213e-08, 1.5896213899092106e-10};
__constant__ double cosines[6] = {0.041666666666666595, -0.001388888888887305, 2.4801587288846544e-05,
                                  -2.755731417776597e-07, 2.0875700628712985e-09, -1.1358525220417362e-11};

// -x in the third and fourth quarter.
__device__ inline double opposed(double x, unsigned quarters) {
  return __longlong_as_double(__double_as_longlong(x) ^ ((long long)(quarters & 2) << 62));
}

__device__ __noinline__ double2 turned_far(double x) {
  double2 both;
  sincos(x, &both.x, &both.y);
  return both;
}

__device__ inline bool is_far(double x) { return !(fabs(x) < 1e5); }

// What `turned` found, unless the angle is far.
__device__ inline void unless_far(double x, double* sine, double* cosine) {
  if (is_far(x)) {
    const double2 both = turned_far(x);
    *sine = both.x;
    *cosine = both.y;
  }
}

// Of angles that are not far. Without branches: those of several angles are computed side by side.
__device__ inline void turned(double x, double* sine, double* cosine) {
  // Adding 1.5 * 2^52 rounds to a whole number, which then stands in the last bits.
  const double shifted = fma(x, quarter[0], 6755399441055744.0), turns = shifted - 6755399441055744.0;
  const unsigned n = (unsigned)__double_as_longlong(shifted);
  const double r = fma(-turns, quarter[3], fma(-turns, quarter[2], fma(-turns, quarter[1], x))), z = r * r;
  double s = sines[5], c = cosines[5];
#pragma unroll
  for (int k = 4; k >= 0; k--) {
    s = fma(s, z, sines[k]);
    c = fma(c, z, cosines[k]);
  }
  s = fma(r * z, s, r);
  c = fma(z * z, c, fma(z, -0.5, 1.0));
  const double first = n & 1 ? c : s, second = n & 1 ? s : c;
  *sine = opposed(first, n);
  *cosine = opposed(second, n + 1);
}

// 1 / x to 20 bits; what is denormal is zero, here and of the result.
__device__ inline double roughly_inverse(double x) {
#ifdef __CUDA_ARCH__
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  return r;
#else
  const double least = 2.2250738585072014e-308, r = fabs(x) < least ? 1.0 / (x * 0.0) : 1.0 / x;
  return fabs(r) < least ? r * 0.0 : __longlong_as_double(__double_as_longlong(r) & ~0x7fffffffLL);
#endif
}

// Right to about 60 bits, of what is neither zero nor infinite.
__device__ inline double inverse(double x) {
  const double r = roughly_inverse(x), e = fma(-x, r, 1.0);
  return fma(r, fma(e, e, e), r);
}

// x / y to the last bit but for ties, without a branch, so that several are computed side by side. Divisors that are
// denormal count as zero, those beyond 4e307 as infinite.
__device__ inline double quotient(double x, double y) {
  const double fine = inverse(y), r = fine == fine ? fine : roughly_inverse(y), q = x * r;
  const unsigned exponent = (unsigned)(__double_as_longlong(q) >> 32) << 1;
  const bool usual = exponent - 0x00200000u < 0xffc00000u;  // neither zero nor infinite
  return usual ? fma(r, fma(-y, q, x), q) : q;
}

// 1 / sqrt(x) to 20 bits; what is denormal is zero.
__device__ inline double roughly_inverse_root(double x) {
#ifdef __CUDA_ARCH__
  double r;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  return r;
#else
  const double r = 1.0 / sqrt(fabs(x) < 2.2250738585072014e-308 ? x * 0.0 : x);
  return __longlong_as_double(__double_as_longlong(r) & ~0x7fffffffLL);
#endif
}

// The root to the last bit but for ties, without a branch; what is denormal has itself as its root.
__device__ inline double root(double x) {
  const double rough = roughly_inverse_root(x), e = fma(-x * rough, rough, 1.0);
  const double r = fma(rough * e, fma(e, 0.375, 0.5), rough), s = x * r, fine = fma(fma(-s, s, x), 0.5 * r, s);
  return fabs(x) < 2.2250738585072014e-308 || x == __longlong_as_double(0x7ff0000000000000LL) ? x : fine;
}

// 1 / log 2, and log 2 in two parts; e^r = 1 + r + r^2 P(r) to 2e-17 for |r| < log(2) / 2.
__constant__ double halvings[3] = {1.4426950408889634, 0.6931471805599453, 2.3190468138462996e-17};
__constant__ double powers[10] = {0.5, 0.16666666666666669, 0.04166666666662413, 0.008333333333330062,
                                  0.0013888888917213717, 0.00019841269863053618, 2.4801521295954376e-05,
                                  2.7557268459997064e-06, 2.7620088445409746e-07, 2.510038549551032e-08};
// log 2 in two parts, the first so short that its products with exponents are exact; with s = f / (2 + f),
// log(1 + f) = 2 s + s^3 L(s^2) to 5e-18 for 1 + f from sqrt(1 / 2) to sqrt(2).
__constant__ double doubling[2] = {0.6931471803691238, 1.9082149292705877e-10};
__constant__ double logs[7] = {0.666666666666667, 0.3999999999989889, 0.28571428626253836, 0.22222211089379496,
                               0.1818289243253687, 0.15331611722055008, 0.14617807153417325};

__device__ inline double power_of_two(int k) { return __longlong_as_double((long long)(k + 1023) << 52); }

__device__ inline double exponential(double given) {
  const double x = given > 710.0 ? 710.0 : given < -746.0 ? -746.0 : given;  // beyond: infinite, or nothing
  const double shifted = fma(x, halvings[0], 6755399441055744.0), turns = shifted - 6755399441055744.0;
  const int n = (int)__double_as_longlong(shifted), half = n >> 1;
  const double r = fma(-turns, halvings[2], fma(-turns, halvings[1], x)), z = r * r;
  double even = powers[8], odd = powers[9];  // an instruction holds one operand from this memory
#pragma unroll
  for (int k = 6; k >= 0; k -= 2) {
    even = fma(even, z, powers[k]);
    odd = fma(odd, z, powers[k + 1]);
  }
  return (1.0 + fma(z, fma(odd, r, even), r)) * power_of_two(half) * power_of_two(n - half);
}

__device__ __noinline__ double odd_logarithm(double x) { return log(x); }

__device__ inline double logarithm(double x) {
  const int high = (int)(__double_as_longlong(x) >> 32);
  if ((unsigned)(high - 0x00100000) >= 0x7fe00000u) return odd_logarithm(x);  // not positive, not finite, or tiny
  const int k = (high - 0x3fe6a09e) >> 20;
  const double f = __longlong_as_double(__double_as_longlong(x) - ((long long)k << 52)) - 1.0;
  const double d = f + 2.0, r = inverse(d), near = f * r, s = fma(fma(-near, d, f), r, near), z = s * s;
  double l = logs[6];
#pragma unroll
  for (int k = 5; k >= 0; k--) l = fma(l, z, logs[k]);
  const double h = 0.5 * f * f;
  const double times = __longlong_as_double(0x4330000000000000LL | ((unsigned)k ^ 0x80000000u)) - 4503601774854144.0;
  return fma(times, doubling[0], f - (h - fma(s, fma(l, z, h), times * doubling[1])));
}
"""
