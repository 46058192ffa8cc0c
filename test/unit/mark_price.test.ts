/**
 * Promise: the mark of a perpetual is the median of index, index plus basis and what the book says, within the band of the index, by
 * tables worked out by hand (what the book says by the rules of before 5; since then: impact_marks.test.ts); an index price far from a
 * fresh one is refused; the index is stale one millisecond after its time.
 */
import t from 'tap'
import { CommandType, PairStatus } from '../../core/layout/command.ts'
import { PerpMode, PerpSetting, PriceSource } from '../../core/layout/margin.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { proportion } from '../../core/lib/proportion.ts'
import { isFresh } from '../../core/margin/mark_price.ts'
import { PERP } from '../../core/state/margin_rows.ts'
import { perpRow, set } from '../../core/state/rows.ts'
import { HOUR_0, PERP_PAIR, PerpStage } from '../support/perp_stage.ts'

/** By the rules whose book is its touch. */
const touchStage = (perp: ConstructorParameters<typeof PerpStage>[0] = {}): PerpStage => new PerpStage(perp, {}, 4)

t.test('the median of three, within 3 % of an index of 10,000 ticks', async (t) => {
  const table: [what: string, basis: number, bid: number, ask: number, last: number, mark: number][] = [
    ['nothing but the index', 0, 0, 0, 0, 10_000],
    ['without a basis book and trade are outvoted', 0, 10_010, 10_030, 10_020, 10_000],
    ['without a book the basis is all there is', 20, 0, 0, 10_010, 10_020],
    ['index < book < basis: the last trade', 20, 10_005, 10_015, 10_010, 10_010],
    ['a trade above the touch is the ask', 20, 10_005, 10_015, 10_050, 10_015],
    ['a trade below the touch is the bid', 20, 10_005, 10_015, 1, 10_005],
    ['before the first trade the middle', 20, 10_006, 10_014, 0, 10_010],
    ['a book beyond the basis makes no mark', 20, 10_030, 10_050, 10_040, 10_020],
    ['nor one on the other side of the index', 20, 9900, 9902, 9901, 10_000],
    ['below the index it is the same', -20, 9985, 9987, 9986, 9986],
    ['half a tick goes up', 20, 10_010, 10_011, 0, 10_011],
    ['half a tick below the index goes up too', -20, 9989, 9990, 0, 9990],
    ['one side of a book is no book: bids', 20, 10_005, 0, 10_010, 10_020],
    ['one side of a book is no book: asks', 20, 0, 10_005, 10_005, 10_020],
    ['above the band', 400, 10_400, 10_600, 10_600, 10_300],
    ['below the band', -400, 8000, 9600, 8000, 9700],
    ['at the band', 300, 10_299, 10_301, 60_000, 10_300],
  ]
  for (const [what, basis, bid, ask, last, mark] of table) {
    const stage = touchStage()
    stage.basis(basis)
    stage.book(bid, ask)
    stage.last(last)
    t.match(stage.price(10_000), { code: 0, pair: PERP_PAIR, detail: mark, detail2: 0 }, what)
    t.equal(stage.mark, mark, what)
  }
})

t.test('a band of less than a tick, and one that ends beyond all prices', async (t) => {
  const stage = touchStage({ markBandBps: '300' })
  stage.basis(17)
  stage.book(40, 60)
  stage.last(50)
  stage.price(33)
  t.equal(stage.mark, 33, '3 % of 33 is less than a tick')
  stage.price(65_500, { force: 1 })
  stage.book(0, 0)
  stage.basis(100)
  stage.price(65_500)
  t.equal(stage.mark, 65_535, 'within the band, which ends at the highest price')
})

t.test('a book that nobody can trade with says and teaches nothing, and nobody pays its premium', async (t) => {
  const stage = touchStage({ staleSeconds: 3600 })
  stage.price(10_000)
  stage.basis(20)
  stage.book(10_005, 10_015)
  const halt = (status: number): unknown => stage.send(CommandType.SET_PAIR_STATUS, { pair: PERP_PAIR, status })['code']
  t.equal(halt(PairStatus.HALTED), 0)
  stage.time += 60_000
  t.match(stage.price(10_000), { detail: 10_020 })
  t.equal(stage.atoms(PERP.BASIS), 20_000_000n)
  stage.send(CommandType.FUNDING_STEP, { pair: PERP_PAIR })
  t.equal(stage.get(PERP.SAMPLES), 0)
  t.equal(halt(PairStatus.ACTIVE), 0)
  t.match(stage.price(10_000), { detail: 10_010 })
  stage.time += 60_000
  stage.send(CommandType.FUNDING_STEP, { pair: PERP_PAIR })
  t.equal(stage.get(PERP.SAMPLES), 1)
})

