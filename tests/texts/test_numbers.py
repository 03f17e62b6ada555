from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_eval.model.json import Json
from tui_eval.texts.numbers import Number, boxed, chosen, expected_number, read, within


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("The answer is 1,234.", "1234"),
        ("$1,234.50", "1234.5"),
        ("It costs \\$5.", "5"),
        ("-$5", "-5"),
        ("$-5", "-5"),
        ("\u22127", "-7"),
        ("(\u22122)", "-2"),
        ("10-3", "3"),
        ("3-5 apples", "5"),
        ("- 5 apples", "5"),
        ("4 + -2", "-2"),
        ("18.", "18"),
        ("7,000, done", "7000"),
        (".5", "0.5"),
        ("Rs.500", "500"),
        ("**18**", "18"),
        ("A: 26", "26"),
        ("$x=18$", "18"),
        ("16 - 3 = <<16-3=13>>13", "13"),
        ("24 / 6 = 4", "4"),
        ("3rd", "3"),
        ("US$18", "18"),
        ("答案是18", "18"),
        ("１８", "18"),
        ("٣", "3"),
    ],
)
def test_the_last_number_is_read_with_its_sign_and_unit(text: str, value: str) -> None:
    number = chosen(text)
    assert number is not None
    assert number.value == Fraction(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3/4", "3/4"),
        ("-3/4", "-3/4"),
        ("2 / 3", "2/3"),
        ("1 1/2", "3/2"),
        ("1 and 1/2", "3/2"),
        ("1-1/2", "3/2"),
        ("7 12/5", "12/5"),
        ("5/0", "0"),
        ("½", "1/2"),
        ("1½", "3/2"),
        ("⅓ of it", "1/3"),
        ("\\frac{3}{4}", "3/4"),
        ("-\\frac{1}{2}", "-1/2"),
        ("1\\frac{1}{2}", "3/2"),
        ("\\dfrac12", "1/2"),
    ],
)
def test_fractions_are_read_exactly(text: str, value: str) -> None:
    number = chosen(text)
    assert number is not None
    assert number.value == Fraction(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2.5e3", 2500),
        ("1E-3", "0.001"),
        ("1e\u22123", "0.001"),
        ("3 × 10^5", 300000),
        ("3 \\times 10^{5}", 300000),
        ("6.02x10^23", 602 * 10**21),
        ("10^3", 1000),
        ("10**3", 1000),
        ("10⁻²", "0.01"),
    ],
)
def test_powers_of_ten_are_worked_out(text: str, value: str | int) -> None:
    number = chosen(text)
    assert number is not None
    assert number.value == Fraction(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,234", "1234"),  # three digits after a comma group thousands
        ("1,234,567.5", "1234567.5"),
        ("12,34,567", "1234567"),
        ("1.234", "1.234"),  # a single point is a decimal point
        ("1.234,56", "1234.56"),
        ("1.234.567", "1234567"),
        ("1,5", "1.5"),
        ("0,125", "0.125"),
        ("(1,5)", "5"),  # a list
        ("1,2,3", "3"),
        ("1\u202f234,5", "1234.5"),
        ("1'234.50", "1234.5"),
        ("1{,}234", "1234"),
        ("1\\,234", "1234"),
    ],
)
def test_points_and_commas_are_read_as_they_group(text: str, value: str) -> None:
    number = chosen(text)
    assert number is not None
    assert number.value == Fraction(value)


@pytest.mark.parametrize(
    "text", ["", "none", "GPT4", "x_1", "v1.2.3", "cm²", "\\boxed{}", "NaN", "∞", "m^2"]
)
def test_digits_that_belong_to_something_else_are_no_numbers(text: str) -> None:
    assert chosen(text) is None


def test_a_box_decides_over_what_follows_it() -> None:
    number = chosen("So \\boxed{\\frac{3}{4}\\text{ m}^2}, found in 2 steps.")
    assert number is not None
    assert number.value == Fraction(3, 4)
    assert boxed("\\boxed{1} then \\boxed{a{b}c}") == "a{b}c"
    assert boxed("\\boxed{never closed") is None


def test_a_number_can_be_picked_by_its_place() -> None:
    text = "1 of 2 and 3"
    picked = {pick: chosen(text, pick) for pick in ("first", "last", 1, 2, -1, -3, 4, -4)}
    values = {pick: number and number.value for pick, number in picked.items()}
    assert values == {"first": 1, "last": 3, 1: 1, 2: 2, -1: 3, -3: 1, 4: None, -4: None}


def test_a_number_too_long_to_compare_is_found_but_equals_nothing() -> None:
    for text in ("9" * 5000, "1e999999999", "10^99999"):
        number = chosen(text)
        assert number is not None
        assert number.value is None
        assert not within(number, Number(Fraction(1), "1"), 1e300, 0)


@pytest.mark.parametrize(
    ("found", "expected", "tolerance", "relative", "passes"),
    [
        ("0.1", "0.1", 0, 0, True),
        ("3.14", "3.14159", 0.01, 0, True),
        ("3.14", "3.14159", 0.001, 0, False),
        ("99", "100", 0, 0.01, True),
        ("98.9", "100", 0, 0.01, False),
        ("-99", "-100", 0, 0.01, True),
        ("98", "100", 2, 0.01, True),
        ("50%", "50", 0, 0, True),
        ("50%", "0.5", 0, 0, True),
        ("0.5", "50%", 0, 0, True),
        ("0.5%", "50%", 0, 0, False),
        ("0.3", "0.30000000000000004", 0, 0, False),
    ],
)
def test_the_wider_tolerance_holds(
    found: str, expected: str, tolerance: float, relative: float, passes: bool
) -> None:
    number = chosen(found)
    assert number is not None
    assert within(number, expected_number(expected), tolerance, relative) == passes


def test_what_a_suite_expects_is_a_number_or_a_text_with_one() -> None:
    assert expected_number(0.1).value == Fraction(1, 10)
    assert expected_number("about 70,000").value == 70000
    wrongs: list[Json] = [None, True, "n/a", [], float("nan"), float("inf"), 10**500, "9" * 500]
    for wrong in wrongs:
        with pytest.raises(ValueError, match="number"):
            expected_number(wrong)


@given(st.integers(min_value=-(10**15), max_value=10**15))
def test_a_whole_number_is_read_back_however_it_is_written(number: int) -> None:
    for written in (
        str(number),
        f"{number:,}",
        f"${number:,}",
        f"It is {number:,}.",
        f"**{number}**",
    ):
        found = chosen(written)
        assert found is not None
        assert found.value == number


@given(
    st.decimals(
        allow_nan=False, allow_infinity=False, places=4, min_value=-(10**9), max_value=10**9
    )
)
def test_a_decimal_is_read_back_exactly(number: object) -> None:
    for written in (f"{number:,.4f}", f"{number:.4f}"):
        found = chosen(written)
        assert found is not None
        assert found.value == Fraction(str(number))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_as_json_writes_it_is_read_back_exactly(number: float) -> None:
    found = chosen(repr(number))
    assert found is not None
    assert found.value == Fraction(repr(number))


@given(st.text(alphabet="0123456789.,-/ ()[]{}$%eE^_\\fracboxed<>½²⁵'\u00a0\n"))
def test_nothing_that_looks_like_numbers_breaks_the_reader(text: str) -> None:
    numbers = list(read(text))
    for pick in ("last", "first", 2, -2):
        chosen(text, pick)
    for number in numbers:
        assert str(number)
        number.as_json()
