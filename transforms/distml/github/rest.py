"""Requests to GitHub's REST API: what may be tried again is, limits on the rate are waited for, and no token leaks.

https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api
"""

from __future__ import annotations

import http.client
import json
import random
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from distml.diagnostics.version import VERSION

PUBLIC = "https://api.github.com"
TRIES = 6
PATIENCE = 600.0  # seconds to wait for a limit, all requests of a run together
TIMEOUT = 30.0
PAGE = 100
PAGES = 30
LARGEST = 1 << 25
_TOKEN = re.compile(r"[!-~]+")
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class ApiError(Exception):
    """GitHub refused a request, or could not be reached. `status` is 0 where there was no answer."""

    def __init__(self, status: int, message: str, details: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.details = details

    def says(self, words: str) -> bool:
        """Whether GitHub's explanation has these words."""
        return any(words in text for text in (str(self), *self.details))


class UnknownOutcomeError(ApiError):
    """A request that makes something got no answer: it may or may not have been carried out."""


@dataclass(frozen=True)
class Answer:
    """What came back: a status, headers with small letters, and the body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def parsed(self) -> Any:
        """The body as JSON, None where it is empty or no JSON."""
        try:
            return json.loads(self.body) if self.body else None
        except ValueError:
            return None


class Api:
    """GitHub's REST API at `base`, with a token or anonymously.

    Raises `ValueError` for an address without TLS, and for a token that no header can hold.
    """

    def __init__(
        self,
        base: str = PUBLIC,
        token: str = "",
        wait: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        parts = urlsplit(base)
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
            raise ValueError(f"the address of the API must begin with https://, not {base!r}")
        if token and not _TOKEN.fullmatch(token):
            raise ValueError("the token contains a space, a line break or another invalid character")
        self._base = base.rstrip("/")
        self._token = token
        self._wait, self._clock = wait, clock
        self._patience = PATIENCE
        self._opener = urllib.request.build_opener(_NoRedirect)

    def get(self, *path: str | int, **query: str | int) -> Any:
        """The answer to GET. Raises `ApiError`, as all calls do."""
        return self._request("GET", path, query=query)

    def pages(self, *path: str | int, **query: str | int) -> Iterator[Any]:
        """The items of a list that comes in pages. Raises `ApiError` at the end of what is asked for, where there may be more."""
        for page in range(1, PAGES + 1):
            found = self.get(*path, **query, per_page=PAGE, page=page)
            if not isinstance(found, list):
                raise ApiError(200, f"{_address(path)}: the answer is not a list")
            yield from found
            if len(found) < PAGE:
                return
        raise ApiError(200, f"{_address(path)}: only the first {PAGE * PAGES:,} are listed")

    def post(self, *path: str | int, body: Mapping[str, Any]) -> Any:
        """Make something. Raises `UnknownOutcomeError` where nobody can say whether it was made."""
        return self._request("POST", path, body)

    def add(self, *path: str | int, body: Mapping[str, Any]) -> Any:
        """Add to something what may be there already: sent again where the answer was lost."""
        return self._request("POST", path, body, repeat=True)

    def patch(self, *path: str | int, body: Mapping[str, Any]) -> Any:
        """Change something."""
        return self._request("PATCH", path, body)

    def graphql(self, query: str, **variables: Any) -> Any:
        """The data that a query without effects gives. https://docs.github.com/graphql"""
        said = self._request("POST", ("graphql",), {"query": query, "variables": variables}, repeat=True)
        if not isinstance(said, dict) or said.get("errors") or not isinstance(said.get("data"), dict):
            errors = said.get("errors") if isinstance(said, dict) else None
            raise ApiError(200, self._hidden(f"graphql: {'; '.join(map(_detail, errors or ())) or 'no data'}"))
        return said["data"]

    def _request(
        self,
        method: str,
        path: tuple[str | int, ...],
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, str | int] | None = None,
        repeat: bool = False,
    ) -> Any:
        address = _address(path) + (f"?{urlencode(query)}" if query else "")
        for attempt in range(TRIES):
            answer = self._once(method, address, body)
            if 200 <= answer.status < 300:
                return answer.parsed()
            limited = _limited(answer)
            if not limited and (answer.status not in _PASSING or (method == "POST" and not repeat)):
                break
            pause = _pause(answer, attempt, self._clock()) if limited else _backoff(attempt)
            if attempt + 1 == TRIES or pause > self._patience:
                break
            self._patience -= pause
            self._wait(pause)
        raise self._error(method, _address(path), answer)

    def _once(self, method: str, address: str, body: Mapping[str, Any] | None) -> Answer:
        """One request; status 0 where no answer came."""
        headers = {
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
            "User-Agent": f"distml/{VERSION}",
        }
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        # Enterprise Server has GraphQL beside the version of REST, not below it.
        base = self._base.removesuffix("/v3") if address == "/graphql" else self._base
        request = urllib.request.Request(base + address, data, headers, method=method)
        try:
            with self._opener.open(request, timeout=TIMEOUT) as got:
                return Answer(got.status, _headers(got.headers), got.read(LARGEST))
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, _headers(error.headers), _read(error))
        except (OSError, http.client.HTTPException) as error:
            return Answer(0, {}, json.dumps({"message": f"no answer: {_plain(error)}"}).encode())

    def _error(self, method: str, path: str, answer: Answer) -> ApiError:
        said = answer.parsed()
        said = said if isinstance(said, dict) else {}
        details = tuple(_detail(each) for each in said.get("errors") or () if each)
        message = "; ".join([str(said.get("message") or "no explanation"), *details])
        kind = UnknownOutcomeError if method == "POST" and answer.status in _PASSING - {409} else ApiError
        status = f" ({answer.status})" if answer.status else ""
        return kind(answer.status, self._hidden(f"{method} {path}: {message}{status}"), details)

    def _hidden(self, text: str) -> str:
        return text.replace(self._token, "***") if self._token else text


_PASSING = frozenset({0, 408, 409, 500, 502, 503, 504})


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A token is not sent on to another address: a repository that moved is an error that says so."""

    def redirect_request(self, *_arguments: Any) -> None:
        return None


def _address(path: tuple[str | int, ...]) -> str:
    return "".join(f"/{quote(str(part), safe='')}" for part in path)


def _limited(answer: Answer) -> bool:
    """Whether GitHub asks to come back later: the primary limit, the secondary one, or too many requests."""
    if answer.status == 429:
        return True
    exhausted = answer.headers.get("x-ratelimit-remaining") == "0"
    return answer.status == 403 and (
        "retry-after" in answer.headers or exhausted or b"secondary rate limit" in answer.body
    )


def _pause(answer: Answer, attempt: int, now: float) -> float:
    """Seconds to wait: what GitHub says, else a minute that doubles."""
    asked, reset = answer.headers.get("retry-after", ""), answer.headers.get("x-ratelimit-reset", "")
    if asked.isdecimal():
        return float(asked)
    if answer.headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal():
        return max(1.0, float(reset) - now + 1.0)
    return 60.0 * float(2**attempt)


def _backoff(attempt: int) -> float:
    return float(2**attempt) * random.uniform(0.5, 1.0)


def _headers(message: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in message.items()}


def _read(error: urllib.error.HTTPError) -> bytes:
    try:
        return error.read(LARGEST)
    except (OSError, http.client.HTTPException):
        return b""


def _plain(error: Exception) -> str:
    reason = getattr(error, "reason", None) or error
    return " ".join(str(reason).split()) or type(error).__name__


def _detail(each: Any) -> str:
    if isinstance(each, dict):
        return str(each.get("message") or " ".join(str(value) for value in each.values()))
    return str(each)
