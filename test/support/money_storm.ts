/**
 * Users who move money to the chain and back without a pause, and the ledger of somebody outside, who knows nothing but what each got from
 * the faucet: whatever happens, a wallet's tokens and what the exchange owes it are together what it was given.
 */
import type { Test } from 'tap'
import type { Hex } from 'viem'
import { createClient, type Client } from '../../gateway/client/index.ts'
import type { Exchange } from './exchange.ts'
import { calldataOf, deposit, hubOf, sendCall, tokensOf, transferTokens, until, type Hub } from './money.ts'
import { shippedGenesis } from './shipped_genesis.ts'
import { newTrader, type Trader } from './traders.ts'

/** Tokens that are moved: with as many decimals as atoms have, and with more. */
const SYMBOLS = ['USDC', 'ETH'] as const
/** Of a withdrawal, in the asset's own units; a user has hundreds of them. */
const AMOUNTS = { USDC: ['1', '2.5', '40', '0.1'], ETH: ['0.01', '0.0001', '0.1'] } as const
/** For how long an authorisation is good here: some are not submitted, and end in the storm. */
const LIFETIME_MS = 4000

export interface Token {
  readonly assetId: string
  readonly symbol: (typeof SYMBOLS)[number]
  readonly address: string
  /** Base units of the token for one atom. */
  readonly perAtom: bigint
}

export interface MoneyStorm {
  readonly traders: readonly Trader[]
  readonly tokens: readonly Token[]
  /** Base units that each user was given, by address and symbol. */
  readonly given: ReadonlyMap<string, bigint>
}

/** The shipped exchange with few rows, so that it starts soon. `lifetimeMs`: of authorisations. */
export function moneyGenesis(lifetimeMs = LIFETIME_MS): string {
  const document = shippedGenesis()
  Object.assign(document.limits, {
    orders: 4096, accounts: 512, sessions: 1024, receipts: 4096, receiptPages: 1, openOrdersPerAccount: 1000, spendLimits: 64, agents: 64,
    withdrawalLifetimeMs: lifetimeMs,
  })
  return JSON.stringify(document)
}

/** Sessions go on after a start, at another port. */
export const clientOf = ({ baseUrl }: Exchange, { signer }: Trader): Client => createClient({ baseUrl, signer, timeoutMs: 10_000 })

/** Wallets with what the faucet gives. */
export async function gatherMoney(exchange: Exchange, count: number): Promise<MoneyStorm> {
  const traders = await Promise.all(Array.from({ length: count }, () => newTrader(exchange.baseUrl)))
  const { chains } = await traders[0]!.client.ListSweeperChains()
  const { assets } = chains.find(({ isHub }) => isHub)!
  const given = new Map<string, bigint>()
  const tokens: Token[] = []
  for (const trader of traders) {
    for (const row of (await trader.client.ListBalances({ pageSize: 100 })).balances) {
      const symbol = SYMBOLS.find((each) => each === row.symbol)
      if (symbol === undefined) continue
      given.set(`${trader.address} ${symbol}`, BigInt(row.availableBalanceRaw))
      if (tokens.some((token) => token.symbol === symbol)) continue
      const { tokenAddress } = assets.find((each) => each.symbol === symbol)!
      const scale = { USDC: 6, ETH: 9 }[symbol]
      tokens.push({ assetId: row.assetId, symbol, address: tokenAddress, perAtom: 10n ** BigInt(row.decimals - scale) })
    }
  }
  return { traders, tokens, given }
}

/**
 * One move of one user, drawn by `random`: what it was. Throws what the exchange or the chain answers while it is killed, and waits for
 * neither when it `isOver`.
 */
