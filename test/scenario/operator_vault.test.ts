/**
 * Promise: an operator sees money in and out as it is, and changes it by commands that the engine takes: large withdrawals are approved or
 * refused, terms are set, all is stopped and allowed, suspense finds its owner, a chain is set back; what is no such thing is refused with
 * the field at fault. Solvency is told part by part, and a token that is short, or of which nothing is known, is no good answer. Metrics
 * say the same.
 */
import t, { type Test } from 'tap'
import { answerOf } from '../../core/layout/answers.ts'
import { COMMAND_LAYOUTS, COMMAND_SLOTS, CommandType, kindOf } from '../../core/layout/command.ts'
import { answeredTypeOf, RESULT } from '../../core/layout/event.ts'
import { userId, withdrawalId } from '../../core/layout/ids.ts'
import { decode, encode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded } from '../../core/layout/table.ts'
import { WithdrawalStatus } from '../../core/layout/vault.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { readAccount } from '../../core/view/accounts.ts'
import { withdrawalsOf } from '../../core/view/vault.ts'
import { owedOf } from '../../core/view/vault_sums.ts'
import type { VaultReport } from '../../gateway/chain/vault/messages.ts'
import { AssignSuspense, ListSuspense } from '../../gateway/operator/deposits.ts'
import type { OperatorContext, OperatorRoute } from '../../gateway/operator/route.ts'
import { ShowSolvency } from '../../gateway/operator/solvency.ts'
import { RewindChain, ShowChain, ShowSettlement } from '../../gateway/operator/vault_chain.ts'
import { sampleVault, VAULT_METRICS } from '../../gateway/operator/vault_metrics.ts'
import {
  ListWithdrawals, ListWithdrawalTerms, ReviewWithdrawal, SetWithdrawalTerms, ShowWithdrawal, StopWithdrawals,
} from '../../gateway/operator/withdrawals.ts'
import { Refused } from '../../gateway/refused.ts'
import { createBench, type Bench } from '../support/naive_compare.ts'
import { genesisText, pairSpec } from '../support/variants.ts'

const START = 1_767_225_600_000
const HASH = `0x${'5e'.repeat(32)}`
const TOKEN = '0x0000000000000000000000000000000000001001'
const UNKNOWN_WALLET = '77'.repeat(20)

/** USD has two more digits on the chain than here; BTC is not on the hub. */
function genesisOf(): string {
  const genesis = JSON.parse(genesisText({
    limits: { priceTicks: 65_536 }, dailyLimit: 5, assets: [['USD', 6, '1000'], ['BTC', 8, '10']], pairs: [pairSpec('BTC/USD')],
  })) as Record<string, unknown>
  const assets = [{ symbol: 'USD', tokenAddress: TOKEN, decimals: 8, minSweepRaw: '1000' }]
  genesis['sweeper'] = { chains: [{ chainId: 1328, shortName: 'hub', hub: true, assets }] }
  return JSON.stringify(genesis)
}

/** What the vault thread said last, of an exchange that is well. */
const WELL: VaultReport = {
  at: START, chains: [{ chainId: 1328, connected: true, head: 103, confirmed: 100, cursor: 100, lag: 0, reorganised: false }],
  places: { chainId: 1328, vault: `0x${'aa'.repeat(20)}`, factory: `0x${'bb'.repeat(20)}` }, depositsCredited: 2, suspense: 1,
  suspenseAssigned: 0, withdrawals: { pending: 1, signed: 0, submitted: 0, needApproval: 1 }, oldestPendingMs: 2500,
  confirmedWithdrawals: 4, expiredWithdrawals: 1, sweeps: 3, faucetMints: 2, calldata: 5, calldataFailed: 1, rpcCalls: 70, rpcFailures: 2,
  settlement: { opened: 0, confirmed: 0, stopped: null, tradesRoot: null, balancesRoot: null }, stopped: 0, paused: false,
  solvency: [
    {
      asset: 0, symbol: 'USD', token: TOKEN, holdings: '2500000001', liabilities: '2500000000', inFlight: '0', elsewhere: '0', deficit: '0',
    },
  ],
}

