"""Interfaces of providers: their requests and replies."""

from collections.abc import Mapping

from judges.core.models import Endpoint
from judges.endpoints.dialects.anthropic_messages import AnthropicMessages
from judges.endpoints.dialects.base import Dialect
from judges.endpoints.dialects.chat_completions import ChatCompletions
from judges.endpoints.dialects.gemini import Gemini

DIALECTS: Mapping[str, Dialect] = {
    Endpoint.Dialect.OPENAI: ChatCompletions(),
    Endpoint.Dialect.ANTHROPIC: AnthropicMessages(),
    Endpoint.Dialect.GEMINI: Gemini(),
}
