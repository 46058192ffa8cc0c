/** One action of a StreamOrders stream as a call, and the messages of the stream. */
import type protobuf from 'protobufjs'
import { Refused } from '../refused.ts'
import { BUDGET_FIELDS, type Budget } from '../limits/budget.ts'
import type { JsonObject } from '../operations/operation.ts'
import type { ReadableCall } from '../operations/serve.ts'
import type { MessageCall } from '../stream/signed_stream.ts'
import { countAborted, countAnswer, type Front } from './front.ts'
import type { Message } from './mapping.ts'
import type { Method } from './methods.ts'
import { messageOf } from './schema.ts'

/** An action the stream knows: a field of the oneofs in StreamOrdersAction and StreamOrdersAnswer. */
export interface ActionKind {
  readonly field: string
  /** `null`: open_session, which is the stream's own. */
  readonly method: Method | null
}

export interface StreamTypes {
  readonly envelope: protobuf.Type
  readonly action: protobuf.Type
  readonly answer: protobuf.Type
  readonly kinds: ReadonlyMap<string, ActionKind>
}

/** What an action wants of its stream. */
export interface ActionStream {
  readonly front: Front
  readonly ended: boolean
  /** A StreamOrdersAnswer as bytes. */
  encode(answer: Message): Uint8Array
  /** Takes the answer of one action, which counts as under way until the client has taken it. */
  push(answer: Uint8Array): void
  /** An action is over without an answer. */
  dropped(): void
}

const OPEN_SESSION = 'openSession'

export function streamTypes(root: protobuf.Root, methods: readonly Method[]): StreamTypes {
  const action = messageOf(root, 'StreamOrdersAction')
  const kinds = new Map<string, ActionKind>()
  for (const field of action.oneofs['action']!.oneof) {
    const method = methods.find(({ name }) => name.toLowerCase() === field.toLowerCase()) ?? null
    if (method === null && field !== OPEN_SESSION) throw new Error(`StreamOrdersAction.${field} is no operation`)
    kinds.set(field, { field, method })
  }
  return { action, kinds, envelope: messageOf(root, 'StreamOrdersRequest'), answer: messageOf(root, 'StreamOrdersAnswer') }
}

export class StreamCall implements MessageCall, ReadableCall {
  account = -1
  application = 0
  session = -1
  generation = 0
  agent = -1
  budget: Budget | null = null
  /** The client's name for the action, which its answer repeats. */
  id = ''
  #kind: ActionKind | null = null
  #message: Message | null = null
  #unknown: string | null = null
  readonly #stream: ActionStream
  #done = false

  constructor(stream: ActionStream) {
    this.#stream = stream
  }

  /** For the log: the action's own, or one that is made when that is not fit for a log. */
  get requestId(): string {
    return this.#stream.front.gateway.requestIds.of(this.id)
  }

  /** What it asks for, of whom is known who sent it. `unknown`: where it has a field that nobody knows. */
  asks(kind: ActionKind, message: Message, unknown: string | null): void {
    this.#kind = kind
    this.#message = message
    this.#unknown = unknown
  }

  readInput(): JsonObject | Refused {
    return this.#kind!.method!.readInput(this.#message!, this.#unknown)
  }

  /** No operation of the stream asks for it. */
  ip(): string {
    return ''
  }

  answer(output: unknown): void {
    if (this.#done) return
    const { field, method } = this.#kind!
    const answer: Message = { requestId: this.id }
    answer[field] = method === null ? output : method.write(output as object)
    if (this.budget !== null) answer['budget'] = budgetMessage(this.budget)
    const bytes = this.#stream.encode(answer)
    this.#finish(null)
    this.#stream.push(bytes)
  }

  refuse(refused: Refused): void {
    if (this.#done) return
    const bytes = this.#stream.encode({ requestId: this.id, error: this.#stream.front.statuses.message(refused) })
    this.#finish(refused)
    this.#stream.push(bytes)
  }

  /** Answered, refused or dropped. */
  get over(): boolean {
    return this.#done
  }

  drop(refused: Refused): void {
    if (this.#done) return
    this.#done = true
    countAnswer(this.#stream.front, refused)
    this.#stream.dropped()
  }

  #finish(refused: Refused | null): void {
    this.#done = true
    if (this.#stream.ended) countAborted(this.#stream.front)
    else countAnswer(this.#stream.front, refused)
  }
}

/** A window that is not metered has -1 and is absent. */
function budgetMessage(budget: Budget): Message {
  const message: Message = {}
  for (const field of BUDGET_FIELDS) if (budget[field] >= 0) message[field] = budget[field]
  return message
}
