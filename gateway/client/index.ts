/**
 * The typed client of the REST interface, for browsers and Node. Operations and their types come from their
 * declarations, so that a new operation needs nothing here.
 *
 *   const client = createClient({ baseUrl: 'http://127.0.0.1:8080', wallet: { address, signMessage } })
 *   await client.signIn()
 *   const { orderId } = await client.CreateOrder({ tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '1', price: '100' })
 *
 * A call throws {@link RingbookError} when the service refused and {@link NetworkError} when there was no answer; `outcome` of both says
 * whether it was applied. Without a retry policy every call is sent once. With one, only calls that may be repeated
 * are: reads, cancels, challenge, refresh, and creations with an idempotency key. A cancel by client order id
 * (`client:...`) is repeated only when it is known that nothing was done: later another order may have that id.
 * (Specification, Errors, rules 6 and 7.)
 *
 * `client.subscribe` listens to a channel of `/ws` and `client.book` keeps a book; both survive lost connections (streams.ts, book.ts).
 */
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { OperationTypes } from '../operations/index.ts'
import { LocalBook, type BookHandlers } from './book.ts'
import { errorOf, keepOutcome, NetworkError, neverSent, RingbookError, UNEXPECTED_RESPONSE, type Outcome } from './errors.ts'
import { OPERATIONS, type CallData, type OperationName } from './operations.ts'
import { OrderEntry, ordersOf, type Orders } from './order_connection.ts'
import { wireRequest } from './request.ts'
import { createSigner, signMessage, signRequest, type Signer } from './signing.ts'
import type { ChannelName, ChannelParams, Handlers, Subscription } from './stream_types.ts'
import { Streams, urlOf, type Session, type StreamOptions } from './streams.ts'

export type { BookHandlers, BookLevel, LocalBook } from './book.ts'
export {
  NetworkError, outcomeOf, RingbookError, retryOf, StreamError, UNEXPECTED_RESPONSE, type Envelope, type Outcome, type RetryClass,
} from './errors.ts'
export type { SocketStatus, SocketType } from './reconnecting_socket.ts'
export type { OrderOperation, Orders } from './order_connection.ts'
export type {
  ChannelName, ChannelParams, Frame, Handlers, SnapshotFrame, Subscription, SubscriptionStatus, UpdateFrame,
} from './stream_types.ts'
export type { StreamOptions } from './streams.ts'
export {
  createSigner, signMessage, signRequest, type MessageSignatureHeaders, type SignatureHeaders, type Signer,
} from './signing.ts'
export {
  amountOf, expectedTrade, postedBatch, ProofError, verifyBalance, verifyPosted, verifyTrade, type BalanceLeaf, type InclusionProof,
  type PairSteps, type PostedBatch, type TradeLeaf, type TradeRecord, type VaultPlace,
} from './settlement_proof.ts'
export type { OperationName } from './operations.ts'
/** In the package: the records by name, `Order` for one. */
export type * from '../operations/index.ts'

export type Input<N extends OperationName> = OperationTypes[N]['input']
export type Output<N extends OperationName> = OperationTypes[N]['output']

/** A wallet: its address and EIP-191 `personal_sign`. */
export interface Wallet {
  readonly address: string
  signMessage(text: string): Promise<string> | string
}

export interface RetryPolicy {
  /** Tries in all, at least 1. */
  readonly attempts: number
  /** Longest pause before the second try in ms; doubles with each further one. Default 100. */
  readonly baseMs?: number
  /** Longest pause of all in ms; a longer Retry-After is not waited for. Default 5000. */
  readonly capMs?: number
}

export interface ClientOptions {
  /** Scheme, host and port; and a path, where a proxy in front of the service takes it off again. */
  readonly baseUrl: string
  readonly wallet?: Wallet
  /** Application; absent: the service's default one. */
  readonly clientId?: string
  /** Session key to use instead of a new one; with a session that is open already no sign-in is needed. */
  readonly signer?: Signer
  /** Secret key of an application's backend; for its operations, on servers only. */
  readonly serverKey?: string
  /** Headers that carry the signatures: X-Svc-* (`legacy`, the default) or those of RFC 9421. */
  readonly protocol?: 'legacy' | 'rfc9421'
  readonly fetch?: typeof globalThis.fetch
  /** Sent where the platform allows it, that is not in browsers, which have their own. */
  readonly userAgent?: string
  readonly retry?: RetryPolicy
  /** Longest time of one try in ms. Default 35,000: above the service's own deadline of 30 s. */
  readonly timeoutMs?: number
  /** Server clock minus this one in ms, if known; {@link ClientCore.syncClock} measures it. */
  readonly clockOffsetMs?: number
  readonly streams?: StreamOptions
}