class Desk {
  readonly bench: Bench = createBench(genesisOf())
  report: VaultReport | null = null
  now = START
  readonly noted: string[] = []
  readonly #context: OperatorContext

  constructor() {
    const applications = { at: (number: number) => (number === 0 ? { name: 'Ringbook' } : undefined) }
    const context = {
      state: this.bench.state, gate: new Int32Array(16), applications, time: () => this.now, admin: { send: this.send.bind(this) },
      tell: ({ message }: { message: string }) => this.noted.push(message),
    }
    Object.defineProperty(context, 'vault', { get: () => ({ report: this.report }) })
    this.#context = context as unknown as OperatorContext
  }

  get state(): Bench['state'] {
    return this.bench.state
  }

  /** The answer of a command; every invariant holds behind it. */
  async send(type: number, _: unknown, values: Decoded): Promise<Decoded> {
    return this.command(type as CommandType, values)
  }

  command(type: CommandType, values: Decoded): Decoded {
    const command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
    encode(COMMAND_LAYOUTS[type]!, command, 0, { session: -1, ...values, kind: kindOf(type, COMMAND_SLOTS, 0) })
    const at = (this.bench.run(command, 0, this.now) - 1) * RECORD_WORDS
    checkInvariants(this.state)
    const { said } = this.bench
    return decode(answerOf(answeredTypeOf(said.u32[at]!), said.i32[at + RESULT.at.code]!), said, at)
  }

