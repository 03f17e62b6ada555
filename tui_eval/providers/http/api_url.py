"""Where a path of an API is, given where the API starts."""

from collections.abc import Mapping
from urllib.parse import urlencode, urlsplit

from yarl import URL


def api_url(base_url: str, path: str, query: Mapping[str, str] | None = None) -> URL:
    """Put a path behind the base URL's own, before its query (`?api-version=…`).

    Args:
        base_url: Where the API starts.
        path: Encoded already.
        query: Fields that are added to the base URL's.
    """
    base = urlsplit(base_url)
    fields = "&".join(filter(None, [base.query, urlencode(query or {})]))
    # encoded already: a second time would change the path
    whole = base._replace(path=base.path.rstrip("/") + path, query=fields).geturl()
    return URL(whole, encoded=True)
