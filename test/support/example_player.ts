/**
 * Plays a worked example against a running exchange over REST, on pairs and with wallets of its own, and says what
 * happened in the form in which the example says what should. Of what is expected it uses only which fields to say.
 */
import { TABLE, type OperationName } from '../../gateway/operations/index.ts'
import { consentOf } from './consent.ts'
import {
  assetId, balanceOf, levelsOf, orderText, present, refusalOf, resultOf, totalsOf, tradeText, without, type Ground,
} from './example_ground.ts'
import { operate, type Exchange } from './exchange.ts'
import { signed, type Session } from './gateway_harness.ts'
import { newWallet, restRequest, signIn, type Json, type Transport, type Wallet } from './transports.ts'
import type { Example } from './worked_examples.ts'

interface Reply {
  readonly http: number
  readonly json: Json
}

/** Every order is answered with its fills, which must add up. */
const FILLS = { returnFills: true }
const LOOKS = 500
const LOOK_MS = 20

/** Kinds of steps by the field that makes them one. */
const KINDS = [
  'create', 'replace', 'cancel', 'cancelId', 'cancelAll', 'batch', 'batchReplace', 'batchCancel', 'batchOf', 'simulate',
  'book', 'look', 'has', 'expires', 'operator', 'makes', 'limits',
] as const

export class Player {
  private readonly exchange: Exchange
  private readonly example: Example
  private readonly ground: Ground
  private readonly wallets = new Map<string, Wallet & { userId: string }>()
  /** Orders by the names that the example gives them. */
  private readonly orders = new Map<string, { id: string; who: string }>()

  constructor(exchange: Exchange, example: Example, ground: Ground) {
    this.exchange = exchange
    this.example = example
    this.ground = ground
  }

  /** The steps with what was answered in the place of what should be. How it ends is asked for later, by {@link end}. */
  async play(): Promise<Json[]> {
    const made = new Set(this.example.steps.map(({ makes }) => makes))
    for (const who of Object.keys(this.example.wallets)) if (!made.has(who)) await this.enter(who)
    const observed: Json[] = []
    for (const step of this.example.steps) observed.push(await this.step(step))
    return observed
  }

  private async enter(who: string, wallet = newWallet()): Promise<void> {
    const { user } = await signIn(this.transport, wallet)
    this.wallets.set(who, { ...wallet, userId: user.id })
    for (let mint = 0; mint < this.example.wallets[who]!; mint++) await this.done(who, 'Mint', {})
  }

  /** Waits for as long as an answer takes: on a busy machine a sign-in takes seconds. */
  private async send(session: Session | null, name: OperationName, input: Json): Promise<Reply> {
    const { method, target, body } = restRequest(TABLE[name], input)
    const proof = session === null ? {} : signed(session, method, target, body)
    const headers = { 'User-Agent': 'examples', 'Content-Type': 'application/json', ...proof }
    const sent = body === '' ? { method, headers } : { method, headers, body }
    const response = await fetch(`${this.exchange.baseUrl}${target}`, sent)
    return { http: response.status, json: (await response.json()) as Json }
  }

  private readonly transport: Transport = async (name, input, session) => {
    const { http, json } = await this.send(session, name, input)
    if (http !== 200) throw new Error(`${this.example.name}: ${name}: ${http} ${JSON.stringify(json)}`)
    return json
  }

  private call(who: string | undefined, name: OperationName, input: Json): Promise<Reply> {
    return this.send(who === undefined ? null : this.wallets.get(who)!.session, name, input)
  }

  /** A call that no example doubts. */
  private done(who: string | undefined, name: OperationName, input: Json): Promise<Json> {
    return this.transport(name, input, who === undefined ? null : this.wallets.get(who)!.session)
  }

  private step(step: Json): Promise<Json> | Json {
    return this.plays[KINDS.find((kind) => kind in step)!](step)
  }

