/**
 * Promise: what is open ends when its session does, and only then: after a revocation, an expiry, or when the row is another session's;
 * a refresh keeps it open. However many are watched, one turn looks at a bounded number.
 */
import t from 'tap'
import { SESSION, SESSION_WORDS } from '../../core/state/columns.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { createState } from '../../core/state/state.ts'
import { SessionWatch } from '../../gateway/auth/session_watch.ts'
import { Faults } from '../../gateway/faults.ts'
import { genesisText, pairSpec } from '../support/variants.ts'
import { until } from '../support/until.ts'

const DAY = 86_400_000
const assets: [string, number, string][] = [['BTC', 8, '1'], ['USD', 6, '1']]
const state = createState(parseGenesis(genesisText({ limits: { sessions: 64 }, dailyLimit: 2, assets, pairs: [pairSpec('BTC/USD')] })))

/** Makes row `session` a live session. */
function open(session: number, generation = 1, expiresAt = Date.now() + DAY): void {
  state.sessions[session * SESSION_WORDS + SESSION.GENERATION] = generation
  expire(session, expiresAt)
}
function expire(session: number, expiresAt: number): void {
  state.sessionsF64[(session * SESSION_WORDS + SESSION.EXPIRES_AT) >>> 1] = expiresAt
}

/** A watch on rows 0 to `count` - 1, the rows that ended in order, and by what time of the clock. */
function watching(count: number, slice?: number) {
  const watch = new SessionWatch(state, () => Date.now(), new Faults(() => undefined), slice)
  const ended: number[] = []
  const at: number[] = []
  const watched = Array.from({ length: count }, (_, session) => {
    open(session)
    return { session, generation: 1, end: () => void (ended.push(session), at.push(Date.now())) }
  })
  for (const each of watched) watch.add(each)
  return { watch, ended, at, watched }
}

/** Waits until a sweep has gone over everything: a canary in the last row that is dead from the start. */
async function swept(watch: SessionWatch): Promise<void> {
  let seen = 0
  for (let round = 0; round < 2; round++) {
    watch.add({ session: 63, generation: 99, end: () => seen++ })
    await until(() => seen === round + 1)
  }
}

t.test('revoked, reopened, given away and expired sessions end what they opened, once; others do not', async (t) => {
  const { watch, ended } = watching(6)
  expire(0, 0)
  open(1, 2)
  expire(2, Date.now() - 1)
  open(3, 0)
  t.ok(await until(() => ended.length === 4))
  await swept(watch)
  t.same(ended.sort(), [0, 1, 2, 3])
  t.equal(watch.size, 2, 'the others are watched on')
  watch.close()
})

t.test('an expiry is met at its second, not before; a refresh before it is enough', async (t) => {
  const { watch, ended, at } = watching(3)
  // The next whole second that is not too near: what is told and what is judged by.
  const second = Math.ceil((Date.now() + 300) / 1000) * 1000
  expire(0, second)
  expire(1, second + 999)
  expire(2, second)
  await swept(watch)
  const early = Date.now() < second
  expire(2, Date.now() + DAY)
  t.ok(await until(() => ended.includes(0) && ended.includes(1)))
  t.ok(at.every((time) => time >= second), 'not before')
  if (early) t.notOk(ended.includes(2), 'the one that was refreshed stays')
  watch.close()
})

t.test('what was closed otherwise is not ended', async (t) => {
  const { watch, ended, watched } = watching(2)
  watch.remove(watched[0]!)
  expire(0, 0)
  await swept(watch)
  t.same(ended, [])
  watch.remove(watched[1]!)
  t.equal(watch.size, 0)
  watch.add(watched[0]!)
  t.ok(await until(() => ended.length === 1), 'and a watch that had nothing to do works again')
})

t.test('however the sessions are sliced, all are looked at, also those added meanwhile', async (t) => {
  for (const slice of [1, 2, 7, 100]) {
    const { watch, ended } = watching(40, slice)
    for (let session = 0; session < 40; session += 2) expire(session, 0)
    t.ok(await until(() => ended.length === 20), `slices of ${slice}`)
    await swept(watch)
    t.same(ended.sort((a, b) => a - b), Array.from({ length: 20 }, (_, i) => 2 * i))
    t.equal(watch.size, 20)
    watch.close()
  }
})
