/**
 * One source of prices, asked again and again over HTTP, or listened to on a WebSocket. It never throws and never hangs: an answer has
 * {@link ANSWER_MS} and {@link BYTES_MAX}, redirects are not followed, a WebSocket that is silent is opened anew. A failure is counted, and
 * the price that was there grows old.
 */
import { priceAt, timeAt, type Source } from './sources.ts'

export const ANSWER_MS = 5000
export const BYTES_MAX = 65_536

export interface Polled {
  readonly source: Source
  /** The last price, and when it came, ms of performance.now(); 0: none came yet. */
  price: number
  at: number
  /** How old the answer said that its price is, ms; 0 of a source without `timePath`. */
  age: number
  /** When the price was another than before for the last time, ms of performance.now(). */
  movedAt: number
  failures: number
  stop(): void
}

export const pollSource = (source: Source): Polled => (/^ws/.test(source.url) ? listen(source) : ask(source))

/**
 * A price is good until two requests failed: for three times their distance, and the time of an answer; and while it is not older than its
 * source's may be, by the time that the answer says.
 */
export const isFreshPrice = ({ price, at, age, source }: Polled, now: number): boolean =>
  price > 0 && now - at <= 3 * source.everyMs + ANSWER_MS && (source.timePath === null || now - at + age <= source.staleMs)

function take(polled: Polled, text: string): void {
  const { path, timePath } = polled.source
  const price = priceAt(text, path)
  const time = timePath === null ? null : timeAt(text, timePath)
  if (price === null || (timePath !== null && time === null)) {
    polled.failures++
    return
  }
  const at = performance.now()
  const age = time === null ? 0 : Math.max(0, Date.now() - time)
  Object.assign(polled, { price, at, age, movedAt: price === polled.price ? polled.movedAt : at })
}

function ask(source: Source): Polled {
  const stopped = new AbortController()
  let asking = false
  const timer = setInterval(() => {
    if (!asking) void once()
  }, source.everyMs).unref()
  const polled: Polled = {
    source, price: 0, at: 0, age: 0, movedAt: performance.now(), failures: 0,
    stop: () => {
      clearInterval(timer)
      stopped.abort()
    },
  }
  async function once(): Promise<void> {
    asking = true
    try {
      const signal = AbortSignal.any([stopped.signal, AbortSignal.timeout(ANSWER_MS)])
      const response = await fetch(source.url, { redirect: 'error', signal, headers: { Accept: 'application/json' } })
      if (response.status !== 200) throw new Error(`HTTP ${response.status}`)
      take(polled, await textOf(response))
    } catch {
      polled.failures++
    }
    asking = false
  }
  void once()
  return polled
}

/** The body, if it is not too long. */
async function textOf({ body }: Response): Promise<string> {
  if (body === null) return ''
  const reader = body.getReader()
  const parts: Uint8Array[] = []
  let bytes = 0
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    bytes += read.value.length
    if (bytes > BYTES_MAX) {
      await reader.cancel()
      throw new Error('the answer is too long')
    }
    parts.push(read.value)
  }
  return Buffer.concat(parts).toString('utf8')
}

function listen(source: Source): Polled {
  let socket: WebSocket | null = null
  let heard = 0
  const close = (): void => {
    socket?.close()
    socket = null
  }
  const open = (): void => {
    const opened = new WebSocket(source.url)
    socket = opened
    heard = performance.now()
    opened.addEventListener('open', () => {
      if (source.send !== null) opened.send(source.send)
    })
    opened.addEventListener('message', ({ data }) => {
      if (socket !== opened) return
      heard = performance.now()
      // Other messages than prices may come: an answer to the subscription, a heartbeat.
      const text = typeof data === 'string' && data.length <= BYTES_MAX ? data : ''
      if (priceAt(text, source.path) !== null) take(polled, text)
    })
    opened.addEventListener('error', () => {
      if (socket === opened) polled.failures++
    })
    opened.addEventListener('close', () => {
      if (socket === opened) socket = null
    })
  }
  const timer = setInterval(() => {
    if (socket !== null && performance.now() - heard > 3 * source.everyMs + ANSWER_MS) {
      polled.failures++
      close()
    }
    if (socket === null) open()
  }, source.everyMs).unref()
  const polled: Polled = {
    source, price: 0, at: 0, age: 0, movedAt: performance.now(), failures: 0,
    stop: () => {
      clearInterval(timer)
      close()
    },
  }
  open()
  return polled
}
