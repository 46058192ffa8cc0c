"""HTTP message signatures (RFC 9421) by a stranger: written from the RFC, with the standard library and PyNaCl (Debian's python3-nacl).

  message_signatures.py make DIRECTORY              writes the golden files
  message_signatures.py check FILE...               verifies golden files and signs their requests again
  message_signatures.py send GUIDE_DIRECTORY URL    signs with the program of the guide, and sends

Golden files hold a request, the seed of a session key, the signed text and the headers. `check` and `send` tell what came of it, one JSON
object a line; `send` reads {"seed", "method", "target", "body"} from its input, one a line.
"""
import base64
import hashlib
import http.client
import json
import os
import re
import sys
import urllib.parse

from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

COMPONENTS = ["@method", "@path", "@query", "content-digest"]
ORDER = {"tradingPairId": "b5a7c1d2", "orderType": "LIMIT", "side": "BUY", "quantity": "0.5", "price": "2000"}
REQUESTS = {
    "get": ("GET", "/api/v1/accounts/me", b""),
    "get_query": ("GET", "/api/v1/orders?status=FILLED&status=CANCELLED&pageSize=2", b""),
    "get_bare_question_mark": ("GET", "/api/v1/accounts/me?", b""),
    "get_escaped_query": ("GET", "/api/v1/orders?b=%2b+~*!%20&clientOrderId=a%2Bb&a&=&q=?/?", b""),
    "delete_escaped_path": ("DELETE", "/api/v1/orders/0000%30000-0005-8001-8000-00001f2a335e", b""),
    "post_empty": ("POST", "/api/v1/faucet/mint", b""),
    "post_json": ("POST", "/api/v1/orders", json.dumps(ORDER).encode()),
    "post_unicode": ("POST", "/api/v1/orders", '{"idempotencyKey":"cl\u00e9 \u2713"}\r\n'.encode()),
    "post_no_text": ("POST", "/api/v1/orders?x=1", bytes(range(256))),
    "put_parameters_reordered": ("PUT", "/api/v1/orders/00000000-0005-8001-8000-00001f2a335e", b'{"price":"101"}'),
}


def component(name, method, target, headers):
    path, _, query = target.partition("?")
    derived = {"@method": method, "@path": path, "@query": "?" + query}
    return derived[name] if name.startswith("@") else headers[name].strip()


def signature_base(names, parameters, method, target, headers):
    lines = [f'"{name}": {component(name, method, target, headers)}' for name in names]
    return "\n".join([*lines, f'"@signature-params": {parameters}'])


def content_digest(body):
    return f"sha-256=:{base64.b64encode(hashlib.sha256(body).digest()).decode()}:"


def sign(seed, method, target, body, created, order=("created", "keyid", "alg")):
    """Signed text and headers of a request."""
    key = SigningKey(bytes.fromhex(seed))
    values = {"created": str(created), "keyid": f'"{bytes(key.verify_key).hex()}"', "alg": '"ed25519"'}
    parameters = "(" + " ".join(f'"{name}"' for name in COMPONENTS) + ")" + "".join(f";{name}={values[name]}" for name in order)
    headers = {"content-digest": content_digest(body)}
    base = signature_base(COMPONENTS, parameters, method, target, headers)
    signature = base64.b64encode(key.sign(base.encode()).signature).decode()
    return base, {
        "Signature-Input": f"svc={parameters}",
        "Signature": f"svc=:{signature}:",
        "Content-Digest": headers["content-digest"],
    }


def verify(method, target, body, headers):
    """The signed text, if the headers are a signature of this request by the key they name; otherwise None."""
    headers = {name.lower(): value for name, value in headers.items()}
    label, parameters = re.fullmatch(r'([a-z]+)=(\(.*)', headers["signature-input"]).groups()
    names = re.findall(r'"([^"]+)"', parameters[:parameters.index(")")])
    key = re.search(r';keyid="([0-9a-f]{64})"', parameters).group(1)
    signature = re.fullmatch(rf"{label}=:(.*):", headers["signature"]).group(1)
    if headers["content-digest"] != content_digest(body):
        return None
    base = signature_base(names, parameters, method, target, headers)
    try:
        VerifyKey(bytes.fromhex(key)).verify(base.encode(), base64.b64decode(signature, validate=True))
    except BadSignatureError:
        return None
    return base


def make(directory):
    for number, (name, (method, target, body)) in enumerate(REQUESTS.items()):
        seed = hashlib.sha256(f"golden {number}".encode()).hexdigest()
        order = ["alg", "keyid", "created"] if name == "put_parameters_reordered" else ["created", "keyid", "alg"]
        created = 1_700_000_000 + number
        base, headers = sign(seed, method, target, body, created, order)
        golden = {
            "seed": seed, "publicKey": bytes(SigningKey(bytes.fromhex(seed)).verify_key).hex(), "created": created, "parameters": order,
            "method": method, "target": target, "bodyBase64": base64.b64encode(body).decode(), "headers": headers, "base": base,
        }
        with open(os.path.join(directory, f"{name}.json"), "w", encoding="utf-8") as file:
            json.dump(golden, file, indent=2)
            file.write("\n")


def check(files):
    for name in files:
        with open(name, encoding="utf-8") as file:
            golden = json.load(file)
        method, target, headers = golden["method"], golden["target"], golden["headers"]
        body = base64.b64decode(golden["bodyBase64"])
        again = sign(golden["seed"], method, target, body, golden["created"], golden["parameters"])
        print(json.dumps({
            "verified": verify(method, target, body, headers) == golden["base"],
            "produced": again == (golden["base"], headers),
            "refused": all(verify(*other, headers) is None for other in [
                (method + "X", target, body), (method, target + "&", body), (method, "/x" + target, body), (method, target, body + b" "),
            ]),
        }), flush=True)


def send(guide, url):
    sys.path.insert(0, guide)
    from rfc9421 import message_signature
    for line in sys.stdin:
        asked = json.loads(line)
        body = asked["body"].encode()
        headers = message_signature(SigningKey(bytes.fromhex(asked["seed"])), asked["method"], asked["target"], body)
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=30)
        connection.request(asked["method"], asked["target"], body, {"User-Agent": "python", **headers})
        print(json.dumps({"status": connection.getresponse().status}), flush=True)
        connection.close()


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    {"make": make, "check": lambda *files: check(files), "send": send}[command](*arguments)
