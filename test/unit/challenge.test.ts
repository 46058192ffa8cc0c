/** The pure part of sign-in: texts, limits, forms of signatures and addresses; with a clock of its own. */
import t from 'tap'
import { getAddress } from 'viem/utils'
import {
  challengeText, checksumAddress, createLimit, SIGNATURE_CHARACTERS_MAX, walletSignature,
} from '../../gateway/auth/challenge.ts'
import { networkOf } from '../../gateway/limits/network.ts'
import type { Nonce } from '../../gateway/auth/nonces.ts'

const ADDRESS = '0xd8da6bf26964af9d7eed9e03e53415d37aa96045'
const KEY = 'ab'.repeat(32)

const MASTER = `0x${'11'.repeat(20)}`
const ENTRY: Nonce = {
  purpose: 'sign-in', nonce: '1'.padStart(64, '0'), address: ADDRESS, sessionPublicKey: KEY, application: 0, master: null,
  issuedAt: 1_700_000_000_000, expiresAt: 1_700_000_300_000,
}
const PLACE = { application: 'Ringbook', host: 'exchange.example', chainId: 1328 }

t.test('the text names everything the wallet agrees to, in fixed lines', (t) => {
  t.equal(challengeText(ENTRY, PLACE), [
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

t.test('the text of a linked wallet says whose sub-account it is, and what that means', (t) => {
  const text = challengeText({ ...ENTRY, master: MASTER }, PLACE)
  t.ok(text.startsWith('Ringbook asks you to sign in.\n'))
  t.ok(text.includes(`\nSub-account of: ${getAddress(MASTER)}\n`))
  t.ok(text.includes(`a sub-account of ${getAddress(MASTER)}, for good.\nThat wallet, the master, controls its balances`))
  t.end()
})

t.test('the text of a consent names both wallets, the application and what the master may do, and is no sign-in', (t) => {
  const text = challengeText({ ...ENTRY, purpose: 'consent', master: MASTER }, PLACE)
  t.equal(text, [
    'Ringbook asks you to become a sub-account of another wallet.',
    '',
    'Application: Ringbook',
    'Host: exchange.example',
    'Address: 0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045',
    'Sub-account of: 0x1111111111111111111111111111111111111111',
    `Session public key of the master: ${KEY}`,
    `Nonce: ${'1'.padStart(64, '0')}`,
    'Issued at: 2023-11-14T22:13:20.000Z',
    'Expires at: 2023-11-14T22:18:20.000Z',
    'Chain id: 1328',
    '',
    "With your signature this wallet's account here is a sub-account of 0x1111111111111111111111111111111111111111, for good.",
    'That wallet, the master, controls its balances: it can take everything the account holds, at any time.',
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

t.test('a limit holds per key and second, and its memory is bounded', (t) => {
  const clock = { time: 5_000 }
  const limit = createLimit(3, () => clock.time, { keysMax: 2 })
  t.same([1, 2, 3, 4].map(() => limit.acquire('a')), [true, true, true, false])
  t.ok(limit.acquire('b'), 'another key has its own budget')
  t.notOk(limit.acquire('c'), 'no more keys fit')
  clock.time = 5_999
  t.notOk(limit.acquire('a'))
  clock.time = 6_000
  t.ok(limit.acquire('a'))
  t.ok(limit.acquire('c'))
  t.notOk(limit.isUsedUp('c'), 'looking draws nothing')
  t.same([1, 2].map(() => limit.acquire('c')), [true, true])
  t.ok(limit.isUsedUp('c'))
  t.equal(limit.retryAfter(), 1)
  t.end()
})

t.test('a limit of an hour says when it ends', (t) => {
  const clock = { time: 7_200_000 }
  const limit = createLimit(1, () => clock.time, { windowMs: 3_600_000 })
  t.ok(limit.acquire('a'))
  clock.time += 3_599_999
  t.notOk(limit.acquire('a'))
  t.equal(limit.retryAfter(), 1)
  clock.time -= 1_800_000
  t.equal(limit.retryAfter(), 1801)
  clock.time += 1_800_001
  t.ok(limit.acquire('a'))
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
