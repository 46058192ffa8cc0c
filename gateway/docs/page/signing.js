/**
 * Signs requests as the guide says (Sign a request): a session key of its own, authorised once by a wallet.
 *
 * The session key is a CryptoKey that cannot be read out. It is held by this module alone, in memory: nothing is stored, and nothing but
 * requests to this exchange is signed.
 */
const hexOf = (bytes) => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')
const bytesOf = (text) => new TextEncoder().encode(text)
const ABSENT = 'This browser has no Ed25519 here. It needs a recent version, and a page from https or from this machine.'

/** The session that signs; null before the sign-in and after `forget`. */
let session = null

/** A session that is not yet authorised. */
async function makeSession(address) {
  if (globalThis.crypto?.subtle === undefined) throw new Error(ABSENT)
  const keys = await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify']).catch(() => {
    throw new Error(ABSENT)
  })
  return { address, key: keys.privateKey, publicKey: hexOf(await crypto.subtle.exportKey('raw', keys.publicKey)) }
}

const sign = async ({ key }, text) => hexOf(await crypto.subtle.sign('Ed25519', key, bytesOf(text)))

async function post(path, input) {
  const answer = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(input) })
  const output = await answer.json()
  if (!answer.ok) throw new Error(`${output.code}: ${output.message}`)
  return output
}

/** Begins a sign-in: what the wallet at `address` is to sign (EIP-191), and how to go on with its signature. */
export async function begin(address) {
  const made = await makeSession(address)
  const identity = { address, sessionPublicKey: made.publicKey }
  const { nonce, message } = await post('/api/v1/auth/challenge', identity)
  const finish = async (signature) => {
    const proof = { nonce, signature, sessionSignature: await sign(made, message) }
    const output = await post('/api/v1/auth/verify', { ...identity, ...proof })
    session = made
    return { address, publicKey: made.publicKey, expiresAt: output.expiresAt }
  }
  return { message, finish }
}

/** Signs in with a wallet that signs at once. */
export async function signIn({ address, signMessage }) {
  const { message, finish } = await begin(address)
  return finish(await signMessage(message))
}

export function forget() {
  session = null
}

/**
 * Swagger UI's request interceptor. Signs a request to this exchange over the bytes that are sent: without a session it goes as it is, and
 * the exchange says that it is not signed.
 */
export async function signRequest(request) {
  const url = new URL(request.url, location.origin)
  if (url.origin !== location.origin) throw new Error('Requests go to this exchange only.')
  if (session === null) return request
  const method = request.method.toUpperCase()
  const timestamp = String(Date.now())
  const digest = hexOf(await crypto.subtle.digest('SHA-256', bytesOf(request.body ?? '')))
  const signature = await sign(session, [method, url.pathname + url.search, timestamp, digest].join('\n'))
  Object.assign(request.headers, {
    'X-Svc-PublicKey': session.publicKey, 'X-Svc-Timestamp': timestamp, 'X-Svc-Signature': signature,
  })
  return request
}
