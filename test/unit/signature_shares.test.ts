/**
 * Promise: a turn of a gateway thread looks at a bounded number of signatures of order messages, however many connections send how many;
 * each account has an equal share, and one at least, and neither connections of one account nor those of nobody take from it.
 */
import t from 'tap'
import { SIGNED_IN_TURN, SignatureShares, stranger, STRANGERS_IN_TURN, type Signer } from '../../gateway/stream/signature_shares.ts'

/** Turns that end when the test says so. */
function turnsByHand(): { turns: SignatureShares; end: () => void; pending: () => number } {
  let next: (() => void)[] = []
  const turns = new SignatureShares((ended) => void next.push(ended))
  const end = (): void => {
    const ended = next
    next = []
    for (const each of ended) each()
  }
  return { turns, end, pending: () => next.length }
}

/** Of a connection whose signatures were good. */
const signerOf = (account: number): Signer => ({ client: 'somewhere', account })

/** All send `each` messages in one turn, one connection after the other; how many of every one were taken. */
const taken = (turns: SignatureShares, shares: readonly Signer[], each: number): number[] =>
  shares.map((share) => Array.from({ length: each }, () => turns.take(share)).filter(Boolean).length)

t.test('one account has the whole turn', async (t) => {
  const { turns, end } = turnsByHand()
  const share = signerOf(1)
  t.same(taken(turns, [share], SIGNED_IN_TURN + 10), [SIGNED_IN_TURN])
  t.ok(turns.isOver(share))
  end()
  t.notOk(turns.isOver(share), 'and the next one')
  t.same(taken(turns, [share], 5), [5])
})

t.test('many share it evenly', async (t) => {
  const { turns, end } = turnsByHand()
  const shares = Array.from({ length: 16 }, (_, account) => signerOf(account))
  taken(turns, shares, 1)
  end()
  for (let turn = 0; turn < 3; turn++) {
    t.same(taken(turns, shares, 1000), Array.from({ length: 16 }, () => SIGNED_IN_TURN / 16))
    end()
  }
  t.same(taken(turns, [signerOf(99)], 1), [1])
  end()
  t.same(taken(turns, shares.slice(0, 2), SIGNED_IN_TURN)[0], SIGNED_IN_TURN, 'as many as there were before, not as there may be')
})

t.test('whoever comes has one, and the turn is bounded all the same', async (t) => {
  const { turns } = turnsByHand()
  const counts = taken(turns, Array.from({ length: 1000 }, (_, account) => signerOf(account)), 256)
  t.ok(counts.every((count) => count >= 1))
  const all = counts.reduce((sum, count) => sum + count, 0)
  t.ok(all <= SIGNED_IN_TURN + 1000, `${all} of 1,000 accounts that nobody expected`)
})

t.test('connections take nothing from accounts', async (t) => {
  const { turns, end } = turnsByHand()
  const [maker, crowd] = [signerOf(1), Array.from({ length: 5000 }, () => signerOf(2))]
  const [flood, other] = [Array.from({ length: 5000 }, () => stranger('flood')), stranger('other')]
  const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0)
  for (let turn = 0; turn < 3; turn++) {
    const first = turn === 0
    t.equal(sum(taken(turns, flood, 3)), first ? STRANGERS_IN_TURN : STRANGERS_IN_TURN / 2, 'of one client')
    t.equal(taken(turns, [other], 1000)[0], first ? 1 : STRANGERS_IN_TURN / 2, 'of another')
    t.equal(sum(taken(turns, crowd, 3)), first ? SIGNED_IN_TURN : SIGNED_IN_TURN / 2, 'of one account')
    t.equal(taken(turns, [maker], 2000)[0], first ? 1 : SIGNED_IN_TURN / 2, 'of another')
    end()
  }
})

t.test('a connection that becomes known leaves the strangers', async (t) => {
  const { turns } = turnsByHand()
  const connection = stranger('home')
  t.same(taken(turns, [connection], STRANGERS_IN_TURN + 1), [STRANGERS_IN_TURN])
  t.ok(turns.isOver(connection))
  connection.account = 7
  t.notOk(turns.isOver(connection))
  t.same(taken(turns, [connection], SIGNED_IN_TURN + 1), [SIGNED_IN_TURN])
})

t.test('how many there were is forgotten when a turn passes without any', async (t) => {
  const { turns, end, pending } = turnsByHand()
  taken(turns, Array.from({ length: 500 }, (_, account) => signerOf(account)), 1)
  end()
  t.same(taken(turns, [signerOf(1)], 256), [4], 'right behind a crowd')
  end()
  end()
  t.equal(pending(), 0, 'nothing is looked at while nobody signs')
  t.same(taken(turns, [signerOf(1)], 256), [256])
})

t.test('a turn ends with that of the loop', async (t) => {
  const turns = new SignatureShares()
  const share = signerOf(1)
  taken(turns, [share], SIGNED_IN_TURN)
  t.notOk(turns.take(share))
  await new Promise((resolve) => setImmediate(resolve))
  t.ok(turns.take(share))
})