async function moveMoney(
  exchange: Exchange, hub: Hub, storm: MoneyStorm, trader: Trader, random: () => number, isOver: () => boolean,
): Promise<string> {
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!
  const client = clientOf(exchange, trader)
  const token = pick(storm.tokens)
  const kind = random()
  if (kind < 0.6) {
    const { id } = await client.InitiateWithdrawal({ assetId: token.assetId, amount: pick(AMOUNTS[token.symbol]) })
    if (kind < 0.15) return 'withdrawal that nobody submits'
    const { to, data } = await calldataOf(client, id, isOver)
    await sendCall(hub, trader.account, to as Hex, data as Hex)
    return 'withdrawal'
  }
  const raw = await tokensOf(hub, token.address, trader.address)
  if (raw === 0n) return 'nothing to deposit'
  // A part of it; whole atoms, so that nothing is left over as a remainder.
  const part = ((raw / token.perAtom + 1n) / 2n) * token.perAtom
  if (kind < 0.85) await deposit(hub, trader, token.address, part)
  else {
    const { depositAddress } = await client.GetProfile()
    await transferTokens(hub, trader.account, token.address, depositAddress!, part)
  }
  return 'deposit'
}

/** Who hears what becomes of the moves of a storm. */
export interface StormListener {
  moved(what: string): void
  /** Refused, or cut off: the ledger finds out whether that lost anything. */
  refused(reason: string): void
}

/** Counts moves by what they were, and prints why one was refused. */
export const stormListener = (t: Pick<Test, 'comment'>, moved: Map<string, number>): StormListener => ({
  moved: (what) => void moved.set(what, (moved.get(what) ?? 0) + 1),
  refused: (reason) => t.comment(`refused: ${reason}`),
})

/** Everybody moves money until so many moves are done; then the exchange is killed, whatever is under way. */
export async function killWhileMoving(
  exchange: Exchange, hub: Hub, storm: MoneyStorm, moves: number, random: () => number, listener: StormListener,
): Promise<void> {
  let left = moves
  const killed = Promise.withResolvers<void>()
  let isOver = false
  const kill = (): void => {
    if (!isOver) exchange.kill().then(killed.resolve, killed.reject)
    isOver = true
  }
  const all = storm.traders.map(async (trader) => {
    for (let move = 0; move < moves && !isOver; move++) {
      try {
        listener.moved(await moveMoney(exchange, hub, storm, trader, random, () => isOver))
      } catch (error) {
        if (!isOver) listener.refused((error as Error).message.split('\n')[0]!)
      }
      if (--left <= 0) kill()
    }
  })
  void Promise.all(all).then(kill)
  // What still waits for the one that is gone ends by itself.
  await killed.promise
}

/** What somebody outside finds of one user and token: on the chain and owed by the exchange, base units. */
async function found(
  hub: Hub, client: Client, trader: Trader, token: Token,
): Promise<{ chain: bigint; owed: bigint; address: bigint }> {
  const balance = await client.GetBalance({ assetId: token.assetId })
  const { depositAddress } = await client.GetProfile()
  const [chain, address] = await Promise.all([tokensOf(hub, token.address, trader.address), tokensOf(hub, token.address, depositAddress!)])
  return { chain, address, owed: BigInt(balance.availableBalanceRaw) + BigInt(balance.lockedBalanceRaw) }
}

/**
 * Waits until nothing is under way, and then says of every user and token by how much what he has is more than what he was given (0n: it
 * is right), by name. What lies on a deposit address below the least sweep is his too.
 */
export async function settleMoney(exchange: Exchange, storm: MoneyStorm): Promise<Map<string, bigint>> {
  const differences = new Map<string, bigint>()
  const hub = await hubOf(exchange, clientOf(exchange, storm.traders[0]!))
  for (const trader of storm.traders) {
    const client = clientOf(exchange, trader)
    await until(`the end of every withdrawal of ${trader.address}`, async () =>
      (await client.ListPendingWithdrawals()).withdrawals.length === 0, 120_000)
    for (const token of storm.tokens) {
      const name = `${trader.address} ${token.symbol}`
      const given = storm.given.get(name)!
      let difference = 0n
      const isThere = async (): Promise<boolean> => {
        const { chain, owed, address } = await found(hub, client, trader, token)
        difference = chain + owed + address - given
        return difference >= 0n
      }
      // A deposit that is not credited yet is less than what he was given; more is never right.
      await until(`every deposit of ${name}`, isThere, 60_000).catch(() => undefined)
      differences.set(name, difference)
    }
  }
  return differences
}
