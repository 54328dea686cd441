#!/usr/bin/env python3
"""Expected results of the fused RHT + NVFP4 kernel, written with NumPy and ml_dtypes from docs/facts/numerics.md alone.

Usage: make.py > cases.txt          (needs numpy and ml_dtypes; the tests only read cases.txt)
"""
import sys

import ml_dtypes
import numpy as np

F = np.float32
MASK64 = (1 << 64) - 1
FLT_MAX = np.finfo(F).max
np.seterr(all="ignore")


def splitmix(seed, index):
    z = (seed + (index + 1) * 0x9E3779B97F4A7C15) & MASK64
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK64
    return z ^ (z >> 31)


def make_input(kind, m, n, seed):
    """m x n bf16 bits: exponents within `spread` binades of 1 (nans: one in 200 a NaN), all finite ones, or every bit pattern."""
    out = np.zeros((m, n), np.uint16)
    for i in range(m * n):
        w = splitmix(seed, i)
        if kind == "wild":
            out[i // n, i % n] = w & 0xFFFF
        elif kind == "finite":
            out[i // n, i % n] = (w & 0x807F) | ((w >> 16) % 255) << 7
        else:
            spread = 12
            out[i // n, i % n] = (w & 0x807F) | (127 - spread + (w >> 16) % (spread + 1)) << 7
            if kind == "nans" and (w >> 32) % 200 == 0:
                out[i // n, i % n] = 0x7FC1
    return out


def fused_sum(xs, signs, c=None):
    """Sum of x * sign * 0.25 for 16 bf16 codes as one tensor-core sum, f32 bits as a NumPy float."""
    terms, pos, neg = [], False, False
    for x, s in zip(xs, signs):
        negative = bool(x >> 15) != (s < 0)
        e, f = (int(x) >> 7) & 0xFF, int(x) & 0x7F
        if e == 255 and f:
            return F(np.nan)
        if e == 255:
            pos, neg = pos or not negative, neg or negative
        elif e or f:
            raw = max(e, 1) - 127
            terms.append((-1 if negative else 1, (f | (0x80 if e else 0)), raw - 7 - 2, raw - 2))
    if pos and neg:
        return F(np.nan)
    if pos or neg:
        return F(np.inf if pos else -np.inf)
    if not terms:
        return F(0)
    q = max(max(t[3] for t in terms), -133) - 25
    total = 0
    for sign, sig, lsb, _ in terms:
        total += sign * ((sig << (lsb - q)) if lsb >= q else (sig >> (q - lsb)))
    mag = abs(total)
    drop = max(mag.bit_length() - 24, -149 - q, 0)
    mag = (mag >> drop) << drop
    if mag == 0:
        return F(0)
    v = float(mag) * 2.0**q
    v = np.inf if v >= 2.0**128 else v
    return F(-v if total < 0 else v)


def hadamard(mask):
    return [[(-1 if bin(i & j).count("1") & 1 else 1) * (-1 if mask >> i & 1 else 1) for j in range(16)] for i in range(16)]


def philox(ctr, key):
    ctr, key = list(ctr), list(key)
    for _ in range(10):
        x, z = 0xD2511F53 * ctr[0], 0xCD9E8D57 * ctr[2]
        ctr = [(z >> 32) ^ ctr[1] ^ key[0], z & 0xFFFFFFFF, (x >> 32) ^ ctr[3] ^ key[1], x & 0xFFFFFFFF]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return ctr


def rev(v, bits):
    return int(format(v, f"0{bits}b")[::-1], 2)


def random_bits(w):
    """Of elements 0..3 of a cvt.rs.e2m1x4 (0 = operand f, 3 = operand a)."""
    b = [(w >> (8 * i)) & 0xFF for i in range(4)]
    return [b[2] << 8 | b[0], rev(b[0], 8) << 8 | rev(b[2], 8), b[3] << 8 | b[1], rev(b[1], 8) << 8 | rev(b[3], 8)]


GRID = [0, 0.5, 1, 1.5, 2, 3, 4, 6]


def e2m1_rn(y):
    if np.isnan(y):
        return 7
    y = F(np.clip(y, -6, 6))
    return int(np.array([y]).astype(ml_dtypes.float4_e2m1fn).view(np.uint8)[0])


def e2m1_rs(y, r):
    if np.isnan(y):
        return 7
    a, s = float(abs(y)), 8 if np.signbit(y) else 0
    if a >= 6:
        return s | 7
    lo = max(i for i in range(8) if GRID[i] <= a)
    t = int((a - GRID[lo]) / (GRID[lo + 1] - GRID[lo]) * 65536)
    return s | (lo + (t + r >= 65536))


def e4m3(v):
    if np.isnan(v):
        return 0x7F
    return int(np.array([min(v, F(448))], F).astype(ml_dtypes.float8_e4m3fn).view(np.uint8)[0])


def e4m3_value(code):
    return np.array([code], np.uint8).view(ml_dtypes.float8_e4m3fn).astype(F)[0]


def bf16_round(v):
    return np.asarray(v, F).astype(ml_dtypes.bfloat16).astype(F)


def minimum_nan(a, b):
    return F(np.minimum(F(a), F(b)))  # NumPy's minimum propagates NaN


def quantize(x, order, rounding, round_trip, seed, offset, k_tile):
    m, n = x.shape
    h = hadamard(0xD7E8)
    columns = [[h[i][j] for i in range(16)] for j in range(16)]
    t = np.zeros((n, m), F)
    for c in range(n):
        for b in range(m // 16):
            for j in range(16):
                t[c, b * 16 + j] = fused_sum(x[b * 16:b * 16 + 16, c], columns[j])
    rounded = np.abs(bf16_round(t))
    amax = F(np.nanmax(rounded)) if not np.isnan(rounded).all() else F(0)
    s_enc = minimum_nan(F(2688) / amax, FLT_MAX)
    if amax == 0 or s_enc == 0:
        s_enc = F(1)
    s_dec = F(1) / s_enc
    mult = s_enc * (F(1) / F(6))
    codes, scales = np.zeros((n, m), np.uint8), np.zeros((n, m // 16), np.uint8)
    ktm, tiles_m = min(m, k_tile) // 64, -(-n // 128)
    for c in range(n):
        for b in range(m // 16):
            v = t[c, b * 16:b * 16 + 16]
            v = bf16_round(v) if round_trip else v
            bmax = F(np.max(np.abs(v)))  # propagates NaN
            pv = bmax / F(6) * s_enc if order == "article" else bmax * mult
            scales[c, b] = e4m3(F(pv))
            inv = minimum_nan(F(1) / F(e4m3_value(scales[c, b]) * s_dec), FLT_MAX)
            y = [F(e * inv) for e in v]
            if rounding == "nearest":
                codes[c, b * 16:b * 16 + 16] = [e2m1_rn(e) for e in y]
            else:
                tile, draw = divmod(b, 4)
                strip, k = divmod(tile, ktm)
                sub = (c % 128 + k * 256 + (c // 128 + tiles_m * strip) * ktm * 256) & 0xFFFFFFFF
                counter = (offset + (sub << 64) + draw) & ((1 << 128) - 1)
                w = philox([counter >> (32 * i) & 0xFFFFFFFF for i in range(4)], [seed & 0xFFFFFFFF, seed >> 32])
                codes[c, b * 16:b * 16 + 16] = [e2m1_rs(y[i], random_bits(w[i // 4])[i % 4]) for i in range(16)]
    return amax, codes[:, 0::2] | codes[:, 1::2] << 4, scales


def fnv(data):
    h = 0xCBF29CE484222325
    for b in data:
        h = ((h ^ b) * 0x100000001B3) & MASK64
    return h


print("# Written by make.py: kind m n input-seed order rounding round_trip seed offset k_tile amax-bits fnv(codes) fnv(scales)")
CASES = [
    ("tame", 64, 2, 1), ("tame", 640, 130, 2), ("finite", 128, 40, 3), ("wild", 64, 40, 4), ("nans", 128, 40, 4),
    ("tame", 80, 5, 5), ("tame", 128, 33, 10),
]
for kind, m, n, input_seed in CASES:
    x = make_input(kind, m, n, input_seed)
    for order, rounding, trip, seed, offset, k_tile in [
        ("article", "nearest", 1, 0, 0, 512), ("te", "nearest", 1, 0, 0, 512), ("te", "nearest", 0, 0, 0, 512),
        ("article", "stochastic", 1, 0x123456789ABCDEF0, 0, 512),
        ("article", "stochastic", 1, 7, 0xFFFFFFFFFFFFFFFE, 128), ("te", "stochastic", 0, 7, 0xFFFFFFFF, 64),
    ]:
        amax, codes, scales = quantize(x, order, rounding, trip, seed, offset, k_tile)
        print(kind, m, n, input_seed, order, rounding, trip, seed, offset, k_tile,
              f"{amax.view(np.uint32):08x} {fnv(codes.tobytes()):016x} {fnv(scales.tobytes()):016x}")
        sys.stdout.flush()
