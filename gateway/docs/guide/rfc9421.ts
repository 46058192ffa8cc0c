const base64 = (bytes: ArrayBuffer): string => btoa(String.fromCharCode(...new Uint8Array(bytes)))

/** Headers of one request: `keys` and `publicKey` (64 hex digits) of the session, path and query as `target`, the bytes of the body. */
export async function messageSignature(
  keys: CryptoKeyPair, publicKey: string, method: string, target: string, body: Uint8Array<ArrayBuffer>,
): Promise<Record<string, string>> {
  const [path, ...query] = target.split('?')
  const digest = `sha-256=:${base64(await crypto.subtle.digest('SHA-256', body))}:`
  const created = Math.floor(Date.now() / 1000)
  const parameters = `("@method" "@path" "@query" "content-digest");created=${created};keyid="${publicKey}";alg="ed25519"`
  const base = [
    `"@method": ${method}`,
    `"@path": ${path}`,
    `"@query": ?${query.join('?')}`,
    `"content-digest": ${digest}`,
    `"@signature-params": ${parameters}`,
  ].join('\n')
  const signature = base64(await crypto.subtle.sign('Ed25519', keys.privateKey, new TextEncoder().encode(base)))
  return { 'Signature-Input': `svc=${parameters}`, Signature: `svc=:${signature}:`, 'Content-Digest': digest }
}
