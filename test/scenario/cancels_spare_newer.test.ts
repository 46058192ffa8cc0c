/**
 * Promise: a mass cancel that takes many parts ends nothing that was placed after it began, also when nothing is noted of it and the order
 * that it was to go on from has ended meanwhile: two cancels of one owner at once, and one of a delegated agent.
 */
import t, { type Test } from 'tap'
import { CommandType } from '../../core/layout/command.ts'
import { Flag } from '../../core/layout/flags.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { SCALAR } from '../../core/state/columns.ts'
import { checkInvariants } from '../../core/state/invariants.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { answersOf, openAccount, postCommand, START_TIME, startMatcher, type Matcher, type Signed } from '../support/journal.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'

const spec = VARIANTS['market']!
const GENESIS = genesisText({ ...spec, limits: { ...spec.limits, orders: 131_072, openOrdersPerAccount: 16_384 } })
/** Placed after the cancel began: more than one part looks at. */
const NEWER = 600
const PARTS_MOST = 40

function begin(t: Test): { matcher: Matcher; run: () => Decoded[]; live: () => number } {
  const dataDir = temporaryDirectory()
  const matcher = startMatcher(dataDir, { maxSlots: 2048, genesis: GENESIS, commandRing: 4096 })
  t.teardown(async () => {
    await matcher.database.close()
    removeDirectory(dataDir)
  })
  let time = START_TIME
  const run = (): Decoded[] => {
    matcher.clock = time++
    matcher.turn(true)
    return answersOf(matcher, 1).filter(({ event }) => event === 'RESULT')
  }
  return { matcher, run, live: () => matcher.sequencer.state.scalars[SCALAR.ORDERS_LIVE]! }
}

function place(matcher: Matcher, who: Signed, count: number): void {
  for (let i = 0; i < count; i++) {
    postCommand(matcher, 1, CommandType.PLACE_ORDER, { ...who, pair: 0, flags: Flag.SELL, price: 3000, lots: 100 })
  }
}

const cancelAll = (matcher: Matcher, who: Signed, over: Decoded): void =>
  postCommand(matcher, 1, CommandType.CANCEL_ALL, { ...who, pair: -1, limit: 128, ...over })
const nextOf = ({ slot, orderSequence }: Decoded): Decoded => ({ fromSlot: slot!, fromSequence: orderSequence! })

/** Goes on until nothing is left; the parts it took. */
function goOn(matcher: Matcher, run: () => Decoded[], who: Signed, first: Decoded): number {
  let from = nextOf(first)
  for (let part = 1; part <= PARTS_MOST; part++) {
    cancelAll(matcher, who, from)
    const [result] = run()
    if (result!['detail2'] === 0) return part
    from = nextOf(result!)
  }
  return Infinity
}

t.test('two cancels of one owner', async (t) => {
  const { matcher, run, live } = begin(t)
  const ann = openAccount(matcher, 1, 'ann')
  place(matcher, ann, 40)
  run()
  cancelAll(matcher, ann, { limit: 10 })
  const [first] = run()
  t.match(first, { detail: 10, detail2: 1 })
  // Of one pair: it takes the place of the first, and ends the order which that was to go on from.
  cancelAll(matcher, ann, { pair: 0, limit: 5 })
  t.match(run(), [{ detail: 5, detail2: 1 }])
  place(matcher, ann, NEWER)
  run()
  t.ok(goOn(matcher, run, ann, first!) <= PARTS_MOST)
  t.equal(live(), NEWER, 'what was placed afterwards rests, and nothing else')
  checkInvariants(matcher.sequencer.state)
})

for (const slot of ['free', 'another order\'s']) t.test(`one of an agent; the slot to go on from is ${slot}`, async (t) => {
  const reused = slot !== 'free'
  const { matcher, run, live } = begin(t)
  const [ann, bob] = [openAccount(matcher, 1, 'ann'), openAccount(matcher, 1, 'bob')]
  const hex = (name: string, bytes: number): string => Buffer.from(name).toString('hex').padEnd(bytes * 2, '0')
  const [owner, address] = [hex('ann', 20), hex('agent', 20)]
  const grants = { grants: 0x0f, pairs: '03'.padEnd(64, '0'), name: hex('a', 32) }
  postCommand(matcher, 1, CommandType.UPSERT_AGENT, { ...ann, address, ...grants })
  const opening = { session: -1, application: 0, owner, agent: address, publicKey: hex('agentkey', 32) }
  postCommand(matcher, 1, CommandType.OPEN_DELEGATED_SESSION, opening)
  const [, opened] = run()
  t.match(opened, { code: 0 })
  const agent: Signed = { session: Number(opened!['detail']), sessionGeneration: Number(opened!['detail2']) }
  place(matcher, ann, 40)
  run()
  cancelAll(matcher, agent, { limit: 39 })
  const [first] = run()
  t.match(first, { detail: 39, detail2: 1 })
  if (!reused) place(matcher, ann, NEWER)
  postCommand(matcher, 1, CommandType.PLACE_ORDER, { ...bob, pair: 0, flags: 0, price: 3000, lots: 100 })
  t.match(run().at(-1), { code: 0, trades: 1 }, 'the order to go on from is filled')
  if (reused) place(matcher, ann, NEWER)
  run()
  t.ok(goOn(matcher, run, agent, first!) <= PARTS_MOST)
  t.equal(live(), NEWER, `${live()} rest`)
  checkInvariants(matcher.sequencer.state)
})
