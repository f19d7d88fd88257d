"""A bare loop over the openai client for benchmarks/judges.py, given URL PROMPTS CALLS IN_FLIGHT.

Asks and forgets: nothing is parsed or stored. Prints the seconds of the clock and of the processor.
"""

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from itertools import islice
from typing import Any

from openai import AsyncOpenAI, DefaultAioHttpClient

MODEL = "gpt-3.5-turbo-0301"


async def ask(client: AsyncOpenAI, questions: Iterator[dict[str, Any]]) -> None:
    """Ask one question after the other."""
    for question in questions:
        await client.chat.completions.create(model=MODEL, temperature=0, **question)


async def main() -> None:
    url, file, calls, in_flight = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    with open(file, encoding="utf-8") as lines:
        questions = [json.loads(line) for line in islice(lines, calls)]
    client = AsyncOpenAI(base_url=url, api_key="none", max_retries=0, http_client=DefaultAioHttpClient())
    begun, used, shared = time.perf_counter(), time.process_time(), iter(questions)
    await asyncio.gather(*(ask(client, shared) for _ in range(in_flight)))
    seconds, processor = time.perf_counter() - begun, time.process_time() - used
    print(json.dumps({"seconds": seconds, "processor": processor, "calls": len(questions)}))
    await client.close()


asyncio.run(main())