export interface CallOptions {
  readonly signal?: AbortSignal
  /** Sent as X-Request-Id with every try: 1 to 64 letters, digits, dots, underscores and hyphens. The service's log has it. */
  readonly requestId?: string
}

type Arguments<N extends OperationName> = {} extends Input<N>
  ? [input?: Input<N>, options?: CallOptions]
  : [input: Input<N>, options?: CallOptions]

export interface ClientCore {
  call<N extends OperationName>(name: N, ...rest: Arguments<N>): Promise<Output<N>>
  /** Opens a session: challenge, wallet signature, verify. Calls use its key from then on. */
  signIn(options?: { readonly referralCode?: string }): Promise<Output<'Verify'>>
  /** Opens a session of the wallet as a delegated agent of the account of `ownerAddress`. Calls use its key from then on. */
  signInFor(ownerAddress: string): Promise<Output<'CreateDelegatedSession'>>
  /**
   * The wallet agrees to become a sub-account of the wallet `master`, which then controls its balances: what the master's session with the
   * public key `sessionPublicKey` needs for CreateSubAccount.
   */
  consentTo(master: string, sessionPublicKey: string): Promise<{ address: string; nonce: string; signature: string }>
  /** Measures the server's clock against this one; signed calls then carry the server's time. The offset in ms. */
  syncClock(): Promise<number>
  /** The key that signs, or `null` before a sign-in. */
  readonly signer: Signer | null
  /**
   * Listens to a channel: a snapshot, then its updates without gap or repetition, until it is closed. One socket serves all subscriptions;
   * when it is lost, they begin anew with a snapshot. Channels of the account want a sign-in.
   */
  subscribe<N extends ChannelName>(channel: N, params: ChannelParams<N>, handlers: Handlers<N>): Subscription
  /** Keeps a copy of a book, of which every change is verified. `magnitude` groups prices by that many ticks, a power of ten. */
  book(params: ChannelParams<'orderbook'>, handlers?: BookHandlers): LocalBook
  /** Orders over a socket, where the operator has switched that on: as over REST, signed once for all (order_entry.ts). */
  readonly orders: Orders
  /** Closes all subscriptions and their socket. */
  closeStreams(): void
}

export type Client = ClientCore & { readonly [N in OperationName]: (...rest: Arguments<N>) => Promise<Output<N>> }

/** Browsers and their workers set User-Agent themselves and forbid scripts to. */
const IN_BROWSER = 'document' in globalThis || 'importScripts' in globalThis

/** Longest time of one try, ms. */
const TIMEOUT_MS = 35_000

/** What the calls of one client share. */
interface Connection {
  readonly options: ClientOptions
  readonly fetch: typeof globalThis.fetch
  readonly policy: Required<RetryPolicy>
  signer: Signer | null
  /** Server clock minus this one, ms. */
  clockOffset: number
  /** A measurement of it that is under way. */
  measuring: Promise<number> | null
  /** Made with the first subscription; and with the first order over a socket. */
  streams: Streams | null
  orders: OrderEntry | null
}
type Fields = Readonly<Record<string, unknown>>

export function createClient(given: ClientOptions): Client {
  const options = { ...given, baseUrl: given.baseUrl.replace(/\/+$/, '') }
  const connection: Connection = {
    options,
    fetch: options.fetch ?? globalThis.fetch.bind(globalThis),
    policy: { attempts: 1, baseMs: 100, capMs: 5000, ...options.retry },
    signer: options.signer ?? null,
    clockOffset: options.clockOffsetMs ?? 0,
    measuring: null,
    streams: null,
    orders: null,
  }
  const { baseUrl, streams: streamOptions = {}, timeoutMs = TIMEOUT_MS } = options
  const session: Session = { signer: () => connection.signer, now: () => serverTime(connection) }
  const streams = (): Streams => (connection.streams ??= new Streams(urlOf(baseUrl), streamOptions, session))
  const orders = (): OrderEntry => (connection.orders ??= new OrderEntry(urlOf(baseUrl), streamOptions, session, timeoutMs))
  const core = {
    call: (name: OperationName, input?: Fields, rest?: CallOptions) => call(connection, name, input, rest),
    signIn: ({ referralCode }: { referralCode?: string } = {}) =>
      signIn(connection, 'Verify', (address) => ({ address, referralCode })),
    signInFor: (ownerAddress: string) =>
      signIn(connection, 'CreateDelegatedSession', (agentAddress) => ({ agentAddress, ownerAddress })),
    consentTo: (master: string, sessionPublicKey: string) => consentTo(connection, master, sessionPublicKey),
    syncClock: () => syncClock(connection),
    subscribe: <N extends ChannelName>(channel: N, params: ChannelParams<N>, handlers: Handlers<N>) =>
      streams().subscribe(channel, params, handlers),
    book: (params: ChannelParams<'orderbook'>, handlers: BookHandlers = {}) =>
      new LocalBook(params, handlers, (listening) => streams().subscribe('orderbook', params, listening)),
    orders: ordersOf(orders, () => connection.orders?.close()),
    closeStreams: () => connection.streams?.close(),
    get signer() {
      return connection.signer
    },
  }
  for (const name of Object.keys(OPERATIONS) as OperationName[]) {
    Object.defineProperty(core, name, { value: (input?: Fields, rest?: CallOptions) => core.call(name, input, rest) })
  }
  return core as unknown as Client
}

