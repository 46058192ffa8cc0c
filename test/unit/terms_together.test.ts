/** Promise: terms of a pair that are changed at once all stand: each change leaves what it does not name as the one before left it. */
import { Readable } from 'node:stream'
import t from 'tap'
import { createAdmin } from '../../gateway/operator/admin.ts'
import { SetTerms } from '../../gateway/operator/listing.ts'
import type { OperatorContext } from '../../gateway/operator/route.ts'
import { handlerOf } from '../../gateway/operator/serve.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'
import { startMatcher } from '../support/journal.ts'

const requestOf = (fields: object): never =>
  Object.assign(Readable.from([Buffer.from(JSON.stringify(fields))]), { headers: { 'content-type': 'application/json' } }) as never

t.test('two operators', async (t) => {
  const dataDir = temporaryDirectory()
  t.teardown(() => removeDirectory(dataDir))
  const matcher = startMatcher(dataDir)
  const lane = matcher.gateways[0]!
  const wait = new SharedArrayBuffer(256)
  const shared = { commands: lane.commands.buffer, replies: lane.replies.buffer, wait: lane.wait.buffer, questions: wait }
  const admin = createAdmin(shared as never, wait)
  const { pairs } = matcher.sequencer.state.genesis
  const context = { state: matcher.sequencer.state, admin, tell: () => undefined } as unknown as OperatorContext
  const setTerms = handlerOf(SetTerms, context)
  const timer = setInterval(() => matcher.turn(), 2)
  const { symbol } = pairs[0]!
  const answers = await Promise.all([
    setTerms(requestOf({ pair: symbol, takerFeeBps: '20' })),
    setTerms(requestOf({ pair: symbol, makerFeeBps: '-90' })),
    setTerms(requestOf({ pair: symbol, makerFeeBps: '7' })),
  ])
  clearInterval(timer)
  t.same(answers.map(({ status }) => status), [200, answers[1].status, 200])
  t.not(answers[1].status, 200, 'one that is refused holds up nobody')
  t.match(JSON.parse(answers[2].body), { takerFeeBps: '20', makerFeeBps: '7' })
  t.match(pairs[0], { takerPpm: 2000, makerPpm: 700 })
  admin.stop()
  await matcher.database.close()
})
