"""The errors a call can end with, by the code production gives them."""

from grpc import StatusCode


class StatusError(Exception):
    """A call that ends with a gRPC status other than OK."""

    def __init__(self, code: StatusCode, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text

    @property
    def number(self) -> int:
        """The code as a google.rpc.Status has it."""
        return int(self.code.value[0])


def invalid(text: str) -> StatusError:
    return StatusError(StatusCode.INVALID_ARGUMENT, text)


def not_found(text: str) -> StatusError:
    return StatusError(StatusCode.NOT_FOUND, text)


def already_exists(text: str) -> StatusError:
    return StatusError(StatusCode.ALREADY_EXISTS, text)


def failed_precondition(text: str) -> StatusError:
    return StatusError(StatusCode.FAILED_PRECONDITION, text)


def aborted(text: str) -> StatusError:
    return StatusError(StatusCode.ABORTED, text)


def unimplemented(text: str) -> StatusError:
    return StatusError(StatusCode.UNIMPLEMENTED, text)
