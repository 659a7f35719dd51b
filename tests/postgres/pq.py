# SPDX-License-Identifier: Apache-2.0
"""A small binding of libpq, so that the tests need no driver and see exactly what the server says."""
import ctypes
import ctypes.util
import select
import time

_PQ = ctypes.CDLL(ctypes.util.find_library("pq") or "libpq.so.5")
for _name, _result, _arguments in (
        ("PQconnectdb", ctypes.c_void_p, [ctypes.c_char_p]),
        ("PQstatus", ctypes.c_int, [ctypes.c_void_p]),
        ("PQerrorMessage", ctypes.c_char_p, [ctypes.c_void_p]),
        ("PQfinish", None, [ctypes.c_void_p]),
        ("PQsocket", ctypes.c_int, [ctypes.c_void_p]),
        ("PQbackendPID", ctypes.c_int, [ctypes.c_void_p]),
        ("PQexec", ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]),
        ("PQexecParams", ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p,
                                           ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]),
        ("PQresultStatus", ctypes.c_int, [ctypes.c_void_p]),
        ("PQresultErrorField", ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_int]),
        ("PQntuples", ctypes.c_int, [ctypes.c_void_p]),
        ("PQnfields", ctypes.c_int, [ctypes.c_void_p]),
        ("PQgetisnull", ctypes.c_int, [ctypes.c_void_p, ctypes.c_int, ctypes.c_int]),
        ("PQgetvalue", ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_int, ctypes.c_int]),
        ("PQclear", None, [ctypes.c_void_p]),
        ("PQconsumeInput", ctypes.c_int, [ctypes.c_void_p]),
        ("PQnotifies", ctypes.c_void_p, [ctypes.c_void_p]),
        ("PQfreemem", None, [ctypes.c_void_p]),
        ("PQsetNoticeProcessor", ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p])):
    getattr(_PQ, _name).restype = _result
    getattr(_PQ, _name).argtypes = _arguments

_SILENT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)(lambda _, __: None)


class _Notify(ctypes.Structure):
    _fields_ = [("channel", ctypes.c_char_p), ("pid", ctypes.c_int), ("payload", ctypes.c_char_p)]


class SqlError(Exception):
    """What the server refused: `state` is the SQLSTATE, empty if the connection was lost."""

    def __init__(self, state, message, detail="", hint=""):
        super().__init__(f"{state}: {message}" + (f" ({detail})" if detail else ""))
        self.state, self.message, self.detail, self.hint = state, message, detail, hint


def _text(value):
    return value.decode() if value else ""


class Connection:
    def __init__(self, conninfo):
        self._handle = _PQ.PQconnectdb(conninfo.encode())
        if _PQ.PQstatus(self._handle) != 0:
            message = _text(_PQ.PQerrorMessage(self._handle))
            self.close()
            raise SqlError("", message)
        _PQ.PQsetNoticeProcessor(self._handle, ctypes.cast(_SILENT, ctypes.c_void_p), None)

    def close(self):
        if self._handle:
            _PQ.PQfinish(self._handle)
            self._handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def pid(self):
        return _PQ.PQbackendPID(self._handle)

    def __call__(self, sql, *values):
        """Runs statements and gives the rows of the last one, as tuples of texts and None."""
        if values:
            texts = [None if v is None else str(v).encode() for v in values]
            array = (ctypes.c_char_p * len(texts))(*texts)
            result = _PQ.PQexecParams(self._handle, sql.encode(), len(texts), None, array, None, None, 0)
        else:
            result = _PQ.PQexec(self._handle, sql.encode())
        try:
            if _PQ.PQresultStatus(result) not in (0, 1, 2):  # empty, command, rows
                field = lambda code: _text(_PQ.PQresultErrorField(result, ord(code)))
                raise SqlError(field("C"), field("M") or _text(_PQ.PQerrorMessage(self._handle)), field("D"), field("H"))
            return [tuple(None if _PQ.PQgetisnull(result, row, column) else _text(_PQ.PQgetvalue(result, row, column))
                          for column in range(_PQ.PQnfields(result)))
                    for row in range(_PQ.PQntuples(result))]
        finally:
            _PQ.PQclear(result)

    def value(self, sql, *values):
        """The one value of the one row."""
        rows = self(sql, *values)
        assert len(rows) == 1 and len(rows[0]) == 1, rows
        return rows[0][0]

    def notifications(self, seconds=0.0):
        """Those that have come, as (channel, payload); waits so long for the first."""
        found, deadline = [], time.monotonic() + seconds
        while True:
            _PQ.PQconsumeInput(self._handle)
            while at := _PQ.PQnotifies(self._handle):
                one = ctypes.cast(at, ctypes.POINTER(_Notify)).contents
                found.append((_text(one.channel), _text(one.payload)))
                _PQ.PQfreemem(at)
            left = deadline - time.monotonic()
            if found or left <= 0:
                return found
            select.select([_PQ.PQsocket(self._handle)], [], [], left)
