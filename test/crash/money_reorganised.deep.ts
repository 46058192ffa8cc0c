/**
 * Promise: on an outside chain that reorganises all the time, behind fewer blocks than are waited for, money is where it belongs all the
 * same: of every withdrawal exactly one is true, that it was paid or that its funds came back, and every deposit is credited once, also
 * when the exchange is killed (-9) meanwhile.
 *
 * The chain is another process's, over JSON-RPC alone. It takes its newest blocks back, again and again: some of their transactions come
 * again in another order, some never, those of the exchange's own key among them. The outside ledger is that of money_kills.deep.ts.
 */
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { parseTransaction, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { createPrng } from '../../core/lib/prng.ts'
import { verify } from '../../core/replay/verify.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { startDevnet, type DevnetNode } from '../support/devnet_node.ts'
import { askOperator, removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../support/exchange.ts'
import { hubOf, until, withdraw } from '../support/money.ts'
import { clientOf, gatherMoney, killWhileMoving, moneyGenesis, settleMoney, stormListener } from '../support/money_storm.ts'
import { setUpOutsideVault } from '../support/outside_vault.ts'
import { eachRound, seedOf } from '../suite/rounds.ts'

const [USERS, MOVES] = [4, 12]
const CONFIRMATIONS = 6
/** The chain makes a block so often, and goes back after so long at most, ms. */
const [BLOCK_MS, BACK_MS] = [200, 1_500]
/** A user waits so long for a block, ms: his transaction may have been lost. */
const PATIENCE_MS = 3_000
/** Part of the transactions of a block that was taken back which never come again. */
const LOST = 0.3
const seed = seedOf()
t.setTimeout(0)
t.comment(`seed ${seed}: SEED=${seed} npm run test:deep -- test/crash/money_reorganised.deep.ts`)

const miner = privateKeyToAccount(generatePrivateKey())
/** Of users and the exchange, not of who makes blocks. */
const isMoney = (raw: Uint8Array): boolean => parseTransaction(toHex(raw)).to?.toLowerCase() !== miner.address.toLowerCase()

/** Makes blocks until it is stopped, and takes them back from when it is told to. */
class Reorganising {
  readonly #chain: DevnetNode
  readonly #random: ReturnType<typeof createPrng>
  readonly #work: Promise<unknown>
  #isOver = false
  #takesBack = false
  /** The highest block that there ever was: between two times that it goes back it only grows. */
  #highest = 0
  /** How often blocks were taken back, and how many transactions of them came again and never came again. */
  readonly seen = { times: 0, again: 0, lost: 0 }

  constructor(chain: DevnetNode, seed: number) {
    this.#chain = chain
    this.#random = createPrng(seed)
    this.#work = Promise.all([this.#mine(), this.#goBack()])
  }

  begin(): void {
    this.#takesBack = true
  }

  /** It only grows, from now on. */
  calm(): void {
    this.#takesBack = false
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#work
  }

  async #mine(): Promise<void> {
    while (!this.#isOver) {
      this.#chain.time = Math.floor(Date.now() / 1000)
      await this.#chain.mine(miner)
      await pause(BLOCK_MS)
    }
  }

  /** How far it goes back from here: whoever waited for all confirmations of a block, ever, does not see it go. */
  #depth(head: number): number {
    this.#highest = Math.max(this.#highest, head)
    const most = head - (this.#highest - (CONFIRMATIONS - 1))
    return most <= 0 ? 0 : 1 + this.#random.below(most)
  }

  async #goBack(): Promise<void> {
    while (!this.#isOver) {
      await pause(this.#random.below(BACK_MS))
      if (!this.#takesBack) continue
      let taken: readonly Uint8Array[] = []
      const again = await this.#chain.reorganise((head) => this.#depth(head), (transactions) => {
        taken = transactions.filter(isMoney)
        const some = taken.filter(() => this.#random.unit() >= LOST)
        return some.map((raw) => [this.#random.unit(), raw] as const).sort(([a], [b]) => a - b).map(([, raw]) => raw)
      })
      this.seen.times++
      this.seen.again += again
      this.seen.lost += taken.length - again
    }
  }
}

t.test('kill -9 and reorganisations while money moves', async (t) => {
  const random = createPrng(seed).unit
  const genesisText = moneyGenesis()
  const genesis = parseGenesis(genesisText)
  const chain = await startDevnet(t, genesis)
  const directory = temporaryDirectory()
  const { vault, factory, keyFile, genesisFile } = await setUpOutsideVault(chain, genesis, genesisText)
  // Whoever sets up contracts waits for their blocks to count, before he lets anybody in.
  for (let block = 1; block < CONFIRMATIONS; block++) await chain.mine(miner)

  let running: Exchange | null = null
  t.teardown(async () => {
    await running?.kill()
    removeDirectory(directory)
  })
  const flags = [
    '--genesis', genesisFile, '--snapshot-every', '25', '--grpc-thread', '0', '--vault', '1', '--settlement-seconds', '1',
    '--price-feed', '0', '--chain-rpc-url', chain.url, '--vault-address', vault, '--factory-address', factory, '--vault-key-file', keyFile,
    '--chain-confirmations', String(CONFIRMATIONS), '--chain-poll-ms', '100',
  ]
  // Users ask the same node.
  const chainPort = Number(new URL(chain.url).port)
  const start = async (): Promise<Exchange> => (running = { ...(await startExchange(directory, flags)), chainPort })
  let exchange = await start()
  const reorganising = new Reorganising(chain, seed)
  t.teardown(() => reorganising.stop())
  const storm = await gatherMoney(exchange, USERS)
  // Everybody has something to deposit. An authorisation may end before it is submitted.
  const hub = await hubOf(exchange, clientOf(exchange, storm.traders[0]!))
  const { assetId } = storm.tokens[0]!
  await Promise.all(storm.traders.map((trader) => until('tokens', () => withdraw(hub, trader, assetId, '1'), 240_000)))
  reorganising.begin()
  const moved = new Map<string, number>()
  const listener = stormListener(t, moved)
  const strike = async (): Promise<void> => {
    const now = await hubOf(exchange, clientOf(exchange, storm.traders[0]!), PATIENCE_MS)
    await killWhileMoving(exchange, now, storm, 1 + Math.floor(random() * MOVES), random, listener)
    exchange = await start()
  }
  for (const _ of eachRound(t, { short: 2, deep: 60 })) await strike()
  const { seen } = reorganising
  const isWhole = (): boolean => moved.has('withdrawal') && moved.has('deposit') && seen.again > 0 && seen.lost > 0
  for (let more = 0; more < 20 && !isWhole(); more++) await strike()
  reorganising.calm()
  for (const [name, difference] of await settleMoney(exchange, storm)) t.equal(difference, 0n, `${name}: what was given is there`)
  t.comment([...moved].map(([what, count]) => `${count} x ${what}`).join(', '))
  t.comment(`${seen.times} reorganisations; ${seen.again} transactions came again, ${seen.lost} never`)
  t.ok(isWhole(), 'money went both ways, and the chain took some of it back')

  t.match(await askOperator(exchange, '/withdrawals'), { stopped: 'NONE', total: 0 }, 'nobody stopped withdrawals')
  t.match(await askOperator(exchange, '/chain'), { chains: [{ rewinds: 0, reorganised: false }] }, 'no confirmed block went')
  t.equal(await exchange.stop(), 0, 'orderly stop')
  running = null
  const verified = verify(directory, () => undefined)
  t.ok(verified.snapshots.length > 0 && verified.snapshots.every(({ verdict }) => verdict === 'ok'), 'snapshots are what replay gives')
})
