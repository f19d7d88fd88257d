"""Probability of a given passage under a model, from the log-probabilities of its tokens."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from judges.core.models import Endpoint
from judges.endpoints.connections import client_of_one
from judges.endpoints.dialects import DIALECTS
from judges.endpoints.failures import ProviderError, RequestFailed, json_of, raise_request_failures
from judges.endpoints.questions import Server
from judges.endpoints.replies import count_of, object_in

BIAS = 100  # added to the logit of the token that has to come: no other one does


@dataclass(frozen=True)
class TextProbability:
    """log_probabilities: of each token but the first, given all before it. input_tokens: paid, if known."""

    log_probabilities: tuple[float, ...]
    input_tokens: int | None

    @property
    def perplexity(self) -> float | None:
        """The exponential of minus their mean; None for a single token, which has no predecessor."""
        found = self.log_probabilities
        return math.exp(-sum(found) / len(found)) if found else None


class TextProbabilities:
    """Client that computes the probabilities of passages under a server's model; close it after use.

    It uses completions with `echo` and `logprobs`, as in vLLM. A llama.cpp server has no `echo`: there a
    separate call forces each token (`logit_bias`, which its log-probabilities ignore). Such a call costs
    milliseconds, because the server caches the preceding tokens. Other servers raise an error.
    """

    def __init__(self, server: Server, model: str) -> None:
        self._server, self._model = server, model
        self._dialect = DIALECTS[Endpoint.Dialect.OPENAI]
        self._http = client_of_one(server, self._dialect.key_headers(server.key))
        self._echoes: bool | None = None

    def close(self) -> None:
        self._http.close()

    def of_text(self, text: str) -> TextProbability:
        """Return the probability of a passage.

        Raises RequestFailed, permanently if the server cannot compute it.
        """
        if self._server.dialect != Endpoint.Dialect.OPENAI:
            raise RequestFailed(_cannot(self._server), fatal_for_run=True, permanent=True)
        with raise_request_failures(self._server, self._dialect.kind):
            if self._echoes is not False:
                found = self._measure_by_echo(text)
                if found is not None:
                    self._echoes = True
                    return found
                if self._echoes:
                    raise RequestFailed(_cannot(self._server), permanent=True)
                self._echoes = False
            return self._token_by_token(text)

    def _measure_by_echo(self, text: str) -> TextProbability | None:
        answer = self._complete(prompt=text, echo=True)
        found = object_in(_first(answer.get("choices")).get("logprobs"))
        probabilities, starts = found.get("token_logprobs"), found.get("text_offset")
        if not isinstance(probabilities, list) or not isinstance(starts, list):
            return None
        own = [
            float(each)
            for each, start in zip(probabilities, starts, strict=True)
            if each is not None and start < len(text)
        ]
        return TextProbability(tuple(own), count_of(object_in(answer.get("usage")).get("prompt_tokens")))

    def _token_by_token(self, text: str) -> TextProbability:
        tokens = self._tokens(text)
        found = []
        for index in range(1, len(tokens)):
            answer = self._complete(prompt=tokens[:index], logit_bias={str(tokens[index]): BIAS})
            said = _first(object_in(_first(answer.get("choices")).get("logprobs")).get("content"))
            if said.get("id") != tokens[index] or not isinstance(said.get("logprob"), float | int):
                raise RequestFailed(_cannot(self._server), fatal_for_run=True, permanent=True)
            found.append(float(said["logprob"]))
        return TextProbability(tuple(found), len(tokens))

    def _tokens(self, text: str) -> list[int]:
        root = self._server.base_url.rstrip("/").removesuffix("/v1")
        try:
            tokens = self._post(f"{root}/tokenize", {"content": text}).get("tokens")
        except ProviderError as error:
            if error.status != 404:
                raise
            raise RequestFailed(_cannot(self._server), fatal_for_run=True, permanent=True) from error
        if not isinstance(tokens, list) or not all(isinstance(each, int) for each in tokens):
            raise RequestFailed(_cannot(self._server), fatal_for_run=True, permanent=True)
        return tokens

    def _complete(self, **asked: Any) -> dict[str, Any]:
        usual = {"model": self._model, "max_tokens": 1, "temperature": 0, "logprobs": 1}
        return self._post(f"{self._server.base_url.rstrip('/')}/completions", {**usual, **asked})

    def _post(self, address: str, body: Mapping[str, Any]) -> dict[str, Any]:
        response = self._http.send(self._http.build_request("POST", address, json=body))
        if not response.is_success:
            raise self._dialect.error(response.status_code, response.headers, json_of(response))
        return object_in(json.loads(response.content))


def _cannot(server: Server) -> str:
    return gettext(
        "{server} returns no log-probabilities of its input; use a server that does, such as vLLM"
        " (completions with echo) or llama.cpp."
    ).format(server=server.base_url)


def _first(said: object) -> dict[str, Any]:
    return object_in(said[0]) if isinstance(said, list) and said else {}
