const bytesToHex = (bytes: ArrayBuffer): string => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')

export interface Keys {
  readonly keys: CryptoKeyPair
  readonly publicKey: string
}

/** The signature of a message: `GET` and `/ws` to authenticate, `WS` and the type to enter an order. */
export async function signed({ keys, publicKey }: Keys, method: string, target: string, body = ''): Promise<object> {
  const timestamp = String(Date.now())
  const digest = bytesToHex(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(body)))
  const lines = new TextEncoder().encode([method, target, timestamp, digest].join('\n'))
  return { publicKey, timestamp, signature: bytesToHex(await crypto.subtle.sign('Ed25519', keys.privateKey, lines)) }
}

/** Opens a connection, authenticated when a session is given. `onFrame` gets every frame but the first ones. */
export function openStreams(base: string, onFrame: (frame: any) => void, session?: Keys): Promise<WebSocket> {
  const socket = new WebSocket(`${base.replace(/^http/, 'ws')}/ws`)
  const authenticate = async (keys: Keys): Promise<void> =>
    socket.send(JSON.stringify({ type: 'auth', ...(await signed(keys, 'GET', '/ws')) }))
  return new Promise((resolve, reject) => {
    let open = false
    socket.onclose = ({ code, reason }) => reject(new Error(`closed: ${code} ${reason}`))
    socket.onmessage = ({ data }) => {
      const frame = JSON.parse(data)
      if (open) return onFrame(frame)
      if (frame.type === 'connected' && session !== undefined) return void authenticate(session).catch(reject)
      if (frame.type === 'error') return reject(frame)
      open = true
      resolve(socket)
    }
  })
}

/** Sends a signed message of order entry. The frame `result` with this id is its answer. */
export async function enter(socket: WebSocket, session: Keys, type: string, id: string | number, input: object): Promise<void> {
  const body = JSON.stringify(input)
  socket.send(JSON.stringify({ type, id, body, ...(await signed(session, 'WS', type, body)) }))
}

/** CRC-32 of ASCII text. */
function crc32(text: string): number {
  let crc = ~0
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i)
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (0xedb88320 & -(crc & 1))
  }
  return ~crc >>> 0
}

/** A book as the frames of `orderbook` leave it. */
export class Book {
  readonly bids = new Map<string, string>()
  readonly asks = new Map<string, string>()
  sequence = -1

  /** Takes in a frame. False: it does not continue this book; subscribe again. */
  take({ type, sequence, data }: any): boolean {
    if (type === 'snapshot') {
      this.bids.clear()
      this.asks.clear()
    } else if (data.previousSequence !== this.sequence) return false
    this.sequence = sequence
    for (const side of ['bids', 'asks'] as const) {
      for (const { price, quantity } of data[side]) quantity === '0' ? this[side].delete(price) : this[side].set(price, quantity)
    }
    return crc32([...this.best('bids', 10), ...this.best('asks', 10)].map((level) => level.join(':')).join(',')) === data.checksum
  }

  /** Prices with their quantities, best first. Numbers only order them; the texts are what is exact. */
  best(side: 'bids' | 'asks', count: number): [price: string, quantity: string][] {
    const sign = side === 'bids' ? -1 : 1
    return [...this[side]].sort(([a], [b]) => sign * (Number(a) - Number(b))).slice(0, count)
  }
}
