"""Where a path of an API is, given where the API starts."""

from collections.abc import Mapping
from string import punctuation
from urllib.parse import quote, urlencode, urlsplit

from yarl import URL


def api_url(base_url: str, path: str, query: Mapping[str, str] | None = None) -> URL:
    """Put a path behind the base URL's own, before its query (`?api-version=…`).

    Letters outside ASCII go as HTTP needs them: of the host by IDNA, of others as percent escapes.

    Args:
        base_url: Where the API starts.
        path: Encoded already.
        query: Fields that are added to the base URL's.

    Raises:
        ValueError: the host's name is none.
    """
    base = urlsplit(base_url)
    host = base.netloc
    if not host.isascii():
        host = URL.build(scheme=base.scheme, authority=host).raw_authority
    fields = "&".join(filter(None, [base.query, urlencode(query or {})]))
    whole = base._replace(netloc=host, path=base.path.rstrip("/") + path, query=fields).geturl()
    # what is encoded already stays: a second time would change the path
    return URL(quote(whole, safe=punctuation), encoded=True)
