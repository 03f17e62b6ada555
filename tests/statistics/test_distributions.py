"""Reference values are scipy 1.17's: t.sf, t.ppf and binomtest."""

import math

import pytest

from tui_eval.statistics.distributions import sign_test, t_quantile, two_sided_t

# t, df, two-sided p, quantile of 0.975
T = [
    (0.3, 1, 0.8144528418445154, 12.706204736174694),
    (2.1, 4, 0.10365328631760218, 2.7764451051977934),
    (1.96, 29, 0.05966779551959133, 2.045229642132703),
    (5.5, 63, 7.367567470776211e-07, 1.998340542520741),
    (12.0, 1318, 1.4661157851631878e-31, 1.9617655127673146),
    (0.01, 99999, 0.9920213073190225, 1.9599877077718442),
    (3.3, 99999, 0.0009671862657073041, 1.9599877077718442),
]
# fewer, n, p
SIGNS = [
    (0, 1, 1.0),
    (3, 6, 1.0),
    (0, 20, 1.9073486328125e-06),
    (6, 25, 0.01463329792022705),
    (43, 542, 1.6569333623969997e-99),
    (49_000, 100_000, 2.5887160383468943e-10),
    (10, 21, 1.0),
]


@pytest.mark.parametrize(("t", "df", "p", "quantile"), T)
def test_students_t_agrees_with_the_reference(
    t: float, df: float, p: float, quantile: float
) -> None:
    assert two_sided_t(t, df) == pytest.approx(p, rel=1e-8)
    assert two_sided_t(-t, df) == pytest.approx(p, rel=1e-8)
    assert t_quantile(0.975, df) == pytest.approx(quantile, rel=1e-9)


def test_the_ends_of_t() -> None:
    assert two_sided_t(0.0, 5) == 1.0
    assert two_sided_t(math.inf, 5) == 0.0


@pytest.mark.parametrize(("fewer", "n", "p"), SIGNS)
def test_the_sign_test_agrees_with_the_reference(fewer: int, n: int, p: float) -> None:
    assert sign_test(fewer, n) == pytest.approx(p, rel=1e-9)


def test_nothing_thrown_says_nothing() -> None:
    assert sign_test(0, 0) == 1.0
