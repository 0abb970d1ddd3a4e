"""Bodies that are no JSON object: cut short, doubled, badly encoded, too deep, too large."""

from dataclasses import replace

from wrong_requests.row import Row, create_inbox

_NOT_JSON = "body is not valid JSON at line "

_TRUNCATED = [
    b"{",
    b'{"',
    b'{"name',
    b'{"name"',
    b'{"name":',
    b'{"name":"x',
    b'{"name":"x"',
    b'{"tags":["a"',
    b'{"tags":["a",',
    b'{"ttlSeconds":tru',
]

_MALFORMED = [
    b'{"name":"x",}',
    b'{"name":"x",,"tags":[]}',
    b'{"name":"x"}}',
    b'{"name":"x"} x',
    b"{}{}",
    b"{'name':'x'}",
    b'{name:"x"}',
    b'{"name" "x"}',
    b'{"name":"x" "tags":[]}',
    b'{"tags":[1 2]}',
    b'{"tags":[,]}',
    b"// comment\n{}",
    b"{/* comment */}",
    b'{"name":undefined}',
    b'{"name":True}',
    b" ",
    b"\r\n",
    b"\x0b{}",
    b"ttlSeconds=60",
    b"<inbox/>",
]

_NUMBERS = [
    b"NaN",
    b"Infinity",
    b"-",
    b"0123",
    b"+60",
    b".5",
    b"60.",
    b"6e",
    b"6e+",
    b"0x3c",
    b"6_0",
    b"1e400",
    b"- 60",
    b"--60",
]

_STRINGS = [
    b'"a\nb"',
    b'"a\tb"',
    rb'"\x41"',
    rb'"\u12"',
    rb'"\u12zz"',
    rb'"\ud800"',
    rb'"\ud800\u0041"',
    rb'"\udc00"',
    rb'"\"',
    b'"a\x00b"',
    b'"\xff"',
    b'"\xc0\x80"',
    b'"\xed\xa0\x80"',
    b'"\xf5\x80\x80\x80"',
    b'"\xe2\x82"',
    b'"\x80"',
    "é".encode("latin-1").join([b'"', b'"']),
]

_ENCODINGS = {
    "UTF-16 with a byte order mark": '{"name":"x"}'.encode("utf-16"),
    "UTF-16 without one": '{"name":"x"}'.encode("utf-16-le"),
    "UTF-32": '{"name":"x"}'.encode("utf-32"),
    "a zero byte behind the object": b"{}\x00",
    "a zero byte before it": b"\x00{}",
    "an invalid byte in a name": b'{"na\xffme":"x"}',
}

_DOUBLED = [
    (b'{"name":"a","name":"b"}', "name"),
    (b'{"name":"a","name":"a"}', "name"),
    (b'{"name":"a","\\u006eame":"b"}', "name"),
    (b'{"metadata":{"a":"1","a":"2"}}', "a"),
    (b'{"unknown":1,"unknown":2}', "unknown"),
]

_NO_OBJECT = [
    (b"[]", "an array"),
    (b"null", "null"),
    (b'"x"', '"x"'),
    (b"1", "1"),
    (b"true", "true"),
    (b"[{}]", "an array"),
    (b"-0.5", "-0.5"),
]

_DEEP = {
    "33 arrays": b'{"tags":' + b"[" * 33 + b"]" * 33 + b"}",
    "33 objects": b'{"a":' * 33 + b"1" + b"}" * 33,
    "64 KiB of opening brackets": b"[" * 65_536,
    "64 KiB of opening objects": (b'{"a":' * 13_107)[:65_535],
    "a deep unknown field": b'{"x":' + b"[" * 1_000 + b"]" * 1_000 + b"}",
}

_ROWS: list[Row] = [
    *(create_inbox(body, _NOT_JSON).named("cut short") for body in _TRUNCATED),
    *(create_inbox(body, _NOT_JSON).named("malformed") for body in _MALFORMED),
    *(
        create_inbox(b'{"ttlSeconds":' + number + b"}", _NOT_JSON).named("number")
        for number in _NUMBERS
    ),
    *(create_inbox(b'{"name":' + string + b"}", _NOT_JSON).named("string") for string in _STRINGS),
    *(create_inbox(body, _NOT_JSON, name=f"encoding: {name}") for name, body in _ENCODINGS.items()),
    *(create_inbox(body, _NOT_JSON, name).named("doubled") for body, name in _DOUBLED),
    *(
        create_inbox(body, "body must be a JSON object", given).named("no object")
        for body, given in _NO_OBJECT
    ),
    *(create_inbox(body, _NOT_JSON, "32", name=f"deep: {name}") for name, body in _DEEP.items()),
]
ROWS = [replace(row, code="invalid_json") for row in _ROWS]
