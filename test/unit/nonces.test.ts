/**
 * Promise: a nonce is good for exactly what it was issued for, for five minutes, and once; issuing one stores nothing, and what is stored
 * of spent ones is bounded and shared out, so that neither a wallet nor a client network takes the room of others.
 */
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { createNonceSeal, createSpentNonces, NONCE_LIFETIME_MS, type Bond } from '../../gateway/auth/nonces.ts'

const START = 1_700_000_000_000
const BOND: Bond = { purpose: 'sign-in', address: `0x${'d8'.repeat(20)}`, sessionPublicKey: 'ab'.repeat(32), application: 0, master: null }
const OTHERS: Partial<Bond>[] = [
  { purpose: 'consent' }, { address: `0x${'d9'.repeat(20)}` }, { sessionPublicKey: 'cd'.repeat(32) }, { application: 1 },
  { master: `0x${'11'.repeat(20)}` },
]

function sealOf(key = randomBytes(32)) {
  const clock = { time: START }
  return { clock, seal: createNonceSeal(key, () => clock.time, randomBytes) }
}

t.test('a nonce opens for its bond and for no other', async (t) => {
  const { seal } = sealOf()
  for (const over of [{}, ...OTHERS]) {
    const bond = { ...BOND, ...over }
    const { nonce, issuedAt, expiresAt } = seal.issue(bond)
    t.match(nonce, /^[0-9a-f]{64}$/)
    t.same([issuedAt, expiresAt], [START, START + NONCE_LIFETIME_MS])
    t.same(seal.open(nonce, { ...bond }), { ...bond, nonce, issuedAt, expiresAt })
    for (const wrong of OTHERS) t.equal(seal.open(nonce, { ...BOND, ...over, ...wrong, ...(over === wrong ? BOND : {}) }), null)
  }
})

t.test('nonces differ, and none that was altered or made elsewhere opens', async (t) => {
  const { seal } = sealOf()
  const nonces = new Set(Array.from({ length: 1000 }, () => seal.issue(BOND).nonce))
  t.equal(nonces.size, 1000)
  const [nonce] = nonces as unknown as [string]
  const digits = Array.from({ length: 64 }, (_, at) => `${nonce.slice(0, at)}${nonce[at] === '0' ? '1' : '0'}${nonce.slice(at + 1)}`)
  const others = ['', 'x', ` ${nonce}`, nonce.toUpperCase(), `${nonce}00`, nonce.slice(2), '0'.repeat(64), 'g'.repeat(64)]
  for (const text of [...digits, ...others]) {
    t.equal(seal.open(text, BOND), null, text)
  }
  t.equal(sealOf().seal.open(nonce, BOND), null, 'another start has another key')
})

t.test('a nonce lives five minutes', async (t) => {
  const { seal, clock } = sealOf()
  const { nonce } = seal.issue(BOND)
  clock.time += NONCE_LIFETIME_MS - 1
  t.ok(seal.open(nonce, BOND))
  clock.time += 1
  t.equal(seal.open(nonce, BOND), null)
})

function storeOf(limit: number) {
  const clock = { time: START }
  const store = createSpentNonces(limit, () => clock.time)
  /** Takes and spends one. */
  const spend = (nonce: string, wallet: string, network: string): string => {
    const taking = store.take(nonce, wallet, network)
    if (taking === 'taken') store.spend(nonce, wallet, network)
    return taking
  }
  return { clock, store, spend }
}

t.test('a nonce is taken by one, given back or spent, and a spent one is remembered until it would have expired', async (t) => {
  // Whatever the moment within the generations.
  for (const offset of [0, 1, NONCE_LIFETIME_MS - 1, NONCE_LIFETIME_MS, 2 * NONCE_LIFETIME_MS - 1, 7 * NONCE_LIFETIME_MS]) {
    const { store, clock } = storeOf(1000)
    clock.time += offset
    t.equal(store.take('n', 'w', 'a'), 'taken')
    t.equal(store.take('n', 'w', 'a'), 'spent', 'somebody has it')
    store.giveBack('n')
    t.equal(store.take('n', 'w', 'a'), 'taken', 'given back')
    t.equal(store.size, 0, 'and nothing is remembered')
    store.spend('n', 'w', 'a')
    for (let later = 0; later <= NONCE_LIFETIME_MS; later += NONCE_LIFETIME_MS / 4) {
      clock.time = START + offset + later
      t.equal(store.take('n', 'w', 'a'), 'spent', `${offset} + ${later}`)
    }
    clock.time += 2 * NONCE_LIFETIME_MS
    t.equal(store.take('other', 'w', 'a'), 'taken')
    t.equal(store.size, 0, 'then it is forgotten')
  }
})

t.test('a wallet and a network have shares, and the last tenth is for networks that hold few', async (t) => {
  const { spend, store, clock } = storeOf(1600)
  const codes = (count: number, each: (i: number) => string): string =>
    [...new Set(Array.from({ length: count }, (_, i) => each(i)))].join()
  t.equal(codes(100, (i) => spend(`w${i}`, 'one', `${i}`)), 'taken', 'a sixteenth for a wallet')
  t.equal(spend('w', 'one', 'new'), 'share')
  t.equal(codes(400, (i) => spend(`a${i}`, `a${i}`, 'a')), 'taken', 'a quarter for a network')
  t.equal(spend('a', 'aa', 'a'), 'share')
  t.equal(codes(400, (i) => spend(`b${i}`, `b${i}`, 'b')), 'taken')
  t.equal(codes(400, (i) => spend(`c${i}`, `c${i}`, 'c')), 'taken')
  t.equal(codes(140, (i) => spend(`d${i}`, `d${i}`, 'd')), 'taken')
  t.equal(store.size, 1440)
  t.equal(spend('d', 'dd', 'd'), 'full', 'nine tenths are used and d holds many')
  t.equal(codes(64, (i) => spend(`e${i}`, `e${i}`, 'e')), 'taken', 'e held none')
  t.equal(spend('e', 'ee', 'e'), 'full')
  t.equal(codes(96, (i) => spend(`f${i}`, `f${i}`, `f${i}`)), 'taken')
  t.equal(spend('g', 'g', 'g'), 'full', 'all is used')
  t.equal(spend('a7', 'a7', 'a'), 'spent', 'what is known stays known')
  clock.time += 2 * NONCE_LIFETIME_MS
  t.equal(spend('g', 'g', 'g'), 'taken', 'there is room again')
})

t.test('nonces under way count as spent, so that the bound holds whatever they come to', async (t) => {
  const { store } = storeOf(4)
  t.same(['a', 'b', 'c', 'd', 'e'].map((name) => store.take(name, name, name)), ['taken', 'taken', 'taken', 'taken', 'full'])
  store.giveBack('a')
  t.equal(store.take('e', 'e', 'e'), 'taken')
})
