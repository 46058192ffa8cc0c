/**
 * Promise: what the history says of copy trading is what the engine has, and had. Random margin commands with leaders and follows through
 * the engine and the projector, written and stopped at any moment: every live follow is as the engine's rows have it, and every one that
 * stopped as it was told last; figures of each account are those that plain arithmetic makes of its equity in the engine's rows at each
 * full hour and of the deposits and withdrawals that were told.
 *
 * One run again: SEED=7 COMMANDS=5000 node ... test/property/history_copies.test.ts
 */
import t from 'tap'
import { createAnswers } from '../../core/history/answer/answers.ts'
import type { HistoryFollow, LeaderFigures } from '../../core/history/answer/queries.ts'
import { identitiesOf } from '../../core/history/project/identities.ts'
import { createProjector } from '../../core/history/project/projector.ts'
import { openWriter, writePosition } from '../../core/history/store/store.ts'
import { COMMAND_SLOTS } from '../../core/layout/command.ts'
import { FollowState } from '../../core/layout/copying.ts'
import { EVENT_LAYOUTS, EventType, eventTypeOf } from '../../core/layout/event.ts'
import { CollateralReason } from '../../core/layout/margin_events.ts'
import { decode, RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded, type Views } from '../../core/layout/table.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { createTimers, writeDue } from '../../core/sequencer/timers.ts'
import { CLOCK, SCALAR } from '../../core/state/columns.ts'
import { MARGIN_ACCOUNT, POSITION, RISK_BUCKET } from '../../core/state/margin_rows.ts'
import { bucketRow, get, getI64, marginAccountRow, positionRow } from '../../core/state/rows.ts'
import type { State } from '../../core/state/state.ts'
import { readFollows } from '../../core/view/copying.ts'
import { ask, everything, positionAt } from '../support/history.ts'
import { createBench } from '../support/naive_compare.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'
import { MarginWorkload } from '../support/workload_margin.ts'

const { SEED, COMMANDS } = process.env
const RUNS: [variant: 'perpsCopied' | 'perpsCopiedTight', seed: number, commands: number][] = SEED !== undefined
  ? [['perpsCopied', Number(SEED), Number(COMMANDS ?? 5000)]] : [['perpsCopied', 85, 5000], ['perpsCopiedTight', 82, 2000]]
const WALK = { limit: 100, skip: 0, countMost: 0 }
const [TURN_EVERY, TURN_MOST] = [7, 48]
const HOUR = 3_600_000
t.setTimeout(300_000)

/** Over all runs. */
const met = { live: 0, skipped: 0, stopped: 0, figures: 0, losses: 0, profits: 0 }

const accountsOf = (state: State): number[] => Array.from({ length: state.scalars[SCALAR.ACCOUNTS]! }, (_, account) => account)

/** What was told, and what the engine had at each full hour. */
class Told {
  readonly stopped: Decoded[] = []
  private readonly marks = new Map<number, number>()
  private readonly net = new Map<number, bigint>()
  /** Hour of the first event of an account's margin trading. */
  private readonly first = new Map<number, number>()
  /** By hour and account. */
  private readonly points = new Map<number, Map<number, { equity: bigint | null; net: bigint }>>()

  take(events: Views, count: number): void {
    for (let record = 0; record < count; record++) {
      const type = eventTypeOf(events.u32[record * RECORD_WORDS]!)
      if (![EventType.MARK, EventType.COLLATERAL, EventType.POSITION, EventType.FOLLOW].includes(type as never)) continue
      const event = decode(EVENT_LAYOUTS[type]!, events, record * RECORD_WORDS)
      const account = Number(event['account'])
      if (type === EventType.MARK) {
        if (event['mark'] !== 0) this.marks.set(Number(event['pair']), Number(event['mark']))
        continue
      }
      if (type === EventType.FOLLOW) {
        if ((Number(event['what']) & 0xff) === FollowState.STOPPED) this.stopped.push(event)
        continue
      }
      if (!this.first.has(account)) this.first.set(account, Math.floor(Number(event['time']) / HOUR))
      const crosses = event['reason'] === CollateralReason.DEPOSIT || event['reason'] === CollateralReason.WITHDRAW
      if (type === EventType.COLLATERAL && crosses) this.net.set(account, (this.net.get(account) ?? 0n) + BigInt(event['amount']!))
    }
  }

