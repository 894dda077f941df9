"""Compares what Sluice says of numbers with Python's decimal and with the exported JSON Schema.

Usage: number_agreement.py SCHEMA RESULTS

RESULTS has a line for each number and place: {"place":…,"number":…,"event":…,"codes":[…],"stored":…}, where `number` is the text
that was sent, and `stored` the text in the canonical line, if it was accepted. It prints a line for each disagreement, and the number of
comparisons at the end.
"""

import decimal
import json
import sys

import jsonschema

sys.set_int_max_str_digits(0)
decimal.getcontext().prec = 5000
decimal.getcontext().Emax = decimal.MAX_EMAX
decimal.getcontext().Emin = decimal.MIN_EMIN


def load(text):
    return json.loads(text, parse_float=decimal.Decimal)


def is_integer(_, value):
    if isinstance(value, decimal.Decimal):
        return value == value.to_integral_value()
    return isinstance(value, int) and not isinstance(value, bool)


types = jsonschema.Draft202012Validator.TYPE_CHECKER.redefine("integer", is_integer)
Validator = jsonschema.validators.extend(jsonschema.Draft202012Validator, type_checker=types)
with open(sys.argv[1]) as file:
    schema = Validator(load(file.read()))


def written(value):
    """The number of digits without an exponent, and that of characters."""
    sign, digits, exponent = value.as_tuple()
    if value == 0:
        digits = (0,)
        exponent = max(min(exponent, 0), -1000) if exponent > -1000 else 0
    if exponent >= 0:
        count = len(digits) + (exponent if value else 0)
        return count, count + sign
    count = max(1, len(digits) + exponent) - exponent
    return count, count + 1 + (sign if value else 0)


def expected(place, text):
    """Whether the number is accepted, the codes with which it may be rejected, and whether the schema cannot say so."""
    value = decimal.Decimal(text)
    isfinite = abs(float(text)) != float("inf")
    digits, length = written(value)
    if place == "number":
        return isfinite, {"out-of-range"}, False
    if place == "integer":
        if digits > 1000:
            return False, {"out-of-range", "wrong-type"}, True
        if value != value.to_integral_value():
            return False, {"wrong-type"}, False
        return -(2**63) <= value < 2**63, {"out-of-range"}, False
    if place == "decimal":
        return digits <= 1000 and length <= len(text) + 64, {"out-of-range"}, True
    return digits <= 1000 and isfinite, {"out-of-range"}, isfinite


comparisons = 0
with open(sys.argv[2]) as file:
    for line in file:
        result = json.loads(line)
        place, text, stored = result["place"], result["number"], result.get("stored")
        accepted, codes, isunsaid = expected(place, text)
        short = text if len(text) < 60 else text[:50] + f"… ({len(text)})"
        comparisons += 1
        if (stored is not None) != accepted or (not accepted and not set(result["codes"]) <= codes):
            print(f"{place} {short}: accepted {stored is not None}, {result['codes']}; expected {accepted}, {codes}")
            continue
        value = decimal.Decimal(text)
        if accepted and place == "number" and float(stored) != float(text):
            print(f"{place} {short}: stored {stored}, another double")
        if accepted and place != "number" and decimal.Decimal(json.loads(stored, parse_int=str, parse_float=str)) != value:
            print(f"{place} {short}: stored {stored}, another value")
        isvalid = schema.is_valid(load(result["event"]))
        if isvalid != accepted and not (isunsaid and isvalid):
            print(f"{place} {short}: accepted {accepted}, but the schema says {isvalid}")
print(comparisons)
