/** Promise: a client has as much as is free, so that nobody has it all; what is given back is there again. */
import t from 'tap'
import { networkOf } from '../../gateway/limits/network.ts'
import { readProxies, Shares } from '../../gateway/limits/shares.ts'

const fill = (shares: Shares, client: string): number => {
  let taken = 0
  while (taken < 10_000 && shares.take(client) === null) taken++
  return taken
}

t.test('one client has half, two that want all a third each, and there is always something for the next', async (t) => {
  const shares = new Shares(1000)
  t.equal(fill(shares, 'a'), 500)
  t.equal(shares.take('a'), 'share')
  t.equal(fill(shares, 'b'), 250)
  t.equal(fill(shares, 'c'), 125)
  shares.give('a', 150)
  t.equal(fill(shares, 'a'), 0, 'it has more than is free still')
  t.ok(fill(shares, 'd') >= 100)
  shares.give('a', 350)
  t.ok(fill(shares, 'a') > 100)
})

t.test('the whole is a bound, amounts are exact, and the last place is somebody’s', async (t) => {
  const shares = new Shares(10)
  t.equal(shares.take('a', 11), 'full')
  t.equal(shares.take('a', 6), 'share')
  t.equal(shares.take('a', 5), null)
  t.equal(shares.total, 5)
  t.equal(shares.heldBy('a'), 5)
  t.throws(() => shares.give('a', 6))
  shares.give('a', 5)
  t.equal(shares.total, 0)
  t.equal(shares.heldBy('a'), 0)
  const one = new Shares(1)
  t.equal(one.take('a'), null)
  t.equal(one.take('b'), 'full')
})

t.test('a proxy has all but the last tenth', async (t) => {
  const shares = new Shares(1000, readProxies({ proxyAddresses: ' 10.0.0.1 ,', trustedProxies: '2001:db8::1' }))
  t.equal(fill(shares, networkOf('10.0.0.1')), 900)
  t.equal(fill(shares, 'b'), 50)
  t.equal(fill(new Shares(100, readProxies({ proxyAddresses: '2001:db8::/32', trustedProxies: '' })), networkOf('2001:db8::ff')), 90)
})

t.test('a place that changes hands is never lost, whatever others have taken meanwhile', async (t) => {
  const shares = new Shares(100, readProxies({ proxyAddresses: '10.0.0.1', trustedProxies: '' }))
  t.equal(fill(shares, '10.0.0.1'), 90)
  for (let i = 0; i < 10; i++) t.equal(shares.take(`b${i}`), null)
  t.equal(shares.move('10.0.0.1', 'b0'), 'share', 'who has its share gets no other')
  t.same([shares.heldBy('10.0.0.1'), shares.heldBy('b0'), shares.total], [90, 1, 100], 'and the proxy keeps what it has')
  t.equal(shares.move('10.0.0.1', 'c'), null)
  t.same([shares.heldBy('10.0.0.1'), shares.heldBy('c'), shares.total], [89, 1, 100])
  shares.give('10.0.0.1', 89)
  t.equal(shares.total, 11)
})
