"""peer_stats.py - medians, intervals and paired comparisons by the definitions of bench/stats.h. Pure."""

import math
from statistics import fmean


def quantile(sample, q):
    """By linear interpolation between order statistics (type 7); NaN of nothing."""
    s = sorted(sample)
    if not s:
        return math.nan
    position = (len(s) - 1) * q
    below = int(position)
    part = position - below
    return s[below] if part <= 0 or below + 1 >= len(s) else s[below] + part * (s[below + 1] - s[below])


def median(sample):
    return quantile(sample, 0.5)


def median_rank(n):
    """The largest k for which the k-th smallest and the k-th largest of n samples hold the median between them at 95 %
    or more (binomial); 0 if there is none."""
    k, total, term = 0, 0.0, -n * math.log(2)
    while k < n // 2:
        total += math.exp(term)
        if total > 0.025:
            break
        term += math.log((n - k) / (k + 1))
        k += 1
    return k


def summary(sample, scale=1.0):
    """median, its interval of 95 % by order statistics (NaN below 6 samples), p5, p95, n."""
    s = sorted(x * scale for x in sample)
    k = median_rank(len(s))
    low, high = (s[k - 1], s[len(s) - k]) if k else (math.nan, math.nan)
    return {
        "median": median(s),
        "ci_low": low,
        "ci_high": high,
        "p5": quantile(s, 0.05),
        "p95": quantile(s, 0.95),
        "n": len(s),
    }


def t_tail(t, df):
    """P(T > t) of Student's t for t >= 0: half of the regularised incomplete beta function I_x(df/2, 1/2) at
    x = df / (df + t^2), by its continued fraction (NIST DLMF 8.17.22, Lentz's method)."""
    if t == 0:
        return 0.5
    x, a, b = df / (df + t * t), df / 2, 0.5
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    swap = x >= (a + 1) / (a + b + 2)
    if swap:
        x, a, b = 1 - x, b, a
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 100000):
        before = value
        for factor in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 / (1 + factor * d), 1 + factor / c
            value *= c * d
        if abs(value / before - 1) < 1e-15:
            break
    part = front / a * value
    return (1 - part if swap else part) / 2


def t_quantile(p, df):
    """The t above 0 with P(T <= t) = p > 1/2, by bisection."""
    low, high = 0.0, 1.0
    while t_tail(high, df) > 1 - p:
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if t_tail(middle, df) > 1 - p else (low, middle)
    return high


def paired(a, b):
    """a[i] against b[i]: ratio of their geometric means, its interval of 95 % from Student's t, and the p of no
    difference. Interval NaN and p 1 for one pair."""
    x = [math.log(p / q) for p, q in zip(a, b, strict=True)]
    n, mean = len(x), fmean(x)
    found = {"ratio": math.exp(mean), "low": math.nan, "high": math.nan, "p": 1.0}
    if n < 2:
        return found
    error = math.sqrt(sum((y - mean) ** 2 for y in x) / (n - 1) / n)
    if error == 0:
        return found | {"low": found["ratio"], "high": found["ratio"], "p": 0.0 if mean else 1.0}
    reach = t_quantile(0.975, n - 1) * error
    return found | {
        "low": math.exp(mean - reach),
        "high": math.exp(mean + reach),
        "p": 2 * t_tail(abs(mean) / error, n - 1),
    }


def holm(p):
    """The adjusted p of each of several comparisons."""
    adjusted, least = list(p), 0.0
    for rank, i in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        least = max(least, min(1.0, (len(p) - rank) * p[i]))
        adjusted[i] = least
    return adjusted