  private readonly plays: Record<(typeof KINDS)[number], (step: Json) => Promise<Json>> = {
    create: async (step) => {
      const input = this.terms(step['create'])
      return this.answered(step, await this.call(step['who'], 'CreateOrder', { ...input, ...FILLS }))
    },
    replace: async (step) => {
      const input = { orderId: this.idOf(step['replace']), ...step['with'], ...FILLS }
      return this.answered(step, await this.call(step['who'], 'ReplaceOrder', input))
    },
    cancel: (step) => this.cancelled(step, this.idOf(step['cancel'])),
    cancelId: (step) => this.cancelled(step, step['cancelId']),
    cancelAll: (step) => this.swept(step),
    batch: async (step) => {
      const orders = step['batch'].map((terms: Json) => ({ ...this.terms(terms), ...FILLS }))
      return this.itemised(step, await this.done(step['who'], 'BatchCreateOrders', { orders }), 'orderId')
    },
    batchReplace: async (step) => {
      const changes = step['batchReplace'] as Json[]
      const orders = changes.map(({ order, ...change }) => ({ orderId: this.idOf(order), ...change, ...FILLS }))
      const json = await this.done(step['who'], 'BatchReplaceOrders', { orders })
      const originals = json['results'].map(({ originalOrderId }: Json) => originalOrderId)
      const same = orders.every(({ orderId }, index) => orderId === originals[index])
      return same ? this.itemised(step, json, 'newOrderId') : { ...step, answers: 'of others' }
    },
    batchCancel: async (step) => {
      const orderIds = step['batchCancel'].map((label: string) => this.idOf(label))
      const json = await this.done(step['who'], 'BatchCancelOrders', { orderIds })
      const same = json['results'].every(({ orderId }: Json, index: number) => orderId === orderIds[index])
      const errors = same ? json['results'].map(({ error }: Json) => error?.code ?? null) : 'of others'
      return { ...step, errors, totals: totalsOf(json) }
    },
    batchOf: async (step) => {
      const orders = Array.from({ length: step['batchOf'] }, () => this.terms(step['item']))
      const { http, json } = await this.call(step['who'], 'BatchCreateOrders', { orders })
      const rest = without(step, ['totals', 'refused'])
      return http === 200 ? { ...rest, totals: totalsOf(json) } : { ...rest, ...refusalOf(step, http, json) }
    },
    simulate: async (step) => {
      const json = await this.done(step['who'], 'SimulateFees', this.terms(step['simulate']))
      return { ...step, answers: present(json) }
    },
    book: async (step) => {
      const json = await this.done(undefined, 'GetOrderbook', { tradingPairId: this.ground.pairId, ...step['book'] })
      const { bestBid, bestAsk, checksum } = json
      const answers = present({ ...levelsOf(json), bestBid, bestAsk, checksum })
      return { ...step, answers: without(answers, step['open'] ?? []) }
    },
    look: async (step) => ({ ...step, shows: await this.record(step['who'], step['look'], step['shows']) }),
    has: async (step) => ({ ...step, has: await this.balances(step['who'], Object.keys(step['has'])) }),
    expires: (step) => this.expired(step),
    operator: (step) => this.operated(step),
    makes: async (step) => {
      const wallet = newWallet()
      const { session } = this.wallets.get(step['who'])!
      const consent = await consentOf(this.transport, wallet.wallet, session)
      await this.done(step['who'], 'CreateSubAccount', consent)
      await this.enter(step['makes'], wallet)
      return step
    },
    limits: async (step) => {
      const { who, limits, asset, ...bounds } = step
      const subAccountId = this.wallets.get(limits)!.userId
      await this.done(who, 'CreateSubAccountLimit', { subAccountId, assetId: assetId(asset), ...bounds })
      return step
    },
  }

  private idOf(label: string): string {
    return this.orders.get(label)?.id ?? 'never placed'
  }

  /** An order of the example as a request has it. */
  private terms({ on, expiresInMs, ...fields }: Json): Json {
    const tradingPairId = on === 'other' ? this.ground.otherId : this.ground.pairId
    const expiry = expiresInMs === undefined ? {} : { expirationDate: new Date(Date.now() + expiresInMs).toISOString() }
    return { tradingPairId, ...fields, ...expiry }
  }

  /** The step with the match result or the refusal that came. */
  private answered(step: Json, { http, json }: Reply): Json {
    const rest = without(step, ['result', 'refused'])
    if (http !== 200) return { ...rest, ...refusalOf(step, http, json) }
    const result = without(resultOf(json['matchResult']), step['open'] ?? [])
    const success = json['status'] === 'SUCCESS' ? {} : { success: json['status'] }
    return { ...rest, ...this.noted(step, step['who'], json['orderId']), result, ...success }
  }

