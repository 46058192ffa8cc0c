/**
 * Money in and out in the streams of workload.ts and workload_margin.ts: accounts that withdraw, a vault thread that says what its chains
 * say, mostly in order and now and then not, and an operator who sets terms, approves, stops and assigns. It has a random stream of its
 * own, so that what others draw is as it was without it, and it learns from events which withdrawals are under way.
 */
import { CommandType, Option } from '../../core/layout/command.ts'
import { answeredTypeOf, CREDIT, CreditSource, DEPOSIT, EventType, eventTypeOf, RESULT, WITHDRAWAL } from '../../core/layout/event.ts'
import { decode, RECORD_WORDS, type Decoded, type Views } from '../../core/layout/table.ts'
import { WithdrawalStatus } from '../../core/layout/vault.ts'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import type { Genesis } from '../../core/state/genesis.ts'
import type { Command } from './workload_margin_known.ts'
import type { World } from './workload_waiting.ts'

const [HOUR, DAY] = [3_600_000, 86_400_000]
const KNOWN_MOST = 60
const HUGE = 4_600_000_000_000_000_000n
const { PENDING, SIGNED, SUBMITTED, CONFIRMED, FAILED, EXPIRED, CANCELLED } = WithdrawalStatus
const hex = (text: string, bytes: number): string => Buffer.from(text).toString('hex').padEnd(bytes * 2, '0')
const hash = (number: number): string => hex(`hash ${number}`, 32)
const GIVEN_BACK: readonly number[] = [FAILED, EXPIRED, CANCELLED]
/** What a withdrawal of a status is told to become. */
const NEXT: Readonly<Record<number, readonly number[]>> = {
  [PENDING]: [SIGNED, SIGNED, SIGNED, SIGNED, SIGNED, FAILED, SUBMITTED, CONFIRMED],
  [SIGNED]: [SUBMITTED, SUBMITTED, SUBMITTED, CONFIRMED, EXPIRED, EXPIRED, FAILED, SIGNED],
  [SUBMITTED]: [CONFIRMED, CONFIRMED, CONFIRMED, SIGNED, EXPIRED, SUBMITTED, FAILED],
}

interface Withdrawal { row: number; sequence: number; status: number; asset: number; amount: bigint }
interface Suspended { row: number; sequence: number }
interface Deposit { values: Decoded }
/** `deposit`, `log`: place of the last deposit that was sent. */
interface Chain { id: number; block: number; deposit: number; log: number; sent: Deposit[] }
interface Wallet { address: string; application: number }

export class VaultWorkload {
  private readonly genesis: Genesis
  private readonly random: Prng
  private readonly withdrawals: Withdrawal[] = []
  /** Terminal ones, which are named again now and then. */
  private readonly over: Withdrawal[] = []
  private readonly suspense: Suspended[] = []
  private readonly chains: Chain[] = []
  /** Chain that ADVANCE_CHAIN in flight is to make, or -1. */
  private asked: Decoded = {}
  private readonly wallets: Wallet[] = []
  /** What the next withdrawals are, and what went out on the day of the last one, by asset. */
  private aimed: { asset: number; amount: bigint } | null = null
  private readonly used = new Map<number, { day: number; amount: bigint }>()
  /** Who got a huge amount, and what goes out of it: it leaves no room for others. */
  private readonly rich: { account: number; asset: number; amount: bigint }[] = []
  private batch = 0
  private confirmed = 0
  private keys = 0

  constructor(seed: number, genesis: Genesis) {
    this.genesis = genesis
    this.random = createPrng(seed + 0xa17)
  }

  private readonly below = (n: number): number => this.random.below(n)
  private readonly pick = <T>(list: readonly T[]): T => list[this.below(list.length)]!

  /** A command of money in and out, or what `other` gives. */
  command(world: World, other: () => Command): Command {
    const dice = this.below(1000)
    const accounts = world.accounts()
    if (dice < 110 && accounts.length > 0) return this.initiate(world, accounts)
    const someOver = this.over.length > 0 && this.below(5) === 0
    if (dice < 200 && (this.withdrawals.length > 0 || someOver)) return this.advance(world)
    if (dice < 225 && this.withdrawals.length > 0) return this.review()
    if (dice < 345) return this.chainCommand(world)
    if (dice < 353) return this.terms()
    if (dice < 357) return { type: CommandType.STOP_WITHDRAWALS, values: { session: -1, cause: this.pick([0, 0, 0, 0, 1, 2, 3, -1]) } }
    if (dice < 371 && accounts.length > 0) return this.assign(world, accounts)
    if (dice < 383) return this.settlement()
    if (dice < 391) return this.minted(world)
    const { type, values } = other()
    if (type === CommandType.OPEN_SESSION) this.know(values)
    return { type, values }
  }

