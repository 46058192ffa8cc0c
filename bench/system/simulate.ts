/**
 * Previews of orders on a perpetual through the cell of questions, as a gateway asks them: question, answer, figures copied, one after
 * the other. Every one is of an order that fills ten levels of the book, by an account with a position. The matcher has nothing else to do;
 * beside commands it gives questions a twentieth of its time (core/sequencer/questions.ts).
 */
import { questionOf, readPreview } from '../../gateway/bridge/previews.ts'
import { CommandType, Flag, kindOf, ORDER_COMMAND } from '../../core/layout/command.ts'
import { CollateralMove, MOVE_COLLATERAL_COMMAND, SET_INDEX_PRICE_COMMAND } from '../../core/layout/margin.ts'
import { isAnswered, putQuestion, takeAnswer } from '../../core/ring/questions.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { PERPETUAL, PERPETUAL_PAIR } from '../micro/flow.ts'
import { amount, median, quantile, type Result } from '../result.ts'
import { openAccounts, RICH_GENESIS, startMatcher, type Matcher } from './matcher.ts'
import { ownDirectory, removeDirectory } from './own_exchange.ts'

const ROUNDS = amount(7, 1)
const PREVIEWS = amount(100_000, 2_000)
/** Those that ask, and as many whose orders rest. */
const ACCOUNTS = 100
/** Account 0 is the insurance fund's (core/margin/fund.ts). */
const FIRST_ACCOUNT = 1
const LEVELS = 50
const LOTS = 10
const MIDDLE = 100_000
const DEPOSIT = 100_000_000_000n
const GENESIS = { ...RICH_GENESIS, pairs: [...RICH_GENESIS.pairs, PERPETUAL] }

/** Everybody has collateral, those that ask have a position; the others bid and ask, ten lots a level. */
function populate(matcher: Matcher): void {
  const ask = (layout: Parameters<Matcher['ask']>[0], values: Decoded, lane: 0 | 1 = 1): void => {
    const { code } = matcher.ask(layout, values, lane)
    if (code !== 0) throw new Error(`refused: ${code}`)
  }
  const kind = kindOf(CommandType.SET_INDEX_PRICE, 1, 0)
  ask(SET_INDEX_PRICE_COMMAND, { kind, session: -1, pair: PERPETUAL_PAIR, price: MIDDLE, observedAt: Date.now() }, 0)
  const accounts = openAccounts(matcher, 2 * ACCOUNTS)
  for (const { session, generation } of accounts) {
    const from = { session, sessionGeneration: generation >>> 0 }
    const move = { move: CollateralMove.DEPOSIT, marginAccount: -1, bucket: -1, amount: DEPOSIT }
    ask(MOVE_COLLATERAL_COMMAND, { kind: kindOf(CommandType.MOVE_COLLATERAL, 1, 1), ...from, ...move })
  }
  const place = (number: number, sell: boolean, ticks: number): void => {
    const { session, generation } = accounts[number]!
    ask(ORDER_COMMAND, {
      kind: kindOf(CommandType.PLACE_ORDER, 1, 1), session, sessionGeneration: generation >>> 0,
      pair: PERPETUAL_PAIR, flags: Flag.MARGIN | (sell ? Flag.SELL : 0), price: ticks, lots: LOTS, leverage: 1000,
    })
  }
  for (let number = 0; number < ACCOUNTS; number++) place(number, number % 2 === 1, MIDDLE)
  for (let level = 1; level <= LEVELS; level++) {
    place(ACCOUNTS + 2 * level - 2, false, MIDDLE - level)
    place(ACCOUNTS + 2 * level - 1, true, MIDDLE + level)
  }
}

/** Previews one after the other; us of each, in the order asked. */
function round({ questions }: Matcher, wake: () => void, count: number): Float64Array {
  const took = new Float64Array(count)
  for (let number = 0; number < count; number++) {
    const terms = {
      pair: PERPETUAL_PAIR, flags: Flag.MARGIN | Flag.IOC | (number % 2 === 0 ? Flag.SELL : 0), lots: LOTS * 10, slippageBps: 0,
      price: number % 2 === 0 ? MIDDLE - LEVELS : MIDDLE + LEVELS,
      margin: { leverage: 1000, marginAccount: 0, bucket: 0, namedSequence: 0, keyLow: 0, keyHigh: 0 },
    }
    const from = performance.now()
    const question = questionOf(FIRST_ACCOUNT + (number % ACCOUNTS), terms)
    const asked = putQuestion(questions, question)
    wake()
    while (!isAnswered(questions, asked));
    const said = takeAnswer(questions, asked, question, () => readPreview(questions))
    if (said === null || said.code !== 0 || said.filled === 0) throw new Error(`preview ${number}: ${said?.code}, ${said?.filled} filled`)
    took[number] = (performance.now() - from) * 1000
  }
  return took
}

export async function run(): Promise<Result> {
  const directory = ownDirectory()
  const rounds: Float64Array[] = []
  try {
    const matcher = await startMatcher(directory, GENESIS)
    populate(matcher)
    round(matcher, matcher.wake, PREVIEWS)
    for (let i = 0; i < ROUNDS; i++) rounds.push(round(matcher, matcher.wake, PREVIEWS))
    await matcher.stop()
  } finally {
    removeDirectory(directory)
  }
  const rates = rounds.map((took) => 1e6 / (took.reduce((sum, us) => sum + us, 0) / took.length))
  const sorted = Float64Array.from(rounds.flatMap((took) => [...took])).sort()
  return {
    name: 'simulate: previews',
    settings: { rounds: ROUNDS, previews: PREVIEWS, accounts: ACCOUNTS, fills: 'ten levels each, the account has a position' },
    figures: { 'previews/s (median)': median(rates), 'p50, us': quantile(sorted, 0.5), 'p99, us': quantile(sorted, 0.99) },
    targets: [{ figure: 'previews/s (median)', atLeast: 20_000, unit: 'previews/s' }],
  }
}
