/**
 * The vault thread's parts over the engine in this process and the embedded chain behind its JSON-RPC, without threads: the test says what
 * time it is, when a turn is made and what of the way to the engine fails. Contracts, node, sender and signatures are the real ones.
 */
import type { Test } from 'tap'
import { createPublicClient, createWalletClient, encodeFunctionData, erc20Abi, http, type Hex } from 'viem'
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { readConfig, type Config } from '../../core/config.ts'
import { answerOf } from '../../core/layout/answers.ts'
import { COMMAND_LAYOUTS, COMMAND_SLOTS, CommandType, kindOf } from '../../core/layout/command.ts'
import { answeredTypeOf, RESULT } from '../../core/layout/event.ts'
import { decode, encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded } from '../../core/layout/table.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import type { State } from '../../core/state/state.ts'
import { readBalances } from '../../core/view/accounts.ts'
import { TOKEN_ABI, VAULT_ABI } from '../../gateway/chain/vault/artifacts.ts'
import { readBooks, type Books } from '../../gateway/chain/vault/books.ts'
import type { VaultCommands } from '../../gateway/chain/vault/commands.ts'
import { DEFAULT_APPLICATION } from '../../gateway/chain/vault/deposit_address.ts'
import { createKeyHolder } from '../../gateway/chain/vault/key_holder.ts'
import type { Outcome, VaultReport } from '../../gateway/chain/vault/messages.ts'
import type { Roots } from '../../gateway/chain/vault/roots.ts'
import type { Places, Signer, SignerScope } from '../../gateway/chain/vault/types.ts'
import { SignerUnavailable } from '../../gateway/chain/vault/types.ts'
import { createVault, type Vault } from '../../gateway/chain/vault/vault.ts'
import { startDevnet, type DevnetNode } from './devnet_node.ts'
import { startLyingNode, type LyingNode } from './lying_node.ts'
import { createBench, type Bench } from './naive_compare.ts'
import { genesisText, pairSpec } from './variants.ts'

export const [USD, BTC, GOLD] = [0, 1, 2]
export const USD_TOKEN: Hex = '0x0000000000000000000000000000000000001001'
const BTC_TOKEN: Hex = '0x0000000000000000000000000000000000001002'
const KEY: Hex = `0x${'11'.repeat(32)}`
export const OPERATOR = privateKeyToAccount(KEY)

/** USD has more decimals than places, BTC as many; GOLD is not on the hub. */
function stageGenesis(limits: Record<string, number>, minSweepRaw = '1000'): string {
  const genesis = JSON.parse(genesisText({
    limits: { priceTicks: 65_536, withdrawalLifetimeMs: 60_000, ...limits }, dailyLimit: 5,
    assets: [['USD', 6, '1000'], ['BTC', 8, '10'], ['GOLD', 2, '5']], pairs: [pairSpec('BTC/USD')],
  })) as Record<string, unknown>
  genesis['sweeper'] = {
    chains: [{
      chainId: 1328, shortName: 'hub', hub: true,
      assets: [
        { symbol: 'USD', tokenAddress: USD_TOKEN, decimals: 9, minSweepRaw },
        { symbol: 'BTC', tokenAddress: BTC_TOKEN, decimals: 8, minSweepRaw: '10' },
      ],
    }],
  }
  return JSON.stringify(genesis)
}

export interface Owner {
  readonly account: number
  readonly session: number
  readonly generation: number
  readonly wallet: PrivateKeyAccount
}

export class VaultStage {
  readonly chain: DevnetNode
  readonly node: LyingNode
  readonly bench: Bench
  readonly books: Books
  readonly config: Config
  readonly told: { level: string; message: string; fields: Record<string, unknown> }[] = []
  /** Sequenced time, Unix ms. */
  time: number
  /** The monotonic clock of the vault's parts is so far ahead of this process's, ms. */
  ahead = 0
  /** What becomes of a command: `lost` is not applied and `late`, `unheard` is applied and `late`. */
  fate: (type: number, values: Decoded) => 'taken' | 'full' | 'lost' | 'unheard' = () => 'taken'
  /** Commands that reached the engine. */
  readonly applied: { type: number; values: Decoded; answer: Decoded }[] = []
  signerAway = false
  roots: (batch: number, through: number, fills: number) => Roots | null = (_, through, fills) =>
    ({ through, trades: fills, tradesRoot: `0x${'ab'.repeat(32)}`, balances: 3, balancesRoot: `0x${'cd'.repeat(32)}` })
  vault: Vault
  #places: Places | null = null
  readonly #commands: VaultCommands

