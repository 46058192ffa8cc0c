/** Promise: what grows has a time until it is full, from how it grew; what does not grow has none. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { filesOf, Growth } from '../../gateway/operator/fills.ts'
import { removeDirectory, temporaryDirectory } from '../support/exchange.ts'

const SECOND = 1000

t.test('growth', async (t) => {
  const growth = new Growth()
  t.equal(growth.secondsFor(100), Infinity, 'nothing is known')
  for (let at = 0; at <= 60; at += 10) growth.look(1_000 + 5 * at, at * SECOND)
  t.equal(growth.secondsFor(100), 20, 'five a second')
  t.equal(growth.secondsFor(-1), 0)
  for (let at = 70; at <= 500; at += 10) growth.look(1_300, at * SECOND)
  t.equal(growth.secondsFor(100), Infinity, 'the minutes in which it grew are past')
  growth.look(5_000, 500 * SECOND + 1)
  t.equal(growth.secondsFor(100), Infinity, 'looks stand ten seconds apart')
  growth.look(Number.NaN, 600 * SECOND)
  t.equal(growth.secondsFor(100), Infinity, 'unknown is no growth')
})

t.test('files of a directory', async (t) => {
  const directory = temporaryDirectory()
  t.teardown(() => removeDirectory(directory))
  mkdirSync(join(directory, 'journal'))
  writeFileSync(join(directory, 'journal', 'data.mdb'), 'x'.repeat(10))
  writeFileSync(join(directory, 'a'), '')
  t.same(filesOf(directory), [['a', 0], [join('journal', 'data.mdb'), 10]])
  mkdirSync(join(directory, 'receipts'))
  for (let i = 0; i < 100; i++) writeFileSync(join(directory, 'receipts', `${String(i).padStart(8, '0')}.pages`), 'xy')
  t.same(filesOf(directory).at(-1), [join('receipts', '*.pages'), 200], 'those of receipts are one')
  for (let i = 0; i < 100; i++) writeFileSync(join(directory, `more-${i}`), '')
  t.equal(filesOf(directory).length, 64, 'series are bounded')
})