t.test('time without prices counts as STALE_MS at most: the first book behind an outage is not the basis', async (t) => {
  const stage = touchStage()
  stage.price(10_000)
  stage.book(10_100, 10_300)
  stage.time += 3_600_000
  stage.price(10_000)
  t.equal(stage.atoms(PERP.BASIS), 33_333_333n, '30 s of 180 s')
})

t.test('the basis takes the middle of the book over by dt / (dt + 150 s)', async (t) => {
  const stage = touchStage({ staleSeconds: 3600 })
  stage.book(10_010, 10_030)
  stage.price(10_000)
  t.equal(stage.atoms(PERP.BASIS), 0n, 'the first price has no time behind it')
  stage.time += 50_000
  stage.price(10_000)
  t.equal(stage.atoms(PERP.BASIS), 5_000_000n, 'a quarter of 20 ticks')
  stage.book(10_100, 10_110)
  stage.time += 150_000
  stage.price(10_000)
  t.equal(stage.atoms(PERP.BASIS), 55_000_000n, 'half of what lacks to 105')
  t.equal(stage.mark, 10_055, 'index and basis twice: there was no trade')
  stage.book(10_100, 0)
  stage.time += 1_000_000
  stage.price(10_000)
  t.equal(stage.atoms(PERP.BASIS), 55_000_000n, 'a missing book teaches nothing')
  stage.book(20_000, 30_000)
  stage.time += 150_000
  stage.price(10_000)
  t.equal(stage.atoms(PERP.BASIS), 177_500_000n, 'half of what lacks to 300, the band; the time without a book counts for nothing')
  stage.book(9800, 9801)
  stage.time += 1
  stage.price(10_000)
  t.equal(stage.atoms(PERP.BASIS), 177_497_487n, '377 ticks down × 1 / 150,001 are 2,513.3 millionths, cut towards 0')
})

t.test('proportion is exact where the product is far beyond a double', async (t) => {
  const big = (a: number, b: number, c: number): number => Number((BigInt(a) * BigInt(b)) / BigInt(c))
  const most = 2 ** 50 - 1
  for (const [a, b, c] of [[most, 2 ** 25, 2 ** 25 + 150_000], [-most, 2 ** 25 - 1, 2 ** 25], [7, 3, 2], [-7, 3, 2], [0, 5, 1]] as const) {
    t.equal(proportion(a, b, c), big(a, b, c), `${a} × ${b} / ${c}`)
  }
})

/** A ladder that bears a step of the whole band, 10 %. */
const WIDE = { riskTiers: [{ lowerBoundNotional: '0', maxLeverage: '5', maintenanceMarginRatio: '0.1' }] }

t.test('index prices outside of the band around a fresh one are refused unless forced', async (t) => {
  const stage = new PerpStage(WIDE)
  t.equal(stage.price(10_000)['code'], 0)
  for (const [price, code] of [[11_001, 429], [8999, 429], [9000, 0], [9901, 429], [9900, 0]] as const) {
    t.equal(stage.price(price)['code'], code, `${price}`)
  }
  t.equal(stage.get(PERP.INDEX), 9900)
  t.equal(stage.price(20_000)['code'], REFUSALS.PRICE_OUT_OF_BAND.number)
  t.match(stage.price(20_000, { force: 1 }), { code: 0, detail: 20_000, detail2: 9900 })
  stage.time += 30_000
  t.equal(stage.price(1)['code'], REFUSALS.PRICE_OUT_OF_BAND.number, 'fresh to the last millisecond')
  stage.time += 1
  t.equal(stage.price(1)['code'], REFUSALS.PRICE_OUT_OF_BAND.number, 'and one tick is not believed behind an outage either')
  t.equal(isFresh(stage.state, PERP_PAIR), false)
  t.match(stage.price(1, { force: 1 }), { code: 0, detail2: 20_000 }, 'unless it is forced')
})

