"""Measures the Python SDK for the Claude Code CLI on the stream that `countersign bench sdk` gets.

Usage: bench-sdk.py CLI, where CLI runs `countersign bench sdk-cli`. Prints one JSON line.
"""

import json
import resource
import sys
import time

import anyio
from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    PermissionResultAllow,
    ResultMessage,
)


async def allow(_tool, _input, _context):
    return PermissionResultAllow()


async def main(cli):
    options = ClaudeAgentOptions(cli_path=cli, can_use_tool=allow)
    async with ClaudeSDKClient(options=options) as client:
        started, count, told = time.perf_counter(), 0, None
        await client.query("go")
        async for message in client.receive_response():
            if isinstance(message, AssistantMessage):
                count += 1
                sum(len(block.text) for block in message.content)
            elif isinstance(message, ResultMessage):
                told = json.loads(message.result)
        seconds = time.perf_counter() - started
    print(
        json.dumps(
            {
                "messages_per_s": count / seconds,
                "ask_p50_us": told["p50_us"],
                "ask_p99_us": told["p99_us"],
                "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            }
        )
    )


anyio.run(main, sys.argv[1])
