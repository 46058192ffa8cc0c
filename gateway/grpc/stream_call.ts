/** One action of a StreamOrders stream as a call, and the messages of the stream. */
import type protobuf from 'protobufjs'
import { Refused } from '../refused.ts'
import { BUDGET_FIELDS, type Budget } from '../limits/budget.ts'
import type { Call } from '../operations/operation.ts'
import { countAborted, countAnswer } from './front.ts'
import type { Message } from './mapping.ts'
import type { Method } from './methods.ts'
import { messageOf } from './schema.ts'
import type { OrderStream } from './stream.ts'

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

export class StreamCall implements Call {
  account = -1
  application = 0
  session = -1
  generation = 0
  agent = -1
  budget: Budget | null = null
  requestId = ''
  kind: ActionKind | null = null
  readonly #stream: OrderStream
  #done = false

  constructor(stream: OrderStream) {
    this.#stream = stream
  }

  /** No operation of the stream asks for it. */
  ip(): string {
    return ''
  }

  answer(output: unknown): void {
    if (this.#done) return
    const { field, method } = this.kind!
    const answer: Message = { requestId: this.requestId }
    try {
      answer[field] = method === null ? output : method.write(output as object)
    } catch (error) {
      this.#stream.front.gateway.engine.onError(error)
      return this.refuse(new Refused('INTERNAL'))
    }
    if (this.budget !== null) answer['budget'] = budgetMessage(this.budget)
    this.#finish(null)
    this.#stream.push(answer)
  }

  refuse(refused: Refused): void {
    if (this.#done) return
    this.#finish(refused)
    this.#stream.push({ requestId: this.requestId, error: this.#stream.front.statuses.message(refused) })
  }

  /** Answered, refused or dropped. */
  get over(): boolean {
    return this.#done
  }

  /** The stream ends because of this action, or before it. */
  drop(refused: Refused): void {
    this.#done = true
    countAnswer(this.#stream.front, refused)
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
