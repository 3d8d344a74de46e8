"""Log lines with their time, as text or as JSON, and without anything about a user."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from ldprl.errors import one_of

LogFormat = Literal["text", "json"]
LOG_FORMATS: tuple[str, ...] = get_args(LogFormat)
# What the service itself logs, and Python's warnings, hold nothing about a user. Other libraries
# may fill a request, an address or a value into theirs.
_OWN = ("ldprl.", "py.warnings")


class JsonLines(logging.Formatter):
    """One JSON object on each line: time, level, logger, message and the record's fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _message(record),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[0]:
            line |= {"error": record.exc_info[0].__name__, "at": _frames(record).splitlines()}
        return json.dumps(line, ensure_ascii=False)


class TextLines(logging.Formatter):
    """Time, level and message; the frames of an error below it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, or the lines."""
        fields = "".join(f" {key}={value}" for key, value in getattr(record, "fields", {}).items())
        line = f"{_time(record)} {record.levelname} {_message(record)}{fields}"
        if record.exc_info and record.exc_info[0]:
            line += f": {record.exc_info[0].__name__} at\n{_frames(record)}"
        return line


def configure_logs(log_format: str) -> None:
    """Write every log line of this process to standard error, in this format and in no other."""
    one_of("log", log_format, LOG_FORMATS)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if log_format == "json" else TextLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    logging.captureWarnings(True)


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _message(record: logging.LogRecord) -> str:
    """Return the message; for other libraries, the first line of its template."""
    if record.name.startswith(_OWN):
        return record.getMessage()
    return str(record.msg).partition("\n")[0]


def _frames(record: logging.LogRecord) -> str:
    """Return where an error happened. Its message is left out: it may quote what a user sent."""
    assert record.exc_info
    return "".join(traceback.format_tb(record.exc_info[2])).rstrip()
