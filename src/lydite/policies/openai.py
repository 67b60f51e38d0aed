"""``openai:MODEL``: a model behind any OpenAI-compatible ``/chat/completions``."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

import httpx2
import msgspec

from lydite.errors import InputError
from lydite.policies.openai_wire import (
    RETRIED,
    Refusal,
    Reply,
    failed_row,
    read_json,
    read_refusal,
    read_reply,
    request_body,
    retry_after,
    usable,
)
from lydite.policies.protocol import Attempt, Prompt, SamplingParams, check_rows, check_sampling

_DEFAULT_URL = "https://api.openai.com/v1"
_SHORTEST_KEY = 8
"""Characters; a shorter key (local servers take any word) may stand in an honest answer."""

_JITTER = random.Random()  # its own, so that waiting leaves the process's seeded numbers alone
_T = TypeVar("_T")


class Totals(msgspec.Struct, kw_only=True):
    """What a policy has used since it was opened.

    Attributes:
        requests: requests that were sent, retries among them.
        retries: requests that were sent again.
        prompt_tokens, completion_tokens: as the server counts them; a prompt asked with ``n`` counts once.
        cost: in the currency of the prices, or ``None`` where no prices were given.
        models: what the server says it served (``gpt-4o`` may be ``gpt-4o-2024-08-06``).
    """

    requests: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    models: set[str] = msgspec.field(default_factory=set)


class OpenAIPolicy:
    """A served model. ``OPENAI_BASE_URL`` says where (default api.openai.com), ``OPENAI_API_KEY`` who asks.

    The key is read from the environment when the connection is made, and stands nowhere else: not in the policy's id,
    its repr, an exception or a log. A server on another address than OpenAI's may be asked without a key.

    A group is one request with ``n`` choices, so that its prompt is paid once. Servers that ignore ``n`` or cap it are
    found out by counting what came back, the missing attempts are asked for again, and the policy remembers what the
    server can. A request has one seed, that of its first attempt: attempts are reproducible one by one only where the
    server honours seeds and ``n_max`` is 1.

    Transient faults (429, 5xx, time-outs, cut connections, empty or unreadable answers) are retried with exponential
    back-off and jitter, or after the time that ``Retry-After`` asks for. What still fails is an attempt with an error:
    ``http_429``, ``http_500`` …, ``timeout``, ``connection``, ``empty_choice``, ``null_content``, ``bad_json``,
    ``too_large``, and ``context_length`` for a prompt that does not fit (not retried). What no retry mends is an
    :class:`~lydite.errors.InputError`: a refused key, an unknown model, a parameter the model does not take.

    Args:
        model: name of the model at the server.
        concurrency: requests under way at once.
        n_max: most choices in one request.
        retries: how often a request is sent again.
        retry_wait: seconds before the first retry; doubles each time.
        max_wait: longest wait between two tries, also for ``Retry-After``.
        timeout: seconds for one request.
        max_bytes: largest answer that is read.
        send_seed: set to false for a server that refuses seeds.
        price_prompt, price_completion: per million tokens, for the totals.
    """

    def __init__(
        self,
        model: str,
        *,
        concurrency: int = 16,
        n_max: int = 16,
        retries: int = 5,
        retry_wait: float = 0.5,
        max_wait: float = 60.0,
        timeout: float = 600.0,
        max_bytes: int = 32 * 2**20,
        send_seed: bool = True,
        price_prompt: float | None = None,
        price_completion: float | None = None,
    ) -> None:
        if not model:
            raise InputError("names no model", field="policy", remedy="openai:MODEL")
        for field, value in (("concurrency", concurrency), ("n_max", n_max), ("max_bytes", max_bytes)):
            if value < 1:
                raise InputError("must be at least 1", field=field)
        self._url = _endpoint(os.environ.get("OPENAI_BASE_URL") or _DEFAULT_URL)
        if not _key() and self._url.host == "api.openai.com":
            raise InputError("OPENAI_API_KEY is not set", remedy="export it, or set OPENAI_BASE_URL to another server")
        port = f":{self._url.port}" if self._url.port else ""
        self.id = f"openai:{model}@{self._url.host}{port}"
        self.batch = 1
        self.concurrency = concurrency
        self.totals = Totals()
        self._model = model
        self._n_max = n_max
        self._retries = retries
        self._retry_wait, self._max_wait, self._timeout = retry_wait, max_wait, timeout
        self._max_bytes = max_bytes
        self._send_seed = send_seed
        self._prices = (price_prompt, price_completion)
        self._budget_field = "max_tokens"
        self._client: httpx2.AsyncClient | None = None
        self._gate: asyncio.Semaphore | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __repr__(self) -> str:
        return f"OpenAIPolicy({self.id!r})"

    async def generate(
        self,
        prompts: Sequence[Prompt],
        seeds: Sequence[Sequence[int]],
        params: SamplingParams,
        *,
        indices: Sequence[Sequence[int]] | None = None,
    ) -> list[list[Attempt]]:
        """See :meth:`lydite.policies.protocol.Policy.generate`."""
        check_rows(prompts, seeds, indices)
        check_sampling(params)
        return await _together([self._group(p, row, params) for p, row in zip(prompts, seeds, strict=True)])

    async def aclose(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _group(self, prompt: Prompt, seeds: Sequence[int], params: SamplingParams) -> list[Attempt]:
        done: list[Attempt] = []
        while len(done) < len(seeds):
            rest = seeds[len(done) :]
            if self._n_max == 1:
                rows = await _together([self._ask(prompt, 1, seed, params) for seed in rest])
                return done + [attempt for row in rows for attempt in row]
            # The answer may hold fewer than were asked for; then the next round asks for the rest.
            done += await self._ask(prompt, min(self._n_max, len(rest)), rest[0], params)
        return done

    async def _ask(self, prompt: Prompt, n: int, seed: int, params: SamplingParams) -> list[Attempt]:
        """Between 1 and ``n`` attempts; with errors after the last retry."""
        failures = 0
        while True:
            used_field, used_n = self._budget_field, min(n, self._n_max)
            body = request_body(
                self._model, prompt, used_n, seed if self._send_seed else None, params, budget_field=used_field
            )
            outcome, wait = await self._send(body, params)
            if isinstance(outcome, Reply):
                self._account(outcome)
                if usable(outcome.attempts):
                    if len(outcome.attempts) < used_n:
                        self._n_max = min(self._n_max, len(outcome.attempts))
                    return list(outcome.attempts[:used_n])
                error = str(outcome.attempts[0].error) if outcome.attempts else "empty_choice"
            elif isinstance(outcome, Refusal):
                if outcome.is_context:
                    return failed_row("context_length", used_n)
                if outcome.wants_completion_tokens and used_field == "max_tokens":
                    self._budget_field = "max_completion_tokens"
                    continue
                if used_n > 1 and outcome.refuses_n:
                    self._n_max = 1
                    continue
                if outcome.status not in RETRIED or outcome.code == "insufficient_quota":
                    raise self._hopeless(outcome)
                error = f"http_{outcome.status}"
            else:
                error = outcome
            failures += 1
            if failures > self._retries or error == "too_large":
                return failed_row(error, used_n)
            self.totals.retries += 1
            await asyncio.sleep(self._pause(failures, wait))

    def _pause(self, failures: int, asked: float | None) -> float:
        backoff = self._retry_wait * 2.0 ** (failures - 1) * _JITTER.uniform(0.5, 1.5)
        # A little more than the server asked for, so that a crowd of refused requests does not come back as one.
        return min(self._max_wait, backoff if asked is None else asked + _JITTER.uniform(0, self._retry_wait))

    async def _send(self, body: dict[str, Any], params: SamplingParams) -> tuple[Reply | Refusal | str, float | None]:
        """One request: an answer, a refusal or an error code, and the seconds that the server wants us to wait."""
        client, gate = self._connection()
        async with gate:
            self.totals.requests += 1
            try:
                # httpx bounds each read; a server that drips a byte at a time needs a bound on the whole as well.
                async with asyncio.timeout(self._timeout), client.stream("POST", self._url, json=body) as response:
                    content = bytearray()
                    async for chunk in response.aiter_bytes():
                        content += chunk
                        if len(content) > self._max_bytes:
                            return "too_large", None
            except (TimeoutError, httpx2.TimeoutException):
                return "timeout", None
            except httpx2.DecodingError:
                return "bad_json", None
            except httpx2.TransportError:
                return "connection", None
        document = read_json(_without_key(bytes(content)))
        status = response.status_code
        if status == 200 and document is not None:
            error = document.get("error")
            if not (isinstance(error, dict) and "choices" not in document):
                return read_reply(document, params), None
            # Some gateways answer 200 and put the status of the server behind them into the body.
            code = error.get("code")
            status = code if isinstance(code, int) and 400 <= code < 600 else 502
        if status == 200:
            return "bad_json", None
        return read_refusal(status, document), retry_after(response.headers.get("retry-after"))

    def _connection(self) -> tuple[httpx2.AsyncClient, asyncio.Semaphore]:
        loop = asyncio.get_running_loop()
        if self._client is None or self._gate is None or self._loop is not loop:
            # Connections belong to the event loop that opened them; a second `asyncio.run` needs new ones.
            key = _key()
            self._client = httpx2.AsyncClient(
                headers={"Authorization": f"Bearer {key}"} if key else {},
                timeout=httpx2.Timeout(self._timeout, connect=min(self._timeout, 15.0)),
                limits=httpx2.Limits(max_connections=self.concurrency, max_keepalive_connections=self.concurrency),
            )
            self._gate, self._loop = asyncio.Semaphore(self.concurrency), loop
        return self._client, self._gate

    def _account(self, reply: Reply) -> None:
        totals = self.totals
        totals.prompt_tokens += reply.prompt_tokens or 0
        totals.completion_tokens += reply.completion_tokens or 0
        if reply.model:
            totals.models.add(reply.model)
        if self._prices != (None, None):
            prompt, completion = (price or 0.0 for price in self._prices)
            totals.cost = (totals.prompt_tokens * prompt + totals.completion_tokens * completion) / 1e6

    def _hopeless(self, refusal: Refusal) -> InputError:
        server = f"{self._url.host} answered HTTP {refusal.status}"
        if refusal.status in (401, 403):
            # The server's own words may quote the key.
            return InputError(f"{server}: the key was refused", remedy="check OPENAI_API_KEY")
        said = refusal.message
        for secret in (_key(), self._url.password):
            said = said.replace(secret, "[…]") if secret else said
        remedy = None
        if refusal.status == 404:
            remedy = f"check the model name '{self._model}' and OPENAI_BASE_URL, which usually ends in /v1"
        elif refusal.param == "seed" or "seed" in said:
            remedy = "turn seeds off: send_seed=false"
        return InputError(f"{server}: {said}" if said else server, remedy=remedy)


def _without_key(body: bytes) -> bytes:
    """A server may echo the key, in an error or as an answer; nothing that is kept or shown may hold it."""
    key = _key().encode()
    return body.replace(key, b"[key]") if len(key) >= _SHORTEST_KEY else body


def _key() -> str:
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    if not (key.isascii() and key.isprintable()):
        raise InputError("OPENAI_API_KEY holds characters that no key has", remedy="set it again")
    return key


def _endpoint(base: str) -> httpx2.URL:
    try:
        url = httpx2.URL(base.rstrip("/") + "/chat/completions")
    except httpx2.InvalidURL:
        url = httpx2.URL("")
    if url.scheme not in ("http", "https") or not url.host:
        raise InputError("OPENAI_BASE_URL is not an http(s) address", remedy="for example http://127.0.0.1:8000/v1")
    return url


async def _together(work: Sequence[Coroutine[Any, Any, _T]]) -> list[_T]:
    """All of them at once; the first exception ends the others and is the one that is raised."""
    tasks = [asyncio.ensure_future(item) for item in work]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
