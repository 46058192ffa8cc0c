/**
 * Messages that are signed one by one, or belong to a session that one of them opened: what order entry over a WebSocket
 * (ws/order_session.ts) and StreamOrders (grpc/stream.ts) have in common. A transport decodes messages and encodes answers.
 *
 *   signed        credentials of its own; a refused signature is the message's own answer
 *   an opening    a signed message; from then on messages without credentials are the session's. One signature opens one session, over all
 *                 threads and transports (auth/replay_guard.ts). A second opening replaces the first
 *   of a session  no credentials, and a counter above that of every message of the session before
 *
 * What breaks the rules of the session (none is open, a counter that did not grow) ends the connection, and nothing behind it is done. The
 * session is watched, and looked up for every message: when it is over nothing more is taken, and the connection ends behind the answers
 * of what the engine has been asked already, {@link ANSWERS_MS} later at most.
 *
 * Costs. A message whose sender is not known (a signature that is refused, an opening that is not signed or was used) draws from the budget
 * of messages of its connection, the same on every transport; who has used that up is ended. Its time is its client's. So many signatures
 * are looked at in a turn of the loop (signature_shares.ts), for each account and client. {@link IN_FLIGHT_MAX} messages are not answered.
 */
import { authenticate } from '../auth/authenticate.ts'
import { findSession, type FoundSession } from '../auth/session_cache.ts'
import type { Watched } from '../auth/session_watch.ts'
import { setCaller, type Caller, type SignedRequest } from '../auth/signed_request.ts'
import { GATEWAY } from '../../core/ring/counters.ts'
import { readAccount } from '../../core/view/accounts.ts'
import { mayCancelEverything } from '../../core/view/left_orders.ts'
import { RESULT } from '../../core/layout/event.ts'
import type { Ending } from '../bridge/cancel_at_end.ts'
import { encodeOpened } from '../bridge/encode.ts'
import { CREDIT, noRoom, WAY_OUT } from '../bridge/engine_client.ts'
import type { Gateway } from '../context.ts'
import { fullRefusal, pendingRequest, submit, type Call } from '../operations/operation.ts'
import { serveSigned } from '../operations/serve.ts'
import { Refused } from '../refused.ts'
import { hinted } from '../auth/signature_debug.ts'
import { stranger, type SignatureShares, type Signer } from './signature_shares.ts'

/** Messages of one connection that are not answered. */
export const IN_FLIGHT_MAX = 256
/** Ms in which an account may return after a start of the exchange, when its client does not say. */
export const RESTART_GRACE_MS = 5000
/** How long answers under way may hold up the end of a connection, ms. */
export const ANSWERS_MS = 1000
const UNKNOWN = -1

/** One message as a call. */
export interface MessageCall extends Call {
  /** Answered, refused or dropped. */
  readonly over: boolean
  /** It is not answered: the connection ends because of it, or before it. */
  drop(refused: Refused): void
}

/** A message, as far as it says whose it is. */
export interface SignedMessage {
  /** What it draws when nobody knows who sent it. */
  readonly bytes: number
  /** `null`: it has no credentials. */
  readonly signed: SignedRequest | null
  /** Counter of a message of the session; -1: it has none that is a whole number below 2^53. */
  readonly counter: number
  /** Whether it opens a session. */
  readonly opens: boolean
}

/** What the stream wants of its connection. */
export interface StreamConnection {
  /** Draws a message of nobody knows whom from the budget of messages; false: that is used up, and the connection has ended. */
  charge(bytes: number): boolean
  /** Ends the connection, because the message broke a rule of the session. */
  broken(why: string): void
  /** Ends the connection behind its answers, because the session is over. */
  sessionOver(): void
  /** Makes the connection one of this caller; `null`: it may not be, and has ended. */
  adopt(caller: Caller, publicKey: string): FoundSession | null
}

interface OpenSession extends Watched {
  readonly key: string
  /** Whose orders are cancelled when the connection ends; `null`: nobody's. */
  cancelsFor: Ending | null
  /** The engine was not yet heard of the wish; what becomes of it then. */
  wish: 'none' | 'asked' | 'ended' | 'kept'
  counter: number
}

/** The session of one connection, and its messages under way. */
export class SignedStream {
  readonly #gateway: Gateway
  readonly #connection: StreamConnection
  readonly #signatures: SignatureShares
  readonly #signer: Signer
  #session: OpenSession | null = null
  #open = 0
  /** What is done when the last answer was given. */
  #finish: (() => void) | null = null
  #timer: NodeJS.Timeout | null = null
  /** Whether the credentials of the message that is served are good so far. */
  #isGood = true