  /** Notes the order under the step's name, or says whether it is the one known by it. */
  private noted({ as, same }: Json, who: string, id: string): Json {
    if (same !== undefined) return { same: this.idOf(same) === id ? same : `another order than ${same}` }
    const known = [...this.orders].find(([, order]) => order.id === id)
    if (as === undefined || known !== undefined) return { as: `the order ${known?.[0] ?? id}` }
    this.orders.set(as, { id, who })
    return { as }
  }

  private itemised(step: Json, json: Json, id: string): Json {
    const answers = json['results'].map((result: Json, index: number) => {
      if (result['error'] != null) return { code: result['error'].code }
      return { ...this.noted(step['answers'][index], step['who'], result[id]), result: resultOf(result['matchResult']) }
    })
    return { ...step, answers, totals: totalsOf(json) }
  }

  private async cancelled(step: Json, orderId: string): Promise<Json> {
    const { http, json } = await this.call(step['who'], 'CancelOrder', { orderId })
    const rest = without(step, ['refused'])
    return http === 200 ? rest : { ...rest, ...refusalOf(step, http, json) }
  }

  private async swept(step: Json): Promise<Json> {
    const here = step['cancelAll'] === 'here'
    const input = here ? { tradingPairId: this.ground.pairId } : {}
    const json = await this.done(step['who'], here ? 'BatchCancelOrdersByPair' : 'BatchCancelAllOrders', input)
    const nameOf = (id: string): string => [...this.orders].find(([, order]) => order.id === id)?.[0] ?? 'a stranger'
    const ended = json['orderIds'].map(nameOf).sort()
    const { totalCancelled } = json
    return { ...step, ended: totalCancelled === ended.length ? ended : `${totalCancelled}, not ${ended.length}` }
  }

  private async operated(step: Json): Promise<Json> {
    const { operator, who, to } = step
    const calls: Record<string, () => ReturnType<typeof operate>> = {
      tier: () => operate(this.exchange, '/fee-tier', { userId: this.wallets.get(who)!.userId, tier: to }),
      pair: () => operate(this.exchange, '/pairs', { pair: this.ground.symbol, status: to }),
      maintenance: () => operate(this.exchange, '/maintenance', { on: to === 'on' }),
    }
    const { status, json } = await calls[operator]!()
    if (status !== 200) throw new Error(`${this.example.name}: operator: ${JSON.stringify(json)}`)
    return step
  }

  private async expired(step: Json): Promise<Json> {
    const { id, who } = this.orders.get(step['expires'])!
    for (let look = 0; look < LOOKS; look++) {
      const { http, json } = await this.call(who, 'GetOrder', { orderId: id })
      if (http === 200 && orderText(json, {})['status'] === 'EXPIRED') return step
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
    return { ...step, expires: 'never' }
  }

  /** How it all stands at the end, as the example says it. */
  async end(): Promise<Json> {
    const [orders, trades, balances]: [Json, Json, Json] = [{}, {}, {}]
    for (const [label, expected] of Object.entries(this.example.orders)) {
      orders[label] = await this.record(this.orders.get(label)?.who, label, expected)
    }
    for (const who of Object.keys(this.example.wallets)) {
      const { trades: list } = await this.done(who, 'ListAccountTrades', { pageSize: 100 })
      if (list.length > 0) trades[who] = list.reverse().map(tradeText)
      balances[who] = await this.balances(who, Object.keys(this.example.balances[who] ?? {}))
    }
    const { pairId, otherId } = this.ground
    const other = otherId === undefined ? {} : { otherBook: await this.book(otherId) }
    return { orders, trades, book: await this.book(pairId), ...other, balances }
  }

  private async record(who: string | undefined, label: string, expected: Json): Promise<Json> {
    if (who === undefined) return { missing: label }
    const { http, json } = await this.call(who, 'GetOrder', { orderId: this.idOf(label) })
    return http === 200 ? orderText(json, expected) : { missing: json['code'] }
  }

  private async book(tradingPairId: string): Promise<Json> {
    return levelsOf(await this.done(undefined, 'GetOrderbook', { tradingPairId }))
  }

  private async balances(who: string, symbols: readonly string[]): Promise<Json> {
    const held: Json = {}
    for (const symbol of symbols) {
      held[symbol] = balanceOf(await this.done(who, 'GetBalance', { assetId: assetId(symbol) }))
    }
    return held
  }
}
