/**
 * Promise: signatures of one client network take its share of the places and no more, the last tenth of all is for networks that have
 * almost none, and every place given back is free again.
 */
import t from 'tap'
import { createInFlight } from '../../gateway/auth/in_flight.ts'

t.test('a network has a share, and others the rest', async (t) => {
  const places = createInFlight(100)
  const entered = (network: string, times: number): number =>
    Array.from({ length: times }, () => places.enter(network)).filter(Boolean).length
  t.equal(entered('a', 40), 25)
  t.equal(entered('b', 40), 25)
  t.equal(entered('c', 40), 25)
  t.equal(entered('d', 40), 15, 'the last ten are not for those that have many')
  for (let i = 0; i < 5; i++) t.equal(entered(`few ${i}`, 3), 2)
  t.equal(places.size, 100)
  t.notOk(places.enter('last'))
  places.leave('a')
  t.notOk(places.enter('b'), 'one of the last ten')
  t.ok(places.enter('last'))
})

t.test('few places have no shares smaller than a client needs', async (t) => {
  const places = createInFlight(2)
  t.ok(places.enter('a'))
  t.ok(places.enter('a'))
  t.notOk(places.enter('b'))
  places.leave('a')
  places.leave('a')
  t.equal(places.size, 0)
  t.ok(places.enter('b'))
})
