"""Telegram, Discord and the model for benchmarks: lean, in a process of its own, driving closed loops of chats.

The fakes of the tests check every call and would cost more than what is measured. This one answers at once.
Control (JSON over HTTP): POST /run plays chats, each writing its next message when its reply has come, and
answers with the latencies in seconds; POST /model sets how long the model thinks; POST /say, /next and
/wait_asked are the single steps. A flood is in `server_flood`, Discord's half in `server_discord`. Moments are of
the clock that all processes of a machine share.
"""

import asyncio
import json
import time
from typing import Any

from aiohttp import web

from tests.bench.load import ANSWER, LOAD, Load
from tests.bench.server_flood import Flood

REVIEW_MARK, TITLE_MARK = "Background review", "Give this conversation a title"


async def telegram(request: web.Request) -> web.Response:
    load = request.app[LOAD]
    method = request.match_info["method"]
    given: dict[str, Any] = dict(await request.post())
    if request.content_type == "application/json":
        given = await request.json()
    if method == "getUpdates":
        return _ok(await _poll(load, int(given.get("offset") or 0), float(given.get("timeout") or 0)))
    if method == "sendMessage":
        chat = int(given["chat_id"])
        load.was_sent(chat, str(given["text"]))
        load.next_message += 1
        return _ok(
            {"message_id": load.next_message, "date": 1, "chat": {"id": chat, "type": "private"}, "text": "x"}
        )
    if method == "getMe":
        return _ok({"id": 1, "is_bot": True, "first_name": "bench", "username": "bench_bot"})
    if method == "getMyCommands":
        return _ok([])
    return _ok(True)


async def _poll(load: Load, offset: int, seconds: float) -> list[dict[str, Any]]:
    load.updates = [update for update in load.updates if update["update_id"] >= offset]
    load.polled.set()
    if not load.updates and seconds:
        load.arrived.clear()
        try:
            await asyncio.wait_for(load.arrived.wait(), min(seconds, 5))
        except TimeoutError:
            return []
    return load.updates[:100]


async def model(request: web.Request) -> web.StreamResponse:
    load = request.app[LOAD]
    asked = await request.json()
    said = [message for message in asked["messages"] if message["role"] == "user"]
    beginning = str(said[-1]["content"])[:200]
    review = REVIEW_MARK in beginning
    task = "review" if review else "title" if beginning.startswith(TITLE_MARK) else "chat"
    load.asked[task].append(time.perf_counter())
    load.somebody_asked.set()
    seconds = load.review_seconds if review else load.model_seconds
    load.thinking += 1
    load.most_thinking = max(load.most_thinking, load.thinking)
    try:
        if seconds:
            await asyncio.sleep(seconds)
    finally:
        load.thinking -= 1
    delta: dict[str, Any] = {"content": _words(said[-1]) if load.echoes else ANSWER}
    if review and load.review_calls and not any(m["role"] == "tool" for m in asked["messages"][-2:]):
        call = {"name": "memory", "arguments": json.dumps(load.review_calls.pop(0))}
        delta = {"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": call}]}
    return await _stream(request, delta)


def _words(message: dict[str, Any]) -> str:
    """What was said, without the time that stands before it."""
    return str(message["content"]).rpartition("] ")[2]


