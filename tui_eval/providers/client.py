"""The `openai` package's client with everything explicit; importing this imports `openai`.

Left to itself the package adds `OPENAI_ORG_ID`, `OPENAI_PROJECT_ID` and `OPENAI_CUSTOM_HEADERS` to
what it sends to any host, lets `OPENAI_BASE_URL` move it, retries in silence and follows redirects.
"""

from collections.abc import Mapping
from http.cookiejar import CookieJar, DefaultCookiePolicy
from urllib.parse import urlsplit

import httpx2
import openai
from openai import APIConnectionError, APIStatusError, AsyncOpenAI, Omit

from tui_eval import __version__
from tui_eval.providers.errors import WireError
from tui_eval.providers.transport import Transport


class _Explicit(AsyncOpenAI):
    """Sends the headers named here and, beside the key, no others."""

    @property
    def default_headers(self) -> dict[str, str | Omit]:
        return _HEADERS


_HEADERS: dict[str, str | Omit] = {
    "Accept": "application/json",
    # answers are small: unpacking costs more than it saves, and a bomb needs a packer
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
    "User-Agent": f"tui-eval/{__version__} openai/{openai.__version__}",
}


class Client:
    """Posts bodies to one API and gives back what came, whatever its status."""

    def __init__(self, base_url: str, api_key: str, max_body: int) -> None:
        """Open a pool for `base_url` (see `Transport`)."""
        self._base_url = urlsplit(base_url)
        self._openai = _Explicit(
            api_key=api_key,
            base_url=base_url,
            max_retries=0,
            timeout=None,  # one deadline for the whole attempt, at the caller
            http_client=httpx2.AsyncClient(
                transport=Transport(base_url, max_body),
                timeout=None,
                trust_env=False,
                follow_redirects=False,
                cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            ),
        )

    async def post(self, path: str, body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        """Send one request; give the status, the headers and the whole body.

        Raises:
            WireError: where no whole answer arrived.
        """
        try:
            response = await self._openai.post(
                self._url(path), content=body, cast_to=httpx2.Response
            )
        except APIStatusError as refused:
            response = refused.response
        except APIConnectionError as error:
            raise WireError("connection", str(error.__cause__ or error)) from error
        return response.status_code, response.headers, response.content

    def _url(self, path: str) -> str:
        """Put a path behind the base URL's own, before its query (`?api-version=…`)."""
        base = self._base_url
        return base._replace(path=base.path.rstrip("/") + path).geturl()

    async def close(self) -> None:
        """Close every connection."""
        await self._openai.close()
