/**
 * Promise: a deadline is set, and everything cancelled at the end of a connection, for its own account alone, and by a
 * delegated agent only when it could end all of that by itself. The end of a connection counts for whose it was, also
 * when its session is over or was opened anew; never for another wallet, and not for an agent that was revoked.
 */
import t from 'tap'
import { AFTER_MS_MAX, AT_END, CommandType } from '../../core/layout/command.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { ACCOUNT, ACCOUNT_WORDS, SESSION, SESSION_WORDS } from '../../core/state/columns.ts'
import { allAt, arm, live, matcherOf, place, replays, turnAt } from '../support/dead_man_stage.ts'
import { answersOf, openAccount, postCommand, START_TIME, type Matcher, type Signed } from '../support/journal.ts'

const { AGENT_NOT_ALLOWED: { number: notAllowed }, SESSION_INVALID: { number: noSession } } = REFUSALS
const hex = (name: string, bytes: number): string => Buffer.from(name).toString('hex').padEnd(bytes * 2, '0')
/** As AgentAction. */
const [ALL_ACTIONS, PLACES_ONLY, CLOSES_TOO] = [7, 1, 15]

/** The answer of one command. */
function ask(matcher: Matcher, type: CommandType, values: Decoded): Decoded {
  answersOf(matcher, 1)
  postCommand(matcher, 1, type, values)
  turnAt(matcher, matcher.clock - START_TIME)
  return answersOf(matcher, 1).at(-1)!
}

/** The account of a session, as the record of its connection's end names it. */
function named(matcher: Matcher, { session }: Signed): Decoded {
  const { sessions, accountsF64 } = matcher.sequencer.state
  const account = sessions[session * SESSION_WORDS + SESSION.ACCOUNT]!
  return { fromSlot: account, fromSequence: accountsF64[(account * ACCOUNT_WORDS + ACCOUNT.CREATED_SEQUENCE) >>> 1]! }
}

const endOf = (matcher: Matcher, who: Signed, over: Decoded = {}): Decoded =>
  ask(matcher, CommandType.CANCEL_ALL, { ...who, pair: -1, limit: 1, afterMs: AT_END, ...named(matcher, who), ...over })

interface Agent {
  readonly signed: Signed
  readonly revoke: () => void
}

/** An agent of `owner` with these actions (bits) on these pairs (bits). */
function agentOf(matcher: Matcher, owner: Signed, ownerName: string, grants: number, pairs: string): Agent {
  const address = hex(`agent ${grants} ${pairs}`, 20)
  const granted = ask(matcher, CommandType.UPSERT_AGENT, { ...owner, address, grants, pairs: pairs.padEnd(64, '0') })
  const values = { session: -1, owner: hex(ownerName, 20), agent: address, publicKey: hex(`key ${grants} ${pairs}`, 32) }
  const opened = ask(matcher, CommandType.OPEN_DELEGATED_SESSION, values)
  const known = { agent: granted['detail']!, createdSequence: granted['originalSequence']! }
  return {
    signed: { session: Number(opened['detail']), sessionGeneration: Number(opened['detail2']) },
    revoke: () => void ask(matcher, CommandType.REVOKE_AGENT, { ...owner, ...known }),
  }
}

