/**
 * What sign-ins cost, and what they cost trading: EIP-191 recoveries of the wallet pool alone; logins of contract wallets (EIP-1271) in the
 * real exchange with the embedded chain; and signed orders over HTTP, alone and beside a flood of bad sign-ins in turns, once with the
 * limits as they are by default and once with limits that let everything through to the pool. Everything shares the two cores.
 */
import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { createClient } from '../../gateway/client/index.ts'
import { createWalletPool } from '../../gateway/auth/wallet.ts'
import { deployWallets } from '../../test/support/contracts.ts'
import type { Exchange } from '../../test/support/exchange.ts'
import { sodiumSigner } from '../../test/support/traders.ts'
import { amount, median, type Result } from '../result.ts'
import { round } from './http_load.ts'
import { makeTraders, signOrders } from './orders.ts'
import type { FloodData } from './verify_flood.ts'
import { ownDirectory, removeDirectory, startExchange } from './own_exchange.ts'

const SECONDS = amount(6, 1)
const ROUNDS = amount(3, 1)
const CONNECTIONS = 64
const ORDERS = 400
const CONTRACT_WALLETS = 64
const LOGINS_AT_ONCE = 8
const FLOOD = { connections: 64, perSecond: 1000 }
const NO_LIMITS = ['--sign-in-per-ip', '1000000', '--sign-in-per-address', '1000000']

/** Recoveries a second of a pool of `threads`, kept busy. */
async function recoveries(threads: number): Promise<number> {
  const tasks = await Promise.all(Array.from({ length: 64 }, async (_, i) => {
    const wallet = privateKeyToAccount(generatePrivateKey())
    const message = `sign-in ${i}`
    return { address: wallet.address.toLowerCase(), message, signature: await wallet.signMessage({ message }) }
  }))
  const pool = await createWalletPool(threads, 64)
  const started = performance.now()
  let done = 0
  await Promise.all(tasks.slice(0, 8 * threads).map(async (task) => {
    while (performance.now() - started < 1000 * SECONDS) {
      if ((await pool.verify(task, 'bench')) !== 'signed') throw new Error('a good signature was not taken')
      done++
    }
  }))
  const rate = done / ((performance.now() - started) / 1000)
  await pool.destroy()
  return rate
}

/** Runs `work` against an exchange of its own. */
async function withExchange<T>(flags: readonly string[], work: (exchange: Exchange) => Promise<T>): Promise<T> {
  const directory = ownDirectory()
  const exchange = await startExchange(directory, ['--chain-port', '0', ...flags])
  try {
    return await work(exchange)
  } finally {
    await exchange.stop()
    removeDirectory(directory)
  }
}

/** Logins a second of contract wallets: a challenge, a signature by the owner, a verify that the chain is asked about. */
async function contractLogins({ baseUrl, chainPort }: Exchange): Promise<number> {
  const wallets = await deployWallets(`http://127.0.0.1:${chainPort}`, CONTRACT_WALLETS)
  let next = 0
  let done = 0
  const started = performance.now()
  await Promise.all(Array.from({ length: LOGINS_AT_ONCE }, async () => {
    while (performance.now() - started < 1000 * SECONDS) {
      const { address, owner } = wallets[next++ % wallets.length]!
      const wallet = { address, signMessage: (message: string) => owner.signMessage({ message }) }
      await createClient({ baseUrl, wallet, signer: sodiumSigner() }).signIn()
      done++
    }
  }))
  return done / ((performance.now() - started) / 1000)
}

/** Starts the flood; what is returned ends it and says how many answers of each kind it got a second. */
async function startFlood(port: number): Promise<() => Promise<Float64Array>> {
  const words = new SharedArrayBuffer(5 * 4)
  const counts = new Int32Array(words)
  const signature = await privateKeyToAccount(generatePrivateKey()).signMessage({ message: 'somebody else' })
  const workerData: FloodData = { port, ...FLOOD, sessionPublicKey: sodiumSigner().publicKey, signature, words }
  const worker = new Worker(join(import.meta.dirname, 'verify_flood.ts'), { workerData })
  const started = performance.now()
  return async () => {
    const seconds = (performance.now() - started) / 1000
    const rates = Float64Array.from(counts, (count) => count / seconds)
    Atomics.store(counts, 0, 1)
    await once(worker, 'exit')
    return rates
  }
}

interface Beside {
  /** Orders a second. */
  readonly alone: number
  readonly flooded: number
  /** Medians of the rounds' own ratios. */
  readonly ratio: number
  /** Bad verifies a second that got a verdict, and that met a limit or a full pool. */
  readonly verdicts: number
  readonly refused: number
}

async function besideFlood(exchange: Exchange): Promise<Beside> {
  const { baseUrl, port } = exchange
  const { traders, pair } = await makeTraders(baseUrl, 20)
  const trade = async (seed: number): Promise<number> =>
    (await round(baseUrl, signOrders(traders, pair, ORDERS, seed), SECONDS, CONNECTIONS)).rate
  await trade(1)
  const rounds: { alone: number; flooded: number; rates: Float64Array }[] = []
  for (let i = 0; i < ROUNDS; i++) {
    const alone = await trade(2 + i)
    const stop = await startFlood(port)
    const flooded = await trade(100 + i)
    rounds.push({ alone, flooded, rates: await stop() })
  }
  const of = (value: (one: (typeof rounds)[number]) => number): number => median(rounds.map(value))
  return {
    alone: of(({ alone }) => alone), flooded: of(({ flooded }) => flooded), ratio: of(({ alone, flooded }) => flooded / alone),
    verdicts: of(({ rates }) => rates[1]!), refused: of(({ rates }) => rates[2]! + rates[3]!),
  }
}

const figuresOf = (what: string, { alone, flooded, ratio, verdicts, refused }: Beside): Record<string, number> => ({
  [`orders/s alone, ${what}`]: alone,
  [`orders/s beside the flood, ${what}`]: flooded,
  [`kept beside the flood, ${what}`]: ratio,
  [`bad verifies judged/s, ${what}`]: verdicts,
  [`bad sign-ins refused/s, ${what}`]: refused,
})

export async function run(): Promise<Result> {
  const [one, two] = [await recoveries(1), await recoveries(2)]
  const logins = await withExchange(NO_LIMITS, contractLogins)
  // A trader of the bench signs in from the flood's address; the limits per client are drawn by both.
  const limited = await withExchange([], besideFlood)
  const unlimited = await withExchange(NO_LIMITS, besideFlood)
  return {
    name: 'verify: sign-ins, and trading beside a flood of bad ones',
    settings: {
      seconds: SECONDS, rounds: ROUNDS,
      logins: `${LOGINS_AT_ONCE} at once, ${CONTRACT_WALLETS} contract wallets on the embedded chain, no limits`,
      orders: `as in rest: ${CONNECTIONS} connections, ${ORDERS} LIMIT GTC orders signed before each round`,
      flood: `${FLOOD.connections} connections, ${FLOOD.perSecond} pairs of challenge and verify a second at most, each of another wallet`,
      walletThreads: 'default (1)',
    },
    figures: {
      'EIP-191 recoveries/s, 1 thread': one,
      'EIP-191 recoveries/s, 2 threads': two,
      'EIP-1271 logins/s': logins,
      ...figuresOf('default limits', limited),
      ...figuresOf('no limits', unlimited),
    },
    targets: [
      { figure: 'kept beside the flood, default limits', atLeast: 0.8, unit: '' },
      { figure: 'kept beside the flood, no limits', atLeast: 0.8, unit: '' },
    ],
  }
}
