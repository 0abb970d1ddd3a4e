"""Values read with the schemas that a registry or proto-schemas/ has, as by another team."""

import subprocess
import tempfile
from pathlib import Path

from google.protobuf import timestamp_pb2
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from harness.suite import ROOT

_EVENTS = ROOT / "proto-schemas" / "tempinbox" / "events" / "v1"


def compile_schema(text: str) -> FileDescriptorProto:
    """Compiles a schema by protoc, under the name that registries give it."""
    with tempfile.TemporaryDirectory() as folder:
        source, compiled = Path(folder, "default"), Path(folder, "compiled")
        source.write_text(text, encoding="utf-8")
        command = ["protoc", "-I", folder, f"--descriptor_set_out={compiled}", str(source)]
        subprocess.run(command, check=True)
        return FileDescriptorSet.FromString(compiled.read_bytes()).file[0]


def message_class(text: str) -> type[Message]:
    """The first message of a schema."""
    schema = compile_schema(text)
    pool = DescriptorPool()
    pool.AddSerializedFile(timestamp_pb2.DESCRIPTOR.serialized_pb)
    pool.AddSerializedFile(schema.SerializeToString())
    name = f"{schema.package}.{schema.message_type[0].name}"
    return GetMessageClass(pool.FindMessageTypeByName(name))


def event_class(file: str) -> type[Message]:
    """Returns the class of an event, by the name of its file in proto-schemas/."""
    return message_class((_EVENTS / file).read_text(encoding="utf-8"))
