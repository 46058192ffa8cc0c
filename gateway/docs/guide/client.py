import hashlib, json, time, urllib.error, urllib.request
from nacl.signing import SigningKey


class Session:
    def __init__(self, base, key=None):
        self.base = base
        self.key = key or SigningKey.generate()
        self.public_key = bytes(self.key.verify_key).hex()

    def sign_in(self, address, sign_message):
        """sign_message: EIP-191 personal_sign of a text, as hex."""
        identity = {"address": address, "sessionPublicKey": self.public_key}
        challenge = self.request("POST", "/api/v1/auth/challenge", identity)
        message = challenge["message"]
        proof = {"nonce": challenge["nonce"], "signature": sign_message(message),
                 "sessionSignature": self.key.sign(message.encode()).signature.hex()}
        return self.request("POST", "/api/v1/auth/verify", {**identity, **proof})

    def request(self, method, target, data=None):
        """Sends one signed request; target is path and query. Raises ApiError."""
        body = b"" if data is None else json.dumps(data).encode()
        timestamp = str(int(time.time() * 1000))
        lines = "\n".join([method, target, timestamp, hashlib.sha256(body).hexdigest()])
        request = urllib.request.Request(self.base + target, body or None, method=method, headers={
            "X-Svc-PublicKey": self.public_key,
            "X-Svc-Timestamp": timestamp,
            "X-Svc-Signature": self.key.sign(lines.encode()).signature.hex(),
            "Content-Type": "application/json",
        })
        try:
            with urllib.request.urlopen(request, timeout=35) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            raise ApiError(json.load(error)) from None


class ApiError(Exception):
    def __init__(self, envelope):
        super().__init__(f'{envelope["code"]}: {envelope["message"]}')
        self.envelope = envelope
