"""Asking a retrieval service over HTTP, as a mapping file says. httpx's JSON calls are made here only.

Redirects are not followed: a redirected POST loses its question, and headers with secrets would go to
whoever the answer names.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from ragkit.errors import ConfigError, DataError, Problem, UsageError
from ragkit.interop.mapping import Mapping, Request
from ragkit.interop.shapes import Reading
from ragkit.strict import parse

PAUSE = 0.5
"""Seconds before the second attempt; doubled before each further one."""
LONGEST_PAUSE = 30.0
_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})


def public_url(url: str) -> str:
    """The URL without what may be secret: user, password, query and fragment."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


@dataclass(frozen=True)
class Service:
    """A service that is asked again and again over one connection; made by `connect`."""

    url: str
    mapping: Mapping
    _request: Request
    _client: Any
    _headers: dict[str, str]

    def ask(self, query: str, k: int) -> Reading:
        """The candidates for a question. Timeouts, lost connections and busy answers are tried again.

        Raises `DataError`: no answer after all attempts, a redirect, another status, no JSON.
        """
        request = self._request
        method = request.method or ("POST" if request.body is not None else "GET")
        content: dict[str, Any] = {"params": _filled(request.params, query, k)} if request.params else {}
        if request.body is not None:
            content["json"] = _filled(request.body, query, k)
        value, faults = parse(self._text(method, content))
        return Reading(faults=faults) if faults else self.mapping.read(value)

    def _text(self, method: str, content: dict[str, Any]) -> str:
        import httpx

        attempts, pause, reason = self._request.attempts, PAUSE, ""
        for attempt in range(attempts):
            if attempt:
                time.sleep(pause)
            pause = min(PAUSE * 2**attempt, LONGEST_PAUSE)
            try:
                answer = self._client.request(method, self.url, headers=self._headers, **content)
            except httpx.TransportError as error:
                reason = f"{type(error).__name__}: {error}".rstrip(": ")
                continue
            except (httpx.InvalidURL, httpx.HTTPError, UnicodeError) as error:
                raise self._failed("http", str(error), "check the URL") from error
            if answer.is_success:
                return str(answer.text)
            if answer.is_redirect:
                target = public_url(str(httpx.URL(self.url).join(answer.headers.get("location", ""))))
                raise self._failed("redirect", f"redirects to {target}", "redirects are not followed: give that URL")
            reason = f"HTTP status {answer.status_code}"
            if answer.status_code not in _BUSY:
                raise self._failed("http", reason, "check the URL, `headers` and `json` or `params`")
            after = answer.headers.get("retry-after", "")
            pause = min(max(pause, float(after)), LONGEST_PAUSE) if after.isascii() and after.isdigit() else pause
        raise self._failed("http", f"no answer in {attempts} attempts; the last one: {reason}", "is the service up?")

    def _failed(self, rule: str, found: str, remedy: str) -> DataError:
        return DataError([Problem(public_url(self.url), 0, rule, found, remedy)])


@contextmanager
def connect(url: str, mapping: Mapping) -> Iterator[Service]:
    """A service at `url`; the mapping must have a request.

    Raises `UsageError` for a URL that is not http(s), `ConfigError` for a missing request or variable.
    """
    import httpx

    if urlsplit(url).scheme not in ("http", "https"):
        raise UsageError(f"{public_url(url)}: must be an http:// or https:// URL")
    if mapping.request is None:
        raise ConfigError('the mapping file has no [request]: say how to ask, such as json = { query = "{query}" }')
    headers = {name: _secret(name, value) for name, value in mapping.request.headers.items()}
    with httpx.Client(timeout=mapping.request.timeout, follow_redirects=False) as client:
        yield Service(url, mapping, mapping.request, client, headers)


def _secret(name: str, value: str) -> str:
    if not value.startswith("env:"):
        return value
    variable = value.removeprefix("env:")
    if variable not in os.environ:
        raise ConfigError(f"header {name}: the environment has no {variable}: set it")
    return os.environ[variable]


def _filled(template: Any, query: str, k: int) -> Any:
    """The template with `{query}` and `{k}` filled in; a string that is just `{k}` becomes a number."""
    if isinstance(template, dict):
        return {key: _filled(value, query, k) for key, value in template.items()}
    if isinstance(template, list):
        return [_filled(value, query, k) for value in template]
    if template == "{k}":
        return k
    # The query goes in last: what it says is not a template.
    return template.replace("{k}", str(k)).replace("{query}", query) if isinstance(template, str) else template