  /** An hour is about to begin. */
  hour(state: State, hour: number): void {
    const equities = new Map<number, { equity: bigint | null; net: bigint }>()
    for (const account of accountsOf(state)) equities.set(account, { equity: 0n, net: this.net.get(account) ?? 0n })
    const add = (account: number, atoms: bigint | null): void => {
      const point = equities.get(account)!
      point.equity = point.equity === null || atoms === null ? null : point.equity + atoms
    }
    for (let row = 0; row < state.scalars[SCALAR.MARGIN_ACCOUNTS_USED]!; row++) {
      const at = marginAccountRow(state, row)
      if (get(state, at, MARGIN_ACCOUNT.OPEN) === 0) continue
      const account = get(state, at, MARGIN_ACCOUNT.ACCOUNT)
      add(account, getI64(state, at, MARGIN_ACCOUNT.DEPOSITED))
      let link = get(state, at, MARGIN_ACCOUNT.FIRST_BUCKET)
      for (; link !== 0; link = get(state, bucketRow(state, link - 1), RISK_BUCKET.NEXT)) {
        add(account, getI64(state, bucketRow(state, link - 1), RISK_BUCKET.REALIZED))
      }
    }
    for (let row = 0; row < state.scalars[SCALAR.POSITIONS_USED]!; row++) {
      const at = positionRow(state, row)
      const [lots, pair] = [get(state, at, POSITION.LOTS), get(state, at, POSITION.PAIR)]
      if (lots === 0) continue
      const mark = this.marks.get(pair)
      const value = mark === undefined ? null : BigInt(lots) * BigInt(mark) * state.genesis.pairs[pair]!.tickLotAtoms
      add(get(state, at, POSITION.ACCOUNT), value === null ? null : value - getI64(state, at, POSITION.COST))
    }
    this.points.set(hour, equities)
  }

  /** In floating point; `null`: less than a day is known. */
  figures(account: number, end: number): LeaderFigures | null {
    const first = this.first.get(account)
    const begin = first === undefined ? end : Math.max(end - 720, first + 1)
    if (end - begin < 24) return null
    const step = Math.ceil((end - begin) / 120)
    const hours = Array.from({ length: Math.floor((end - begin) / step) + 1 }, (_, back) => end - back * step).reverse()
    const all = hours.map((hour) => this.points.get(hour)!.get(account) ?? { equity: 0n, net: 0n })
    const known = all.filter(({ equity }) => equity !== null)
    let [value, peak, fallen] = [1, 1, 0]
    known.forEach(({ equity, net }, place) => {
      if (place === 0) return
      const before = known[place - 1]!
      const flow = Number(net - before.net)
      const used = Number(before.equity) + Math.max(0, flow)
      if (used <= 0) return
      value *= Math.max(0, used + Number(equity! - before.equity!) - flow) / used
      peak = Math.max(peak, value)
      fallen = Math.max(fallen, 1 - value / peak)
    })
    return { returned: (value - 1) * 10_000, drawdown: fallen * 10_000 }
  }
}

/** What both sides say of a follow. */
function live(state: State, account: number): object[] {
  return readFollows(state, new Int32Array(64), account)!.map((view) => ({
    sequence: view.createdSequence, row: view.row, state: view.state, handle: view.leader.handle, leaderAccount: view.leader.account,
    allocation: view.allocation, maxLeverage: view.maxLeverage, mode: view.mode, marginAccount: view.marginAccount,
    marginSequence: view.marginSequence, copied: view.copied, skipped: view.skipped, skipCode: view.skipCode, skipPair: view.skipPair,
    skippedAt: view.skippedAt, startedAt: view.startedAt, updatedAt: view.updatedAt,
  }))
}
const plain = ({ account: _, index: __, reason: ___, ...rest }: HistoryFollow): object => rest

