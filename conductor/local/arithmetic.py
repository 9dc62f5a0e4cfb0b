"""Evaluate one arithmetic expression exactly, and write the number the way a person would.

Numbers are fractions as long as they can be, so 0.1 + 0.2 is 0.3 and 9 / 3 is 3. Only a few kinds of syntax
and functions are known; anything else is `NotArithmetic`, which says nothing about whether it would be good
Python. Sizes are bounded before anything large is computed. Pure; no text is ever executed.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

MAX_CHARACTERS = 2_000
MAX_DEPTH = 60
MAX_DIGITS = 1_000
MAX_BITS = int(MAX_DIGITS * math.log2(10))
SIGNIFICANT_DIGITS = 12
"""Digits shown of a number that no short decimal can write exactly."""

Number = Fraction | float
Value = Number | bool | tuple["Value", ...]


class NotArithmetic(ValueError):
    """The text is not an expression of numbers and known functions."""


class CannotEvaluate(ValueError):
    """The text is arithmetic, but it has no answer here: division by zero, a domain error, too large."""


def evaluate(expression: str) -> Number | bool:
    """The value of an expression. Raises `NotArithmetic` or `CannotEvaluate`."""
    if len(expression) > MAX_CHARACTERS:
        raise NotArithmetic(f"longer than {MAX_CHARACTERS} characters")
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NotArithmetic("not a Python expression") from None
    value = _value(tree.body, 0)
    if isinstance(value, tuple):
        raise NotArithmetic("a list of numbers, not one number")
    return value


def _value(node: ast.expr, depth: int) -> Value:
    if depth > MAX_DEPTH:
        raise NotArithmetic(f"nested deeper than {MAX_DEPTH} levels")
    match node:
        case ast.Constant(value=bool(truth)):
            return truth
        case ast.Constant(value=int(number) | float(number)):
            return _literal(number)
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id="math"), attr=name) if name in CONSTANTS:
            return CONSTANTS[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(_value(operand, depth + 1))
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _number(_value(operand, depth + 1))
        case ast.BinOp(left=left, op=operator, right=right):
            return _combine(operator, _number(_value(left, depth + 1)), _number(_value(right, depth + 1)))
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            return _compare(operator, _number(_value(left, depth + 1)), _number(_value(right, depth + 1)))
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return tuple(_value(item, depth + 1) for item in items)
        case (
            ast.Call(func=ast.Name(id=name), args=args, keywords=[])
            | ast.Call(func=ast.Attribute(value=ast.Name(id="math"), attr=name), args=args, keywords=[])
        ) if name in FUNCTIONS:
            return _call(name, [_value(arg, depth + 1) for arg in args])
    raise NotArithmetic(f"{type(node).__name__} is not arithmetic")


def _literal(number: int | float) -> Number:
    if isinstance(number, int):
        return _bounded(Fraction(number))
    if not math.isfinite(number):
        raise CannotEvaluate("the number is too large")
    # The shortest text that means this float is what was written, which 0.1 as a binary fraction is not.
    return Fraction(repr(number))


def _number(value: Value) -> Number:
    if isinstance(value, tuple):
        raise NotArithmetic("a list where a number belongs")
    return Fraction(int(value)) if isinstance(value, bool) else value


def _bounded(value: Number) -> Number:
    if isinstance(value, Fraction):
        if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
            raise CannotEvaluate(f"the number has more than {MAX_DIGITS} digits")
    elif not math.isfinite(value):
        raise CannotEvaluate("the number is too large")
    return value


def _combine(operator: ast.operator, left: Number, right: Number) -> Number:
    try:
        match operator:
            case ast.Add():
                return _bounded(left + right)
            case ast.Sub():
                return _bounded(left - right)
            case ast.Mult():
                return _bounded(left * right)
            case ast.Div():
                return _bounded(left / right)
            case ast.FloorDiv():
                return _bounded(Fraction(left // right))
            case ast.Mod():
                return _bounded(left % right)
            case ast.Pow():
                return _power(left, right)
    except ZeroDivisionError:
        raise CannotEvaluate("division by zero") from None
    except OverflowError:
        raise CannotEvaluate("the number is too large") from None
    raise NotArithmetic(f"{type(operator).__name__} is not arithmetic")


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(base, Fraction) and isinstance(exponent, Fraction):
        if exponent.denominator == 1:
            bits = max(base.numerator.bit_length(), base.denominator.bit_length())
            if base not in (0, 1, -1) and bits * abs(exponent) > MAX_BITS + bits:
                raise CannotEvaluate(f"the number has more than {MAX_DIGITS} digits")
            if base in (1, -1) or abs(exponent) <= MAX_BITS:
                return _bounded(base ** (int(exponent) if base not in (1, -1) else int(exponent) % 2))
            return _bounded(base**exponent)
        if exponent == Fraction(1, 2):
            return _root(base)
    if base < 0:
        raise CannotEvaluate("a root of a negative number")
    return _bounded(float(base) ** float(exponent))


def _root(value: Number) -> Number:
    if value < 0:
        raise CannotEvaluate("the square root of a negative number")
    if isinstance(value, Fraction):
        root = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
        if root * root == value:
            return root
    return math.sqrt(value)


def _compare(operator: ast.cmpop, left: Number, right: Number) -> bool:
    match operator:
        case ast.Eq():
            return left == right
        case ast.NotEq():
            return left != right
        case ast.Lt():
            return left < right
        case ast.LtE():
            return left <= right
        case ast.Gt():
            return left > right
        case ast.GtE():
            return left >= right
    raise NotArithmetic(f"{type(operator).__name__} is not arithmetic")


def _call(name: str, args: list[Value]) -> Number:
    try:
        return _bounded(FUNCTIONS[name](*args))
    except (NotArithmetic, CannotEvaluate):
        raise
    except ZeroDivisionError:
        raise CannotEvaluate("division by zero") from None
    except (ValueError, OverflowError) as error:
        raise CannotEvaluate(f"{name}: {error}") from None
    except TypeError:
        raise NotArithmetic(f"{name} does not take these arguments") from None


def _whole(value: Value, limit: int | None = None) -> int:
    number = _number(value)
    if number != int(number):
        raise CannotEvaluate(f"{number_text(number)} is not a whole number")
    if limit is not None and not -limit <= number <= limit:
        raise CannotEvaluate(f"{number_text(number)} is too large here")
    return int(number)


def _items(args: Sequence[Value]) -> list[Number]:
    only = args[0] if len(args) == 1 else None
    return [_number(item) for item in (only if isinstance(only, tuple) else args)]


def _real(function: Callable[..., float]) -> Callable[..., Number]:
    return lambda *args: function(*(float(_number(arg)) for arg in args))


def _round(value: Value, digits: Value = Fraction(0)) -> Number:
    number = _number(value)
    exact = number if isinstance(number, Fraction) else Fraction(repr(number))
    return Fraction(round(exact, _whole(digits, 100)))


def _absolute(value: Value) -> Number:
    number = _number(value)
    return -number if number < 0 else number


CONSTANTS: Mapping[str, Number] = {"pi": math.pi, "e": math.e, "tau": math.tau}
FUNCTIONS: Mapping[str, Callable[..., Number]] = {
    "abs": _absolute,
    "ceil": lambda value: Fraction(math.ceil(_number(value))),
    "comb": lambda n, k: Fraction(math.comb(_whole(n, 1000), _whole(k, 1000))),
    "factorial": lambda value: Fraction(math.factorial(_whole(value, 400))),
    "float": lambda value: _number(value),
    "floor": lambda value: Fraction(math.floor(_number(value))),
    "gcd": lambda *args: Fraction(math.gcd(*(_whole(arg) for arg in args))),
    "int": lambda value: Fraction(int(_number(value))),
    "lcm": lambda *args: Fraction(math.lcm(*(_whole(arg) for arg in args))),
    "max": lambda *args: max(_items(args)),
    "min": lambda *args: min(_items(args)),
    "perm": lambda n, k: Fraction(math.perm(_whole(n, 400), _whole(k, 400))),
    "pow": lambda base, exponent: _power(_number(base), _number(exponent)),
    "round": _round,
    "sqrt": lambda value: _root(_number(value)),
    "sum": lambda *args: sum(_items(args), Fraction(0)),
    **{name: _real(getattr(math, name)) for name in ("exp", "log", "log2", "log10", "degrees", "radians")},
    **{name: _real(getattr(math, name)) for name in ("sin", "cos", "tan", "asin", "acos", "atan", "hypot")},
}


def number_text(value: Number | bool) -> str:
    """A number as a person writes it: 3, not 3.0; 0.3; 0.333333333333. Never in exponent form below 1e15."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return str(value.numerator)
        if short := _terminating(value):
            return short
        if abs(value.numerator) // value.denominator >= 10**SIGNIFICANT_DIGITS:
            return str(round(value))
        value = float(value)
    text = f"{value:.{SIGNIFICANT_DIGITS}g}"
    if "e" in text and 1e-6 < abs(value) < 1e15:
        text = f"{value:.{SIGNIFICANT_DIGITS}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _terminating(value: Fraction) -> str | None:
    # A fraction has a finite decimal exactly when its denominator is made of twos and fives.
    places, denominator = 0, value.denominator
    for prime in (2, 5):
        count = 0
        while denominator % prime == 0:
            denominator //= prime
            count += 1
        places = max(places, count)
    if denominator != 1 or places > SIGNIFICANT_DIGITS:
        return None
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"
