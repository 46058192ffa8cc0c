import base64, hashlib, time


def message_signature(key, method, target, body=b""):
    """Headers of one request: the SigningKey of the session, path and query as target, the bytes of the body."""
    path, _, query = target.partition("?")
    digest = f"sha-256=:{base64.b64encode(hashlib.sha256(body).digest()).decode()}:"
    parameters = '("@method" "@path" "@query" "content-digest")'
    parameters += f';created={int(time.time())};keyid="{bytes(key.verify_key).hex()}";alg="ed25519"'
    base = "\n".join([
        f'"@method": {method}',
        f'"@path": {path}',
        f'"@query": ?{query}',
        f'"content-digest": {digest}',
        f'"@signature-params": {parameters}',
    ])
    signature = base64.b64encode(key.sign(base.encode()).signature).decode()
    return {"Signature-Input": f"svc={parameters}", "Signature": f"svc=:{signature}:", "Content-Digest": digest}