for (const [variant, seed, commands] of RUNS) {
  t.test(`${variant}, seed ${seed}, ${commands} commands`, async (t) => {
    const { state, run: apply, said } = createBench(genesisText(VARIANTS[variant]))
    const database = openWriter(':memory:')
    let projector = createProjector(database, state.genesis, identitiesOf(state))
    const workload = new MarginWorkload(seed, state.genesis, VARIANTS[variant])
    const answers = createAnswers(database, state.genesis)
    const random = createPrng(seed)
    const timers = createTimers()
    const told = new Told()
    const command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
    const batch = viewsOf(new ArrayBuffer(TURN_MOST * RECORD_BYTES))
    let hour = Math.floor(workload.time / HOUR)
    const one = (views: Views, base: number): void => {
      for (; hour < Math.floor(workload.time / HOUR); hour++) told.hour(state, hour + 1)
      const records = apply(views, base, workload.time)
      projector.project(said, records)
      told.take(said, records)
      workload.learn(said, records)
    }
    const check = (): void => {
      for (const account of accountsOf(state)) {
        const place = ({ sequence, index }: HistoryFollow) => ({ sequence, index })
        const all = everything((after) => ask(answers, 'follows', { ...WALK, account, after }), place)
        const found = all.filter((each) => each.state !== FollowState.STOPPED)
        t.strictSame(found.map(plain), live(state, account), `live ones of ${account}`)
        met.live += found.length
        met.skipped += found.filter(({ skipped }) => skipped > 0).length
        const over = told.stopped.filter((event) => event['account'] === account)
        const stopped = everything(
          (after) => ask(answers, 'follows', { ...WALK, account, after, states: [FollowState.STOPPED] }), place,
        )
        const facts = ({ sequence, row, allocation, updatedAt }: HistoryFollow): string => `${sequence}/${row} ${allocation} ${updatedAt}`
        const factsOf = (event: Decoded): string =>
          `${event['createdSequence']}/${event['follow']} ${event['allocation']} ${event['time']}`
        t.strictSame(stopped.map(facts).sort(), over.map(factsOf).sort(), `those of ${account} that stopped`)
      }
    }
    const checkFigures = (): void => {
      const end = Math.floor(state.clock[CLOCK.TIME]! / HOUR)
      const accounts = accountsOf(state).slice(0, 100)
      ask(answers, 'leaderFigures', { accounts }).forEach((figures, index) => {
        const wanted = told.figures(accounts[index]!, end)
        const near = (a: number, b: number): boolean => Math.abs(a - b) <= 1 + Math.abs(b) * 1e-9
        const fits = figures === null || wanted === null ? figures === wanted
          : near(figures.returned, wanted.returned) && near(figures.drawdown, wanted.drawdown)
        t.ok(fits, `figures of ${accounts[index]} at ${end}: ${JSON.stringify(figures)}, naive ${JSON.stringify(wanted)}`)
        if (figures === null) return
        met.figures++
        if (figures.returned > 0) met.profits++
        if (figures.drawdown > 0) met.losses++
      })
    }
    for (let index = 0; index < commands; index++) {
      workload.next(command, 0)
      one(command, 0)
      if (index % TURN_EVERY === 0) {
        const used = writeDue(timers, state, workload.time, batch, 0, TURN_MOST)
        for (let place = 0; place < used; place++) one(batch, place * RECORD_WORDS)
      }
      // Hours pass, with prices that are soon told anew.
      if (random.below(40) === 0) workload.time += HOUR * (1 + random.below(9))
      if (random.below(400) > 0 && index < commands - 1) continue
      const position = { ...positionAt(index + 1, projector.flush()), time_ms: state.clock[CLOCK.TIME]! }
      database.transaction(() => writePosition(database, position))()
      answers.forget()
      check()
      checkFigures()
      if (random.below(3) === 0) projector = createProjector(database, state.genesis, identitiesOf(state))
    }
    met.stopped += told.stopped.length
  })
}

t.test('all of it was met', async (t) => {
  for (const [what, times] of Object.entries(met)) t.ok(times > 0, `${what}: ${times}`)
})
