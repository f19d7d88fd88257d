"""What a judgment keeps of its call: the parameters as sent, the messages' hash, what the server says."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from judges.endpoints.questions import Question, body_of
from judges.endpoints.replies import Reply
from judges.endpoints.work import Call, Work

MESSAGES = "messages"
LONGEST_REASON, LONGEST_NAME = 40, 200  # characters that the columns hold


def messages_hash(messages: Sequence[Mapping[str, str]]) -> str:
    """Return the SHA-256 of messages as JSON: keys in order, no spaces between, characters as they are."""
    written = json.dumps(messages, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()


def call_of(work: Work) -> Call:
    """Return what is sent for a judgment."""
    body = body_of(work.question)
    messages = body.pop(MESSAGES)
    kept = messages if work.keeps_messages else None
    several = [each.id for each in work.together] if work.shared else []
    return Call(body, messages_hash(messages), kept, asked_dimensions=several)


def answered_call(call: Call, question: Question, reply: Reply) -> Call:
    """Return a call with what the server says of its answer, and the name of the longest reply it took."""
    parameters = call.parameters
    if reply.max_tokens_name and reply.max_tokens_name not in parameters:
        parameters = body_of(replace(question, max_tokens_name=reply.max_tokens_name))
        del parameters[MESSAGES]
    return replace(
        call,
        parameters=parameters,
        finish_reason=reply.finish_reason[:LONGEST_REASON],
        refusal=reply.refusal,
        returned_model=reply.model[:LONGEST_NAME],
        system_fingerprint=reply.system_fingerprint[:LONGEST_NAME],
    )
