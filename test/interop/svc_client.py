"""A gRPC client of the exchange, built from its .proto files and nothing else of this project.

Needs Debian's protobuf-compiler, python3-grpc-tools (for Google's own .proto files), python3-grpcio, python3-protobuf and python3-nacl.
"""
import hashlib
import importlib
import os
import queue
import subprocess
import sys
import time

import grpc
import grpc_tools
from google.protobuf import descriptor_pool, message_factory, symbol_database
from nacl.signing import SigningKey


def compile_protos(source, target):
    """Makes Python modules of every .proto file below `source` in the directory `target` and imports them."""
    names = sorted(
        os.path.relpath(os.path.join(folder, name), source)
        for folder, _, files in os.walk(source) for name in files if name.endswith(".proto")
    )
    bundled = os.path.join(os.path.dirname(grpc_tools.__file__), "_proto")
    subprocess.run(["protoc", f"-I{source}", f"-I{bundled}", f"--python_out={target}", *names], check=True)
    # google.rpc comes from these files, google.protobuf from the installed package: one name, two places.
    import google
    google.__path__ = [*google.__path__, os.path.join(target, "google")]
    sys.path.insert(0, target)
    modules = [importlib.import_module(name[:-len(".proto")].replace("/", ".") + "_pb2") for name in names]
    return {name: service for module in modules for name, service in module.DESCRIPTOR.services_by_name.items()}


def message_class(descriptor):
    # Since protobuf 4.22; Debian has an older one, which names it otherwise.
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return symbol_database.Default().GetPrototype(descriptor)


def message_of(name):
    """The class of a message by its full name."""
    return message_class(descriptor_pool.Default().FindMessageTypeByName(name))


class Refused(Exception):
    """A call the service refused, with its google.rpc.Status."""

    def __init__(self, error):
        super().__init__(f"{error.code().name}: {error.details()}")
        self.status = error.code().name
        self.metadata = {key: value for key, value in error.trailing_metadata()}
        self.details = details_of(self.metadata.get("grpc-status-details-bin", b""))


def details_of(data):
    """Error details by message name."""
    found = {}
    for detail in message_of("google.rpc.Status").FromString(data).details:
        name = detail.type_url.split("/")[-1]
        found[name] = message_of(name).FromString(detail.value)
    return found


class Exchange:
    """Calls by method name: the request is a message made of the keyword arguments."""

    def __init__(self, address, services):
        self.channel = grpc.insecure_channel(address)
        self.key = SigningKey.generate()
        self.public_key = bytes(self.key.verify_key).hex()
        self.methods = {
            method.name: (f"/{service.full_name}/{method.name}", method)
            for service in services.values() for method in service.methods
        }

    def credentials(self, path, data, timestamp=None):
        """Signs the exact bytes that are sent."""
        timestamp = str(timestamp or int(time.time() * 1000))
        lines = "\n".join(["POST", path, timestamp, hashlib.sha256(data).hexdigest()])
        return timestamp, self.key.sign(lines.encode()).signature.hex()

    def call(self, name, signed=True, **fields):
        path, method = self.methods[name]
        data = message_class(method.input_type)(**fields).SerializeToString()
        metadata = []
        if signed:
            timestamp, signature = self.credentials(path, data)
            metadata = [("x-svc-publickey", self.public_key), ("x-svc-timestamp", timestamp), ("x-svc-signature", signature)]
        send = self.channel.unary_unary(path, response_deserializer=message_class(method.output_type).FromString)
        try:
            return send(data, metadata=metadata, timeout=30)
        except grpc.RpcError as error:
            raise Refused(error) from None

    def sign_in(self, address, sign_message):
        """Challenge, wallet signature by `sign_message`, verify."""
        identity = {"address": address, "session_public_key": self.public_key}
        challenge = self.call("Challenge", signed=False, **identity)
        return self.call("Verify", signed=False, nonce=challenge.nonce, signature=sign_message(challenge.message),
                         session_signature=self.key.sign(challenge.message.encode()).signature.hex(), **identity)

    def stream(self):
        return OrderStream(self)


class OrderStream:
    """StreamOrders: actions go out as they come, answers are waited for by request id."""

    def __init__(self, exchange):
        self.exchange = exchange
        self.path, method = exchange.methods["StreamOrders"]
        self.request = message_class(method.input_type)
        self.action = message_of("svc.v1.StreamOrdersAction")
        self.outgoing = queue.Queue()
        send = exchange.channel.stream_stream(self.path, response_deserializer=message_class(method.output_type).FromString)
        self.incoming = send(iter(self.outgoing.get, None), timeout=30)
        self.answers = {}

    def send(self, request_id, signed=True, counter=0, **action):
        data = self.action(request_id=request_id, counter=counter, **action).SerializeToString()
        proof = {}
        if signed:
            timestamp, signature = self.exchange.credentials(self.path, data)
            proof = {"public_key": self.exchange.public_key, "timestamp": int(timestamp), "signature": signature}
        self.outgoing.put(self.request(action=data, **proof).SerializeToString())

    def wait(self, request_id):
        """The answer to one action; those to others that come before are kept."""
        while request_id not in self.answers:
            for answer in next(self.incoming).answers:
                self.answers[answer.request_id] = answer
        return self.answers.pop(request_id)

    def close(self):
        """Ends the stream from this side; the rest of the answers, which should be none."""
        self.outgoing.put(None)
        return [answer for response in self.incoming for answer in response.answers]
