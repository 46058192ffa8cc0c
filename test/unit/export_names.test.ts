/** Promise: a name is that of the moment: what a wallet did is told by its own id also when the row of its account went to another. */
import t from 'tap'
import { CommandType } from '../../core/layout/command.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { exportedLines } from '../support/exported_lines.ts'
import { answersOf, postCommand, startMatcher, takeAnswers } from '../support/journal.ts'
import { ownDirectory } from '../support/recorded_journal.ts'
import type { Told } from '../support/told_records.ts'
import { genesisText, VARIANTS } from '../support/variants.ts'

const HOUR_MS = 3_600_000

t.test('two users in one row, one after the other', async (t) => {
  const dataDir = ownDirectory(t)
  const market = VARIANTS['market']!
  const limits = { ...market.limits, accounts: 4, sessionLifetimeMs: HOUR_MS }
  const matcher = startMatcher(dataDir, { genesis: genesisText({ ...market, limits }) })
  const bytes = (name: string, length: number): string => Buffer.from(name).toString('hex').padEnd(length * 2, '0')
  const visit = (name: string, more: Decoded = {}): void => {
    postCommand(matcher, 1, CommandType.OPEN_SESSION, { session: -1, address: bytes(name, 20), publicKey: bytes(name, 32), ...more })
    matcher.turn()
    const [{ detail: session, detail2: sessionGeneration }] = answersOf(matcher, 1) as [Decoded]
    // Looks for orders to cancel, of which there are none: the account stays blank.
    postCommand(matcher, 1, CommandType.CANCEL_ALL, { session: session!, sessionGeneration: sessionGeneration!, pair: -1, limit: 1 })
    matcher.turn()
    takeAnswers(matcher.gateways[1]!)
  }
  for (const name of ['ann', 'cid', 'dan']) visit(name)
  // Row and sequence of dan, who brought her.
  visit('eve', { referrer: 3, referrerSequence: 6 })
  for (let hour = 0; hour < 30; hour++) {
    matcher.clock += HOUR_MS
    matcher.turn(true)
  }
  visit('bob')
  // With the session of another that had the row of ann's before, or never was one.
  postCommand(matcher, 1, CommandType.CANCEL_ALL, { session: 3, sessionGeneration: 4711, pair: -1, limit: 1 })
  matcher.turn()
  await matcher.database.close()

  const { lines, names } = exportedLines(dataDir)
  const told = lines.map((line) => ({ command: line['command'], user: line['userId'] ?? (line['events'] as Told[]).at(-1)!['userId'] }))
  t.match(lines.pop(), { sequence: 12, sessionId: /./, userId: undefined, events: [{ refusal: 'SESSION_INVALID' }] }, 'nobody knows whose')
  told.pop()
  t.equal(told.length, 10)
  const [ann, annAgain] = told.map(({ user }) => user)
  const [bob, bobAgain] = told.slice(-2).map(({ user }) => user)
  t.equal(annAgain, ann)
  t.equal(bobAgain, bob)
  t.not(bob, ann)
  const dan = told[4]!.user as string
  t.match(lines.find(({ sequence }) => sequence === 8), { referrerUserId: dan, events: [{ referralApplied: true }] })
  t.strictSame(exportedLines(dataDir, { user: dan }).lines.map(({ sequence }) => sequence), [6, 7, 8], 'what he did, and whom he brought')
  t.equal(names.user(0), bob, 'whose row it is in the end')
  t.strictSame(exportedLines(dataDir, { user: ann as string }).lines.map(({ sequence }) => sequence), [2, 3], 'an export of the first')
  const wallet = `0x${bytes('bob', 20)}`
  t.strictSame(exportedLines(dataDir, { user: wallet }).lines.map(({ sequence }) => sequence), [10, 11], 'and of the wallet of the second')
})