  constructor(chain: DevnetNode, node: LyingNode, genesis: string, flags: readonly string[]) {
    this.chain = chain
    this.time = chain.time * 1000
    this.node = node
    this.bench = createBench(genesis)
    this.books = readBooks(this.state, new Int32Array(new SharedArrayBuffer(64)))
    this.config = readConfig(['--data-dir', chain.directory, '--chain-timeout-ms', '5000', ...flags], {})!
    this.#commands = {
      send: async (type, values) => this.#send(type, values),
      sendAll: async (type, all) => this.#sendAll(type, all),
      certain: async () => true,
    }
    this.vault = this.restart()
  }

  get state(): State {
    return this.bench.state
  }

  get places(): Places {
    // A thread that has just begun does not know them.
    return (this.#places = this.vault.report().places ?? this.#places)!
  }

  /** The thread is started again: what it knew is gone. */
  restart(): Vault {
    const signer = this.#signer()
    this.vault = createVault({
      config: this.config, books: this.books, commands: this.#commands, signer, url: this.node.url, time: () => this.time,
      clock: () => performance.now() + this.ahead,
      rootsOf: async ({ batch, through, fills }) => this.roots(batch, through, fills),
      tell: (level, message, fields = {}) => this.told.push({ level, message, fields }),
    })!
    return this.vault
  }

  /** Turns, each with the transactions that it began. */
  async turns(count = 1): Promise<VaultReport> {
    for (let turn = 0; turn < count; turn++) {
      await this.vault.turn()
      await this.vault.idle()
    }
    return this.vault.report()
  }

  /** Turns until it is so, each a while behind the one before it; throws after many. */
  async until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
    for (let turn = 0; turn < 60; turn++) {
      if (await isSo()) return
      await this.turns()
      this.ahead += 100
    }
    throw new Error(`${what} did not come: ${JSON.stringify(this.told.slice(-5))}`)
  }

  /** The answer of a command of a lane, by name. */
  command(type: CommandType, values: Decoded, lane = 0): Decoded {
    const command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
    encode(COMMAND_LAYOUTS[type]!, command, 0, { session: -1, ...values, kind: kindOf(type, 1, lane) })
    const records = this.bench.run(command, 0, this.time)
    const at = (records - 1) * RECORD_WORDS
    const { said } = this.bench
    return decode(answerOf(answeredTypeOf(said.u32[at]!), said.i32[at + RESULT.at.code]!), said, at)
  }

  /** In order, as the lane has them: behind one without room none is sent, and behind one that was lost none arrives. */
  #sendAll(type: number, all: readonly Decoded[]): Outcome[] {
    let rest: Outcome | null = null
    return all.map((values) => {
      if (rest !== null) return rest
      const reached = this.applied.length
      const outcome = this.#send(type, values)
      if (outcome === 'full' || (outcome === 'late' && this.applied.length === reached)) rest = outcome
      return outcome
    })
  }

  #send(type: number, values: Decoded): Outcome {
    const fate = this.fate(type, values)
    if (fate === 'full') return 'full'
    if (fate === 'lost') return 'late'
    const answer = this.command(type as CommandType, values)
    this.applied.push({ type, values, answer })
    return fate === 'unheard' ? 'late' : answer
  }

  /** Commands of a type that were applied well. */
  done(type: CommandType): readonly Decoded[] {
    return this.applied.filter((each) => each.type === type && each.answer['code'] === 0).map(({ values }) => values)
  }

  #signer(): Signer {
    const holder = createKeyHolder(KEY)
    let scope: SignerScope | null = null
    const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
      if (this.signerAway) throw new SignerUnavailable('away')
      return work()
    }
    return {
      address: () => guarded(holder.address),
      bind: async (asked) => void (scope = asked),
      authorise: (authorisation) => guarded(() => holder.authorise(scope!.hub, authorisation)),
      sign: (transaction) => guarded(() => holder.sign(transaction)),
      close: () => undefined,
    }
  }

  /** A wallet of this number that signed in. */
  owner(number: number, application = 0): Owner {
    const wallet = walletOf(number)
    const publicKey = `${application}${number.toString(16).padStart(63, '0')}`
    const answer = this.command(CommandType.OPEN_SESSION, { application, address: wallet.address.slice(2), publicKey }, 1)
    const { code, account, session, generation } = answer as Record<string, number>
    if (code !== 0) throw new Error(`sign-in: ${code}`)
    return { account: account!, session: session!, generation: generation!, wallet }
  }

  faucet({ session, generation }: Owner, asset = USD): Decoded {
    return this.command(CommandType.MINT, { session, sessionGeneration: generation, asset }, 1)
  }

  /** What an account has, atoms. */
  available({ account }: Owner, asset = USD): bigint {
    return readBalances(this.state, new Int32Array(16), account)![asset]!.available
  }

  /** Asks for a withdrawal of atoms to the owner's own wallet: its row and sequence. */
  withdraw({ session, generation, wallet }: Owner, amount: bigint, asset = USD): { row: number; sequence: number } {
    const answer = this.command(CommandType.INITIATE_WITHDRAWAL, {
      session, sessionGeneration: generation, asset, amount, destination: wallet.address.slice(2),
    }, 1)
    if (answer['code'] !== 0) throw new Error(`withdrawal: ${answer['code']}`)
    return { row: answer['row'] as number, sequence: answer['withdrawalSequence'] as number }
  }

  /** Sends a call to the chain; its hash. Throws when it fails. */
  async call(wallet: PrivateKeyAccount, to: Hex, data: Hex): Promise<Hex> {
    const transport = http(this.chain.url, { retryCount: 0 })
    const hash = await createWalletClient({ transport }).sendTransaction({
      account: wallet, chain: null, to, data, gas: 2_000_000n, gasPrice: 0n,
    })
    const { status } = await createPublicClient({ transport }).getTransactionReceipt({ hash })
    if (status !== 'success') throw new Error(`${hash} failed`)
    return hash
  }

  /** Base units that this address has. */
  async holds(owner: string, token: Hex = USD_TOKEN): Promise<bigint> {
    const client = createPublicClient({ transport: http(this.chain.url, { retryCount: 0 }) })
    return client.readContract({ address: token, abi: erc20Abi, functionName: 'balanceOf', args: [owner as Hex] })
  }

  /** The minter of the tokens gives base units to a wallet. */
  async give(to: string, raw: bigint, token: Hex = USD_TOKEN): Promise<void> {
    const id: Hex = `0x${(this.#gifts++).toString(16).padStart(64, 'f')}`
    await this.call(OPERATOR, token, encodeFunctionData({ abi: TOKEN_ABI, functionName: 'mint', args: [id, to as Hex, raw] }))
  }
  #gifts = 1

  /** Deposits base units of the wallet's own, by the vault's function. */
  async deposit(
    wallet: PrivateKeyAccount, raw: bigint, beneficiary: string = wallet.address, application: Hex = DEFAULT_APPLICATION,
  ): Promise<Hex> {
    const { vault } = this.places
    await this.give(wallet.address, raw)
    await this.call(wallet, USD_TOKEN, encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [vault, raw] }))
    return this.call(wallet, vault, encodeFunctionData({
      abi: VAULT_ABI, functionName: 'deposit', args: [USD_TOKEN, raw, beneficiary as Hex, application],
    }))
  }

  /** Calldata of a withdrawal, or why there is none. */
  calldata(row: number, sequence: number): ReturnType<Vault['calldata']['answer']> {
    return this.vault.calldata.answer({ id: 1, type: 'calldata', row, sequence })
  }

  /** Later, for the engine and for the chain. */
  pass(ms: number): void {
    this.time += ms
    this.chain.time += Math.ceil(ms / 1000)
  }
}

export const walletOf = (number: number): PrivateKeyAccount => privateKeyToAccount(`0x${(number + 1000).toString(16).padStart(64, '0')}`)

/** A stage whose contracts stand. `minSweepRaw`: of USD. */
export async function vaultStage(
  t: Test, limits: Record<string, number> = {}, flags: readonly string[] = [], minSweepRaw?: string,
): Promise<VaultStage> {
  const genesis = stageGenesis(limits, minSweepRaw)
  const chain = await startDevnet(t, parseGenesis(genesis))
  const stage = new VaultStage(chain, await startLyingNode(t, chain.url), genesis, flags)
  await stage.until('the vault', () => stage.vault.report().chains[0]!.cursor >= 0 && stage.places !== null)
  return stage
}
