"""A WebSocket that is served past the application's routing; everything else goes to the application."""

import pytest
from fastapi import FastAPI, WebSocket
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from server.process.middleware import DirectSocket


async def echo(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_text(f"direct: {await socket.receive_text()}")
    await socket.close()


@pytest.fixture
def client() -> TestClient:
    app = FastAPI()

    @app.get("/ws")
    def page() -> str:
        return "a page"

    @app.websocket("/other")
    async def other(socket: WebSocket) -> None:
        await socket.accept()
        await socket.send_text("routed")
        await socket.close()

    app.add_middleware(DirectSocket, path="/ws", serve=echo)
    return TestClient(app)


def test_a_websocket_of_the_path_is_served_directly(client: TestClient) -> None:
    with client.websocket_connect("/ws") as page:
        page.send_text("hello")
        assert page.receive_text() == "direct: hello"


def test_what_else_there_is_goes_to_the_application(client: TestClient) -> None:
    assert client.get("/ws").json() == "a page"
    with client.websocket_connect("/other") as page:
        assert page.receive_text() == "routed"
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/ws/more"):
        pass
