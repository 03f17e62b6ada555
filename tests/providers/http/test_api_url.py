import pytest

from tui_eval.providers.http.api_url import api_url


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("http://127.0.0.1:8000/v1/", "http://127.0.0.1:8000/v1/chat?n=1"),
        ("http://[::1]:8000", "http://[::1]:8000/chat?n=1"),
        ("https://my_host/a%2Fb?v=2%2F1", "https://my_host/a%2Fb/chat?v=2%2F1&n=1"),
        ("https://host/{x}/100%", "https://host/{x}/100%/chat?n=1"),
        ("https://host/modèle?v=ü", "https://host/mod%C3%A8le/chat?v=%C3%BC&n=1"),
        ("https://exämple.test:8443/v1", "https://xn--exmple-cua.test:8443/v1/chat?n=1"),
    ],
)
def test_a_url_holds_ascii_alone_and_keeps_what_is_encoded(base_url: str, url: str) -> None:
    made = api_url(base_url, "/chat", {"n": "1"})
    assert str(made) == url
    assert f"{made.raw_host}{made.raw_path_qs}".isascii()