  /** Time that passes sometimes, so that days end; ms. */
  pause(): number {
    return this.below(300) === 0 ? this.pick([HOUR, 5 * HOUR, 12 * HOUR, DAY]) : 0
  }

  private know({ address, application }: Decoded): void {
    if (this.wallets.some((each) => each.address === address && each.application === application)) return
    this.wallets.push({ address: String(address), application: Number(application) })
    if (this.wallets.length > KNOWN_MOST) this.wallets.shift()
  }

  /** Assets, now and then one that is not there. */
  private asset(): number {
    return this.below(40) === 0 ? this.pick([-1, this.genesis.assets.length, 1000]) : this.below(this.genesis.assets.length)
  }

  /** About what a faucet gives. */
  private amount(asset: number): bigint {
    const given = this.genesis.assets[asset]?.faucetAtoms ?? 1000n
    const part = (parts: number): bigint => (given * BigInt(this.below(parts) + 1)) / BigInt(20 * parts)
    const dice = this.below(30)
    if (dice < 12) return part(1000) + 1n
    // Round ones, whose sums come to limits.
    if (dice < 20) return this.pick([given / 20n, given / 10n, given / 8n, given / 40n]) || 1n
    if (dice < 24) return this.pick([1n, 2n, 9n, 10n, 11n, 100n])
    if (dice < 28) return this.pick([given, given / 2n, given / 4n, given / 10n, given * 4n]) || 1n
    return this.pick([0n, -1n, HUGE, HUGE + 1n, 2n ** 62n])
  }

  private anything(): { asset: number; amount: bigint } {
    const asset = this.asset()
    return { asset, amount: this.amount(asset) }
  }

  private initiate(world: World, accounts: readonly number[]): Command {
    const known = this.rich.filter(({ account }) => accounts.includes(account))
    const rich = known.length > 0 && this.below(4) === 0 ? this.pick(known) : null
    const { asset, amount } = rich ?? this.aimed ?? this.anything()
    if (this.below(3) === 0) this.aimed = null
    const keyed = this.below(4) === 0
    const number = this.below(6) === 0 ? Math.max(0, this.keys - 1) : this.keys++
    const key = { key: hex(`out ${number}`, 16), payload: hex(`out ${this.below(8) === 0 ? 1 : 0}`, 16) }
    return {
      type: CommandType.INITIATE_WITHDRAWAL,
      values: {
        ...world.sign(rich?.account ?? this.pick(accounts)), asset, amount, options: keyed ? Option.KEYED : 0,
        destination: this.below(60) === 0 ? '' : hex(`to ${this.below(4)}`, 20), ...(keyed ? key : {}),
      },
    }
  }

  /** One of those under way; now and then one that is over, or that never was. */
  private known(): Withdrawal {
    const list = this.withdrawals.length === 0 || (this.over.length > 0 && this.below(12) === 0) ? this.over : this.withdrawals
    const known = this.pick(list)
    if (this.below(25) > 0) return known
    return this.pick([
      { ...known, sequence: known.sequence + 1 }, { ...known, row: known.row + 1 }, { ...known, row: -1 }, { ...known, row: 2 ** 20 },
      { ...known, sequence: 0 }, { ...known, row: 3, sequence: 0 },
    ])
  }

  private advance(world: World): Command {
    const { row, sequence, status } = this.known()
    const to = this.below(12) === 0 ? this.below(10) - 1 : this.pick(NEXT[status] ?? [SIGNED, CONFIRMED, EXPIRED])
    const second = Math.ceil(world.time / 1000) * 1000
    const deadline = to !== SIGNED || this.below(12) === 0
      ? this.pick([0, 0, -1000, second + 500, second, second - 1000, Infinity, world.time])
      : second + this.pick([1000, 60_000, HOUR])
    const txHash = to === SUBMITTED || to === CONFIRMED ? hash(this.below(1000)) : this.pick(['', '', hash(3)])
    return {
      type: CommandType.ADVANCE_WITHDRAWAL,
      values: {
        session: -1, row, to, withdrawalSequence: sequence, deadline: Number.isFinite(deadline) ? deadline : 2 ** 53,
        block: this.below(20) === 0 ? -1 : this.below(1000), txHash,
      },
    }
  }

