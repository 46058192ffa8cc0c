/** Promise: the key of page tokens is made once, whole, for its owner only, and stays; a file that is no key is refused, not replaced. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { readPageTokenKey } from '../../core/data_dir.ts'
import { removeDirectory } from '../support/exchange.ts'

const directory = mkdtempSync(join(tmpdir(), 'ringbook-key-'))
t.teardown(() => removeDirectory(directory))
const path = join(directory, 'page_token.key')

t.test('made at the first start, read at the next', async (t) => {
  const key = readPageTokenKey(directory)
  t.equal(key.length, 32)
  t.equal(key.buffer.byteLength, 32, 'nothing else goes to the threads with it')
  t.equal(statSync(path).mode & 0o777, 0o600)
  t.same(readPageTokenKey(directory), key)
  t.same(readdirSync(directory), ['page_token.key'])
  rmSync(path)
  t.notSame(readPageTokenKey(directory), key, 'a new one is another')
})

t.test('a crash between writing and renaming leaves no half key', async (t) => {
  rmSync(path)
  writeFileSync(`${path}.new`, 'half')
  t.equal(readPageTokenKey(directory).length, 32)
  t.notOk(existsSync(`${path}.new`))
})

t.test('a file of another length', async (t) => {
  for (const length of [0, 31, 33, 4096]) {
    const bytes = Buffer.alloc(length, 1)
    writeFileSync(path, bytes)
    t.throws(() => readPageTokenKey(directory), { message: /page_token\.key must hold exactly 32 bytes/ }, `${length} bytes`)
    t.same(readFileSync(path), bytes, 'it is left as it was')
  }
  rmSync(path)
  t.throws(() => readPageTokenKey(join(directory, 'nowhere')), { code: 'ENOENT' })
})