t.test('agents', async (t) => {
  const matcher = matcherOf(t)
  matcher.clock = START_TIME
  const ann = openAccount(matcher, 1, 'ann')
  place(matcher, ann, 2)
  const cases: [grants: number, pairs: string, code: number, detail: number][] =
    [[ALL_ACTIONS, '07', 0, 0], [ALL_ACTIONS, '03', notAllowed, 1], [PLACES_ONLY, '07', notAllowed, 0]]
  for (const [grants, pairs, code] of cases) {
    const { signed } = agentOf(matcher, ann, 'ann', grants, pairs)
    const set = ask(matcher, CommandType.CANCEL_ALL, { ...signed, pair: -1, limit: 1, afterMs: 5 })
    t.equal(set['code'], code, `${grants} ${pairs} sets a deadline`)
    if (code === 0) arm(matcher, ann, -1)
    place(matcher, ann, 1)
    const end = endOf(matcher, signed)
    t.equal(end['code'], code, `${grants} ${pairs} ends a connection`)
    allAt(matcher, 0)
    t.equal(live(matcher), code === 0 ? 0 : 1)
    ask(matcher, CommandType.CANCEL_ALL, { ...ann, pair: -1, limit: 10 })
  }
  const dismissed = agentOf(matcher, ann, 'ann', CLOSES_TOO, '07')
  place(matcher, ann, 1)
  ask(matcher, CommandType.CANCEL_ALL, { ...dismissed.signed, pair: -1, limit: 1, afterMs: 5 })
  dismissed.revoke()
  t.equal(endOf(matcher, dismissed.signed)['code'], notAllowed, 'revoked')
  t.equal(live(matcher), 1)
  t.same(allAt(matcher, 5), [1], 'the deadline it had set is the account\'s')
  t.ok(replays(matcher))
})

t.test('sessions that are over, opened anew, or another wallet\'s', async (t) => {
  const matcher = matcherOf(t)
  matcher.clock = START_TIME
  const [ann, bob] = [openAccount(matcher, 1, 'ann'), openAccount(matcher, 1, 'bob')]
  const ends = (who: Signed, over: Decoded, ended: number[], code = 0): void => {
    t.equal(endOf(matcher, who, over)['code'], code)
    t.same(allAt(matcher, matcher.clock - START_TIME), ended)
  }
  place(matcher, bob, 1)
  place(matcher, ann, 2)
  ends(ann, named(matcher, bob), [], noSession)
  ends(ann, { fromSequence: 1e9 }, [], noSession)
  ends(ann, { fromSlot: 70_000 }, [], noSession)
  ends({ ...ann, session: 9999 }, named(matcher, ann), [], noSession)
  ask(matcher, CommandType.OPEN_SESSION, { session: -1, address: hex('ann', 20), publicKey: hex('ann', 32) })
  t.equal(ask(matcher, CommandType.MINT, { ...ann, asset: -1 })['code'], noSession, 'the key was registered again')
  ends(ann, {}, [2])
  place(matcher, bob, 1)
  ask(matcher, CommandType.REVOKE_SESSION, { ...bob })
  ends(bob, {}, [2])
  ends(bob, {}, [])
  t.equal(live(matcher), 0)
  t.ok(replays(matcher))
})

t.test('a row that goes to another wallet takes no deadline along', async (t) => {
  const matcher = matcherOf(t, undefined, { accounts: 4 })
  matcher.clock = START_TIME
  const open = (name: string): Decoded => {
    postCommand(matcher, 1, CommandType.OPEN_SESSION, { session: -1, address: hex(name, 20), publicKey: hex(name, 32) })
    // Without timers, so that no deadline fires.
    matcher.turn()
    return answersOf(matcher, 1).at(-1)!
  }
  const first = open('blank')
  const signed = { session: Number(first['detail']), sessionGeneration: Number(first['detail2']) }
  ask(matcher, CommandType.CANCEL_ALL, { ...signed, pair: -1, limit: 1, afterMs: AFTER_MS_MAX })
  ask(matcher, CommandType.REVOKE_SESSION, signed)
  for (const name of ['full', 'fuller', 'fullest']) open(name)
  matcher.clock += 40 * AFTER_MS_MAX
  t.match(open('another'), { code: 0, account: first['account'] })
  const { accountsF64 } = matcher.sequencer.state
  t.equal(accountsF64[(Number(first['account']) * ACCOUNT_WORDS + ACCOUNT.DEADLINE) >>> 1], 0)
  t.same(allAt(matcher, 41 * AFTER_MS_MAX), [])
})
