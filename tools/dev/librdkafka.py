"""What the librdkafka can do that this machine's programs run with."""

import ctypes
import functools

_RESULT_OK = 0


@functools.cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL("librdkafka.so.1")
    library.rd_kafka_conf_new.restype = ctypes.c_void_p
    library.rd_kafka_conf_destroy.argtypes = [ctypes.c_void_p]
    library.rd_kafka_conf_get.argtypes = [
        ctypes.c_void_p,
        ctypes.c_char_p,
        ctypes.c_char_p,
        ctypes.POINTER(ctypes.c_size_t),
    ]
    return library


def version() -> tuple[int, int, int]:
    """Returns major, minor and revision."""
    number = _library().rd_kafka_version()
    return number >> 24 & 0xFF, number >> 16 & 0xFF, number >> 8 & 0xFF


def _features() -> list[str]:
    conf = _library().rd_kafka_conf_new()
    text = ctypes.create_string_buffer(512)
    size = ctypes.c_size_t(len(text))
    answer = _library().rd_kafka_conf_get(conf, b"builtin.features", text, ctypes.byref(size))
    _library().rd_kafka_conf_destroy(conf)
    return text.value.decode("ascii").split(",") if answer == _RESULT_OK else []


def has_oidc() -> bool:
    """Returns whether it fetches the tokens of OAUTHBEARER: it was built with libcurl."""
    return "oidc" in _features()


def has_https_ca() -> bool:
    """Returns whether a setting names the authorities of the token's issuer."""
    return version() >= (2, 11, 0)


def has_scram_of_4_0() -> bool:
    """Returns whether brokers from 4.0 on take its SCRAM."""
    return version() >= (2, 6, 1)
