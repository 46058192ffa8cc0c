/** A harness with perpetuals whose index prices are set, and users with collateral, for tests of margin operations over the wire. */
import { CommandType } from '../../core/layout/command.ts'
import { PriceSource, SET_INDEX_PRICE_COMMAND } from '../../core/layout/margin.ts'
import { RESULT } from '../../core/layout/event.ts'
import type { Pair } from '../../core/state/genesis.ts'
import { call, startHarness, testGenesis, type Harness, type Historian, type Reply, type Session } from './gateway_harness.ts'

export interface User {
  readonly session: Session
  /** Id of the parent margin account. */
  readonly parent: string
  get(path: string): Promise<Reply>
  post(path: string, body?: object): Promise<Reply>
  delete(path: string): Promise<Reply>
  /** A margin order on the first perpetual, LIMIT with leverage 10 unless `over` says otherwise. */
  order(side: 'BUY' | 'SELL', quantity: string, price: string | null, over?: object): Promise<Reply>
}

export interface MarginStage {
  readonly harness: Harness
  /** BTC/USDC-PERP, and ETH/USDC-PERP. */
  readonly btc: Pair
  readonly eth: Pair
  /** Sets the index price, and with it the mark while there is no book; whole units of the quote. */
  price(pair: Pair, price: number): Promise<void>
  /** A user with 10,000 USDC, `collateral` of it deposited. */
  user(collateral?: string): Promise<User>
}

/** Sets the index price of a perpetual, in whole units of the quote, fresh from now on. */
export async function setIndexPrice({ operate }: Pick<Harness, 'operate'>, pair: Pair, units: number): Promise<void> {
  const ticks = Math.round(units / Number(pair.tickSize))
  const values = { session: -1, pair: pair.index, price: ticks, source: PriceSource.OPERATOR, force: 1, observedAt: Date.now() }
  const record = await operate(CommandType.SET_INDEX_PRICE, SET_INDEX_PRICE_COMMAND, values)
  if (record[RESULT.at.code] !== 0) throw new Error(`index price: ${record[RESULT.at.code]}`)
}

/** `edit` changes the genesis document. `timers`: time and prices act on orders. */
export async function marginStage(
  historian?: Historian, flags: readonly string[] = [], edit: (source: string) => string = (source) => source, timers = false,
): Promise<MarginStage> {
  const harness = await startHarness(flags, edit(testGenesis({}, true)), historian, undefined, timers)
  const named = (symbol: string): Pair => harness.genesis.pairs.find((pair) => pair.symbol === symbol)!
  const [btc, eth] = [named('BTC/USDC-PERP'), named('ETH/USDC-PERP')]
  const price = (pair: Pair, units: number): Promise<void> => setIndexPrice(harness, pair, units)
  await price(btc, 60_000)
  await price(eth, 3_000)
  const user = async (collateral = '5000'): Promise<User> => {
    const session = await harness.openSession()
    const get = (path: string): Promise<Reply> => call(harness, session, 'GET', `/api/v1${path}`)
    const post = (path: string, body: object = {}): Promise<Reply> => call(harness, session, 'POST', `/api/v1${path}`, body)
    const remove = (path: string): Promise<Reply> => call(harness, session, 'DELETE', `/api/v1${path}`)
    await post('/faucet/mint')
    const parent = (await get('/margin/accounts')).json.accounts[0].marginAccountId as string
    if (collateral !== '0') await post(`/margin/accounts/${parent}/collateral/transfer-in`, { amount: collateral })
    const order = (side: 'BUY' | 'SELL', quantity: string, limit: string | null, over: object = {}): Promise<Reply> =>
      post('/orders', {
        tradingPairId: btc.id, tradingMode: 'MARGIN', side, quantity, leverage: '10',
        ...(limit === null ? { orderType: 'MARKET' } : { orderType: 'LIMIT', price: limit }), ...over,
      })
    return { session, parent, get, post, delete: remove, order }
  }
  return { harness, btc, eth, price, user }
}
