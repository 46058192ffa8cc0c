/**
 * Promise: an operator may raise the room for assets, and the history goes on: what accounts hold of assets that the genesis had no room
 * for is there at every hour, in whatever pieces the journal was projected and wherever projection stopped.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createHourReader } from '../../core/history/answer/hour_reader.ts'
import { HOLDING, HOUR_MS, holdingAt } from '../../core/history/project/accounts.ts'
import { openProjection, type Projection } from '../../core/history/project/projection.ts'
import { verifyCopy } from '../../core/backup/verify.ts'
import { createScrub } from '../../core/history/scrub.ts'
import { CheckedStore } from '../../core/history/store/page_reader.ts'
import { historyPath, openReader } from '../../core/history/store/store.ts'
import { compareStores } from '../../core/history/store/verify.ts'
import { commandName, CommandType, COMMAND_SLOTS } from '../../core/layout/command.ts'
import { RAISABLE } from '../../core/layout/limits.ts'
import { RECORD_BYTES, RECORD_WORDS, viewsOf, type Decoded } from '../../core/layout/table.ts'
import { createPrng } from '../../core/lib/prng.ts'
import { commitOwn } from '../../core/sequencer/loop.ts'
import { BALANCE, CLOCK, LIMIT, LIMIT_WORDS, SCALAR } from '../../core/state/columns.ts'
import { balanceRow, getI64 } from '../../core/state/rows.ts'
import type { State } from '../../core/state/state.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { balanceDifference } from '../support/history.ts'
import { answersOf, post, postCommand, startMatcher, takeAnswers, type Matcher } from '../support/journal.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'
import { Workload } from '../support/workload.ts'

const COMMANDS = 1200
const FIRST = 3
/** Commands between two new assets. */
const APART = 60
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
t.comment(`SEED=${SEED} npm test -- test/property/history_raised.test.ts`)

const listing = VARIANTS['listing']!
const GENESIS = genesisText({ ...listing, dailyLimit: 15, limits: { ...listing.limits, assets: FIRST } })
const directory = temporaryDirectory()
t.teardown(() => removeDirectory(directory))
const path = (name: string): string => (name === 'whole' ? historyPath(directory) : join(directory, 'stores', `${name}.sqlite`))
mkdirSync(join(directory, 'stores'))

/** Balances of every account, available and locked, by asset. */
type Balances = readonly (readonly bigint[])[]
/** By hour: the balances at its end. */
const hours = new Map<number, Balances>()

function balancesOf(state: State): Balances {
  const accounts = Array.from({ length: state.scalars[SCALAR.ACCOUNTS]! }, (_, account) => account)
  return accounts.map((account) => state.genesis.assets.flatMap(({ index }) => {
    const row = balanceRow(state, account, index)
    return [getI64(state, row, BALANCE.AVAILABLE), getI64(state, row, BALANCE.LOCKED)]
  }))
}

/** A command of the operator, which is done. */
function operate(matcher: Matcher, type: CommandType, values: Decoded): void {
  postCommand(matcher, 0, type, { session: -1, ...values })
  matcher.turn()
  t.equal(answersOf(matcher, 0).at(-1)!['code'], 0, commandName(type))
}

const hex = (text: string, bytes: number): string => Buffer.from(text).toString('hex').padEnd(bytes * 2, '0')

