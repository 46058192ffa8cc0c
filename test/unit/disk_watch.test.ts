/**
 * Promise: how much may be written is one of three levels. What is unknown is never taken for enough; each crossing is said once, in
 * each direction; a level is left upwards only with something to spare.
 */
import t from 'tap'
import { diskWatch } from '../../core/disk.ts'
import { DISK_FLOOR } from '../../core/journal/room.ts'
import { DISK, MATCHER } from '../../core/ring/counters.ts'

const MIB = 2 ** 20
const RESERVE = 256 * MIB

function watched(reserve = RESERVE, limit = 64 * 1024 * MIB) {
  const disk: { free: number | Error; room: number | Error; used: number | Error; gone: string | null } =
    { free: 10 * RESERVE, room: 4 * MIB, used: 0, gone: null }
  const said: [level: string, fields: Record<string, unknown>][] = []
  const words: string[] = []
  const counters = new Float64Array(64)
  const give = (value: number | Error): number => {
    if (value instanceof Error) throw value
    return value
  }
  const look = diskWatch({
    free: () => give(disk.free), room: () => give(disk.room), used: () => give(disk.used), gone: () => disk.gone, reserve, limit, counters,
    log: (level, message, fields) => {
      said.push([level, fields])
      words.push(message)
    },
  })
  const using = (used: number | Error): number => {
    disk.used = used
    look()
    return counters[MATCHER.disk_level]!
  }
  const at = (free: number | Error, room: number | Error = 4 * MIB): number => {
    Object.assign(disk, { free, room })
    look()
    return counters[MATCHER.disk_level]!
  }
  return { at, using, disk, look, said, words, counters }
}

t.test('nobody looked yet: nothing is recorded', async (t) => {
  t.equal(new Float64Array(64)[MATCHER.disk_level], DISK.FULL)
})

t.test('none, unknown and too little are each below the reserve', async (t) => {
  const { at, said, counters } = watched()
  t.equal(at(RESERVE), DISK.OPEN)
  t.same(said, [])
  for (const free of [RESERVE - 1, 1, 0, new Error('statfs: Input/output error'), Number.NaN]) t.equal(at(free), DISK.RESERVE, String(free))
  t.equal(said.length, 1, 'said once')
  t.equal(said[0]![0], 'warn')
  t.same(counters[MATCHER.free_disk_bytes], Number.NaN)
  t.equal(at(10 * RESERVE, new Error('no journal file')), DISK.OPEN, 'free space alone is enough')
  t.same(said.map(([level]) => level), ['warn', 'info'])
})

t.test('an unknown beginning says why', async (t) => {
  const { at, said } = watched()
  t.equal(at(new Error('statfs: Stale file handle')), DISK.RESERVE)
  t.match(said, [['warn', { freeBytes: null, error: 'statfs: Stale file handle' }]])
})

t.test('with no reserve wanted, unknown is still no space', async (t) => {
  const { at } = watched(0)
  t.equal(at(1), DISK.OPEN)
  t.equal(at(new Error('statfs')), DISK.RESERVE)
})

t.test('around a bound the level does not change to and fro', async (t) => {
  const { at, said } = watched()
  at(RESERVE - 1)
  for (let i = 0; i < 10; i++) t.equal(at(RESERVE + (i % 2)), DISK.RESERVE)
  t.equal(at(RESERVE + RESERVE / 8), DISK.OPEN)
  t.equal(at(0, DISK_FLOOR), DISK.RESERVE, 'the room of the journal is there for cancels')
  t.equal(at(0, DISK_FLOOR - 1), DISK.FULL)
  t.equal(at(0, DISK_FLOOR + 1), DISK.FULL)
  t.equal(at(new Error('statfs'), new Error('fstat')), DISK.FULL)
  t.equal(at(DISK_FLOOR, DISK_FLOOR), DISK.RESERVE)
  t.same(said.map(([level]) => level), ['warn', 'info', 'warn', 'error', 'warn'])
})

for (const [limit, reserve] of [[64 * 1024 * MIB, RESERVE], [1024 * MIB, 128 * MIB], [10 * MIB, 2 * DISK_FLOOR]] as const) {
  t.test(`the journal's limit of ${limit / MIB} MiB is one more disk`, async (t) => {
    const { using, said, words } = watched(RESERVE, limit)
    t.equal(using(0), DISK.OPEN)
    t.equal(using(limit - reserve), DISK.OPEN)
    t.equal(using(limit - reserve + 1), DISK.RESERVE)
    t.equal(using(limit - DISK_FLOOR), DISK.RESERVE)
    for (const used of [limit - DISK_FLOOR + 1, limit, limit + 1, 2 * limit]) t.equal(using(used), DISK.FULL, `${used}`)
    t.equal(using(new Error('the journal file is no LMDB file')), DISK.FULL, 'what is unknown is not taken for enough')
    t.same(said.map(([level]) => level), ['warn', 'error'])
    for (const message of words) t.match(message, /near its limit: raise --journal-gb/)
  })
}

t.test('a journal without a name is recorded in by nobody, until it has its name again', async (t) => {
  const { at, disk, look, words, counters } = watched()
  const seen = (): unknown[] => [counters[MATCHER.disk_level], counters[MATCHER.journal_gone]]
  at(10 * RESERVE)
  disk.gone = 'data.mdb was removed'
  for (let i = 0; i < 3; i++) look()
  t.same(seen(), [DISK.FULL, 1])
  disk.gone = null
  look()
  t.same(seen(), [DISK.OPEN, 0])
  const each = [/nothing is recorded any more.*: data.mdb was removed/, /has its name again/, /new orders are accepted/]
  t.match(words, each)
  t.equal(words.length, each.length, 'each is said once')
})

t.test('pages of receipts that cannot be written are one more disk', async (t) => {
  const { at, said, words, counters } = watched()
  const waiting = (pages: number): number => {
    counters[MATCHER.receipt_pages_waiting] = pages
    return at(10 * RESERVE)
  }
  t.same([0, 1, 1023, 1024, 100_000, 1023, 0].map(waiting), [
    DISK.OPEN, DISK.RESERVE, DISK.RESERVE, DISK.FULL, DISK.FULL, DISK.RESERVE, DISK.OPEN,
  ])
  t.same(said.map(([level]) => level), ['warn', 'error', 'warn', 'info'])
  t.match(words, [/directory receipts/, /directory receipts/, /directory receipts/, /are accepted$/])
})
