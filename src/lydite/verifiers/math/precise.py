"""Complex arithmetic at high precision on the standard library's ``decimal``.

A number is a pair of Decimals (real, imaginary). Functions take the principal value. Everything works in the caller's
decimal context; ``evaluate`` sets it.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, getcontext
from functools import lru_cache

from lydite.verifiers.math.nodes import TooBigError, UndefinedError

Number = tuple[Decimal, Decimal]
ZERO, ONE = Decimal(0), Decimal(1)
_HUGE = 10**6
"""Largest decimal exponent that is computed with."""


def check(value: Number) -> Number:
    """The number itself; refuses magnitudes that are out of all proportion."""
    for part in value:
        if not part.is_finite():
            raise UndefinedError
        if part and abs(part.adjusted()) > _HUGE:
            raise TooBigError
    return value


def add(a: Number, b: Number) -> Number:
    return a[0] + b[0], a[1] + b[1]


def mul(a: Number, b: Number) -> Number:
    if not a[1] and not b[1]:
        return check((a[0] * b[0], ZERO))
    return check((a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]))


def div(a: Number, b: Number) -> Number:
    if not b[1]:
        if not b[0]:
            raise UndefinedError
        return check((a[0] / b[0], a[1] / b[0] if a[1] else ZERO))
    norm = b[0] * b[0] + b[1] * b[1]
    return check(((a[0] * b[0] + a[1] * b[1]) / norm, (a[1] * b[0] - a[0] * b[1]) / norm))


@lru_cache(maxsize=8)
def _pi(precision: int) -> Decimal:
    """Machin: pi = 16 atan(1/5) - 4 atan(1/239), in integers."""
    one: int = 10 ** (precision + 10)

    def inverse_tangent(x: int) -> int:
        term = total = one // x
        divisor, sign = 3, -1
        while term:
            term //= x * x
            total += sign * (term // divisor)
            divisor, sign = divisor + 2, -sign
        return total

    return Decimal(16 * inverse_tangent(5) - 4 * inverse_tangent(239)).scaleb(-(precision + 10))


def pi() -> Decimal:
    """Pi at the context's precision."""
    return _pi(getcontext().prec)


def exp(a: Number) -> Number:
    if a[0] and a[0].adjusted() > 6:
        raise TooBigError
    size = a[0].exp()
    if not a[1]:
        return check((size, ZERO))
    return check((size * _cos(a[1]), size * _sin(a[1])))


def log(a: Number) -> Number:
    if not a[1]:
        if not a[0]:
            raise UndefinedError
        return abs(a[0]).ln(), ZERO if a[0] > 0 else pi()
    return (a[0] * a[0] + a[1] * a[1]).ln() / 2, _atan2(a[1], a[0])


def power(a: Number, b: Number) -> Number:
    """Principal a^b; whole exponents by multiplication, so that they stay exact in sign."""
    if not a[0] and not a[1]:
        if b[0] > 0 and not b[1]:
            return ZERO, ZERO
        raise UndefinedError
    if not b[1] and b[0] == b[0].to_integral_value() and abs(b[0]) < 10**6:
        return _whole_power(a, int(b[0]))
    return exp(mul(b, log(a)))


def _whole_power(a: Number, n: int) -> Number:
    if n < 0:
        return div((ONE, ZERO), _whole_power(a, -n))
    result: Number = (ONE, ZERO)
    while n:
        if n & 1:
            result = mul(result, a)
        n >>= 1
        if n:
            a = mul(a, a)
    return result


def sqrt(a: Number) -> Number:
    if not a[1]:
        return (a[0].sqrt(), ZERO) if a[0] >= 0 else (ZERO, (-a[0]).sqrt())
    return power(a, (Decimal("0.5"), ZERO))


def root(a: Number, degree: Number) -> Number:
    """The n-th root: of negative reals the real one when n is odd, as in school."""
    if not degree[0] and not degree[1]:
        raise UndefinedError
    if degree[0] == 2 and not degree[1]:
        return sqrt(a)
    if not a[1] and a[0] < 0 and not degree[1] and degree[0] == degree[0].to_integral_value() and degree[0] % 2:
        positive = root((-a[0], ZERO), degree)
        return -positive[0], -positive[1]
    return power(a, div((ONE, ZERO), degree))


