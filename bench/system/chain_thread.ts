/**
 * The users of chain.ts who withdraw what the faucet gave them and deposit it again. A thread of its own, below everything else: their
 * wallets, which sign in JavaScript, are not on the machine of an exchange, and must not hold up the clock of the orders.
 *
 * It does what it is told, one after the other, and answers each: `paces`; `stroll`, so many moves a second, or `run`, each as soon as the
 * one before is done, until told to `rest`.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { workWhenIdle } from '../../gateway/background.ts'
import type { Exchange } from '../../test/support/exchange.ts'
import { deposit, hubOf, tokensOf, transferTokens, until, withdraw, withdrawalIs, type Hub } from '../../test/support/money.ts'
import { newTrader, type Trader } from '../../test/support/traders.ts'

export interface MoversWork {
  readonly exchange: Pick<Exchange, 'baseUrl' | 'chainPort'>
  readonly movers: number
  /** Withdrawals and deposits of each, and plain transfers, whose pace is measured. */
  readonly cycles: number
  readonly transfers: number
  /** Withdrawals and deposits a second of all of them, when they stroll. */
  readonly perSecond: number
}

export type Order = 'paces' | 'stroll' | 'run' | 'rest'

/** A second; and what was moved until `rest`. */
export interface Paces {
  readonly withdrawals: number
  readonly deposits: number
  readonly transfers: number
}
export interface Moved {
  readonly moves: number
}

const AMOUNT = '2'
const SYMBOL = 'USDC'

interface Money {
  readonly hub: Hub
  readonly movers: readonly Trader[]
  readonly assetId: string
  readonly token: string
  /** Base units of {@link AMOUNT}. */
  readonly raw: bigint
}

async function gather({ exchange, movers: count }: MoversWork): Promise<Money> {
  const movers = await Promise.all(Array.from({ length: count }, () => newTrader(exchange.baseUrl)))
  const { client } = movers[0]!
  const hub = await hubOf(exchange, client)
  const { balances } = await client.ListBalances({ pageSize: 100 })
  const { assetId, decimals } = balances.find(({ symbol }) => symbol === SYMBOL)!
  const { assets } = (await client.ListSweeperChains()).chains.find(({ isHub }) => isHub)!
  const { tokenAddress } = assets.find(({ symbol }) => symbol === SYMBOL)!
  return { hub, movers, assetId, token: tokenAddress, raw: BigInt(AMOUNT) * 10n ** BigInt(decimals) }
}

const available = async ({ client }: Trader, assetId: string): Promise<bigint> =>
  BigInt((await client.GetBalance({ assetId })).availableBalanceRaw)

/** One withdrawal of a user, to its confirmation. */
async function out({ hub, assetId }: Money, mover: Trader): Promise<void> {
  const id = await withdraw(hub, mover, assetId, AMOUNT)
  await withdrawalIs(mover.client, id, 'CONFIRMED')
}

/** One deposit, until it is credited. */
async function back({ hub, assetId, token, raw }: Money, mover: Trader): Promise<void> {
  const before = await available(mover, assetId)
  await deposit(hub, mover, token, raw)
  await until('the deposit', async () => (await available(mover, assetId)) >= before + raw)
}

/** How many a second, when every user does it `times` times. */
async function pace(movers: readonly Trader[], times: number, one: (mover: Trader) => Promise<void>): Promise<number> {
  const started = performance.now()
  await Promise.all(movers.map(async (mover) => {
    for (let time = 0; time < times; time++) await one(mover)
  }))
  return (movers.length * times * 1000) / (performance.now() - started)
}

async function paces(money: Money, { cycles, transfers }: MoversWork): Promise<Paces> {
  const { hub, movers, token, raw } = money
  const withdrawals = await pace(movers, cycles, (mover) => out(money, mover))
  const plain = await pace(movers.slice(0, 1), transfers, async ({ account }) => {
    await transferTokens(hub, account, token, account.address, raw)
  })
  const deposits = await pace(movers, cycles, (mover) => back(money, mover))
  const left = await Promise.all(movers.map(({ address }) => tokensOf(hub, token, address)))
  if (left.some((tokens) => tokens !== 0n)) throw new Error('tokens were left on the chain')
  return { withdrawals, deposits, transfers: plain }
}

async function main(work: MoversWork): Promise<void> {
  workWhenIdle()
  const money = await gather(work)
  let moving = false
  let moves = 0
  let resting: Promise<unknown> = Promise.resolve()
  const carry = async (mover: Trader, place: number, everyMs: number): Promise<void> => {
    // Not all of them at once.
    let due = performance.now() + (everyMs * place) / money.movers.length
    while (moving) {
      // Short, so that nobody waits long for the end of a turn.
      await sleep(Math.max(0, Math.min(due - performance.now(), 20)))
      if (performance.now() < due) continue
      due += everyMs
      const isOut = hasTokens.has(mover)
      await (isOut ? back(money, mover) : out(money, mover))
      if (isOut) hasTokens.delete(mover)
      else hasTokens.add(mover)
      moves++
    }
  }
  const hasTokens = new Set<Trader>()
  const obey = async (order: Order): Promise<Paces | Moved> => {
    if (order === 'paces') return paces(money, work)
    moving = order !== 'rest'
    if (moving) {
      moves = 0
      const everyMs = order === 'run' ? 0 : (1000 * work.movers) / work.perSecond
      resting = Promise.all(money.movers.map((mover, place) => carry(mover, place, everyMs)))
    } else await resting
    return { moves }
  }
  parentPort!.on('message', (order: Order) => {
    // What fails here fails the bench: an error that nobody catches is the thread's `error` event.
    void obey(order).then((answer) => parentPort!.postMessage(answer))
  })
  parentPort!.postMessage('gathered')
}

await main(workerData as MoversWork)