async def _stream(request: web.Request, delta: dict[str, Any]) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    common = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "bench"}
    finish = "tool_calls" if "tool_calls" in delta else "stop"
    usage = {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}
    events = (
        {**common, "choices": [{"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": None}]},
        {**common, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
        {**common, "choices": [], "usage": usage},
    )
    body = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
    await response.write(body + b"data: [DONE]\n\n")
    return response


async def run(request: web.Request) -> web.Response:
    """{"chats": 20, "turns": 10, "text": "hello", "first": 1000} → {"seconds": …, "latencies": […]}

    With {"platform": "discord"}, these chats are on Discord.
    """
    load = request.app[LOAD]
    asked = await request.json()
    latencies: list[float] = []

    async def one_chat(chat: int) -> None:
        for number in range(asked["turns"]):
            load.forget_sent(chat)
            began = time.perf_counter()
            load.says(chat, f"{asked.get('text', 'hello')} {number}", asked.get("platform", "telegram"))
            latencies.append(await load.next_answer(chat) - began)

    load.most_thinking = 0
    began = time.perf_counter()
    first = asked.get("first", 1000)
    await asyncio.gather(*(one_chat(first + number) for number in range(asked["chats"])))
    return web.json_response(
        {
            "seconds": time.perf_counter() - began,
            "latencies": latencies,
            "most_thinking": load.most_thinking,
        }
    )


async def pair(request: web.Request) -> web.Response:
    """One message, then the time from its reply to the message after the reply (the review's notice)."""
    load = request.app[LOAD]
    asked = await request.json()
    chat = asked["first"]
    load.forget_sent(chat)
    load.says(chat, asked["text"])
    replied, _ = await load.next_sent(chat, 60)
    noticed, text = await load.next_sent(chat, 60)
    return web.json_response({"seconds": noticed - replied, "text": text})


async def set_model(request: web.Request) -> web.Response:
    load = request.app[LOAD]
    asked = await request.json()
    load.model_seconds = asked.get("seconds", load.model_seconds)
    load.review_seconds = asked.get("review_seconds", load.review_seconds)
    load.review_calls += asked.get("review_calls", [])
    load.echoes = asked.get("echoes", load.echoes)
    return web.json_response({})


async def say(request: web.Request) -> web.Response:
    """{"chat": 1000, "text": "hello"}: what the chat was sent before is not looked at any more."""
    load = request.app[LOAD]
    asked = await request.json()
    load.forget_sent(asked["chat"])
    load.says(asked["chat"], asked["text"])
    return web.json_response({"at": time.perf_counter()})


async def next_sent(request: web.Request) -> web.Response:
    """{"chat": 1000}: the next thing this chat is sent, and when that was."""
    asked = await request.json()
    at, text = await request.app[LOAD].next_sent(asked["chat"], 120)
    return web.json_response({"at": at, "text": text})


async def count_asked(request: web.Request) -> web.Response:
    """{"task": "review"}: how often the model was asked so far."""
    asked = await request.json()
    return web.json_response({"times": len(request.app[LOAD].asked[asked["task"]])})


async def wait_asked(request: web.Request) -> web.Response:
    """{"task": "review", "times": 2}: when the model was asked for the second time."""
    load = request.app[LOAD]
    asked = await request.json()
    async with asyncio.timeout(120):
        while len(load.asked[asked["task"]]) < asked["times"]:
            load.somebody_asked.clear()
            await load.somebody_asked.wait()
    return web.json_response({"at": load.asked[asked["task"]][asked["times"] - 1]})


async def wait_poll(request: web.Request) -> web.Response:
    """Answers when the next getUpdates comes: how readiness is seen from outside."""
    load = request.app[LOAD]
    load.polled.clear()
    await asyncio.wait_for(load.polled.wait(), 60)
    return web.json_response({})


async def wait_connected(request: web.Request) -> web.Response:
    """Answers when the bot has a session on Discord."""
    await asyncio.wait_for(request.app[LOAD].discord.connected.wait(), 60)
    return web.json_response({})


def _ok(result: object) -> web.Response:
    return web.json_response({"ok": True, "result": result})


async def main() -> None:
    app = web.Application(client_max_size=64 * 1024 * 1024)
    load = app[LOAD] = Load()
    flood = Flood()
    app.router.add_route("*", "/bot{token}/{method}", telegram)
    app.router.add_route("*", "/api/v10/{path:.*}", load.discord.call)
    app.router.add_get("/gw", load.discord.socket)
    app.router.add_post("/v1/chat/completions", model)
    for handler in (run, pair, say, count_asked, wait_asked, wait_poll, wait_connected, flood.flood, flood.flooded):
        app.router.add_post(f"/{handler.__name__}", handler)
    app.router.add_post("/model", set_model)
    app.router.add_post("/next", next_sent)
    # The request of a bot that was killed is not thought about any further.
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