t.test('behind an outage one bad tick is not taken, and a real move is with its third price', async (t) => {
  const refused = REFUSALS.PRICE_OUT_OF_BAND.number
  type Tick = [after: number, price: number, code: number]
  const play = (what: string, ticks: readonly Tick[]): PerpStage => {
    const stage = new PerpStage(WIDE)
    stage.price(10_000)
    stage.time += 3_600_000
    for (const [after, price, code] of ticks) {
      stage.time += after
      t.equal(stage.price(price)['code'], code, `${what}: ${price}`)
      t.equal(stage.get(PERP.INDEX), code === 0 ? price : 10_000)
    }
    return stage
  }
  const bad = play('a bad tick between good ones', [[0, 1, refused], [1000, 9950, 0]])
  t.same([bad.get(PERP.SUSPECT), bad.get(PERP.SUSPECTS), bad.moment(PERP.SUSPECT_AT)], [0, 0, 0], 'it is forgotten')
  play('a real move', [[0, 15_000, refused], [1000, 15_100, refused], [1000, 15_200, 0]])
  play('it goes on while it is looked at, within the band each time', [[0, 15_000, refused], [1000, 16_500, refused], [1000, 18_150, 0]])
  play('a tick in its midst begins anew', [
    [0, 15_000, refused], [1000, 15_000, refused], [1000, 5, refused], [1000, 15_000, refused], [1000, 15_000, refused], [1000, 15_000, 0],
  ])
  play('one tick said thrice at once is one', [[0, 5, refused], [0, 5, refused], [999, 5, refused], [1, 5, refused], [1000, 5, 0]])
  play('hours between them are no matter', [[0, 500, refused], [7_200_000, 510, refused], [7_200_000, 520, 0]])
  const forced = play('what is forced ends it', [[0, 500, refused], [1000, 500, refused]])
  forced.time += 1000
  t.equal(forced.price(10_000, { force: 1 })['code'], 0)
  forced.time += 60_000
  t.equal(forced.price(500)['code'], refused, 'and the count of before is forgotten')
})

t.test('stale one millisecond after STALE_MS, and before the first price', async (t) => {
  const stage = new PerpStage()
  t.equal(isFresh(stage.state, PERP_PAIR), false, 'no price yet')
  stage.price(10_000)
  t.equal(isFresh(stage.state, 0), false, 'a spot pair has none')
  const fresh = (after: number): boolean => {
    stage.time += after
    // Any command moves the sequenced time.
    stage.send(CommandType.SET_MAINTENANCE, { on: 0 })
    return isFresh(stage.state, PERP_PAIR)
  }
  t.equal(fresh(0), true)
  t.equal(fresh(30_000), true)
  t.equal(fresh(1), false)
})

t.test('what is refused changes nothing: who, which pair, which price, which source', async (t) => {
  const stage = new PerpStage()
  const values = { pair: PERP_PAIR, price: 10_000, source: PriceSource.POLLED, observedAt: 1 }
  const asked = (over: object, lane = 0): unknown => stage.send(CommandType.SET_INDEX_PRICE, { ...values, ...over }, lane)['code']
  t.equal(asked({}, 1), REFUSALS.OPERATOR_ONLY.number)
  for (const pair of [0, 2, 2 ** 31 - 1, -1]) t.equal(asked({ pair }), REFUSALS.NOT_FOUND.number, `pair ${pair}`)
  for (const price of [0, -1, 65_536]) t.equal(asked({ price }), REFUSALS.VALIDATION_ERROR.number, `price ${price}`)
  for (const source of [-1, 4]) t.equal(asked({ source }), REFUSALS.VALIDATION_ERROR.number, `source ${source}`)
  t.equal(stage.get(PERP.INDEX), 0)
  t.equal(stage.mark, 0)
  t.equal(asked({ price: 65_535 }), 0)
})

t.test('MARK says the prices; the first price schedules samples and funding', async (t) => {
  const stage = new PerpStage()
  stage.basis(20)
  stage.book(10_020, 10_030)
  stage.last(10_050)
  const values = { pair: PERP_PAIR, price: 10_000, source: PriceSource.EMBEDDED, observedAt: stage.time - 700 }
  const [mark, result, ...more] = stage.events(CommandType.SET_INDEX_PRICE, values)
  t.match(mark, {
    event: 'MARK', pair: PERP_PAIR, index: 10_000, mark: 10_020, source: PriceSource.EMBEDDED, mode: 0, time: stage.time,
    observedAt: stage.time - 700, openLots: 0, predictedRate: 0, lastRate: 0, nextFundingAt: HOUR_0 + 3_600_000,
  })
  t.match(result, { event: 'RESULT of SET_INDEX_PRICE', code: 0 })
  t.equal(more.length, 0)
  t.equal(stage.moment(PERP.NEXT_SAMPLE_AT), HOUR_0 + 60_000)
})

const force = (stage: PerpStage, value: number, number: number): unknown =>
  stage.send(CommandType.SET_PERP, { pair: PERP_PAIR, setting: PerpSetting.FORCED_MARK, value, number })['code']