  /** `client`: where the connection comes from (limits/network.ts). */
  constructor(gateway: Gateway, connection: StreamConnection, signatures: SignatureShares, client: string) {
    this.#gateway = gateway
    this.#connection = connection
    this.#signatures = signatures
    this.#signer = stranger(client)
  }

  /** Messages that are not answered. */
  get open(): number {
    return this.#open
  }

  get hasSession(): boolean {
    return this.#session !== null
  }

  get isFull(): boolean {
    return this.#open >= IN_FLIGHT_MAX
  }

  /** Whether a signature would be refused in this turn; without a session every message is taken to be signed. */
  get isOverShare(): boolean {
    return this.#session === null && this.#signatures.isOver(this.#signer)
  }

  /** Whom nobody knows draws from the budget of messages, whatever the answer is. */
  get isUnknown(): boolean {
    return this.#session === null && this.#signer.account === UNKNOWN
  }

  /** Serves one message: it is under way, its time is its sender's, what it throws is its answer. */
  serve(call: MessageCall, act: () => void): void {
    this.#open++
    serveSigned(this.#gateway, call, () => {
      this.#isGood = true
      act()
      return this.#isGood ? null : this.#signer.client
    })
  }

  /** `count` messages are answered. */
  answered(count = 1): void {
    this.#open -= count
    if (this.#open === 0 && this.#finish !== null) this.#finishNow(this.#finish)
  }

  /**
   * Runs `finish` when the last answer was given, after `waitMs` at the latest. Of several the first counts, unless a later one is in more
   * of a hurry.
   */
  whenAnswered(finish: () => void, waitMs: number): void {
    if (this.#open === 0) return finish()
    if (this.#finish !== null && (this.#timer !== null || waitMs === Infinity)) return
    this.#finish = finish
    if (waitMs === Infinity) return
    // After a turn of the event loop, so that answers which are there are taken first, however late the timer is.
    this.#timer = setTimeout(() => setImmediate(() => this.#finishNow(finish)), waitMs)
  }

  #finishNow(finish: () => void): void {
    if (this.#finish === null) return
    this.#stopWaiting()
    this.#gateway.faults.guard(null, finish)
  }

  #stopWaiting(): void {
    this.#finish = null
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  /** The connection is gone. */
  release(): void {
    const session = this.#session
    this.#session = null
    if (session !== null) this.#gateway.watch.remove(session)
    if (session !== null) this.#giveUp(session, true)
    this.#stopWaiting()
  }

  /** Refuses a message of nobody knows whom. */
  refuseUnknown(refused: Refused, bytes: number, call: MessageCall): void {
    this.#isGood = false
    if (this.#connection.charge(bytes)) call.refuse(refused)
    else call.drop(refused)
  }

  /** Finds out whose message this is: `known`, or `over`: it has been answered or ended the connection; `share`: try in the next turn. */
  identify(message: SignedMessage, call: MessageCall): 'known' | 'over' | 'share' {
    const { signed, opens, bytes } = message
    if (signed === null) {
      if (opens) this.refuseUnknown(new Refused('UNAUTHENTICATED', 'A message that opens a session is signed'), bytes, call)
      else this.#continueSession(message, call)
      return call.over ? 'over' : 'known'
    }
    if (!this.#signatures.take(this.#signer)) return 'share'
    const { sessions, counters, now } = this.#gateway
    const refused = authenticate(sessions, signed, now(), counters, call)
    this.#signer.account = refused === null ? call.account : UNKNOWN
    if (refused === null) return 'known'
    this.refuseUnknown(hinted(this.#gateway.genesis, refused), bytes, call)
    return 'over'
  }

  #continueSession({ counter }: SignedMessage, call: MessageCall): void {
    const session = this.#session
    if (session === null) return this.#break('No session is open on this connection', call)
    const { sessions, time } = this.#gateway
    const found = findSession(sessions, session.key)
    if (typeof found === 'string' || found.view.generation !== session.generation || found.view.expiresAt <= time()) {
      call.drop(new Refused('SESSION_INVALID'))
      return this.#connection.sessionOver()
    }
    if (counter <= session.counter) return this.#break('The counter of the session did not grow', call)
    session.counter = counter
    setCaller(call, found.view)
  }

  #break(why: string, call: MessageCall): void {
    call.drop(new Refused('UNAUTHENTICATED'))
    this.#connection.broken(why)
  }

  /**
   * Opens a session with a message that {@link identify} knows; its messages have counters above `counter`. `graceMs`: when the connection
   * ends, everything of the account is cancelled (bridge/cancel_at_end.ts), after a crash of the exchange unless the account returns within
   * so many ms; -1: nothing is. Of several openings of one account the last one says it. The answer comes when the wish is in the journal.
   */
  openSession({ signed, bytes }: SignedMessage, counter: number, graceMs: number, call: MessageCall): void {
    const cancels = graceMs >= 0
    const { replayGuard, watch, now, counters, engine } = this.#gateway
    const full = cancels ? noRoom(engine, call.account, CREDIT, WAY_OUT) : null
    const refused = full !== null ? fullRefusal(full) : cancels ? this.#mayNotCancel(call) : null
    if (refused !== null) return call.refuse(refused)
    const { publicKey: key, timestamp, signature } = signed!
    const taken = replayGuard.take(signature, call.account, Number(timestamp), now())
    if (taken === 'full') {
      counters[GATEWAY.openings_full]!++
      return call.refuse(new Refused('OVERLOADED'))
    }
    const used = 'This signature has opened a session already, or may have'
    if (taken === 'used') return this.refuseUnknown(new Refused('UNAUTHENTICATED', used), bytes, call)
    const found = this.#connection.adopt(call, key)
    if (found === null) return call.drop(new Refused('UNAUTHENTICATED'))
    this.#replaceSession(call.account)
    const { account, application, session, generation, agent } = call
    const accountSequence = cancels ? readAccount(this.#gateway.state, account).createdSequence : 0
    const cancelsFor = cancels ? { account, application, session, generation, agent, accountSequence } : null
    const end = (): void => this.#connection.sessionOver()
    const opened: OpenSession = {
      key, session: call.session, generation: call.generation, counter, end, cancelsFor, wish: cancels ? 'asked' : 'none',
    }
    this.#session = opened
    watch.add(opened)
    const answer = { expiresAt: Math.floor(found.view.expiresAt / 1000) }
    if (cancels) this.#recordWish(opened, graceMs, call, answer)
    else call.answer(answer)
  }

  /** Has the engine record that this connection cancels at its end, and answers then. */
  #recordWish(opened: OpenSession, graceMs: number, call: MessageCall, answer: object): void {
    const known = (isRecorded: boolean): void => {
      const { wish, cancelsFor } = opened
      opened.wish = 'none'
      if (!isRecorded) opened.cancelsFor = null
      else if (wish === 'ended' || wish === 'kept') this.#gateway.cancelsAtEnd.post(cancelsFor!, wish === 'ended')
    }
    const pending = pendingRequest(call, () => {
      known(true)
      call.answer(answer)
    })
    submit(this.#gateway, call, {
      onResult: (records, base) => {
        if (records.i32[base + RESULT.at.code] !== 0) known(false)
        pending.onResult(records, base)
      },
      // Whether it is recorded is unknown, so it counts.
      onDeadline: () => {
        known(true)
        pending.onDeadline()
      },
    }, (at, correlation) => encodeOpened(this.#gateway.engine, at, correlation, call, graceMs), WAY_OUT)
  }

  /** The session before ends here; when it was another account's, what was promised for its end is done now. */
  #replaceSession(account: number): void {
    const session = this.#session
    if (session === null) return
    this.#gateway.watch.remove(session)
    this.#giveUp(session, session.cancelsFor?.account !== account)
  }

  /** The session's connection ends, or with `cancels` false stays and cancels at its end no more. */
  #giveUp(session: OpenSession, cancels: boolean): void {
    if (session.cancelsFor === null) return
    if (session.wish === 'asked') session.wish = cancels ? 'ended' : 'kept'
    else this.#gateway.cancelsAtEnd.post(session.cancelsFor, cancels)
  }

  /** Why a delegated agent may not have everything of its account cancelled; the engine says the same (core/orders/dead_man.ts). */
  #mayNotCancel({ agent }: MessageCall): Refused | null {
    const may = agent < 0 || mayCancelEverything(this.#gateway.state, agent)
    return may ? null : new Refused('AGENT_NOT_ALLOWED', 'cancelOnDisconnect cancels orders of every pair, which this agent may not')
  }
}