/** Traders of a listing exchange, and an operator who lists more and more assets, and raises whenever there is no room for another. */
async function makeJournal(): Promise<State> {
  const matcher = startMatcher(directory, { genesis: GENESIS })
  const { state } = matcher.sequencer
  const workload = new Workload(SEED, state.genesis, { families: true, listing: true })
  const command = viewsOf(new ArrayBuffer(COMMAND_SLOTS * RECORD_BYTES))
  const limit = RAISABLE.findIndex(([name]) => name === 'assets')
  const makeRoom = (more: number): void => {
    const { assets, limits } = state.genesis
    if (assets.length < limits.assets) return
    // The workload raises limits too.
    const next = Math.max(limits.assets, state.limits[limit * LIMIT_WORDS + LIMIT.NEXT]!)
    if (next === limits.assets) operate(matcher, CommandType.RAISE_LIMIT, { limit, value: next + more })
    commitOwn(matcher.sequencer, CommandType.LIMITS_IN_FORCE, {})
  }
  for (let index = 0; index < COMMANDS; index++) {
    makeRoom(1 + (index % 5))
    if (index % APART === 0) {
      const token = index.toString(16).padStart(40, 'd')
      operate(matcher, CommandType.LIST_ASSET, { decimals: 6, scale: 6, faucet: 100_000n, symbol: hex(`NEW${index}`, 16), token })
    }
    workload.next(command, 0)
    matcher.clock = workload.time
    post(matcher, command)
    matcher.turn()
    hours.set(Math.floor(state.clock[CLOCK.TIME]! / HOUR_MS), balancesOf(state))
    for (const lane of matcher.gateways) {
      const answers = takeAnswers(lane)
      workload.learn(answers, answers.i32.length / RECORD_WORDS)
    }
  }
  makeRoom(1)
  await matcher.database.close()
  return state
}

const state = await makeJournal()
const open = (name: string): Projection => openProjection(directory, path(name), { warn: (text) => t.fail(text) })

t.test('in one go', async (t) => {
  const { genesis: { firstAssets, assets } } = state
  t.equal(firstAssets, FIRST, 'what the document has room for')
  t.ok(assets.length > FIRST + 8, `${assets.length} assets, parts of two kinds`)
  const projection = open('whole')
  while (projection.step(1_000_000)) t.notOk(balanceDifference(projection.projector, projection.state))
  t.equal(projection.sequence, state.clock[CLOCK.SEQUENCE])
  t.equal(balanceDifference(projection.projector, state), null)
  await projection.close()
})

t.test('in pieces, with stops', async (t) => {
  const random = createPrng(SEED)
  let stops = 0
  for (let more = true; more; stops++) {
    const projection = open('pieces')
    t.equal(balanceDifference(projection.projector, projection.state), null, `goes on at ${projection.sequence}`)
    for (let steps = random.below(6); steps >= 0 && more; steps--) more = projection.step(1 + random.below(120))
    await projection.close()
  }
  t.ok(stops > 3, `${stops} stops`)
  const [whole, pieces] = [openReader(path('whole')), openReader(path('pieces'))]
  const { rows, differences } = compareStores(pieces, whole)
  t.same(differences, [])
  t.ok(rows['holding_hour_page']! > 0)
  whole.close()
  pieces.close()
  const scrub = createScrub(path('pieces'), state.genesis)
  for (let slices = 0; slices < 10_000 && scrub.passes === 0; slices++) scrub.step(64)
  t.equal(scrub.passes, 1, 'every page is what was written')
  scrub.close()
})

t.test('at every hour', async (t) => {
  const database = openReader(path('whole'))
  const reader = createHourReader(new CheckedStore(database), state.genesis)
  const wrong: string[] = []
  let [looked, behind] = [0, 0]
  for (const [hour, balances] of hours) {
    for (const [account, held] of balances.entries()) {
      const then = reader.before(account, hour + 1)
      for (const [word, atoms] of held.entries()) {
        const [asset, locked] = [word >> 1, word & 1]
        const recorded = then?.[holdingAt(0, asset) + (locked === 1 ? HOLDING.LOCKED : HOLDING.AVAILABLE)] ?? 0n
        looked++
        if (atoms !== 0n && asset >= FIRST) behind++
        if (recorded !== atoms) wrong.push(`hour ${hour}, account ${account}, asset ${asset}: ${recorded}, engine ${atoms}`)
      }
    }
  }
  database.close()
  t.same(wrong.slice(0, 3), [])
  t.ok(looked > 1000 && behind > 100, `${looked} balances, ${behind} of them of assets that were raised`)
})

t.test('a copy of it is found whole, though fewer assets are listed than there is room for', async (t) => {
  t.ok(state.genesis.assets.length < state.genesis.limits.assets)
  const { sequence, history } = await verifyCopy(directory, false, () => undefined)
  t.same([sequence, history], [state.clock[CLOCK.SEQUENCE], state.clock[CLOCK.SEQUENCE]])
})
