/** The pure part of sign-in: text, nonce store, limits, forms of signatures and addresses; with a clock of its own. */
import t from 'tap'
import { getAddress } from 'viem/utils'
import {
  challengeText, checksumAddress, createLimit, createNonceStore, networkOf, NONCE_LIFETIME_MS, SIGNATURE_CHARACTERS_MAX, walletSignature,
} from '../../gateway/auth/challenge.ts'

const ADDRESS = '0xd8da6bf26964af9d7eed9e03e53415d37aa96045'
const KEY = 'ab'.repeat(32)

function storeOf(limit: number) {
  const clock = { time: 1_700_000_000_000 }
  let issued = 0
  const store = createNonceStore(limit, () => clock.time, () => (++issued).toString(16).padStart(64, '0'))
  return { clock, store }
}

t.test('the text names everything the wallet agrees to, in fixed lines', (t) => {
  const { store } = storeOf(1)
  const entry = store.issue(ADDRESS.toUpperCase().replace('0X', '0x'), KEY, 0)!
  const text = challengeText(entry, { application: 'Ringbook', host: 'exchange.example', chainId: 1328 })
  t.equal(text, [
    'Ringbook asks you to sign in.',
    '',
    'Application: Ringbook',
    'Host: exchange.example',
    'Address: 0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045',
    `Session public key: ${KEY}`,
    `Nonce: ${'1'.padStart(64, '0')}`,
    'Issued at: 2023-11-14T22:13:20.000Z',
    'Expires at: 2023-11-14T22:18:20.000Z',
    'Chain id: 1328',
    '',
    'Whoever holds the session key can act for this wallet here until the session ends.',
    'Signing moves no funds and costs no gas.',
  ].join('\n'))
  t.end()
})

t.test('addresses are shown in EIP-55, as viem does', (t) => {
  for (let i = 0; i < 50; i++) {
    const address = `0x${Buffer.from(Array.from({ length: 20 }, (_, at) => (i * 37 + at * 101 + i * at) & 255)).toString('hex')}`
    t.equal(checksumAddress(address), getAddress(address))
  }
  t.end()
})

t.test('a nonce is bound to address, key and application, and a wrong guess does not cost it', (t) => {
  const { store } = storeOf(10)
  const { nonce } = store.issue(ADDRESS, KEY, 0)!
  t.equal(store.take(nonce, `0x${'1'.repeat(40)}`, KEY, 0), null)
  t.equal(store.take(nonce, ADDRESS, 'cd'.repeat(32), 0), null)
  t.equal(store.take(nonce, ADDRESS, KEY, 1), null)
  t.equal(store.take('f'.repeat(64), ADDRESS, KEY, 0), null)
  t.ok(store.take(nonce, ADDRESS.toUpperCase().replace('0X', '0x'), KEY, 0), 'the case of an address means nothing')
  t.end()
})

t.test('a nonce is taken once, given back without a verdict, gone with one', (t) => {
  const { store } = storeOf(10)
  const { nonce } = store.issue(ADDRESS, KEY, 0)!
  t.ok(store.take(nonce, ADDRESS, KEY, 0))
  t.equal(store.take(nonce, ADDRESS, KEY, 0), null, 'taken')
  store.giveBack(nonce)
  t.ok(store.take(nonce, ADDRESS, KEY, 0), 'given back')
  store.consume(nonce)
  store.giveBack(nonce)
  t.equal(store.take(nonce, ADDRESS, KEY, 0), null, 'consumed')
  t.equal(store.size, 0)
  t.end()
})

t.test('a nonce lives five minutes', (t) => {
  const { store, clock } = storeOf(10)
  const first = store.issue(ADDRESS, KEY, 0)!
  t.equal(first.expiresAt - first.issuedAt, 300_000)
  clock.time += NONCE_LIFETIME_MS - 1
  t.ok(store.take(first.nonce, ADDRESS, KEY, 0))
  store.giveBack(first.nonce)
  clock.time += 1
  t.equal(store.take(first.nonce, ADDRESS, KEY, 0), null)
  t.end()
})

t.test('the store is bounded; taken nonces count; expired ones make room', (t) => {
  const { store, clock } = storeOf(2)
  const { nonce } = store.issue(ADDRESS, KEY, 0)!
  clock.time += 1000
  t.ok(store.issue(ADDRESS, KEY, 0))
  store.take(nonce, ADDRESS, KEY, 0)
  t.equal(store.issue(ADDRESS, KEY, 0), null)
  clock.time += NONCE_LIFETIME_MS - 1000
  t.ok(store.issue(ADDRESS, KEY, 0), 'the first one expired')
  t.equal(store.issue(ADDRESS, KEY, 0), null)
  store.giveBack(nonce)
  t.equal(store.size, 2, 'giving back an expired nonce revives nothing')
  t.end()
})

t.test('a limit holds per key and second, and its memory is bounded', (t) => {
  const clock = { time: 5_000 }
  const limit = createLimit(3, () => clock.time, 2)
  t.same([1, 2, 3, 4].map(() => limit.draw('a')), [true, true, true, false])
  t.ok(limit.draw('b'), 'another key has its own budget')
  t.notOk(limit.draw('c'), 'no more keys fit')
  clock.time = 5_999
  t.notOk(limit.draw('a'))
  clock.time = 6_000
  t.ok(limit.draw('a'))
  t.ok(limit.draw('c'))
  t.end()
})

t.test('one client is an IPv4 address or an IPv6 /64', (t) => {
  const cases: [string, string][] = [
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['0000:0000:0000:0000:0000:ffff:cb00:7107', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:0db8:0001:0002::1', '2001:db8:1:2'],
    ['2001:db8::', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['', ''],
  ]
  for (const [ip, network] of cases) t.equal(networkOf(ip), network, ip)
  t.end()
})

t.test('forms of a wallet signature', (t) => {
  const r = '11'.repeat(32)
  const s = '22'.repeat(32)
  const body = `${r}${s}`
  t.equal(walletSignature(`0x${body}1b`), `0x${body}1b`)
  t.equal(walletSignature(`${body}1C`), `0x${body}1c`, 'prefix optional, any case')
  t.equal(walletSignature(`0x${body}00`), `0x${body}1b`, 'v 0 is 27')
  t.equal(walletSignature(`0x${body}01`), `0x${body}1c`, 'v 1 is 28')
  for (const v of ['02', '1a', '1d', '25', 'ff']) t.equal(walletSignature(`0x${body}${v}`), null, `v ${v}`)
  for (const text of ['', '0x', '0x1b', body, `${body}1b1b`, `0x${body}1`, `0x0x${body}1b`, ` ${body}1b`, `${body}zz`, `0X${body}1b`]) {
    t.equal(walletSignature(text), null, text)
  }
  t.equal(walletSignature('a'.repeat(SIGNATURE_CHARACTERS_MAX + 2)), null, 'over 8192 bytes')
  const half = '7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20'
  t.ok(walletSignature(`${r}${half}a01b`), 's at half the order')
  t.equal(walletSignature(`${r}${half}a11b`), null, 's above half the order')
  t.equal(walletSignature(`${r}${half.toUpperCase()}A11B`), null)
  t.end()
})
