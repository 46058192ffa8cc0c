/**
 * Promise: the address that counts is the socket's, unless that is a trusted proxy; then it is the first one from the right of
 * X-Forwarded-For that no trusted proxy has. What a client writes into the header itself never counts. Networks are read exactly.
 */
import t from 'tap'
import { addressBits, Networks } from '../../core/lib/networks.ts'
import { ClientAddresses, NOBODY } from '../../gateway/limits/client_address.ts'

const contains = (list: string, address: string): boolean => new Networks(list).contains(addressBits(address)!)

t.test('addresses and networks, IPv4 and IPv6', async (t) => {
  for (const [list, address, is] of [
    ['', '10.0.0.1', false], ['10.0.0.1', '10.0.0.1', true], ['10.0.0.1', '10.0.0.2', false],
    ['10.0.0.0/8', '10.255.255.255', true], ['10.0.0.0/8', '11.0.0.0', false], ['192.0.2.128/25', '192.0.2.127', false],
    ['192.0.2.128/25', '192.0.2.128', true], [' 10.0.0.1 ,, 10.0.0.2 ', '10.0.0.2', true], ['10.0.0.2/32', '10.0.0.2', true],
    ['10.0.0.0/8', '::ffff:10.1.2.3', true], ['10.0.0.0/8', '::ffff:a01:203', true], ['::ffff:10.1.2.3', '10.1.2.3', true],
    ['2001:db8::/32', '2001:db8:ffff::1', true], ['2001:db8::/32', '2001:db9::', false],
    ['2001:db8::1', '2001:0db8:0000:0000:0000:0000:0000:0001', true],
    ['::1', '::1', true], ['::1', '::2', false],
    ['fe80::/10', 'fe80::1%eth0', true], ['8000::/1', 'ffff::', true], ['8000::/1', '10.0.0.1', false],
  ] as const) t.equal(contains(list, address), is, `${address} in "${list}"`)
})

t.test('what is neither is refused in words', async (t) => {
  for (const [list, words] of [
    ['10.0.0', /10\.0\.0 is neither address nor network/], ['proxy.example', /neither/], ['10.0.0.0/8/8', /neither/],
    ['fe80::1%eth0', /neither/], ['10.0.0.0/33', /from 1 to 32/], ['10.0.0.0/0', /from 1 to 32/], ['::/0', /from 1 to 128/],
    ['::1/129', /from 1 to 128/], ['10.0.0.0/08', /from 1/], ['10.0.0.0/', /from 1/], ['10.0.0.1/8', /bits behind its prefix/],
    ['2001:db8::1/32', /bits behind its prefix/], ['127.0.0.1 ::1', /neither/],
  ] as const) t.throws(() => new Networks(list), { name: 'NetworkError', message: words }, list)
})

t.test('a client of many addresses touches a network when any of them is in it', async (t) => {
  const client = addressBits('2001:db8:0:1::')!
  for (const [list, is] of [
    ['2001:db8:0:1::5', true], ['2001:db8:0:2::5', false], ['2001:db8::/32', true], ['2001:db8:0:1:8000::/65', true], ['10.0.0.0/8', false],
  ] as const) t.equal(new Networks(list).touches(client, 64), is, list)
})

t.test('from whom X-Forwarded-For counts, and which of it', async (t) => {
  const addresses = new ClientAddresses('10.0.0.0/8, 2001:db8::/32')
  const long = Array.from({ length: 40 }, (_, i) => `10.0.1.${i}`).join(',')
  for (const [peer, forwarded, client, why] of [
    ['192.0.2.1', '198.51.100.1', '192.0.2.1', 'of a stranger nothing counts'],
    ['10.0.0.1', '', '10.0.0.1', 'a proxy that says nothing is the client'],
    ['10.0.0.1', '198.51.100.1', '198.51.100.1', 'what the proxy says'],
    ['10.0.0.1', '203.0.113.9, 198.51.100.1', '198.51.100.1', 'what the client wrote in front of it does not count'],
    ['10.0.0.1', '10.9.9.9, 198.51.100.1', '198.51.100.1', 'nor when it names a proxy'],
    ['10.0.0.1', '198.51.100.1,10.0.0.2 ,\t10.0.0.3', '198.51.100.1', 'proxies behind one another are passed over'],
    ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3', 'with nothing but proxies the leftmost is the client'],
    ['10.0.0.1', 'unknown', '10.0.0.1', 'what is no address: the proxy that wrote it'],
    ['10.0.0.1', '198.51.100.1, unknown, 10.0.0.2', '10.0.0.2', 'and behind others too'],
    ['10.0.0.1', '198.51.100.1,', '10.0.0.1', 'an empty entry is no address'],
    ['10.0.0.1', ',', '10.0.0.1', 'nor two of them'],
    ['10.0.0.1', '1.2.3', '10.0.0.1', 'nor a part of one'],
    ['10.0.0.1', '198.51.100.1:4711', '198.51.100.1', 'a port is left out'],
    ['10.0.0.1', '[2001:db9::7]:4711', '2001:db9::7', 'in brackets too'],
    ['10.0.0.1', '[2001:db9::7]', '2001:db9::7', 'or the brackets alone'],
    ['2001:db8::1', '2001:db9::7', '2001:db9::7', 'IPv6'],
    ['2001:0db8:0000:0000:0000:0000:0000:0001', '2001:db9::7', '2001:db9::7', 'written out, as the library gives it'],
    ['::ffff:10.0.0.1', '198.51.100.1', '198.51.100.1', 'IPv4 in IPv6'],
    ['10.0.0.1', `198.51.100.1,${long}`, '10.0.1.24', 'sixteen proxies are passed over and no more'],
  ] as const) t.equal(addresses.clientOf(peer, forwarded), client, why)
  t.equal(new ClientAddresses('').clientOf('10.0.0.1', '198.51.100.1'), '10.0.0.1', 'without trusted proxies nothing counts')
})

t.test('who closes quickly is no proxy, whatever is trusted', async (t) => {
  const addresses = new ClientAddresses('127.0.0.0/8,0.0.0.0/1')
  const gone = addresses.relay('198.51.100.1')
  addresses.relayed(gone)
  t.equal(addresses.clientOf(addresses.peerOf(gone), '203.0.113.9'), NOBODY)
})

t.test('a relayed connection has its client’s address; one that is over has none of its own', async (t) => {
  const addresses = new ClientAddresses('10.0.0.1')
  t.equal(addresses.peerOf('127.64.0.0'), '127.64.0.0', 'nothing is relayed')
  const [first, second] = [addresses.relay('198.51.100.1'), addresses.relay('198.51.100.2')]
  t.not(first, second)
  const peers = [first, second, '127.0.0.1', '192.0.2.1'].map((each) => addresses.peerOf(each))
  t.same(peers, ['198.51.100.1', '198.51.100.2', '127.0.0.1', '192.0.2.1'])
  addresses.relayed(first)
  t.equal(addresses.peerOf(first), NOBODY, 'or whoever closes quickly would be a new client each time')
  t.equal(addresses.peerOf('127.127.255.255'), NOBODY)
  const all = new Set(Array.from({ length: 70_000 }, () => addresses.relay('198.51.100.3')))
  t.equal(all.size, 70_000)
  t.notOk(all.has(second), 'and none is given twice')
  t.same([...all].filter((each) => addresses.peerOf(each) !== '198.51.100.3'), [])
})