t.test('a forced mark wins over all three and over the band, until its time', async (t) => {
  const stage = new PerpStage({ staleSeconds: 3600 })
  t.equal(force(stage, 20_000, stage.time + 1000), REFUSALS.PRICE_STALE.number, 'there is no index yet')
  stage.price(10_000)
  const events = stage.events(CommandType.SET_PERP, {
    pair: PERP_PAIR, setting: PerpSetting.FORCED_MARK, value: 20_000, number: stage.time + 1000,
  })
  const said = [{ event: 'MARK', mark: 20_000, index: 10_000 }, { event: 'RESULT of SET_PERP', code: 0, detail: 2, originalSequence: 0 }]
  t.match(events, said)
  stage.basis(20)
  stage.time += 999
  t.match(stage.price(10_000), { detail: 20_000 }, 'to the last millisecond')
  stage.time += 1
  t.match(stage.price(10_000), { detail: 10_020 })
  t.equal(stage.get(PERP.FORCED_MARK), 0)
  t.equal(force(stage, 9000, stage.time + 1), 0)
  t.equal(stage.mark, 9000)
  t.equal(force(stage, 0, 0), 0, 'taken back')
  t.equal(stage.mark, 10_020, 'without another price')
  for (const [value, number] of [[65_536, 1e15], [-1, 1e15], [9000, stage.time], [9000, NaN]] as const) {
    t.equal(force(stage, value, number), REFUSALS.VALIDATION_ERROR.number, `${value} until ${number}`)
  }
})

t.test('a perpetual that settles has the settlement price as its mark, and is fresh for ever', async (t) => {
  const stage = new PerpStage()
  stage.price(10_000)
  const mode = (value: number, price = 0, lane = 0): unknown =>
    stage.send(CommandType.SET_PERP, { pair: PERP_PAIR, setting: PerpSetting.MODE, value, price }, lane)['code']
  t.equal(mode(PerpMode.SETTLING, 9500, 1), REFUSALS.OPERATOR_ONLY.number)
  for (const price of [0, 65_536, -1]) t.equal(mode(PerpMode.SETTLING, price), REFUSALS.VALIDATION_ERROR.number)
  for (const value of [PerpMode.SETTLED, 4, -1]) t.equal(mode(value, 9500), REFUSALS.VALIDATION_ERROR.number)
  t.same([mode(PerpMode.REDUCE_ONLY), mode(PerpMode.NORMAL), mode(PerpMode.NORMAL), mode(PerpMode.REDUCE_ONLY)], [0, 0, 0, 0])
  t.equal(stage.mark, 10_000)
  t.equal(mode(PerpMode.SETTLING, 5000), 0)
  t.equal(stage.mark, 5000, 'whatever the band says')
  t.equal(stage.moment(PERP.NEXT_SAMPLE_AT) + stage.moment(PERP.NEXT_FUNDING_AT), 0, 'funding is over')
  stage.time += 86_400_000
  t.equal(stage.price(5000)['code'], REFUSALS.WRONG_PERP_MODE.number)
  t.equal(isFresh(stage.state, PERP_PAIR), true)
  t.equal(force(stage, 10_000, stage.time + 1), REFUSALS.WRONG_PERP_MODE.number)
  for (const value of [0, 1, 2]) t.equal(mode(value, 5000), REFUSALS.WRONG_PERP_MODE.number, `mode ${value}`)
  set(stage.state, perpRow(stage.state, PERP_PAIR), PERP.MODE, PerpMode.SETTLED)
  t.equal(mode(PerpMode.SETTLING, 5000), REFUSALS.WRONG_PERP_MODE.number, 'there is nothing to settle')
  t.equal(mode(PerpMode.REDUCE_ONLY), 0, 'it may begin again')
  t.equal(isFresh(stage.state, PERP_PAIR), false)
  t.match(stage.price(60_000), { code: 0, detail: 60_000, detail2: 0 }, 'as if it never had a price')
  t.ok(stage.moment(PERP.NEXT_FUNDING_AT) > stage.time)
})

t.test('the cap of open interest is a whole number of lots', async (t) => {
  const stage = new PerpStage({ openInterestCap: '5' })
  const cap = (number: number): object => stage.send(CommandType.SET_PERP, { pair: PERP_PAIR, setting: PerpSetting.OPEN_CAP, number })
  t.match(cap(2 ** 40), { code: 0, pair: PERP_PAIR, detail: 1, originalSequence: 5000 }, 'it was that of the genesis')
  t.match(cap(0), { code: 0, originalSequence: 2 ** 40 })
  for (const number of [-1, 0.5, Infinity]) t.match(cap(number), { code: REFUSALS.VALIDATION_ERROR.number }, `${number}`)
  t.equal(stage.moment(PERP.OPEN_CAP), 0)
  const other = { setting: 5, value: 1, number: 1 }
  t.match(stage.send(CommandType.SET_PERP, { pair: PERP_PAIR, ...other }), { code: REFUSALS.VALIDATION_ERROR.number })
  for (const pair of [0, -1, 7]) t.match(stage.send(CommandType.SET_PERP, { ...other, pair }), { code: REFUSALS.NOT_FOUND.number })
})