  private review(): Command {
    const { row, sequence } = this.known()
    return {
      type: CommandType.REVIEW_WITHDRAWAL,
      values: { session: -1, row, approve: this.below(3) === 0 ? 0 : 1, withdrawalSequence: sequence },
    }
  }

  private terms(): Command {
    const asset = this.asset()
    const given = this.genesis.assets[asset]?.faucetAtoms || 1000n
    if (this.below(4) === 0) return this.aim(asset, given / 20n)
    if (this.rich.length > 0 && this.below(2) === 0) {
      const values = { session: -1, asset: this.pick(this.rich).asset, minimum: -1n, userDaily: 0n, totalDaily: 0n, approvalAbove: 0n }
      return { type: CommandType.SET_WITHDRAWAL_TERMS, values }
    }
    const some = (...others: bigint[]): bigint => this.pick([-1n, ...others])
    return {
      type: CommandType.SET_WITHDRAWAL_TERMS,
      values: {
        session: -1, asset, minimum: this.below(15) === 0 ? this.pick([0n, -2n, HUGE + 1n]) : some(1n, 1n, 10n, given / 1000n + 1n),
        userDaily: some(0n, given / 5n, given / 4n, given, 7n, this.below(12) === 0 ? -2n : 0n),
        totalDaily: some(0n, given / 2n, given / 4n, given, given * 2n, this.below(12) === 0 ? HUGE + 1n : given * 3n),
        approvalAbove: some(0n, given / 40n, given / 20n, given / 100n + 1n, this.below(12) === 0 ? -2n : 0n),
      },
    }
  }

  /** Terms that the next withdrawal just fits, or just not. */
  private aim(asset: number, amount: bigint): Command {
    this.aimed = { asset, amount }
    const totalDaily = (this.used.get(asset)?.amount ?? 0n) + amount - BigInt(this.below(2))
    return {
      type: CommandType.SET_WITHDRAWAL_TERMS,
      values: { session: -1, asset, minimum: amount + BigInt(this.below(3) - 1), userDaily: 0n, totalDaily, approvalAbove: amount },
    }
  }

  private chainCommand(world: World): Command {
    const dice = this.below(20)
    if (this.chains.length === 0 || dice === 0) return this.newChain(world)
    const row = this.below(Math.min(this.chains.length, 3))
    if (dice < 13) return this.deposit(row)
    return this.advanceChain(world, row)
  }

  private newChain(world: World): Command {
    const dice = this.below(10)
    const chainId = dice === 0 ? this.pick([0, -1, 1.5, this.chains[0]?.id ?? 0]) : 1000 + this.chains.length
    const row = this.below(8) === 0 ? this.pick([-1, this.chains.length + 1, 8]) : this.chains.length
    this.asked = {
      session: -1, chain: row, rewind: this.below(15) === 0 ? this.pick([1, 2]) : 0, chainId, block: this.below(5) * 100,
      blockTime: world.time - this.below(9000), blockHash: hash(this.below(50)),
    }
    return { type: CommandType.ADVANCE_CHAIN, values: this.asked }
  }

  private advanceChain(world: World, row: number): Command {
    const chain = this.chains[row]!
    const rewind = this.below(5) === 0 ? 1 : 0
    const back = this.pick([-1, 0, 1, 1, 2, 5, 20, 20, 60, 250, 1000])
    const forward = this.below(10) === 0 ? this.pick([0, -1, -3, 0.5, 2 ** 53]) : 1 + this.below(4)
    const before = Math.max(this.below(30) - 1, chain.block - back)
    this.asked = {
      session: -1, chain: this.below(40) === 0 ? this.pick([-1, 7, 8]) : row, rewind: this.below(60) === 0 ? 2 : rewind,
      chainId: this.below(30) === 0 ? chain.id + 1 : chain.id, block: rewind === 1 ? before : chain.block + forward,
      blockTime: this.below(20) === 0 ? this.pick([0, -1, 1.5]) : world.time - this.below(9000), blockHash: hash(this.below(50)),
    }
    return { type: CommandType.ADVANCE_CHAIN, values: this.asked }
  }

