/**
 * A flood of bad sign-ins, as a thread beside the load generator: on each of some connections a challenge, then a verify whose signature is
 * well formed and somebody else's, over and over, at a bounded pace, so that the flood costs the exchange more than it costs this machine.
 * Every pair is of another wallet, so that no limit per wallet holds it up. Counts the answers by status in shared memory: word 0 ends it,
 * word 1 counts verdicts (401), word 2 refusals by limit (429), word 3 of a full pool (503), word 4 everything else.
 */
import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { workerData } from 'node:worker_threads'

export interface FloodData {
  readonly port: number
  readonly connections: number
  /** Pairs a second over all connections, at most. */
  readonly perSecond: number
  /** A session public key that is good. */
  readonly sessionPublicKey: string
  /** Of some wallet over some text. */
  readonly signature: string
  readonly words: SharedArrayBuffer
}

/** Words of the counts by status. */
const WORDS: Readonly<Record<number, number>> = { 401: 1, 429: 2, 503: 3 }
const OTHER = 4
/** Answers to challenges are not counted. */
const CHALLENGED = 200

const { port, connections, perSecond, sessionPublicKey, signature, words } = workerData as FloodData
const counts = new Int32Array(words)

const post = (path: string, body: object): string => {
  const text = JSON.stringify(body)
  const headers = ['Host: bench', 'User-Agent: bench', 'Content-Type: application/json', `Content-Length: ${text.length}`]
  return `POST ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${text}`
}

/** One connection, a pair each `every` ms or as soon as the last is answered. */
function flood(every: number): void {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let address = ''
  let startedAt = 0
  const begin = (): void => {
    if (Atomics.load(counts, 0) !== 0) return void socket.destroy()
    startedAt = performance.now()
    address = `0x${randomBytes(20).toString('hex')}`
    socket.write(post('/api/v1/auth/challenge', { address, sessionPublicKey }))
  }
  const next = (): void => void setTimeout(begin, Math.max(0, every - (performance.now() - startedAt)))
  socket.on('connect', begin)
  socket.on('data', (bytes) => {
    const text = bytes.toString('latin1')
    const code = Number(text.slice(9, 12))
    const nonce = /"nonce":"([0-9a-f]+)"/.exec(text)?.[1]
    if (code === CHALLENGED && nonce !== undefined) {
      socket.write(post('/api/v1/auth/verify', { address, sessionPublicKey, nonce, signature }))
      return
    }
    Atomics.add(counts, WORDS[code] ?? OTHER, 1)
    next()
  })
  socket.on('error', () => undefined)
}

for (let i = 0; i < connections; i++) setTimeout(() => flood((1000 * connections) / perSecond), i)
