/**
 * Promise: a turn of a gateway thread looks at a bounded number of signatures of order messages, however many connections send how many;
 * each connection has an equal share, and one at least.
 */
import t from 'tap'
import { noShare, SIGNED_IN_TURN, SignatureTurns } from '../../gateway/ws/signature_turns.ts'

/** Turns that end when the test says so. */
function turnsByHand(): { turns: SignatureTurns; end: () => void } {
  let next: (() => void)[] = []
  const turns = new SignatureTurns((ended) => void next.push(ended))
  const end = (): void => {
    const ended = next
    next = []
    for (const each of ended) each()
  }
  return { turns, end }
}

/** All send `each` messages in one turn, one connection after the other; how many of every one were taken. */
const taken = (turns: SignatureTurns, shares: ReturnType<typeof noShare>[], each: number): number[] =>
  shares.map((share) => Array.from({ length: each }, () => turns.take(share)).filter(Boolean).length)

t.test('one connection has the whole turn', async (t) => {
  const { turns, end } = turnsByHand()
  const share = noShare()
  t.same(taken(turns, [share], SIGNED_IN_TURN + 10), [SIGNED_IN_TURN])
  t.ok(turns.isOver(share))
  end()
  t.notOk(turns.isOver(share), 'and the next one')
  t.same(taken(turns, [share], 5), [5])
})

t.test('many share it evenly', async (t) => {
  const { turns, end } = turnsByHand()
  const shares = Array.from({ length: 16 }, noShare)
  taken(turns, shares, 1)
  end()
  for (let turn = 0; turn < 3; turn++) {
    t.same(taken(turns, shares, 1000), Array.from({ length: 16 }, () => SIGNED_IN_TURN / 16))
    end()
  }
  t.same(taken(turns, [noShare()], 1), [1])
  end()
  t.same(taken(turns, shares.slice(0, 2), SIGNED_IN_TURN)[0], SIGNED_IN_TURN, 'as many as there were before, not as there may be')
})

t.test('whoever comes has one, and the turn is bounded all the same', async (t) => {
  const { turns } = turnsByHand()
  const counts = taken(turns, Array.from({ length: 1000 }, noShare), 256)
  t.ok(counts.every((count) => count >= 1))
  const all = counts.reduce((sum, count) => sum + count, 0)
  t.ok(all <= SIGNED_IN_TURN + 1000, `${all} of 1,000 connections that nobody expected`)
})

t.test('a turn ends with that of the loop', async (t) => {
  const turns = new SignatureTurns()
  const share = noShare()
  taken(turns, [share], SIGNED_IN_TURN)
  t.notOk(turns.take(share))
  await new Promise((resolve) => setImmediate(resolve))
  t.ok(turns.take(share))
})