  /** The next one of a chain, one that was sent before, or one where none may be. */
  private deposit(row: number): Command {
    const chain = this.chains[row]!
    const dice = this.below(20)
    if (dice < 4 && chain.sent.length > 0) return this.again(row, this.pick(chain.sent))
    const place = this.place(chain, dice)
    const unknown = this.below(12) === 0
    const asset = unknown ? -1 : this.asset()
    const wallet = this.wallets.length === 0 || this.below(8) === 0
      ? { address: hex(`nobody ${this.below(6)}`, 20), application: this.below(4) - 1 } : this.pick(this.wallets)
    const values: Decoded = {
      session: -1, chain: this.below(60) === 0 ? this.pick([-1, 7, 8]) : row, ...place, asset, application: wallet.application,
      amount: this.deposited(asset), remainder: this.below(40) === 0 ? this.pick([-1n, HUGE]) : BigInt(this.below(3) * this.below(999)),
      txHash: hash(this.below(20_000)), beneficiary: wallet.address, token: hex(`token ${asset}`, 20),
    }
    if (dice >= 5 && dice < 19) {
      chain.sent.push({ values })
      if (chain.sent.length > 12) chain.sent.shift()
    }
    return { type: CommandType.CREDIT_DEPOSIT, values }
  }

  private again(row: number, { values }: Deposit): Command {
    const moved: Decoded = this.below(3) === 0 ? { block: this.chains[row]!.block + 1 + this.below(3) } : {}
    return { type: CommandType.CREDIT_DEPOSIT, values: { ...values, ...moved, chain: row } }
  }

  private place(chain: Chain, dice: number): Decoded {
    if (dice === 4) return { block: chain.block - this.below(3), logIndex: this.below(3) - 1 }
    if (dice === 19) return { block: this.pick([-1, 0, chain.block + 0.5, 2 ** 53]), logIndex: this.below(5) }
    const before = chain.deposit
    chain.deposit = Math.max(chain.block + 1, before) + (this.below(4) === 0 ? 1 : 0)
    chain.log = chain.deposit === before ? chain.log + 1 + this.below(2) : this.below(3)
    return this.below(10) > 0 ? { block: chain.deposit, logIndex: chain.log } :
      { block: chain.block + this.below(3), logIndex: Math.max(0, chain.log - this.below(4)) }
  }

  private deposited(asset: number): bigint {
    const dice = this.below(30)
    if (asset < 0) return dice < 28 ? 0n : BigInt(dice)
    // Only of the last asset as much as there may be, or hardly ever: the faucet has nothing left then.
    if (dice >= 25 && asset !== this.genesis.assets.length - 1 && this.below(40) > 0) return this.amount(asset)
    if (dice < 22) return this.amount(asset)
    if (dice < 24) return 0n
    if (dice < 27) return this.pick([HUGE / 4n, HUGE / 2n, HUGE / 8n])
    return this.pick([1n, HUGE, HUGE - 1n, HUGE + 1n, -1n])
  }

  private assign(world: World, accounts: readonly number[]): Command {
    const known = this.suspense.length === 0 ? { row: 0, sequence: 0 } : this.pick(this.suspense)
    const account = this.below(20) === 0 ? this.pick([-1, this.genesis.limits.accounts]) : this.pick(accounts)
    const odd = this.below(15)
    return {
      type: CommandType.ASSIGN_SUSPENSE,
      values: {
        session: -1, row: odd === 0 ? this.pick([-1, known.row + 1, 2 ** 20]) : known.row, account,
        suspenseSequence: odd === 1 ? known.sequence + 1 : known.sequence,
        createdSequence: account < 0 ? 0 : world.madeBy(account) + (odd === 2 ? 1 : 0),
      },
    }
  }

