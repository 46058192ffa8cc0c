/** Promise: the file of contract logins says who may, at most a second late; one that cannot be used says nothing about anybody. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { ADDRESSES_MAX, createContractFlags, type ContractFlags } from '../../gateway/auth/contract_flags.ts'
import { removeDirectory } from '../support/exchange.ts'

const LISTED = `0x${'aB'.repeat(20)}`
const address = LISTED.toLowerCase()
const other = `0x${'12'.repeat(20)}`

const directory = mkdtempSync(join(tmpdir(), 'ringbook-flags-'))
t.teardown(() => removeDirectory(directory))
let files = 0

/** Flags of a file of their own, whose clock goes on by a second whenever the file is written. */
function flagsOf(first: string | null): {
  flags: ContractFlags
  write: (text: string) => void
  wait: (ms: number) => void
  path: string
  failures: string[]
} {
  const path = join(directory, `${++files}.json`)
  const failures: string[] = []
  let time = 0
  const put = (text: string): void => {
    writeFileSync(`${path}.new`, text)
    renameSync(`${path}.new`, path)
  }
  if (first !== null) put(first)
  const flags = createContractFlags(path, () => time, (reason) => failures.push(reason))
  const wait = (ms: number): void => void (time += ms)
  const write = (text: string): void => {
    put(text)
    wait(1_000)
  }
  return { flags, write, wait, path, failures }
}

t.test('without a file everybody may', async (t) => {
  t.equal(createContractFlags('', () => 0, () => t.fail('nothing to fail')).eligible(address), true)
})

t.test('all, none, and those that are listed, in any case', async (t) => {
  const { flags, write, failures } = flagsOf('{"contractLogin":"all"}')
  t.equal(flags.eligible(address), true)
  write('{"contractLogin":"none"}')
  t.equal(flags.eligible(address), false)
  write(JSON.stringify({ contractLogin: [LISTED] }))
  t.equal(flags.eligible(address), true)
  t.equal(flags.eligible(other), false)
  write('{"contractLogin":[]}')
  t.equal(flags.eligible(address), false)
  t.same(failures, [])
})

t.test('the file is looked at once a second', async (t) => {
  const { flags, path, wait } = flagsOf('{"contractLogin":"all"}')
  t.equal(flags.eligible(address), true)
  writeFileSync(path, '{"contractLogin":"none"} ')
  wait(999)
  t.equal(flags.eligible(address), true)
  wait(1)
  t.equal(flags.eligible(address), false)
})

t.test('a file that says anything else says nothing, until it is right again', async (t) => {
  const wrong = [
    '', '{', '[]', 'null', '"all"', '5', '{}', '{"contractLogin":"some"}', '{"contractLogin":null}', '{"contractLogin":{}}',
    '{"contractLogin":true}', '{"contractLogin":"all","more":1}', '{"contractlogin":"all"}', '{"contractLogin":["0x12"]}',
    '{"contractLogin":[5]}', `{"contractLogin":["${LISTED}","all"]}`, `{"contractLogin":["${LISTED.slice(2)}"]}`,
    JSON.stringify({ contractLogin: Array(ADDRESSES_MAX + 1).fill(LISTED) }),
  ]
  for (const text of wrong) {
    const { flags, write, wait, failures } = flagsOf(text)
    t.equal(flags.eligible(address), null, text.slice(0, 60))
    wait(1_000)
    t.equal(flags.eligible(address), null, 'also when it is looked at again')
    t.equal(failures.length, 1, 'reported once')
    write('{"contractLogin":"all"}')
    t.equal(flags.eligible(address), true)
    write(text)
    t.equal(flags.eligible(address), null)
    t.equal(failures.length, 2)
  }
})

t.test('a file that is not there says nothing, and one that comes back does', async (t) => {
  const { flags, write, wait, path } = flagsOf(null)
  t.equal(flags.eligible(address), null)
  write('{"contractLogin":"all"}')
  t.equal(flags.eligible(address), true)
  renameSync(path, `${path}.away`)
  wait(1_000)
  t.equal(flags.eligible(address), null)
  renameSync(`${path}.away`, path)
  wait(1_000)
  t.equal(flags.eligible(address), true, 'the same file')
  rmSync(path)
  wait(1_000)
  t.equal(flags.eligible(address), null)
  t.equal(createContractFlags(directory, () => 0, () => undefined).eligible(address), null, 'a directory')
})

t.test('a list of the most addresses is read', async (t) => {
  const list = Array.from({ length: ADDRESSES_MAX }, (_, i) => `0x${i.toString(16).padStart(40, '0')}`)
  const { flags } = flagsOf(JSON.stringify({ contractLogin: list }))
  t.equal(flags.eligible(list.at(-1)!), true)
  t.equal(flags.eligible(address), false)
})