  async ask(route: OperatorRoute, input: object = {}): Promise<Record<string, any>> {
    const answer = route.check(input) ?? await route.run(this.#context, input as never)
    return answer instanceof Refused ? { code: answer.code, ...answer.details } : answer as Record<string, any>
  }

  /** Whether the command line takes an answer for a good one, and how it prints. */
  printed({ commands }: OperatorRoute, output: object, command = 0): { text: string; good: boolean } {
    const { show, good = () => true } = (commands as Exclude<typeof commands, string>)[command]!
    return { text: show(output, {}), good: good(output) }
  }

  /** Signs a wallet in, with what the faucet gives; its account, session and id. */
  signIn(number: number): { account: number; session: Decoded; user: string } {
    const words = { address: number.toString(16).padStart(40, '0'), publicKey: number.toString(16).padStart(64, '0') }
    const opened = this.command(CommandType.OPEN_SESSION, words) as Record<string, number>
    const session = { session: opened['session']!, sessionGeneration: opened['generation']! }
    this.command(CommandType.MINT, { ...session, asset: -1 })
    const account = opened['account']!
    return { account, session, user: userId(readAccount(this.state, account).createdSequence, account) }
  }

  /** Begins a withdrawal of USD; its id. */
  withdraw({ session, account }: { session: Decoded; account: number }, atoms: bigint): string {
    const answer = this.command(CommandType.INITIATE_WITHDRAWAL, { ...session, asset: 0, amount: atoms, destination: '11'.repeat(20) })
    t.equal(answer['code'], 0, 'the withdrawal is taken')
    const { sequence, row } = withdrawalsOf(this.state, account)[0]!
    return withdrawalId(sequence, row)
  }

  /** A deposit of the hub, of which everything up to its block was read. */
  deposit(block: number, beneficiary: string, atoms: bigint): void {
    const values = { chain: 0, block, logIndex: 0, asset: 0, application: 0, amount: atoms, remainder: 7n, token: TOKEN.slice(2) }
    const answer = this.command(CommandType.CREDIT_DEPOSIT, { ...values, beneficiary, txHash: String(block).repeat(32).slice(0, 64) })
    t.equal(answer['code'], 0, 'the deposit is taken')
    this.advance(block)
  }

  advance(block: number): void {
    const values = { chain: 0, chainId: 1328, block, blockTime: this.now, blockHash: HASH.slice(2) }
    t.equal(this.command(CommandType.ADVANCE_CHAIN, values)['code'], 0, `read up to ${block}`)
  }

  samples(): Map<string, number> {
    const found = new Map<string, number>()
    sampleVault(({ name }, value, labels) => found.set(labels === undefined ? name : `${name}{${labels}}`, value), this.state, this.report,
      this.now)
    return found
  }
}

const OF_USD = 1_000_000n

t.test('withdrawals: listed, approved, refused', async (t) => {
  const desk = new Desk()
  const ann = desk.signIn(1)
  t.match(await desk.ask(ListWithdrawals), { stopped: 'NONE', total: 0, withdrawals: [] })
  t.match(desk.printed(ListWithdrawals, await desk.ask(ListWithdrawals)).text, /withdrawals are open; 0 under way/)
  const set = await desk.ask(SetWithdrawalTerms, { asset: 'USD', approvalAbove: '100' })
  t.match(set, { symbol: 'USD', approvalAbove: '100', minimum: '0.000001' })
  const small = desk.withdraw(ann, 5n * OF_USD)
  desk.now += 1000
  const [large, other] = [desk.withdraw(ann, 150n * OF_USD), desk.withdraw(ann, 200n * OF_USD)]
  const listed = await desk.ask(ListWithdrawals)
  t.match(listed, { total: 3, needApproval: 2 })
  t.same(listed['withdrawals'].map(({ id }: { id: string }) => id), [large, other, small], 'those that wait for approval first')
  t.match(listed['withdrawals'][0], {
    userId: ann.user, symbol: 'USD', amount: '150', destination: '0x1111111111111111111111111111111111111111', status: 'PENDING',
    needsApproval: true, createdAt: '2026-01-01T00:00:01.000Z', expiresAt: null, txHash: null,
  })
  t.match(desk.printed(ListWithdrawals, listed).text, /3 under way, 2 of them wait for approval[^]*approval +150 USD/)
  t.equal((await desk.ask(ListWithdrawals, { status: 'APPROVAL' }))['withdrawals'].length, 2)
  t.equal((await desk.ask(ListWithdrawals, { status: 'SIGNED' }))['withdrawals'].length, 0)
  t.match(await desk.ask(ListWithdrawals, { status: 'CONFIRMED' }), { code: 'VALIDATION_ERROR' })

  t.match(await desk.ask(ShowWithdrawal, { id: large }), { id: large, needsApproval: true })
  for (const route of [ShowWithdrawal, ReviewWithdrawal]) {
    const more = route === ReviewWithdrawal ? { to: 'approve' } : {}
    t.match(await desk.ask(route, { id: ann.user, ...more }), { code: 'VALIDATION_ERROR', field: 'id' })
    t.match(await desk.ask(route, { id: withdrawalId(999, 0), ...more }), { code: 'NOT_FOUND', field: 'id' })
  }
  t.match(await desk.ask(ReviewWithdrawal, { id: small, to: 'approve' }), { code: 'WITHDRAWAL_STATUS' }, 'it needs none')
  t.match(await desk.ask(ReviewWithdrawal, { id: large, to: 'approve' }), { status: 'PENDING' })
  t.match(await desk.ask(ReviewWithdrawal, { id: large, to: 'approve' }), { code: 'WITHDRAWAL_STATUS' }, 'once')
  t.match(await desk.ask(ReviewWithdrawal, { id: other, to: 'cancel' }), { status: 'CANCELLED' })
  t.match(await desk.ask(ShowWithdrawal, { id: other }), { code: 'NOT_FOUND' }, 'it is over')
  t.match(await desk.ask(ListWithdrawals), { total: 2, needApproval: 0 })
  t.same(desk.noted, ['withdrawal terms set', 'withdrawal approved', 'withdrawal cancelled'], 'each change has a line in the log')

  const [row, sequence] = [0, withdrawalsOf(desk.state, ann.account).at(-1)!.sequence]
  const signed = { row, withdrawalSequence: sequence, to: WithdrawalStatus.SIGNED, deadline: desk.now + 60_000 - (desk.now % 1000) }
  t.equal(desk.command(CommandType.ADVANCE_WITHDRAWAL, signed)['code'], 0)
  t.match(await desk.ask(ReviewWithdrawal, { id: small, to: 'cancel' }), { code: 'WITHDRAWAL_STATUS' }, 'no way back from signed')
  const shown = await desk.ask(ShowWithdrawal, { id: small })
  t.match(desk.printed(ShowWithdrawal, shown).text, /status +SIGNED\n[^]*expires +2026-01-01T00:01:01/)
})

t.test('terms, and the stop', async (t) => {
  const desk = new Desk()
  t.match(await desk.ask(ListWithdrawalTerms), {
    stopped: 'NONE',
    terms: [{ symbol: 'USD', minimum: '0.000001', userDailyLimit: null, dailyLimit: null, approvalAbove: null }, { symbol: 'BTC' }],
  })
  const given = { asset: 'USD', minimum: '2', userDailyLimit: '50.5', dailyLimit: '1000', approvalAbove: '40' }
  t.match(await desk.ask(SetWithdrawalTerms, given), { minimum: '2', userDailyLimit: '50.5', dailyLimit: '1000', approvalAbove: '40' })
  const without = await desk.ask(SetWithdrawalTerms, { asset: 'USD', userDailyLimit: 'none' })
  t.match(without, { minimum: '2', userDailyLimit: null, dailyLimit: '1000' })
  const { terms } = await desk.ask(ListWithdrawalTerms)
  t.match(terms[0], { userDailyLimit: null, usedToday: '0' })
  t.match(desk.printed(ListWithdrawalTerms, { stopped: 'NONE', terms }).text, /USD +2 +- +1000 +0 +40\nBTC/)
  for (const [input, field] of [
    [{ asset: 'USD', minimum: '0' }, 'minimum'], [{ asset: 'USD', minimum: '-1' }, 'minimum'],
    [{ asset: 'USD', minimum: 'none' }, 'minimum'],
    [{ asset: 'USD', dailyLimit: '0.0000001' }, 'dailyLimit'], [{ asset: 'USD', dailyLimit: '0' }, 'dailyLimit'],
    [{ asset: 'USD', dailyLimit: 'all' }, 'dailyLimit'], [{ asset: 'USD', approvalAbove: '99999999999999999999' }, 'approvalAbove'],
  ] as const) t.match(await desk.ask(SetWithdrawalTerms, input), { code: 'VALIDATION_ERROR', field }, JSON.stringify(input))
  t.match(await desk.ask(SetWithdrawalTerms, { asset: 'EUR', minimum: '1' }), { code: 'NOT_FOUND', field: 'asset' })

  t.match(await desk.ask(StopWithdrawals, { to: 'stop' }), { stopped: 'OPERATOR', before: 'NONE' })
  t.match(await desk.ask(ListWithdrawals), { stopped: 'OPERATOR' })
  const ann = desk.signIn(1)
  const wanted = { ...ann.session, asset: 0, amount: 9n * OF_USD, destination: '11'.repeat(20) }
  const refused = desk.command(CommandType.INITIATE_WITHDRAWAL, wanted)
  t.not(refused['code'], 0, 'nobody withdraws')
  desk.command(CommandType.STOP_WITHDRAWALS, { cause: 2 })
  t.match(await desk.ask(StopWithdrawals, { to: 'stop' }), { stopped: 'SOLVENCY' }, 'a lower cause does not hide a higher one')
  t.match(await desk.ask(StopWithdrawals, { to: 'allow' }), { stopped: 'NONE', before: 'SOLVENCY' })
  desk.withdraw(ann, 9n * OF_USD)
  t.match(await desk.ask(StopWithdrawals, { to: 'off' }), { code: 'VALIDATION_ERROR' })
})

t.test('all in suspense, newest first, page by page, with those that found no row; one is named by its transaction', async (t) => {
  const desk = new Desk()
  const ann = desk.signIn(1)
  const rows = desk.state.genesis.limits.suspense - 1
  const count = Math.max(210, rows + 5)
  desk.advance(90)
  for (let at = 0; at < count; at++) desk.deposit(100 + at, UNKNOWN_WALLET, 25n * OF_USD)
  const seen: number[] = []
  for (let before: number | null | undefined; before !== null;) {
    const page = await desk.ask(ListSuspense, before === undefined ? {} : { before })
    t.match(page, { total: count, withoutRow: count - rows, unknown: 0 })
    t.ok(page['suspended'].length <= 200)
    seen.push(...page['suspended'].map(({ block }: { block: number }) => block))
    before = page['next'] as number | null
    if (before !== null) t.match(desk.printed(ListSuspense, page).text, new RegExp(`there are more: --before ${before}`))
  }
  t.same(seen, Array.from({ length: count }, (_, at) => 99 + count - at), 'each once')
  const hashOf = (block: number): string => `0x${String(block).repeat(32).slice(0, 64)}`
  const named = (block: number): Decoded => ({ suspense: `${hashOf(block)}/0`, userId: ann.user })
  t.match(await desk.ask(AssignSuspense, named(99 + count)), { code: 'VALIDATION_ERROR', field: 'suspense' }, 'it has no row yet')
  t.match(await desk.ask(AssignSuspense, named(999)), { code: 'NOT_FOUND', field: 'suspense' })
  t.match(await desk.ask(AssignSuspense, named(100)), { symbol: 'USD', amount: '25' })
  t.match(await desk.ask(AssignSuspense, named(100)), { code: 'NOT_FOUND', field: 'suspense' }, 'once')
  t.match(await desk.ask(AssignSuspense, { ...named(101), suspense: `${hashOf(101)}/1` }), { code: 'NOT_FOUND' }, 'another log')
})

t.test('suspense, and a chain that is set back', async (t) => {
  const desk = new Desk()
  const ann = desk.signIn(1)
  t.match(await desk.ask(ListSuspense), { total: 0, suspended: [] })
  t.match(await desk.ask(RewindChain, { chainId: 1328, block: 1, hash: HASH, time: 1 }), { code: 'NOT_FOUND', field: 'chainId' })
  desk.advance(90)
  desk.deposit(95, '1'.padStart(40, '0'), 10n * OF_USD)
  desk.deposit(97, UNKNOWN_WALLET, 25n * OF_USD)
  const listed = await desk.ask(ListSuspense)
  const { total, suspended } = listed
  t.equal(total, 1)
  const [row] = suspended
  t.match(row, {
    symbol: 'USD', amount: '25', remainder: '7', counted: true, logIndex: 0, application: 'Ringbook', token: TOKEN, chainId: 1328,
    block: 97, beneficiary: '0x7777777777777777777777777777777777777777', txHash: `0x${'97'.repeat(32)}`,
  })
  t.match(desk.printed(ListSuspense, listed).text, /1 in suspense[^]*25 USD +Ringbook/)
  const wanted = { suspense: row.id as string, userId: ann.user }
  for (const suspense of ['0', 'x-1', '0-1-2', '']) {
    t.match(await desk.ask(AssignSuspense, { ...wanted, suspense }), { code: 'VALIDATION_ERROR' }, suspense)
  }
  t.match(await desk.ask(AssignSuspense, { ...wanted, suspense: '0-1' }), { code: 'NOT_FOUND', field: 'suspense' })
  t.match(await desk.ask(AssignSuspense, { ...wanted, userId: row.id }), { code: 'VALIDATION_ERROR' })
  t.match(await desk.ask(AssignSuspense, { ...wanted, userId: userId(999, 0) }), { code: 'NOT_FOUND', field: 'userId' })
  const before = owedOf(desk.state, 0)
  t.match(await desk.ask(AssignSuspense, wanted), { symbol: 'USD', amount: '25' })
  const after = owedOf(desk.state, 0)
  t.same([before.suspense, after.suspense, after.balances - before.balances], [25n * OF_USD, 0n, 25n * OF_USD])
  t.match(await desk.ask(AssignSuspense, wanted), { code: 'NOT_FOUND', field: 'suspense' }, 'once')

  const quiet = { chainId: 1328, block: 97, connected: null, head: null, rewinds: 0, reorganised: false }
  t.match(await desk.ask(ShowChain), { at: null, chains: [quiet] })
  t.match(desk.printed(ShowChain, await desk.ask(ShowChain)).text, /1328 +\? +97[^]*the vault thread says nothing/)
  desk.report = { ...WELL, chains: [{ ...WELL.chains[0]!, connected: false, reorganised: true, head: -1 }] }
  const shown = await desk.ask(ShowChain)
  t.match(shown, { at: '2026-01-01T00:00:00.000Z', rpcFailures: 2 })
  t.match(shown['chains'], [{ connected: false, reorganised: true, head: null, confirmed: 100 }])
  t.match(desk.printed(ShowChain, shown), { good: false, text: /away[^]*REORGANISED/ })
  const back = { chainId: 1328, block: 93, hash: HASH, time: START / 1000 }
  for (const more of [{ hash: HASH.slice(2) }, { hash: `${HASH}00` }, { block: -1 }, { block: 1.5 }, { time: -1 }, { chainId: 0 }]) {
    t.match(await desk.ask(RewindChain, { ...back, ...more }), { code: 'VALIDATION_ERROR' }, JSON.stringify(more))
  }
  t.match(await desk.ask(RewindChain, { ...back, block: 98 }), { code: 'CHAIN_ORDER' }, 'no older block')
  t.match(await desk.ask(RewindChain, back), { block: 93, before: 97 })
  t.match(await desk.ask(ShowChain), { chains: [{ block: 93, blockHash: HASH, rewinds: 1 }] })
  t.ok(desk.noted.includes('chain set back'))
})

t.test('settlement', async (t) => {
  const desk = new Desk()
  t.match(await desk.ask(ShowSettlement), { at: null, opened: 0, confirmed: 0, open: [], stopped: null })
  t.match(desk.printed(ShowSettlement, await desk.ask(ShowSettlement)), { good: true, text: /opened +none yet/ })
  desk.signIn(1)
  for (const batch of [1, 2]) t.equal(desk.command(CommandType.OPEN_SETTLEMENT, { batch })['code'], 0)
  t.equal(desk.command(CommandType.CONFIRM_SETTLEMENT, { batch: 1, block: 5, txHash: '33'.repeat(32) })['code'], 0)
  desk.now += 90_000
  const stopped = 'batch 2 stands on the chain with other roots'
  desk.report = { ...WELL, settlement: { ...WELL.settlement, stopped, tradesRoot: HASH } }
  const shown = await desk.ask(ShowSettlement)
  t.match(shown, { opened: 2, confirmed: 1, tradesRoot: HASH, stopped })
  t.match(shown['open'], [{ batch: 2, trades: 0, openedAt: '2026-01-01T00:00:00.000Z' }])
  t.match(desk.printed(ShowSettlement, shown), { good: false, text: /batch 2 stands on the chain with other roots/ })
  const samples = desk.samples()
  t.equal(samples.get('exchange_settlement_opened_batch'), 2)
  t.equal(samples.get('exchange_settlement_confirmed_batch'), 1)
  t.equal(samples.get('exchange_settlement_oldest_open_seconds'), 90)
  t.equal(samples.get('exchange_settlement_stopped'), 1)
})

/** The solvency of USD, and what the command line makes of all of it. */
async function solvency(t: Test, desk: Desk, expected: object, good: boolean, text: RegExp): Promise<void> {
  const answer = await desk.ask(ShowSolvency)
  t.match(answer, expected)
  t.match(desk.printed(ShowSolvency, answer), { good, text })
}

t.test('solvency, part by part', async (t) => {
  const desk = new Desk()
  const ann = desk.signIn(1)
  desk.advance(90)
  desk.deposit(95, '1'.padStart(40, '0'), 10n * OF_USD)
  desk.deposit(97, UNKNOWN_WALLET, 25n * OF_USD)
  desk.withdraw(ann, 3n * OF_USD)
  const usd = {
    symbol: 'USD', issued: '1035', balances: '1010', withdrawing: '3', margin: '0', fees: '0', rewards: '0', suspense: '25',
    faucetOutstanding: '1000',
  }
  const unknown = { at: null, solvent: null, tokens: [{ ...usd, holdings: null, difference: null }, { symbol: 'BTC', token: null }] }
  await solvency(t, desk, unknown, false, /not known of every token/)
  const [token] = WELL.solvency
  const says = (more: Partial<typeof token>): void => {
    desk.report = { ...WELL, solvency: [{ ...token!, liabilities: '3500000000', holdings: '3500000001', ...more }] }
  }
  says({})
  const held = { liabilities: '35', holdings: '35.00000001', inFlight: '0', difference: '0.00000001' }
  const covered = { solvent: true, tokens: [{ ...usd, ...held }, { token: null }] }
  await solvency(t, desk, covered, true, /every token is covered[^]*1010, of which 3 are/)
  says({ holdings: '3200000000', inFlight: '300000000' })
  await solvency(t, desk, { solvent: true, tokens: [{ inFlight: '3', difference: '0' }] }, true, /in flight +3\n/)
  says({ holdings: '3200000000', elsewhere: '300000000' })
  await solvency(t, desk, { solvent: true, tokens: [{ elsewhere: '3', difference: '0' }] }, true, /on other chains +3\n/)
  says({ holdings: '3499999999', deficit: '1' })
  await solvency(t, desk, { solvent: false, tokens: [{ difference: '-0.00000001' }] }, false, /^SHORT OF USD\n/)
  t.equal(desk.samples().get('exchange_vault_deficit{asset="USD"}'), 1e-8)
  says({ holdings: null })
  await solvency(t, desk, { solvent: null, tokens: [{ holdings: null, difference: null }] }, false, /not known of every token/)
  t.ok(Number.isNaN(desk.samples().get('exchange_vault_holdings{asset="USD"}')))
})

t.test('metrics', async (t) => {
  const desk = new Desk()
  const ann = desk.signIn(1)
  const alone = desk.samples()
  t.equal(alone.get('exchange_withdrawals_stopped'), 0)
  t.notOk([...alone.keys()].some((name) => name.startsWith('exchange_vault_')), 'nothing is said of a vault thread that says nothing')
  await desk.ask(SetWithdrawalTerms, { asset: 'USD', approvalAbove: '1' })
  desk.withdraw(ann, 3n * OF_USD)
  desk.advance(90)
  desk.deposit(97, UNKNOWN_WALLET, 25n * OF_USD)
  await desk.ask(StopWithdrawals, { to: 'stop' })
  desk.report = WELL
  desk.now += 4000
  const samples = desk.samples()
  for (const [name, value] of Object.entries({
    exchange_withdrawals_stopped: 1, exchange_withdrawals_under_way: 1, exchange_withdrawals_need_approval: 1, exchange_deposits_total: 1,
    exchange_deposits_suspended: 1, exchange_vault_report_age_seconds: 4, 'exchange_withdrawals{status="needApproval"}': 1,
    exchange_withdrawals_oldest_pending_seconds: 2.5, exchange_withdrawals_signer_failures_total: 1,
    'exchange_vault_chain_up{chain="1328"}': 1, 'exchange_vault_chain_read_block{chain="1328"}': 100,
    'exchange_vault_chain_reorganised{chain="1328"}': 0, 'exchange_vault_liabilities{asset="USD"}': 25, exchange_vault_paused: 0,
    exchange_vault_rpc_failures_total: 2, exchange_withdrawals_confirmed_total: 4,
  })) t.equal(samples.get(name), value, name)
  const names = new Set([...samples.keys()].map((name) => name.replace(/\{.*/, '')))
  t.same(VAULT_METRICS.filter(({ name }) => !names.has(name)).map(({ name }) => name), [], 'all of them are sampled')
  t.equal(new Set(VAULT_METRICS.map(({ name }) => name)).size, VAULT_METRICS.length)
})
