"""What kernels call beside CUDA's own library: sine and cosine together, and extremes that keep what is not a number.

A right-hand side asks for sine and cosine of every angle. CUDA's own ones take 50 instructions each, some of which
fetch coefficients; together, with coefficients that are operands, they take 45.
"""

from __future__ import annotations

HEAD = """
__device__ inline double larger(double a, double b) { return a > b || a != a ? a : b; }
__device__ inline double smaller(double a, double b) { return a < b || a != a ? a : b; }

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

__device__ inline void turned(double x, double* sine, double* cosine) {
  if (!(fabs(x) < 1e5)) {
    const double2 both = turned_far(x);
    *sine = both.x;
    *cosine = both.y;
    return;
  }
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
"""