  private settlement(): Command {
    const odd = this.below(12) === 0
    if (this.below(2) === 0) {
      return { type: CommandType.OPEN_SETTLEMENT, values: { session: -1, batch: this.batch + (odd ? this.pick([0, 2, -1, 0.5]) : 1) } }
    }
    return {
      type: CommandType.CONFIRM_SETTLEMENT,
      values: {
        session: -1, batch: this.confirmed + (odd ? this.pick([0, 2, -1]) : 1), block: this.below(20) === 0 ? -1 : this.below(5000),
        tradesRoot: hash(this.below(999)), balancesRoot: hash(this.below(999)), txHash: hash(this.below(999)),
      },
    }
  }

  private minted(world: World): Command {
    const asset = this.asset()
    const all = (this.genesis.assets[asset]?.faucetAtoms ?? 1n) * 400n
    return {
      type: CommandType.FAUCET_MINTED,
      values: {
        session: -1, asset, amount: this.pick([this.amount(asset), all, BigInt(1 + this.below(1000))]),
        through: this.below(20) === 0 ? this.pick([-1, 0, 1.5]) : world.time, txHash: hash(this.below(999)),
      },
    }
  }

  /** Takes notice of the events of one command. */
  learn(events: Views, count: number): void {
    for (let record = 0; record < count; record++) {
      const base = record * RECORD_WORDS
      const type = eventTypeOf(events.u32[base]!)
      if (type === EventType.WITHDRAWAL) this.learnWithdrawal(decode(WITHDRAWAL, events, base))
      else if (type === EventType.CREDIT) this.learnCredit(decode(CREDIT, events, base))
      else if (type === EventType.DEPOSIT) this.learnDeposit(decode(DEPOSIT, events, base))
      else if (type === EventType.RESULT && events.i32[base + RESULT.at.code] === 0) {
        this.learnResult(answeredTypeOf(events.u32[base]!), decode(RESULT, events, base))
      }
    }
  }

  private learnWithdrawal({ row, withdrawalSequence, status, asset, amount, before, createdAt }: Decoded): void {
    const [day, used] = [Math.floor(Number(createdAt) / DAY), this.used.get(Number(asset))]
    const sum = used?.day === day ? used.amount : 0n
    if (before === 0) this.used.set(Number(asset), { day, amount: sum + BigInt(amount!) })
    else if (GIVEN_BACK.includes(Number(status)) && used?.day === day) used.amount -= BigInt(amount!)
    const known = { row: Number(row), sequence: Number(withdrawalSequence), status: Number(status), asset: Number(asset) }
    const at = this.withdrawals.findIndex(({ sequence }) => sequence === known.sequence)
    if (at >= 0) this.withdrawals.splice(at, 1)
    const list = [CONFIRMED, FAILED, EXPIRED, CANCELLED].includes(known.status as 4) ? this.over : this.withdrawals
    list.push({ ...known, amount: BigInt(amount!) })
    if (list.length > KNOWN_MOST) list.shift()
  }

  private learnCredit({ account, asset, amount, source }: Decoded): void {
    if (source !== CreditSource.DEPOSIT || BigInt(amount!) < HUGE / 16n) return
    this.rich.push({ account: Number(account), asset: Number(asset), amount: BigInt(amount!) / 2n })
    if (this.rich.length > 6) this.rich.shift()
  }

  private learnDeposit({ account, suspense, sequence }: Decoded): void {
    const at = this.suspense.findIndex(({ row }) => row === suspense)
    if (at >= 0) this.suspense.splice(at, 1)
    if (Number(suspense) < 0 || Number(account) >= 0) return
    this.suspense.push({ row: Number(suspense), sequence: Number(sequence) })
    if (this.suspense.length > KNOWN_MOST) this.suspense.shift()
  }

  private learnResult(type: number, { originalSequence }: Decoded): void {
    if (type === CommandType.OPEN_SETTLEMENT) this.batch = Number(originalSequence)
    else if (type === CommandType.CONFIRM_SETTLEMENT) this.confirmed = Number(originalSequence)
    else if (type === CommandType.ADVANCE_CHAIN) {
      const row = Number(this.asked['chain'])
      const [id, block] = [Number(this.asked['chainId']), Number(this.asked['block'])]
      const known = this.chains[row] ?? { deposit: block, log: 0, sent: [] }
      // After a rewind deposits come again from there on.
      this.chains[row] = { ...known, id, block, deposit: this.asked['rewind'] === 1 ? Math.min(block, known.deposit) : known.deposit }
    }
  }
}
