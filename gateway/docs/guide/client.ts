const hex = (bytes: Uint8Array | ArrayBuffer): string =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')

export class Session {
  readonly base: string
  readonly keys: CryptoKeyPair
  readonly publicKey: string

  constructor(base: string, keys: CryptoKeyPair, publicKey: string) {
    this.base = base
    this.keys = keys
    this.publicKey = publicKey
  }

  /** A session key of its own, authorised by the wallet at `address`; `sign` is EIP-191 personal_sign. */
  static async open(base: string, address: string, sign: (message: string) => Promise<string>): Promise<Session> {
    const keys = (await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify'])) as CryptoKeyPair
    const session = new Session(base, keys, hex(await crypto.subtle.exportKey('raw', keys.publicKey)))
    const identity = { address, sessionPublicKey: session.publicKey }
    const { nonce, message } = await session.request('POST', '/api/v1/auth/challenge', identity)
    const proof = { nonce, signature: await sign(message), sessionSignature: await session.sign(message) }
    await session.request('POST', '/api/v1/auth/verify', { ...identity, ...proof })
    return session
  }

  /** The session key's signature of a text, in hex. */
  async sign(text: string): Promise<string> {
    return hex(await crypto.subtle.sign('Ed25519', this.keys.privateKey, new TextEncoder().encode(text)))
  }

  /** Sends one signed request. `target` is path and query. Throws the error envelope. */
  async request(method: string, target: string, input?: object): Promise<any> {
    const body = input === undefined ? new Uint8Array() : new TextEncoder().encode(JSON.stringify(input))
    const timestamp = String(Date.now())
    const lines = [method, target, timestamp, hex(await crypto.subtle.digest('SHA-256', body))].join('\n')
    const signature = await this.sign(lines)
    const headers = { 'X-Svc-PublicKey': this.publicKey, 'X-Svc-Timestamp': timestamp, 'X-Svc-Signature': signature }
    const response = await fetch(this.base + target, { method, headers, ...(input === undefined ? {} : { body }) })
    const answer = await response.json()
    if (!response.ok) throw answer
    return answer
  }
}