def _reduced(x: Decimal) -> Decimal:
    """x modulo 2 pi, in (-pi, pi]."""
    if x and x.adjusted() > 15:
        raise TooBigError
    turn = 2 * pi()
    return x - turn * (x / turn).to_integral_value()


def _sin(x: Decimal) -> Decimal:
    x = _reduced(x)
    small = x / 27  # sin 3t = 3 sin t - 4 sin^3 t, three times
    term = total = small
    square, n = small * small, 1
    while term and term.adjusted() > -getcontext().prec - 6 + min(0, total.adjusted()):
        term = -term * square / ((n + 1) * (n + 2))
        total += term
        n += 2
    for _ in range(3):
        total = 3 * total - 4 * total**3
    return total


def _cos(x: Decimal) -> Decimal:
    half = _sin(_reduced(x) / 2)
    return 1 - 2 * half * half


def _atan(x: Decimal) -> Decimal:
    if x < 0:
        return -_atan(-x)
    if x > 1:
        return pi() / 2 - _atan(1 / x)
    for _ in range(4):
        x = x / (1 + (1 + x * x).sqrt())
    term = total = x
    square, n = x * x, 1
    while term and term.adjusted() > -getcontext().prec - 6 + total.adjusted():
        term = -term * square
        n += 2
        total += term / n
    return 16 * total


def _atan2(y: Decimal, x: Decimal) -> Decimal:
    if not x:
        return pi() / 2 if y > 0 else -pi() / 2
    angle = _atan(y / x)
    return angle if x > 0 else angle + pi() if y >= 0 else angle - pi()


def sin(a: Number) -> Number:
    if not a[1]:
        return _sin(a[0]), ZERO
    up, down = exp((-a[1], a[0])), exp((a[1], -a[0]))  # e^{iz}, e^{-iz}
    return div((up[0] - down[0], up[1] - down[1]), (ZERO, Decimal(2)))


def cos(a: Number) -> Number:
    if not a[1]:
        return _cos(a[0]), ZERO
    up, down = exp((-a[1], a[0])), exp((a[1], -a[0]))
    return (up[0] + down[0]) / 2, (up[1] + down[1]) / 2


def arctan(a: Number) -> Number:
    if a[1]:
        raise UndefinedError
    return _atan(a[0]), ZERO


def arcsin(a: Number) -> Number:
    if a[1] or abs(a[0]) > 1:
        raise UndefinedError
    return _atan2(a[0], (1 - a[0] * a[0]).sqrt()), ZERO


def arccos(a: Number) -> Number:
    inner = arcsin(a)[0]
    return pi() / 2 - inner, ZERO


def _hyperbolic(sign: int) -> Callable[[Number], Number]:
    def function(a: Number) -> Number:
        up, down = exp(a), exp((-a[0], -a[1]))
        return (up[0] + sign * down[0]) / 2, (up[1] + sign * down[1]) / 2

    return function


_ONE: Number = (ONE, ZERO)
sinh, cosh = _hyperbolic(-1), _hyperbolic(1)
FUNCTIONS: dict[str, Callable[[Number], Number]] = {
    "sin": sin, "cos": cos, "tan": lambda a: div(sin(a), cos(a)), "cot": lambda a: div(cos(a), sin(a)),
    "sec": lambda a: div(_ONE, cos(a)), "csc": lambda a: div(_ONE, sin(a)), "arcsin": arcsin, "arccos": arccos,
    "arctan": arctan, "arccot": lambda a: (pi() / 2 - arctan(a)[0], ZERO), "sinh": sinh, "cosh": cosh,
    "tanh": lambda a: div(sinh(a), cosh(a)), "exp": exp, "ln": log,
    "log": lambda a: div(log(a), log((Decimal(10), ZERO))),
}  # fmt: skip
"""Functions of one argument by name. ``log`` is to base 10, ``ln`` natural."""
