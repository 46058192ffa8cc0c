/**
 * Promise: the checker of traces (support/strace.ts) finds an order that was answered before it was durable: when nothing was synced, too
 * late, through another descriptor, without success, or without LMDB's meta page; and finds nothing in a trace in which all is well.
 */
import t from 'tap'
import { parseTrace, unsynced } from '../support/strace.ts'

const FILE = '/data/journal/data.mdb'
const DATA = `30<${FILE}>`
const META = `31<${FILE}>`
const OPEN = [
  `7 openat(AT_FDCWD</work>, "${FILE}", O_RDWR|O_CREAT, 0664) = ${DATA}`,
  `7 openat(AT_FDCWD</work>, "${FILE}", O_WRONLY|O_DSYNC|O_CLOEXEC) = ${META}`,
  `9 openat(AT_FDCWD</work>, "${FILE}", O_RDONLY|O_CLOEXEC) = ${META}`,
]
const PAGE = `7 pwrite64(${DATA}, "\\5\\0) = 3 order-1\\0\\"", 4096, 20480) = 4096`
const SYNC = `7 fdatasync(${DATA}) = 0`
const WRITE_META = `7 pwrite64(${META}, "\\0\\0\\0@", 128, 4120) = 128`
const BODY = '{\\"orderId\\":\\"0f-1\\"}'
const ANSWER = `8 sendto(66<socket:[4711]>, "HTTP/1.1 201 Created ${BODY}", 90, MSG_NOSIGNAL, NULL, 0) = 90`
const ORDER = { clientOrderId: 'order-1', orderId: '0f-1' }
const checked = (...lines: string[]): string[] => unsynced(parseTrace([...OPEN, ...lines].join('\n')), FILE, [ORDER])

t.test('a trace in which all is well', async (t) => {
  t.same(checked(PAGE, SYNC, WRITE_META, ANSWER), [])
  const [began, resumed] = [`7 fdatasync(${DATA} <unfinished ...>`, '7 <... fdatasync resumed>)        = 0']
  t.same(checked(PAGE, began, '8 write(20<anon_inode:[eventfd]>, "\\1", 8) = 8', resumed, WRITE_META, ANSWER), [], 'other threads between')
  const split = [PAGE.replace(') = 4096', ' <unfinished ...>'), '7 <... pwrite64 resumed>) = 4096']
  t.same(checked(...split, SYNC, WRITE_META, ANSWER), [])
  const vector = `7 writev(${DATA}, [{iov_base="\\6\\0", iov_len=4096}, {iov_base="order-1", iov_len=4096}], 2) = 8192`
  t.same(checked(vector, SYNC, WRITE_META, ANSWER), [])
  const late = WRITE_META.replace(META, DATA)
  t.same(checked(PAGE, SYNC, late, SYNC, ANSWER), [], 'a meta page that is synced by a call')
  t.same(checked(PAGE, SYNC, WRITE_META, PAGE, ANSWER), [], 'the page again, with a later batch')
})

for (const [what, lines] of Object.entries({
  'nothing is synced': [PAGE, WRITE_META, ANSWER],
  'the sync comes too late': [PAGE, ANSWER, SYNC, WRITE_META],
  'the sync returns too late': [
    PAGE, `7 fdatasync(${DATA} <unfinished ...>`, ANSWER, '7 <... fdatasync resumed>) = 0', WRITE_META,
  ],
  'the sync began before the write returned': [
    PAGE.replace(') = 4096', ' <unfinished ...>'), `6 fdatasync(${DATA} <unfinished ...>`, '7 <... pwrite64 resumed>) = 4096',
    '6 <... fdatasync resumed>) = 0', WRITE_META, ANSWER,
  ],
  'the sync is older than the write': [SYNC, PAGE, WRITE_META, ANSWER],
  'another descriptor of the file is synced': [PAGE, `7 fdatasync(34<${FILE}>) = 0`, WRITE_META, ANSWER],
  'the same number of another file is synced': [PAGE, '7 fdatasync(30</data/journal/head>) = 0', WRITE_META, ANSWER],
  'the sync fails': [PAGE, `7 fdatasync(${DATA}) = -1 EIO (Input/output error)`, WRITE_META, ANSWER],
  'the sync is only said to be made': [PAGE, `7 fdatasync(${DATA}) = 0 (INJECTED)`, WRITE_META, ANSWER],
  'the sync never returned': [PAGE, `7 fdatasync(${DATA}) = ?`, WRITE_META, ANSWER],
  'the page was not written': [PAGE.replace('= 4096', '= -1 ENOSPC (No space left on device)'), SYNC, WRITE_META, ANSWER],
})) t.test(`a page that is not durable: ${what}`, async (t) => t.match(checked(...lines), [/order-1: .* its page was not synced/]))

for (const [what, lines] of Object.entries({
  'it is not written': [PAGE, SYNC, ANSWER],
  'it is written before the pages are there': [PAGE, WRITE_META, SYNC, ANSWER],
  'it is written too late': [PAGE, SYNC, ANSWER, WRITE_META],
  'it is not synced': [PAGE, SYNC, WRITE_META.replace(META, DATA), ANSWER],
  'it fails': [PAGE, SYNC, WRITE_META.replace('= 128', '= -1 EIO (Input/output error)'), ANSWER],
})) t.test(`a meta page that is not durable: ${what}`, async (t) => t.match(checked(...lines), [/order-1: .* no meta page was synced/]))

t.test('an order that is not found is no proof', async (t) => {
  t.match(checked(SYNC, WRITE_META, ANSWER), [/not seen in the journal/])
  t.match(checked(PAGE, SYNC, WRITE_META), [/not seen answered/])
  t.match(checked(PAGE.replaceAll(FILE, '/data/history.sqlite'), SYNC, WRITE_META, ANSWER), [/not seen in the journal/])
  const pipe = ANSWER.replace('66<socket:[4711]>', '66<pipe:[4711]>')
  t.match(checked(PAGE, SYNC, WRITE_META, pipe), [/not seen answered/])
})

t.test('a descriptor whose number was used without O_DSYNC is not taken for synchronous', async (t) => {
  const again = `7 openat(AT_FDCWD</work>, "${FILE}", O_WRONLY|O_APPEND|O_CLOEXEC) = ${META}`
  t.match(checked(again, PAGE, SYNC, WRITE_META, ANSWER), [/no meta page was synced/])
})