/** The server's clock, Unix ms. */
const serverTime = ({ clockOffset }: Connection): number => Math.round(Date.now() + clockOffset)

/** Challenge, wallet signature, and the operation that opens the session; `fields` are its own, given the wallet's address. */
async function signIn(
  connection: Connection, open: 'Verify' | 'CreateDelegatedSession', fields: (address: string) => Fields,
): Promise<unknown> {
  const { wallet, clientId, signer = createSigner() } = connection.options
  if (wallet === undefined) throw new Error('a client without a wallet cannot sign in')
  const { address } = wallet
  const key = { sessionPublicKey: signer.publicKey, clientId }
  const { nonce, message } = (await call(connection, 'Challenge', { ...key, address })) as Output<'Challenge'>
  const signature = await wallet.signMessage(message)
  const sessionSignature = bytesToHex(signer.sign(utf8ToBytes(message)))
  const session = await call(connection, open, { ...key, nonce, signature, sessionSignature, ...fields(address) })
  connection.signer = signer
  connection.streams?.signedIn()
  connection.orders?.signedIn()
  return session
}

async function consentTo(
  connection: Connection, subAccountOf: string, sessionPublicKey: string,
): Promise<{ address: string; nonce: string; signature: string }> {
  const { wallet, clientId } = connection.options
  if (wallet === undefined) throw new Error('a client without a wallet cannot agree')
  const { address } = wallet
  const asked = { address, sessionPublicKey, subAccountOf, clientId }
  const { nonce, message } = (await call(connection, 'Challenge', asked)) as Output<'Challenge'>
  return { address, nonce, signature: await wallet.signMessage(message) }
}

async function syncClock(connection: Connection): Promise<number> {
  const sent = Date.now()
  const { unixMs } = (await call(connection, 'GetServerTime')) as Output<'GetServerTime'>
  // The answer was written about half-way.
  connection.clockOffset = unixMs - (sent + Date.now()) / 2
  return connection.clockOffset
}

const isSkewed = (error: unknown): boolean => error instanceof RingbookError && error.code === 'CLOCK_SKEW'

/** Measures the clock for calls that were refused for their time, once for all of a moment: whether that went well. */
async function hasMeasured(connection: Connection): Promise<boolean> {
  connection.measuring ??= syncClock(connection).finally(() => (connection.measuring = null))
  return connection.measuring.then(() => true, () => false)
}

/** One call with its retries. */
async function call(connection: Connection, name: OperationName, input: Fields = {}, options: CallOptions = {}): Promise<unknown> {
  const { policy } = connection
  const { signal } = options
  const attempts = mayRepeat(name, input) ? policy.attempts : 1
  const byName = cancelsByName(name, input)
  let before: Outcome = 'not-applied'
  let mayMeasure = true
  for (let attempt = 1; ; attempt++) {
    try {
      return await once(connection, name, input, options)
    } catch (error) {
      if (mayMeasure && isSkewed(error) && (await hasMeasured(connection))) {
        // The try was refused for its time alone: it does not count.
        mayMeasure = false
        attempt--
        continue
      }
      const again = attempt < attempts && signal?.aborted !== true && !(byName && mayBeDone(error))
      const pause = again ? pauseBefore(error, attempt, policy) : null
      if (pause === null) throw keepOutcome(error, before)
      before = (keepOutcome(error, before) as NetworkError).outcome
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }
}

/** One try. Each is signed for itself, with the time it is sent at. */
async function once(connection: Connection, name: OperationName, input: Fields, { signal, requestId }: CallOptions): Promise<unknown> {
  const { options, signer } = connection
  const row: CallData = OPERATIONS[name]
  const { url, target, body } = wireRequest(options.baseUrl, row, input)
  const headers: Record<string, string> = {}
  if (body.length > 0) headers['Content-Type'] = 'application/json'
  if (!IN_BROWSER) headers['User-Agent'] = options.userAgent ?? 'ringbook-client/1.0'
  if (requestId !== undefined) headers['X-Request-Id'] = requestId
  if (row.access === 'session') {
    if (signer === null) throw new Error('sign in first')
    const signed = options.protocol === 'rfc9421' ? signMessage : signRequest
    Object.assign(headers, signed(signer, row.method, target, body, serverTime(connection)))
  }
  if (row.access === 'server-key') {
    if (options.serverKey === undefined) throw new Error('a client without a server key cannot call for an application')
    headers['x-server-key'] = options.serverKey
  }
  if (signal?.aborted === true) throw new NetworkError(`${name}: given up before it was sent`, signal.reason, 'not-applied')
  const timeout = AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS)
  return exchange(connection.fetch, url, isRead(name), {
    method: row.method,
    headers,
    ...(body.length > 0 ? { body } : {}),
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    // A redirect would carry the signature to a place it was not made for.
    redirect: 'error',
    credentials: 'omit',
    cache: 'no-store',
  })
}

