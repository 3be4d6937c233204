"""Errors as answers: one JSON shape for all of them."""

from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from server.errors import CandorError, ErrorBody, ErrorDetail
from server.process.null_characters import NO_NULL

_TAKE_OUT = "Take it out and send the request again."


def _error(status: int, code: str, message: str, hint: str) -> JSONResponse:
    body = ErrorBody(error=ErrorDetail(code=code, message=message, hint=hint))
    return JSONResponse(body.model_dump(), status)


def too_long(reason: str) -> JSONResponse:
    """Return the answer to a request whose body is too long."""
    return _error(413, "too_long", reason, "Shorten it and send it again.")


def null_character() -> JSONResponse:
    """Return the answer to a request that has a null character where it is addressed."""
    return _error(422, "invalid_request", NO_NULL, _TAKE_OUT)


def add_errors(app: FastAPI) -> None:
    """Give every error the one JSON shape: `{"error": {"code", "message", "hint"}}`."""

    @app.exception_handler(CandorError)
    async def candor(_request: Request, error: CandorError) -> JSONResponse:
        return _error(error.status, error.code, error.message, error.hint)

    @app.exception_handler(RequestValidationError)
    async def invalid(_request: Request, error: RequestValidationError) -> JSONResponse:
        problems = [f"{'.'.join(str(k) for k in e['loc'])}: {e['msg']}" for e in error.errors()]
        return _error(422, "invalid_request", "; ".join(problems), "Correct the fields that are named.")

    @app.exception_handler(HTTPException)
    async def http(_request: Request, error: HTTPException) -> JSONResponse:
        if (
            error.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
        ):  # of a body, by a middleware that has read it
            return _error(422, "invalid_request", str(error.detail), _TAKE_OUT)
        return _error(error.status_code, "http_error", str(error.detail), "Check the address and the method.")

    @app.exception_handler(Exception)
    async def unexpected(_request: Request, _error_: Exception) -> JSONResponse:
        unknown = CandorError("something went wrong on the server")
        return _error(unknown.status, unknown.code, unknown.message, unknown.hint)
