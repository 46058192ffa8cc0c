/**
 * Promise: the state knows which accounts have connections open that cancel at their end. A start that finds some gives each account its
 * grace to return; the orders of an account that does not return are cancelled. Connections that ended or gave their wish up before do not
 * count, and the account's own deadline stands beside.
 */
import t from 'tap'
import { AT_END, AT_START, CommandType, CONNECTION_KEPT, CONNECTION_OPENED, GRACE_MS_MAX } from '../../core/layout/command.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { CONNECTIONS_MAX, hasConnections } from '../../core/orders/cancel_on_disconnect.ts'
import { commitOwn } from '../../core/sequencer/loop.ts'
import { stateDigest } from '../../core/snapshot/state_digest.ts'
import { DISCONNECT } from '../../core/state/columns.ts'
import { disconnectRow, set } from '../../core/state/rows.ts'
import { readAccount } from '../../core/view/accounts.ts'
import { allAt, arm, live, matcherOf, place, replays, turnAt } from '../support/dead_man_stage.ts'
import { answersOf, openAccount, postCommand, START_TIME, type Matcher, type Signed } from '../support/journal.ts'

/** Account of `who`, from the answer to an order it placed. */
const accountsOf = new WeakMap<Signed, number>()

function trader(matcher: Matcher, name: string, orders: number): Signed {
  const who = openAccount(matcher, 1, name)
  place(matcher, who, orders)
  turnAt(matcher, 0)
  accountsOf.set(who, Number(answersOf(matcher, 1).at(-1)!['account']))
  return who
}

/** A connection of `who` opens, and says how long after a start it may return. */
const open = (matcher: Matcher, who: Signed, graceMs: number): void =>
  postCommand(matcher, 1, CommandType.CANCEL_ALL, { ...who, pair: -1, limit: 1, fromSlot: graceMs, afterMs: CONNECTION_OPENED })

/** So many of its connections end, or keep the orders from now on. */
function close(matcher: Matcher, who: Signed, afterMs: number, limit = 1): void {
  const account = accountsOf.get(who)!
  const fromSequence = readAccount(matcher.sequencer.state, account).createdSequence
  postCommand(matcher, 1, CommandType.CANCEL_ALL, { ...who, pair: -1, limit, fromSlot: account, fromSequence, afterMs })
}

/** What the first command of a start does. */
function restart(matcher: Matcher): boolean {
  if (!hasConnections(matcher.sequencer.state)) return false
  Object.defineProperty(matcher.sequencer.clock, 'now', { value: () => matcher.clock, configurable: true })
  commitOwn(matcher.sequencer, CommandType.CONTINUE_CANCEL, { account: -1, fires: AT_START })
  return true
}

const last = (matcher: Matcher): Decoded => answersOf(matcher, 1).at(-1)!

t.test('an account that does not return within its grace is cancelled, one that returns is not', async (t) => {
  const matcher = matcherOf(t)
  const [ann, bob, eve] = ['ann', 'bob', 'eve'].map((name) => trader(matcher, name, 3)) as [Signed, Signed, Signed]
  open(matcher, ann, 1000)
  open(matcher, bob, 1000)
  turnAt(matcher, 10)
  t.match(last(matcher), { code: 0, detail: 0, detail2: 0 })
  t.same(allAt(matcher, 5000), [], 'nothing while they are open')
  t.ok(restart(matcher))
  t.notOk(restart(matcher), 'a second start finds none')
  open(matcher, bob, 2000)
  turnAt(matcher, 5500)
  t.same(allAt(matcher, 5999), [], 'not before its grace is over')
  t.same(allAt(matcher, 6000), [3], 'what ann has')
  t.equal(live(matcher), 6)
  t.same(allAt(matcher, 90_000), [], 'bob returned, eve never asked for it')
  t.ok(restart(matcher), 'bob has a connection again')
  t.same(allAt(matcher, 91_999), [])
  t.same(allAt(matcher, 92_000), [3])
  t.equal(live(matcher), 3)
  t.ok(eve)
  t.ok(replays(matcher))
})

t.test('a grace of 0 is over at once; connections are counted', async (t) => {
  const matcher = matcherOf(t)
  const ann = trader(matcher, 'ann', 2)
  for (let connection = 0; connection < 4; connection++) open(matcher, ann, 0)
  turnAt(matcher, 10)
  close(matcher, ann, CONNECTION_KEPT, 2)
  t.same(allAt(matcher, 20), [], 'kept')
  t.ok(hasConnections(matcher.sequencer.state))
  close(matcher, ann, AT_END)
  turnAt(matcher, 30)
  t.same(allAt(matcher, 30), [2], 'one ended')
  place(matcher, ann, 4)
  turnAt(matcher, 40)
  t.ok(restart(matcher), 'one is left')
  t.same(allAt(matcher, 40), [4])
  close(matcher, ann, AT_END)
  turnAt(matcher, 50)
  t.notOk(restart(matcher), 'none is less than none')
  t.ok(replays(matcher))
})

t.test('the deadline of the account stands beside its grace', async (t) => {
  const matcher = matcherOf(t)
  const ann = trader(matcher, 'ann', 2)
  open(matcher, ann, 1000)
  arm(matcher, ann, 10_000)
  turnAt(matcher, 0)
  restart(matcher)
  t.same(allAt(matcher, 1000), [2])
  place(matcher, ann, 1)
  t.same(allAt(matcher, 9999), [])
  t.same(allAt(matcher, 10_000), [1], 'the deadline is its own')
  open(matcher, ann, 60_000)
  arm(matcher, ann, 100)
  place(matcher, ann, 1)
  turnAt(matcher, 20_000)
  restart(matcher)
  t.same(allAt(matcher, 20_100), [1], 'the earlier one counts')
  open(matcher, ann, 5)
  place(matcher, ann, 1)
  turnAt(matcher, 21_000)
  t.same(allAt(matcher, 90_000), [], 'who returned has no grace running')
})

t.test('what is refused counts no connection', async (t) => {
  const matcher = matcherOf(t)
  const ann = trader(matcher, 'ann', 1)
  for (const graceMs of [-1, GRACE_MS_MAX + 1]) {
    open(matcher, ann, graceMs)
    turnAt(matcher, 1)
    t.match(last(matcher), { code: REFUSALS.VALIDATION_ERROR.number })
  }
  t.notOk(hasConnections(matcher.sequencer.state))
  const { state } = matcher.sequencer
  const digest = stateDigest(state)
  set(state, disconnectRow(state, accountsOf.get(ann)!), DISCONNECT.CONNECTIONS, CONNECTIONS_MAX)
  open(matcher, ann, 1)
  turnAt(matcher, 1)
  t.match(last(matcher), { code: REFUSALS.OVERLOADED.number })
  set(state, disconnectRow(state, accountsOf.get(ann)!), DISCONNECT.CONNECTIONS, 0)
  t.notSame(stateDigest(state), digest, 'the refused commands are in the journal')
  t.equal(matcher.clock, START_TIME + 1)
})