/** Sends one request and reads its answer. `read`: it changes nothing, so nothing was applied however it fails. */
async function exchange(send: typeof globalThis.fetch, url: string, read: boolean, init: RequestInit): Promise<unknown> {
  let response: Response | null = null
  let text: string
  try {
    response = await send(url, init)
    text = await response.text()
  } catch (error) {
    const outcome = read || neverSent(error) ? 'not-applied' : response?.ok === true ? saidYes(response) : 'unknown'
    throw named(new NetworkError(`${init.method} ${url}: no answer`, error, outcome), response, init)
  }
  const { status, ok, headers } = response
  if (!ok) throw named(errorOf(status, text, headers.get('retry-after'), read ? 'not-applied' : undefined), response, init)
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    const unread = { error: UNEXPECTED_RESPONSE, message: 'the answer is not JSON', statusCode: status }
    throw named(new RingbookError(unread, read ? 'not-applied' : saidYes(response)), response, init)
  }
}

/** What a success says whose body cannot be read. The service says everything in JSON: another type is of something in between. */
const saidYes = ({ headers }: Response): Outcome =>
  /^application\/json\b/i.test(headers.get('content-type') ?? '') ? 'applied' : 'unknown'

/** The error with the name that the request has in the service's log, as far as it is known. */
function named<E extends NetworkError | RingbookError>(error: E, response: Response | null, { headers }: RequestInit): E {
  error.requestId = response?.headers.get('x-request-id') ?? (headers as Record<string, string>)['X-Request-Id']
  return error
}

/** Whether a call changes nothing. */
const isRead = (name: OperationName): boolean => OPERATIONS[name].method === 'GET' || name === 'SimulateFees'

/** Whether sending the same call twice has the effect of sending it once; but see {@link cancelsByName}. */
function mayRepeat(name: OperationName, input: Fields): boolean {
  const { repeat }: CallData = OPERATIONS[name]
  if (repeat !== 'with-key') return repeat !== 'never'
  const items = Array.isArray(input['orders']) ? (input['orders'] as Fields[]) : [input]
  return items.length > 0 && items.every((item) => typeof item['idempotencyKey'] === 'string' && item['idempotencyKey'] !== '')
}

/** Begins the name of an order by its client order id. */
const CLIENT_PREFIX = 'client:'

/** Whether a call cancels what rests under a client order id: an order that a second try finds may be a newer one. */
function cancelsByName(name: OperationName, { orderId, orderIds }: Fields): boolean {
  if (OPERATIONS[name].repeat !== 'by-id') return false
  const names: readonly unknown[] = Array.isArray(orderIds) ? orderIds : [orderId]
  return names.some((each) => String(each).startsWith(CLIENT_PREFIX))
}

const mayBeDone = (error: unknown): boolean =>
  !((error instanceof RingbookError || error instanceof NetworkError) && error.outcome === 'not-applied')

/** Ms to wait before trying again after `error`, or `null` when trying again is no use. */
function pauseBefore(error: unknown, attempt: number, policy: Required<RetryPolicy>): number | null {
  if (error instanceof RingbookError) {
    if (error.retry === 'no' || error.retry === 'reauthenticate') return null
    const wait = error.retryAfter === undefined ? undefined : error.retryAfter * 1000
    if (wait !== undefined) return wait <= policy.capMs ? wait : null
  } else if (!(error instanceof NetworkError)) {
    return null
  }
  return Math.random() * Math.min(policy.capMs, policy.baseMs * 2 ** (attempt - 1))
}
